"""Reading values out of JSON that somebody else wrote: wrong types give None, never an exception."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["as_count", "as_mapping", "as_number", "as_text", "clean_json", "clean_text", "join_text", "parse_json"]

_DECODER: Any = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: read as null
_SCAN = _DECODER.scan_once  # without the search for spaces around the value, which costs as much as a short value
_MAX_MESSAGE_CHARS = 2_000


def parse_json(text: str) -> Any:
    """The JSON value in ``text``. Raises ValueError for anything else."""
    try:
        value, end = _SCAN(text, 0)
        if end != len(text):
            value, end = _SCAN(text := text.strip(" \t\r\n"), 0)
    except StopIteration:
        return _parse_padded(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(text):
        raise ValueError("text after the JSON value")
    return value


def _parse_padded(text: str) -> Any:
    """For text that does not begin with a value."""
    bare = text.strip(" \t\r\n")
    if len(bare) == len(text):
        raise ValueError("no JSON value")
    return parse_json(bare)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_count(value: Any) -> int | None:
    """A count of tokens: a whole number ≥ 0, also when sent as ``12.0`` or ``"12"``."""
    number = as_number(value)
    return int(number) if number is not None and number >= 0 and number == int(number) else None


def as_number(value: Any) -> float | int | None:
    """A finite number, also when sent as a string; a boolean is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def as_text(value: Any) -> str | None:
    """A short text for an error's code or message: strings and numbers as they are, objects as JSON."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        value = str(value) if isinstance(value, (int, float)) else json.dumps(clean_json(value), ensure_ascii=False)
    return clean_text(value[:_MAX_MESSAGE_CHARS])


def clean_text(text: str) -> str:
    """``text`` without lone surrogates, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def join_text(parts: list[str]) -> str:
    """The parts in one string; a character whose two surrogates came in two parts becomes whole."""
    text = "".join(parts)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_json(value: Any, depth: int = 16) -> Any:
    """A copy that any strict JSON writer takes: no infinities, no lone surrogates, at most ``depth`` levels."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth and isinstance(value, dict):
        return {clean_text(key): clean_json(v, depth - 1) for key, v in value.items()}
    if depth and isinstance(value, list):
        return [clean_json(v, depth - 1) for v in value]
    return None if isinstance(value, (dict, list)) else value
