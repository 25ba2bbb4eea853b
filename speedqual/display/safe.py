"""What a model wrote, made harmless for a page: nothing invisible, endless, or turning the line around."""

from __future__ import annotations

import re

__all__ = ["LIMIT", "visible"]

LIMIT = 4_000
"""Characters of one text that a page shows; the run folder has the rest."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 controls but tab and newline
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi, interlinear
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f]"  # tags
)


def visible(text: str, limit: int = LIMIT) -> str:
    """``text`` with every hidden character spelled as ``⟨U+202E⟩``, cut after ``limit`` characters with a note.

    >>> visible("a\\x1b[31m")
    'a⟨U+001B⟩[31m'
    """
    shown = _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text[:limit].replace("\r\n", "\n"))
    lost = len(text) - limit
    return f"{shown} … [+{lost:,}]" if lost > 0 else shown
