"""Read JSON Lines strictly, so that each slip is named with its line and column.

The standard ``json`` module is used, never a dataframe reader: those turn "007" into 7 and date-like text into dates.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speedqual.evalsets.problems import Findings

__all__ = ["MAX_BYTES", "Row", "parse", "read"]

MAX_BYTES = 256 * 1024 * 1024
"""Larger files are refused: every request would be sent from them, and they are read into memory."""

_MAX_ERRORS = 20  # a file of another kind is wrong in every line; the first ones say it


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object and the line it stands on, counted from 1."""

    line: int
    data: dict[str, Any]


def read(path: Path, where: str, findings: Findings) -> list[Row]:
    """The rows of the file; what is wrong goes to ``findings`` under the name ``where``."""
    try:
        if path.stat().st_size > MAX_BYTES:
            size = path.stat().st_size // 2**20
            findings.error(
                where, f"the file is {size} MiB, more than {MAX_BYTES // 2**20}", "Take a sample of its rows"
            )
            return []
        raw = path.read_bytes()
    except OSError as fault:
        findings.error(where, f"the file cannot be read ({fault.strerror})", "Check that it exists and is readable")
        return []
    return parse(raw, where, findings)


def parse(raw: bytes, where: str, findings: Findings) -> list[Row]:
    """Rows of the bytes of a JSON Lines file. A byte order mark, CRLF and empty lines are allowed."""
    text = _decode(raw, where, findings)
    if text is None or _is_other_format(text, where, findings):
        return []
    rows: list[Row] = []
    n_before = len(findings.errors)
    lines = text.removesuffix("\n").split("\n")
    _say_empty(lines, where, findings)
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        data = _object(line, f"{where}:{number}", findings)
        if data is not None:
            rows.append(Row(number, data))
        elif len(findings.errors) - n_before >= _MAX_ERRORS:
            findings.error(f"{where}:{number}", f"{_MAX_ERRORS} lines are wrong; the rest was not read")
            return rows
    if not rows and len(findings.errors) == n_before:
        findings.error(where, "the file has no rows", "Write one JSON object a line")
    return rows


def _decode(raw: bytes, where: str, findings: Findings) -> str | None:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        findings.error(f"{where}:1", "the file is UTF-16", "Save it as UTF-8")
        return None
    if raw.startswith(b"\xef\xbb\xbf"):
        findings.warn(f"{where}:1", "the file begins with a byte order mark", "Save it as UTF-8 without BOM")
        raw = raw[3:]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        column = fault.start - raw.rfind(b"\n", 0, fault.start)
        what = f"byte 0x{raw[fault.start]:02x} is not UTF-8"
        findings.error(f"{where}:{line}:{column}", what, "Save the file as UTF-8 (it may be GBK or Latin-1)")
        return None


def _say_empty(lines: list[str], where: str, findings: Findings) -> None:
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty and len(empty) < len(lines):
        more = f", as are {len(empty) - 1} more" if len(empty) > 1 else ""
        what = f"the line is empty{more}; other dataset readers fail at it"
        findings.warn(f"{where}:{empty[0]}", what, "Remove it")


def _is_other_format(text: str, where: str, findings: Findings) -> bool:
    head = text[:4096].lstrip()
    if head.startswith("["):
        findings.error(
            f"{where}:1:1", "the file is one JSON array, not JSON Lines", "Write one object a line, no commas"
        )
        return True
    if head.split("\n", 1)[0].strip() in {"{", '{"'}:
        what = "the object is spread over several lines"
        findings.error(f"{where}:1:1", what, "Write each object on one line (jq -c . FILE does it)")
        return True
    return False


class _Slip(ValueError):
    """Valid for a lenient JSON parser, not for us."""


def _object(line: str, where: str, findings: Findings) -> dict[str, Any] | None:
    try:
        data = _DECODER.decode(line.strip())
        if "\\ud" in line or "\\uD" in line:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as fault:
        indent = len(line) - len(line.lstrip())
        findings.error(f"{where}:{fault.colno + indent}", f"invalid JSON: {fault.msg.lower()}", _hint(line, fault))
        return None
    except _Slip as fault:
        findings.error(where, str(fault), "Write the row as strict JSON")
        return None
    except UnicodeEncodeError:
        findings.error(where, "half of a surrogate pair (\\ud800 to \\udfff)", "Write the character itself in UTF-8")
        return None
    except (RecursionError, ValueError):
        findings.error(where, "the JSON is too deep or has a number that is too long", "Make the row simpler")
        return None
    if not isinstance(data, dict):
        findings.error(where, f"the row is {_kind(data)}, not an object", 'Write {"id": …, …}')
        return None
    return data


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _hint(line: str, fault: json.JSONDecodeError) -> str:
    rest = line.lstrip()[fault.pos :]
    if fault.msg == "Extra data":
        return "Write one object a line"
    if rest.startswith("'"):
        return "Use double quotes"
    if rest[:1] in {"}", "]"} or "trailing comma" in fault.msg:
        return "Remove the comma before it"
    if rest.startswith(("True", "False", "None")):
        return "Write true, false or null"
    if "control character" in fault.msg:
        return "Write line breaks and tabs inside strings as \\n and \\t"
    return "Write the row as strict JSON"


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Slip(f"the key {twice!r} stands twice in one object")
    return data


def _no_constant(name: str) -> Any:
    raise _Slip(f"{name} is not JSON")


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise _Slip(f"the number {text[:20]} is too large")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite)
