"""Every code block of the README and of the documentation does what it says: run on scripted models, or at least read.

The blocks of a page are run in their order, in one empty folder that holds what the page takes for granted (``HAVE``).
``http://127.0.0.1:8000`` is a scripted endpoint. A hosted model is asked with ``--dry-run`` alone, and so is a load test. What cannot be run
here stands in ``NOT_RUN`` with its reason, and is parsed.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from command import Call

from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import load
from speedqual.records import Candidate
from speedqual.running import run_sync

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<lang>[\w-]*)(?P<head>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
ADDRESS = "http://127.0.0.1:8000/v1"
PLANNED = ("openai/gpt", "anthropic/", "openai/NAME", "speedqual load ")
"""Lines that are only planned: hosted models cost money, load takes its time."""
FREE = {"make", "pip", "export", "cd", "git", "python", "eval", "source"}
"""Commands of a shell that are not ours: their targets are looked at, they are not run."""

NOT_RUN = {
    "from speedqual.grading import judge": "it asks a judge model that the reader brings",
    "def grade(answer, item)": "it is a file of an eval set, shown by itself",
    "speedqual quickstart": "it fetches a model; CI runs it as make quickstart",
}
GOOD = (0, 1, 4, 5)
"""Exit codes of a command that did its work: good, a gate that failed, some trials failed, inconclusive."""


@dataclass(frozen=True)
class Block:
    """A fenced block and where it begins."""

    page: str
    line: int
    lang: str
    title: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        title = TITLE.search(found["head"])
        line = text[: found.start()].count("\n") + 1
        yield Block(page.name, line, found["lang"], title[1] if title else "", found["text"])


def commands(text: str) -> list[str]:
    """The lines of a shell block, comments gone, continued lines joined."""
    joined = text.replace("\\\n", " ")
    return [line for line in (re.sub(r"(^|\s)#\s.*$", "", row).strip() for row in joined.splitlines()) if line]


RULES = tuple(Rule(contains=f"number {i} ", text=json.dumps({"n": i})) for i in range(8))
SCRIPTS = {
    "small": Script(ttft_ms=1, tok_s=0, rules=RULES[:4], text="no idea"),
    "large": Script(ttft_ms=3, tok_s=0, rules=RULES, text='{"total": 99.5}'),
    "my-model": Script(ttft_ms=1, tok_s=0, text='{"total": 99.5, "currency": "EUR"}'),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve_in_process(SCRIPTS) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def measured(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of small and large on eight items, and the set that they were asked."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "my-set").mkdir()
    rows = [{"id": f"i{i}", "text": f"number {i} of 8", "target": {"n": i}, "tier": "ab"[i % 2]} for i in range(8)]
    (folder / "my-set" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = [Candidate(name=name, model=name, base_url=address) for name in ("small", "large")]
    run_sync(asked, [load(folder / "my-set")], folder=folder / "run", preflight=False)
    return folder


@pytest.fixture
def here(tmp_path: Path, measured: Path, address: str) -> Path:
    """What the pages take for granted: runs of these names, settings, tables to import, an answer, a set of one's own."""
    for name in ("RUN", "BASE", "NEW", "runs/20260101-120000-abcdef", "runs/20260102-120000-fedcba"):
        shutil.copytree(measured / "run", tmp_path / name)
    shutil.copytree(measured / "my-set", tmp_path / "my-set")
    rows = [{"id": f"row-{i}", "text": f"Total {i} EUR", "total": i, "currency": "EUR"} for i in range(1, 9)]
    pd.DataFrame(rows).to_csv(tmp_path / "invoices.csv", index=False)
    pd.DataFrame({"question": ["1+1?", "1+2?"], "answer": ["2", "3"]}).to_parquet(tmp_path / "questions.parquet")
    (tmp_path / "answer.txt").write_text('{"total": 1, "currency": "EUR"}')
    known = [f'[candidates.{name}]\nmodel = "{name}"\nbase_url = "{address}"\n' for name in ("small", "large")]
    (tmp_path / "speedqual.toml").write_text("".join(known))
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(300)  # a page of many commands, on a machine that may be busy
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_in_their_order(page: Path, here: Path, address: str, call: Call) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        where = f"{block.page}:{block.line}"
        text = block.text.replace(ADDRESS, address)
        if block.title:
            (here / block.title).write_text(text, encoding="utf-8")
        if block.lang == "python":
            run_python(text, names, where)
        elif block.lang in ("sh", "bash", ""):
            for line in commands(text):
                run_shell(line, call, where)
        elif block.lang == "toml":
            tomllib.loads(text)
        elif block.lang == "yaml":
            assert list(yaml.safe_load_all(text)), where
        elif block.lang == "json":
            json.loads(text)
        else:
            assert block.lang in ("text", "csv", "markdown"), f"{where}: nobody checks a block of {block.lang!r}"


def run_python(text: str, names: dict[str, Any], where: str) -> None:
    """As a notebook runs it: names are kept from block to block, ``await`` may stand at the top."""
    code = compile(text, where, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if any(text.startswith(opening) for opening in NOT_RUN):
        return
    found = eval(code, names)
    if asyncio.iscoroutine(found):
        asyncio.run(found)


def run_shell(line: str, call: Call, where: str) -> None:
    words = shlex.split(line)
    if words[0] in FREE:
        check_other(words, where)
        return
    assert words[0] == "speedqual", f"{where}: nobody checks {words[0]!r}"
    if any(line.startswith(opening) for opening in NOT_RUN):
        said = call(*words[1:2], "--help")
        assert said.code == 0 and all(w in said.out for w in words if w.startswith("--")), f"{where}: {line}"
        return
    if any(part in line for part in PLANNED) and "--dry-run" not in words:
        words.append("--dry-run")
    said = call(*words[1:])
    assert said.code in GOOD, f"{where}: {line}\n{said.out}\n{said.err}"


def check_other(words: list[str], where: str) -> None:
    """A make target is there; an extra that is installed is there."""
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert words[1] in targets, f"{where}: no target {words[1]}"
    if words[0] == "pip":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = re.findall(r"\[([\w,]+)\]", " ".join(words))
        asked = {extra for group in extras for extra in group.split(",")}
        assert asked <= set(project["optional-dependencies"]), f"{where}: unknown extra"


def test_every_reason_not_to_run_is_still_needed() -> None:
    every = [text for page in PAGES for block in blocks(page) for text in (block.text, *commands(block.text))]
    unused = [opening for opening in NOT_RUN if not any(text.startswith(opening) for text in every)]
    assert unused == []


def test_no_block_hides_by_being_indented() -> None:
    for page in PAGES:
        bare = BLOCK.sub("", page.read_text(encoding="utf-8"))
        assert not re.search(r"(?:^|\n\n) {4}\S", bare), f"{page.name}: fence its code, so that it is run"
