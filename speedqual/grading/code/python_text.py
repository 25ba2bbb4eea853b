"""Reading Python as text, in linear time and without compiling it: where strings span lines, what a block
defines and uses.
"""

from __future__ import annotations

import re

__all__ = [
    "ANCHOR",
    "STATEMENT",
    "Scan",
    "bound_names",
    "defined_names",
    "defines",
    "inside_strings",
    "signature_of",
    "used_names",
    "without_text",
]

_TOKEN = re.compile(r"'''|\"\"\"|'|\"|#|[()\[\]{}]")
_REST = {quote: re.compile(rf"(?:\\.|[^\\{quote}])*{quote}") for quote in "'\""}

ANCHOR = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:async\s+)?def\s+\w+\s*[(\[]|class\s+\w+\s*[(:\[]|@[A-Za-z_][\w.]*(?:\(.*)?$"
    r"|import\s+[\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*\s*(?:[#;].*)?$"
    r"|from\s+[\w.]+\s+import\s+(?:[\w*(]))"
)
"""A line that begins a piece of program and could hardly begin a sentence."""

_TARGET = r"[A-Za-z_]\w*(?:\.\w+|\[[^\]\n]*\])*"
STATEMENT = re.compile(
    r"(?:async\s+(?:def|with|for)\b|(?:def|class)\s+\w|@\w|import\s+\w|from\s+[\w.]+\s+import\b|if\b.*:|elif\b.*:|else\s*:"
    r"|for\b.*\bin\b.*:|while\b.*:|try\s*:|except\b.*:|finally\s*:|with\b.*:|match\b.*:|case\b.*:|return\b|raise\b|assert\b"
    r"|pass\b|del\s|global\s|nonlocal\s|yield\b|await\s|type\s+\w+.*=|#|[)\]}]|[\"'rfb]{0,2}(?:\"\"\"|''')"
    rf"|{_TARGET}(?:\s*,\s*\*?{_TARGET})*(?:\s*:\s*[^=\n]+?)?\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)"
    r"|(?:break|continue)\s*$|[A-Za-z_][\w.]*\(.*[),(:\[{]\s*(?:#.*)?$)"
)
"""A line at the left edge that can belong to a program, and that a line of prose seldom looks like."""

_DEFINITION = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]+)?=(?!=)|^import\s+([^\n#;]+)"
    r"|^from\s+[\w.]+\s+import\s+(\([^)]*\)|[^\n#;]+)",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")


class Scan:
    """Feed lines in order; ``string`` is the open triple quote after the last one, ``depth`` the open brackets."""

    def __init__(self) -> None:
        self.string = ""
        self.depth = 0

    @property
    def open(self) -> bool:
        """The next line continues the last one."""
        return bool(self.string) or self.depth > 0

    def feed(self, line: str) -> None:
        """Take in one line without its newline."""
        at = 0
        while at < len(line):
            if self.string:
                at = self._leave_string(line, at)
                continue
            found = _TOKEN.search(line, at)
            if found is None or found[0] == "#":
                return
            at = self._enter(line, found)

    def _leave_string(self, line: str, at: int) -> int:
        while at < len(line):
            if line[at] == "\\":
                at += 2
            elif line.startswith(self.string, at):
                self.string = ""
                return at + 3
            else:
                following = [where for mark in ("\\", self.string) if (where := line.find(mark, at)) >= 0]
                at = min(following, default=len(line))
        return at

    def _enter(self, line: str, found: re.Match[str]) -> int:
        token = found[0]
        if len(token) == 3:
            self.string = token
        elif token in "'\"":
            rest = _REST[token].match(line, found.end())
            return rest.end() if rest else len(line)
        else:
            self.depth = self.depth + 1 if token in "([{" else max(0, self.depth - 1)
        return found.end()


def inside_strings(lines: list[str]) -> list[bool]:
    """For each line, whether it begins inside a triple-quoted string that is closed later on."""
    scan, within, opened = Scan(), [], 0
    for at, line in enumerate(lines):
        within.append(bool(scan.string))
        before = scan.string
        scan.feed(line)
        if scan.string and not before:
            opened = at
    if scan.string:
        within[opened + 1 :] = [False] * (len(within) - opened - 1)
    return within


def defines(source: str, name: str) -> bool:
    """Whether the text defines ``name`` (the class, for ``Class.method``) at its left edge."""
    top = re.escape(name.partition(".")[0])
    pattern = rf"^(?:(?:async[ \t]+)?def[ \t]+{top}[ \t]*[(\[]|class[ \t]+{top}\b|{top}[ \t]*(?::[^=\n]+)?=(?!=))"
    return bool(top) and re.search(pattern, source, re.MULTILINE) is not None


def defined_names(source: str) -> set[str]:
    """Names bound at the left edge: functions, classes, assignments, imports."""
    names: set[str] = set()
    for function, assigned, imported, taken in _DEFINITION.findall(source):
        names.update(_WORD.findall(function) + _WORD.findall(assigned))
        for part in (imported or taken).strip("()").split(","):
            words = part.split(" as ")[-1].split()
            names.update([words[-1].partition(".")[0]] if words else [])
    return names


_NO_CODE = re.compile(
    r"(?P<f>\b[fF][rR]?|\b[rR][fF])?(?:"
    r"\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|#[^\n]*",
    re.DOTALL,
)
_USED = re.compile(r"(?<![.\w])[A-Za-z_]\w*\b(?!\s*=(?!=))")
"""A word that is neither an attribute nor the target of an assignment or the name of an argument."""
_IN_BRACES = re.compile(r"\{([^{}]*)\}")


def without_text(source: str) -> str:
    """The program without its comments and strings; of f-strings the expressions in braces stay."""

    def kept(found: re.Match[str]) -> str:
        return f" {' '.join(_IN_BRACES.findall(found[0]))} " if found["f"] else ' "" '

    return _NO_CODE.sub(kept, source)


def used_names(source: str) -> set[str]:
    """Every word of the code itself: what it may need from elsewhere. What comments and strings say needs nothing."""
    return set(_USED.findall(without_text(source)))


_BOUND = re.compile(
    r"\bdef[ \t]+\w+[ \t]*\(([^()]{0,400}(?:\([^()]{0,80}\)[^()]{0,200}){0,8})\)"  # parameters
    r"|\blambda[ \t]+([^:\n]{1,120}):|\bfor[ \t]+([^\n]{1,120}?)[ \t]+in\b|\bas[ \t]+(\w+)"
    r"|^[ \t]+(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.MULTILINE,
)


def bound_names(source: str) -> set[str]:
    """Names that functions bind for themselves: parameters, loop targets, locals. No other block gives them."""
    names: set[str] = set()
    for parameters, lambdas, targets, alias, local in _BOUND.findall(source):
        for part in (parameters or lambdas).split(","):
            names.update(_WORD.findall(re.split(r"[:=]", part, maxsplit=1)[0]))
        names.update(_WORD.findall(targets), _WORD.findall(local), [alias] if alias else [])
    return names


def signature_of(text: str, name: str) -> tuple[str, str]:
    """(what stands before it, the signature up to its colon) of the last ``def name``; empty when absent."""
    every = list(re.finditer(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{re.escape(name)}[ \t]*\(", text, re.MULTILINE))
    if not every:
        return "", ""
    found, depth = every[-1], 0
    for at in range(found.end() - 1, min(len(text), found.end() + 2000)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        if depth == 0 and text[at] == ":":
            return text[: found.start()], text[found.start() : at + 1].strip()
    return "", ""
