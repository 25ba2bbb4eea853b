"""Data inside a page: JSON that no parser of HTML can trip over, plain or compressed."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from markupsafe import Markup

__all__ = ["block", "packed"]


def block(value: Any) -> Markup:
    """``value`` as JSON for a data block: pure ASCII, and no ``<``, ``>`` or ``&``, so that nothing ends it early."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def packed(value: Any) -> Markup:
    """``value`` as JSON in UTF-8, deflated, in base64. The same value gives the same bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii"))
