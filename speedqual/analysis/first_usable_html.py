"""Reading HTML as it streams: the first element that a browser could show for good.

That is an element that is closed and holds visible text, or one that stands for a picture, a control or a film. The
parser is fed tag by tag, as a browser is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from speedqual.grading.code.fences import fences

__all__ = ["first_element"]

MAX_CHARS = 262_144
"""How far the first element is looked for: a parser that is fed in pieces reads an open comment again each time."""
_INVISIBLE = frozenset({"script", "style", "head", "title", "template", "noscript", "meta", "link", "datalist"})
_REPLACED = frozenset(
    {"img", "input", "video", "canvas", "iframe", "embed", "object", "audio", "progress", "meter", "hr"}
)
_CLOSED = frozenset({"svg", "button", "select", "textarea"})
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_CLOSES_ITSELF = frozenset({"p", "li", "dt", "dd", "tr", "td", "th", "option"})
_FIRST_TAG = re.compile(r"<(?:!doctype|!--|[a-z][a-z0-9-]*[\s>/])", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def first_element(text: str) -> tuple[str, int] | None:
    """Its tag, and the characters after which it could be shown; None when there is none."""
    for start, end in _ranges(text):
        reader = _Reader()
        for piece_end in _tag_ends(text, start, min(end, start + MAX_CHARS)):
            reader.feed(text[start:piece_end])
            start = piece_end
            if reader.shown:
                return reader.shown, piece_end
    return None


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    """Fences of HTML or of no language; without any, from the first tag on."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    blocks = fences(text)
    for block in blocks:
        if block.language in ("html", "htm", "xhtml", "html5", "svg", ""):
            yield starts[block.first_line + 1], starts[block.last_line] if block.closed else len(text)
    tag = _FIRST_TAG.search(text)
    if not blocks and tag is not None:
        yield tag.start(), len(text)


def _tag_ends(text: str, start: int, end: int) -> Iterator[int]:
    while start < end:
        found = text.find(">", start, end)
        start = found + 1 if found >= 0 else end
        yield start


class _Reader(HTMLParser):
    """Follows which elements are open, and whether the innermost ones hold text that shows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []  # tag, whether it hides what is in it
        self.texts: list[bool] = []
        self.shown = ""

    @property
    def hidden(self) -> bool:
        return any(hides for _, hides in self.open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        hides = tag in _INVISIBLE or "hidden" in names or bool(_HIDDEN.search(names.get("style") or ""))
        if self.open and self.open[-1][0] == tag and tag in _CLOSES_ITSELF:
            self.handle_endtag(tag)
        if tag in _REPLACED and not hides and not self.hidden and names.get("type") != "hidden":
            self.shown = self.shown or tag
        if tag not in _VOID:
            self.open.append((tag, hides))
            self.texts.append(False)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open and not self.hidden:
            self.texts[-1] = True

    def handle_endtag(self, tag: str) -> None:
        at = next((i for i in range(len(self.open) - 1, -1, -1) if self.open[i][0] == tag), None)
        if at is None:
            return
        if (any(self.texts[at:]) or tag in _CLOSED) and not self.hidden:
            self.shown = self.shown or tag
        del self.open[at:], self.texts[at:]
