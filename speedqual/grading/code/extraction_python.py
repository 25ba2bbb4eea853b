"""Finding a Python program in an answer. Pure text: nothing is compiled or run here, and time is linear in the answer.

Rules, in order: the last fence that defines the entry point, with what it needs from other fences;
prose between two different definitions decides whether the choice was clear; without a fence, the runs of lines
that begin like a program; without a definition, a bare body under the prompt's own signature.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from speedqual.grading.code.fences import Fence, fences
from speedqual.grading.code.found import Extracted, canonical_language, nothing
from speedqual.grading.code.python_text import (
    ANCHOR,
    STATEMENT,
    Scan,
    bound_names,
    defined_names,
    defines,
    inside_strings,
    signature_of,
    used_names,
    without_text,
)

__all__ = ["extract_python", "is_program"]

_DRAFT = re.compile(
    r"\b(?:first (?:try|attempt|version|idea)|draft|initial(?:ly)?|na[iï]ve|sketch)\b|初稿|草稿|尝试", re.IGNORECASE
)
_FINAL = re.compile(
    r"\b(?:fix(?:ed)?|final(?:ly)?|correct(?:ed|ion)?|better|improved?|updated?|revised?|instead|wrong|mistake|bug|actually|"
    r"oops|refactored|optimi[sz]ed|cleaner|complete|full)\b|修正|更正|最终|改进|正确|错误|优化|完整",
    re.IGNORECASE,
)


def extract_python(text: str, entry_point: str, prompts: Sequence[str]) -> Extracted:
    """The program of an answer that is not empty; ``prompts`` may hold the entry point's signature."""
    prompt = next((p for p in prompts if entry_point and signature_of(p, entry_point)[1]), "")
    blocks = [] if is_program(text) else [b for b in fences(text, Scan) if b.body.strip()]
    code = [b for b in blocks if canonical_language(b.language) == "python"]
    plain = [b for b in blocks if not b.language and _looks_like_code(b.body, entry_point)]
    chosen = _choose(text, [b for b in blocks if b in code or b in plain], entry_point, prompt)
    if chosen is not None:
        return _unless_empty(chosen)
    without = (
        _without_blocks(text, blocks) if blocks else re.sub(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*$", "", text, flags=re.M)
    )
    loose = _unfenced(without, entry_point, prompt)
    if loose is not None:
        return loose
    return nothing(text, blocks)


def _unless_empty(found: Extracted) -> Extracted:
    """A block of comments alone is no program."""
    if without_text(found.source).replace('""', "").strip():
        return found
    return Extracted(failure="no_code", how="the code block holds comments alone")


def is_program(text: str) -> bool:
    """The whole answer is a program: it begins like one, and each fence mark in it lies within a string."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    marks = [at for at, line in enumerate(lines) if line.lstrip().startswith(("```", "~~~"))]
    if not marks or not (ANCHOR.match(first) or first.startswith(('"""', "#!"))):
        return False
    within = inside_strings(lines)
    return all(within[at] for at in marks)


def _looks_like_code(body: str, entry_point: str) -> bool:
    lines = body.split("\n")
    return (
        defines(textwrap.dedent(body), entry_point)
        or any(ANCHOR.match(line) for line in lines)
        or bool(re.search(r"^[ \t]+return\b", body, re.MULTILINE))
    )


def _choose(text: str, code: list[Fence], entry_point: str, prompt: str) -> Extracted | None:
    """The last block that defines the entry point, joined with what it needs; else the last that defines anything."""
    if not code:
        return None
    bodies = [_dedented(block.body) for block in code]
    defining = [at for at, body in enumerate(bodies) if entry_point and defines(body, entry_point)]
    if not defining:
        return _without_definition(code, bodies, entry_point, prompt)
    at = defining[-1]
    prelude = _prelude(prompt, entry_point)
    parts = _needed(at, bodies, entry_point, prelude)
    flags = ["ambiguous"] if _is_ambiguous(text, code, bodies, defining) else []
    how = "the only fence that defines" if len(defining) == 1 else "the last fence that defines"
    joined = f", joined with {len(parts) - 1} more" if len(parts) > 1 else ""
    alone = "\n\n".join(part for part in parts if part is bodies[at] or part in prelude)
    return Extracted(
        "\n\n".join(parts),
        f"{how} {entry_point}{joined}",
        tuple(flags),
        cut=not code[at].closed,
        alone=alone if joined else "",
    )


def _without_definition(code: list[Fence], bodies: list[str], entry_point: str, prompt: str) -> Extracted:
    under = [_under_signature(block.body, entry_point, prompt) for block in code]
    for block, program in zip(reversed(code), reversed(under), strict=True):
        if program and not re.search(r"^(?:def|class)\b", block.body, re.MULTILINE):
            return Extracted(program, "a bare body under the prompt's signature", cut=not block.closed)
    at = max((i for i, body in enumerate(bodies) if defined_names(body)), default=len(bodies) - 1)
    parts = _needed(at, bodies, entry_point, [])
    return Extracted("\n\n".join(parts), "the last fence that defines anything", cut=not code[at].closed)


def _needed(at: int, bodies: list[str], entry_point: str, prelude: list[str]) -> list[str]:
    """The chosen block and, in order, the others whose names it uses and does not define; drafts of it never."""
    pool = [*prelude, *bodies]
    at += len(prelude)
    taken = {at}
    while True:
        have = set().union(*(defined_names(pool[i]) | bound_names(pool[i]) for i in taken))
        missing = set().union(*(used_names(pool[i]) for i in taken)) - have
        more = [
            i
            for i, body in enumerate(pool)
            if i not in taken and defined_names(body) & missing and not (entry_point and defines(body, entry_point))
        ]
        if not more:
            return [pool[i] for i in sorted(taken)]
        taken.add(more[-1])


def _prelude(prompt: str, entry_point: str) -> list[str]:
    """What a prompt that is itself a program defines before the entry point: imports and helpers."""
    before = signature_of(prompt, entry_point)[0]
    first = next((line for line in before.split("\n") if line.strip()), "")
    return [before.strip("\n")] if ANCHOR.match(first) else []


def _is_ambiguous(text: str, code: list[Fence], bodies: list[str], defining: list[int]) -> bool:
    """Two different definitions, and no word between or before them that says which one is meant."""
    if len({re.sub(r"\s+", " ", bodies[at]).strip() for at in defining}) < 2:
        return False
    lines = text.split("\n")
    before = lines[: code[defining[0]].first_line]
    between = lines[code[defining[0]].last_line + 1 : code[defining[-1]].first_line]
    return not (_DRAFT.search("\n".join(before[-3:])) or _FINAL.search("\n".join(between)))


def _under_signature(body: str, entry_point: str, prompt: str) -> str:
    """``return x`` alone, under the signature that the prompt gave; empty when this is no bare body."""
    _, signature = signature_of(prompt, entry_point)
    lines = _dedented(body).split("\n")
    edge = [line for line in lines if line.strip() and not line[0].isspace()]
    if not signature or not any(re.match(r"(?:return|yield|raise)\b", line.strip()) for line in lines):
        return ""
    if not edge or not _all_statements(lines):
        return ""
    first = next((line for line in prompt.split("\n") if line.strip()), "")
    head = (
        prompt.rstrip() if ANCHOR.match(first) else signature
    )  # a prompt that is a program goes on in its last function
    return f"{head}\n" + textwrap.indent("\n".join(lines), "    ")


def _unfenced(text: str, entry_point: str, prompt: str) -> Extracted | None:
    """Programs between lines of prose, as if each stood in a fence of its own."""
    lines = text.split("\n")
    edge = [line for line in lines if line.strip() and not line[0].isspace()]
    if edge and _all_statements(lines) and any(map(ANCHOR.match, lines)):
        source = text.strip("\n")
        whose = f" and defines {entry_point}" if defines(source, entry_point) else ""
        return Extracted(source, f"the whole answer, which is a program{whose}")
    if not defines(_dedented(text), entry_point):
        bare = _under_signature(text, entry_point, prompt)
        if bare:
            return Extracted(bare, "a bare body under the prompt's signature")
    found = _runs(lines, entry_point)
    if not found:
        return None
    picked = _choose(text, found, entry_point, prompt)
    if picked is None:
        return None
    return replace(picked, how=picked.how.replace("fence", "unfenced piece"), cut=False)


def _all_statements(lines: list[str]) -> bool:
    """No line at the left edge reads like prose."""
    scan = Scan()
    for line in lines:
        if line.strip() and not scan.open and not line[0].isspace() and not STATEMENT.match(line):
            return False
        scan.feed(line)
    return not scan.open


def _runs(lines: list[str], entry_point: str) -> list[Fence]:
    runs: list[Fence] = []
    at = 0
    while at < len(lines):
        anchor = ANCHOR.match(lines[at])
        if anchor is None and not (entry_point and defines(lines[at], entry_point)):
            at += 1
            continue
        floor = runs[-1].last_line + 1 if runs else 0
        first = _start_of_run(lines, at, floor)
        last = _end_of_run(lines, at, len(anchor["indent"]) if anchor else 0)
        body = "\n".join(lines[first : last + 1])
        runs.append(Fence("python", body, first, last, closed=last < _last_filled(lines)))
        at = last + 1
    return _merged(runs, lines)


def _merged(runs: list[Fence], lines: list[str]) -> list[Fence]:
    """Pieces with nothing but blank lines between them are one."""
    merged: list[Fence] = []
    for run in runs:
        if merged and not any(line.strip() for line in lines[merged[-1].last_line + 1 : run.first_line]):
            first = merged.pop().first_line
            run = Fence("python", "\n".join(lines[first : run.last_line + 1]), first, run.last_line, run.closed)
        merged.append(run)
    return merged


def _last_filled(lines: list[str]) -> int:
    return max((at for at, line in enumerate(lines) if line.strip()), default=0)


def _start_of_run(lines: list[str], at: int, floor: int) -> int:
    """Constants and comments right above the first definition belong to it."""
    first = at
    while first > floor and (not lines[first - 1].strip() or re.match(r"[A-Z_a-z]\w*\s*=\s*\S|#", lines[first - 1])):
        first -= 1
    while first < at and not lines[first].strip():
        first += 1
    return first


def _end_of_run(lines: list[str], at: int, indent: int) -> int:
    scan, last = Scan(), at
    for number in range(at, len(lines)):
        line = lines[number]
        if not line.strip():
            scan.feed(line)
            continue
        deep = len(line) - len(line.lstrip()) > indent
        if not (scan.open or deep or STATEMENT.match(line[indent:])):
            break
        if not deep and ANCHOR.match(line):
            scan = Scan()  # a bracket left open above must not swallow the rest
        scan.feed(line)
        last = number
    return last


def _dedented(body: str) -> str:
    return textwrap.dedent(body).strip("\n")


def _without_blocks(text: str, blocks: list[Fence]) -> str:
    lines = text.split("\n")
    for block in blocks:
        lines[block.first_line : block.last_line + 1] = [""] * (block.last_line + 1 - block.first_line)
    return "\n".join(lines)
