"""A function of a notebook cell as grader, from asking to grading again; modules of evaluate that lie beside the card."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import speedqual
from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.errors import EvalSetError
from speedqual.evalsets import load
from speedqual.grading import base
from speedqual.grading.base import grade_all, grader_for
from speedqual.records import Answer, Candidate
from speedqual.running import Run, evaluate
from speedqual.running.judging import regrade

CARD = """---
license: cc-by-4.0
speedqual: {task: polite, prompt: "{question}", grader: GRADER, max_tokens: 20}
---
"""


def polite(text: str, item: Any) -> Any:
    return ("please" in text.lower() and item.row["question"] in text, "it must ask back politely")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "manners"
    own.mkdir()
    (own / "README.md").write_text(CARD.replace("GRADER", "exact"))
    rows = [{"id": f"q{i}", "question": f"Q{i}?", "target": {"answer": "x"}} for i in range(3)]
    (own / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return own


def _grade_command(run: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "speedqual", "grade", str(run)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    before = dict(base._registered)
    yield
    base._registered.clear()
    base._registered.update(before)


async def test_one_call_with_a_function(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_in_process({"m": Script(text="Please, Q1?", ttft_ms=1, tok_s=0)}) as server:
        who = [Candidate(name="m", model="m", base_url=server.base_url)]
        run = await evaluate(who, [folder], folder=tmp_path / "run", grader=polite, preflight=False)
    assert {key.split('"')[5]: grade.verdict for key, grade in run.grades.items()} == {
        "q0": "fail",
        "q1": "pass",
        "q2": "fail",
    }
    assert {grade.why for grade in run.grades.values()} == {"it must ask back politely"}
    assert run.evalsets[0].hash != load(folder).hash
    assert [grade.verdict for grade in regrade(Run.open(tmp_path / "run")).grades.values()].count("pass") == 1
    base._registered.clear()  # as in another process
    with pytest.raises(EvalSetError, match="judged by the function polite, which this process does not have"):
        regrade(Run.open(tmp_path / "run"))
    done = await asyncio.to_thread(_grade_command, tmp_path / "run")
    assert done.returncode == 2 and "function polite" in done.stderr and "register_function" in done.stderr
    assert len(Run.open(tmp_path / "run").grades) == 3


def test_another_function_is_another_set(folder: Path) -> None:
    def other(text: str, item: Any) -> bool:
        return True

    mine, theirs = speedqual.with_grader(load(folder), polite), speedqual.with_grader(load(folder), other)
    assert mine.hash != theirs.hash and mine.hash == speedqual.with_grader(load(folder), polite).hash
    (grade,) = grade_all(grader_for(theirs), [(Answer(text="no"), theirs.items[0])])
    assert grade.verdict == "pass"


MODULE = """
import datasets
import evaluate
from .words import WORD

class Own(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=datasets.Features(
            {"predictions": datasets.Value("string"), "references": datasets.Value("string")}))

    def _compute(self, predictions, references):
        return {"score": float(sum(WORD in p for p in predictions)) / len(predictions)}
"""


def write_module(folder: Path, word: str) -> None:
    folder.mkdir()
    (folder / f"{folder.name}.py").write_text(MODULE)
    (folder / "words.py").write_text(f"WORD = {word!r}\n")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_module_is_taken_from_the_folder_of_the_set(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    (folder / "README.md").write_text(CARD.replace("GRADER", '"evaluate:measure"'))
    write_module(folder / "measure", "right")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_module(elsewhere / "measure", "wrong")
    monkeypatch.chdir(elsewhere)
    evalset = load(folder, allow_code=True)
    assert set(evalset.grader.options["_sources"]) == {"measure.py", "words.py"}
    pairs = [(Answer(text=text), evalset.items[0]) for text in ("right", "wrong")]
    assert [grade.score for grade in grade_all(grader_for(evalset), pairs)] == [1.0, 0.0]


def test_a_module_that_is_not_in_the_folder_is_not_taken_from_here(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "README.md").write_text(CARD.replace("GRADER", '"evaluate:measure"'))
    write_module(tmp_path / "measure", "wrong")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EvalSetError, match="the set has no module measure"):
        grader_for(load(folder, allow_code=True))
    (folder / "README.md").write_text(CARD.replace("GRADER", '"evaluate:../measure"'))
    with pytest.raises(EvalSetError, match="lies outside the folder"):
        load(folder, allow_code=True)
