"""Finding a program in any language but Python: the last fence of the language, else what looks like it."""

from __future__ import annotations

import json
import re

from speedqual.grading.code.fences import fences
from speedqual.grading.code.found import Extracted, canonical_language, nothing

__all__ = ["extract_other"]

MAX_TRIES = 200
"""Brackets tried as the beginning of a JSON value: each try may read to the end."""
_BRACKET = re.compile(r"[{\[]")


def extract_other(text: str, language: str, entry_point: str) -> Extracted:
    """The program of an answer that is not empty; of several fences, the last that names the entry point."""
    if language == "json" and _is_json(text):
        return Extracted(text.strip(), "the whole answer is JSON")
    blocks = [block for block in fences(text) if block.body.strip()]
    tagged = [b for b in blocks if canonical_language(b.language) == language]
    usable = tagged or [b for b in blocks if not b.language]
    word = re.compile(rf"\b{re.escape(entry_point)}\b") if entry_point else None
    naming = [b for b in usable if word and word.search(b.body)]
    picked = (naming or usable)[-1:]
    if picked:
        how = "the last fence of the language" if tagged else "the last fence without a language"
        return Extracted(picked[0].body, how, cut=not picked[0].closed)
    if blocks:
        return nothing(text, blocks)
    body = _loose(re.sub(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*$", "", text, flags=re.MULTILINE), language)
    if body:
        return Extracted(body, "the answer without a fence")
    return nothing(text, blocks)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_CODE_SIGNS: dict[str, str] = {
    "json": r"[{\[]",
    "html": r"<(?:!doctype|[a-z][a-z0-9]*[\s>/])",
    "css": r"[^{}\n]+\{",
    "yaml": r"(?:---|[\w\"' -]+:(?:\s|$)|- )",
    "toml": r"(?:\[|[\w.\"-]+\s*=)",
    "sql": r"(?:select|insert|update|delete|create|with|drop|alter|pragma|explain)\b",
    "bash": r"(?:#!|[a-z_]\w*\(\)|if\b|for\b|while\b|echo\b|set\b|\w+=|[a-z][\w./-]*(?:\s|$))",
    "go": r"(?:package|func|import|type|var|const)\b",
    "rust": r"(?:pub|fn|use|struct|enum|impl|mod|trait|const|static|#\[)",
    "java": r"(?:import|package|public|class|interface|enum|record|final|abstract|@)",
    "c": r"(?:#\s*include|#\s*define|//|/\*|[a-z_][\w\s*]*\w+\s*\(|typedef|struct)",
    "c++": r"(?:#\s*include|#\s*define|//|/\*|[a-z_][\w\s*:<>]*\w+\s*\(|typedef|struct|class|template|namespace|using)",
    "glsl": r"(?:#\s*version|precision|uniform|varying|attribute|in\b|out\b|void\b|vec\d|float|layout|//)",
    "javascript": r"(?:(?:import|export|function|async|const|let|var|class)\b|//|/\*|\(|document|window|console)",
    "typescript": r"(?:(?:import|export|function|async|const|let|var|class|interface|type|enum|declare)\b|//|/\*)",
}


def _json_in(text: str) -> str:
    """The last complete value in prose; when there is none, from the first bracket to the last, broken as it is."""
    decoder, found, at = json.JSONDecoder(), "", 0
    for _ in range(MAX_TRIES):
        start = _BRACKET.search(text, at)
        if start is None:
            break
        try:
            _, end = decoder.raw_decode(text, start.start())
            found = text[start.start() : end]
        except (ValueError, RecursionError):
            end = start.end()
        at = end
    first = _BRACKET.search(text)
    if found or first is None:
        return found
    last = max(text.rfind("}"), text.rfind("]"))
    return text[first.start() : last + 1] if last > first.start() else text[first.start() :]


def _loose(text: str, language: str) -> str:
    """From the first line that looks like the language to the end; a trailing paragraph of prose goes."""
    if language == "json":
        return _json_in(text)
    sign = re.compile(_CODE_SIGNS.get(language, r"\S"), re.IGNORECASE)
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if sign.match(line.strip())), None)
    if first is None:
        return ""
    body = "\n".join(lines[first:]).strip("\n")
    if language == "html":
        end = body.rfind(">")
        return body[: end + 1] if end >= 0 else body
    return body
