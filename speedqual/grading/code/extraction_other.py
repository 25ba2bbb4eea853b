"""Finding a program in any language but Python: the last fence of the language, else what looks like it."""

from __future__ import annotations

import json
import re

from speedqual.grading.code.fences import Fence, fences
from speedqual.grading.code.found import Extracted, canonical_language, nothing

__all__ = ["extract_other"]

MAX_TRIES = 200
"""Brackets tried as the beginning of a JSON value: each try may read to the end."""
_DEFINES = (
    r"\b(?:function\*?|func|fn|class|struct|enum|interface|trait|record|type|union|def|typedef|module|namespace)"
    r"[ \t]+(?:\([^)\n]*\)[ \t]*)?{name}\b"  # Go's receiver stands before the name
    r"|\b(?:const|let|var|static|auto)\b[^=;\n]*\b{name}\b\s*(?::[^=\n]+)?=(?!=)"
    r"|^[ \t]*(?:export[ \t]+(?:default[ \t]+)?)?(?:[\w.]+\.)?{name}[ \t]*=(?![=>])"
    r"|^[ \t]*(?:[A-Za-z_][\w:<>,&*\[\]. \t]*[ \t&*])?{name}[ \t]*\([^;{{}}]*\)[^;{{}}()=]*\{{"
    r"|\b(?i:create)\b[^;\n]*\b{name}\b"
)
"""What defines a name in the languages that are not Python: words of definition, assignments, a name before
parameters and a brace (C, Java, methods, Bash), SQL's create."""
_BRACKET = re.compile(r"[{\[]")


def extract_other(text: str, language: str, entry_point: str) -> Extracted:
    """The program of an answer that is not empty; of several fences, the last that names the entry point."""
    if language == "json" and _is_json(text):
        return Extracted(text.strip(), "the whole answer is JSON")
    blocks = [block for block in fences(text) if block.body.strip()]
    tagged = [b for b in blocks if canonical_language(b.language) == language]
    usable = tagged or [b for b in blocks if not b.language]
    if usable:
        picked, what = _last_of(usable, entry_point)
        how = f"the last fence {what}" + ("of the language" if tagged else "without a language")
        return Extracted(picked.body, how, cut=not picked.closed)
    if blocks:
        return nothing(text, blocks)
    body = _loose(re.sub(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*$", "", text, flags=re.MULTILINE), language)
    if body:
        return Extracted(body, "the answer without a fence")
    return nothing(text, blocks)


def _last_of(blocks: list[Fence], name: str) -> tuple[Fence, str]:
    """The last block that defines the name, else the last that says it, else the last of all; how it was chosen."""
    if name:
        word = re.escape(name)
        defines = re.compile(_DEFINES.format(name=word), re.MULTILINE)
        says = re.compile(rf"\b{word}\b")
        for pattern, what in ((defines, f"that defines {name}, "), (says, f"that names {name}, ")):
            found = [block for block in blocks if pattern.search(block.body)]
            if found:
                return found[-1], what
    return blocks[-1], ""


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
