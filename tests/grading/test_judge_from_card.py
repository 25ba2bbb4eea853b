"""A card that says ``grader: judge`` or ``nli``: asked without grading, then graded by a model named in the shell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import load
from speedqual.grading import base
from speedqual.grading.judge import nonce_of
from speedqual.running import Run

SOURCE = "Acme was founded in 1998 in Lyon."
SAID = "Acme was founded in 1998."
ORDER = ("supported", "contradicted", "not_in_text")
CARD = """---
license: cc-by-4.0
speedqual: {task: news, prompt: "Sum up: {text}", grader: {name: judge, source: text}, max_tokens: 30}
---
"""


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    before = dict(base._registered)
    yield
    base._registered.clear()
    base._registered.update(before)


def test_a_judge_from_the_shell(tmp_path: Path, call: Callable[..., Any]) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "README.md").write_text(CARD)
    (folder / "test.jsonl").write_text(json.dumps({"id": "a", "text": SOURCE}) + "\n")
    assert load(folder).grader.options["source"] == "text"
    orders = (ORDER, ORDER[::-1])
    nonces = [nonce_of(SOURCE, SAID, order) for order in orders]
    rules = tuple(Rule(contains=nonce, text=f"It does.\nVERDICT {nonce}: supported") for nonce in nonces)
    scripts = {"m": Script(text=SAID, ttft_ms=1, tok_s=0), "wise": Script(text="?", ttft_ms=1, tok_s=0, rules=rules)}
    with serve_in_process(scripts) as server:
        run = str(tmp_path / "run")
        asked = ["run", "--model", "openai/m", "--base-url", server.base_url, "--evalset", folder, "--out", run]
        assert call(*asked, "--no-grade", "--quiet").code == 0
        refused = call("grade", run)
        assert refused.code == 2 and "no judge has been given" in refused.err and "--judge" in refused.err
        done = call("grade", run, "--judge", "openai/wise", "--judge-url", server.base_url)
    assert done.code == 0, done.err
    assert "2 requests, 0 failed" in done.err
    (grade,) = Run.open(run).grades.values()
    assert (grade.verdict, grade.grader) == ("pass", "judge")
