"""The graders as ``evaluate`` modules, and ``evaluate`` modules as graders: both ways give equal results."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from speedqual.errors import EvalSetError, GraderError, RefusedError
from speedqual.grading.adapters import EvaluateGrader, as_grader, module_path
from speedqual.grading.base import grade_all, grader_for
from speedqual.grading.evaluating import compute, grades_of
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

ROWS: dict[str, tuple[list[str], list[dict[str, Any]]]] = {
    "extraction": (
        ['{"a": 1}', '{"a": 2, "b": 3}', "no idea"],
        [{"target": {"a": 1}}, {"target": {"a": 1}}, {"target": {"a": 1}}],
    ),
    "facts": (
        ["52 people.", "53", "I can't help with that."],
        [{"facts": [{"id": "n", "value": 52}], "context": "The bus holds 52 people.", "question": "How many?"}] * 3,
    ),
    "code": (
        ["def f(x):\n    return x", "def f(x) return x", ""],
        [{"tests": {"entry_point": "f", "cases": [{"args": [1], "expect": 1}]}}] * 3,
    ),
}


@pytest.fixture
def evaluate_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    import evaluate

    return evaluate


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["extraction", "facts", "code"])
def test_a_module_gives_what_the_grader_gives(name: str, evaluate_module: Any) -> None:
    predictions, rows = ROWS[name]
    references = [json.dumps(row) for row in rows]
    metric = evaluate_module.load(str(module_path(name)), keep_in_memory=True)
    got = metric.compute(predictions=predictions, references=references)
    assert got == compute(name, predictions, references)
    grades, _ = grades_of(name, predictions, references, None)
    assert got["scores"] == [g.score for g in grades]
    assert got["verdicts"] == [g.verdict for g in grades]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_modules_combine(evaluate_module: Any) -> None:
    row = json.dumps({"target": {"n": 52}, "facts": [{"id": "n", "value": 52}]})
    both = evaluate_module.combine([str(module_path("extraction")), str(module_path("facts"))])
    got = both.compute(predictions=['{"n": 52}'], references=[row])
    assert got["Extraction_pass_rate" if "Extraction_pass_rate" in got else "extraction_pass_rate"] == 1.0
    assert got["fact_recall"] == 1.0


def test_a_reference_may_be_the_target_alone() -> None:
    assert compute("extraction", ['{"a": 1}'], ['{"a": 1}'])["micro_f1"] == 1.0
    assert compute("extraction", ['{"a": "1,0"}'], ['{"a": 1}'], {"fields": {"a": "number"}})["micro_f1"] == 0.0


# -------------------------------------------------------------------------------------------- functions


def item(answer: Any = "29", **row: Any) -> Item:
    return Item(id="1", row=row, target={"answer": answer})


@pytest.mark.parametrize(
    ("result", "score", "verdict"),
    [
        (True, 1.0, "pass"),
        (False, 0.0, "fail"),
        (0.5, 0.5, "partial"),
        (1, 1.0, "pass"),
        ((0.0, "no"), 0.0, "fail"),
        ({"score": 1.0, "why": "yes"}, 1.0, "pass"),
        (None, None, "not_graded"),
        (Grade(score=1.0, verdict="pass"), 1.0, "pass"),
    ],
)
def test_what_a_function_may_return(result: Any, score: float | None, verdict: str) -> None:
    def mine(answer: Answer, item: Item) -> Any:
        return result

    got = as_grader(mine)(Answer(text="x"), item())
    assert (got.score, got.verdict, got.grader) == (score, verdict, "mine")


@pytest.mark.parametrize("result", [2, -1, "yes", float("nan"), [1]])
def test_anything_else_is_a_grader_fault(result: Any) -> None:
    grader = as_grader(lambda answer, item: result)
    with pytest.raises(GraderError):
        grader(Answer(text="x"), item())
    assert grade_all(grader, [(Answer(text="x"), item())])[0].failure == "grader_error"


def test_a_function_of_the_text() -> None:
    grader = as_grader(lambda text, item: text == item.target["answer"])
    assert grader(Answer(text="<think>28</think>29"), item()).verdict == "pass"


def evalset(name: str, **options: Any) -> EvalSet:
    return EvalSet(name="t", task="t", items=(), grader=GraderSpec(name=name, options=options))


SOURCE = "def grade(answer, item):\n    return answer.text == item.target['answer']\n"


def test_the_sets_own_grader_runs_only_when_allowed() -> None:
    allowed = grader_for(evalset("file:grader.py", _file="grader.py", _source=SOURCE, _allow_code=True))
    assert allowed(Answer(text="29"), item()).verdict == "pass"
    with pytest.raises(RefusedError, match="allow-code"):
        grader_for(evalset("file:grader.py", _file="grader.py", _source=SOURCE))
    with pytest.raises(RefusedError, match="allow-code"):
        grader_for(evalset("evaluate:somewhere"))


@pytest.mark.parametrize(
    ("source", "message"),
    [("x = 1", "no function grade"), ("def grade(:", "SyntaxError"), ("1/0", "ZeroDivisionError")],
)
def test_a_broken_grader_says_where(source: str, message: str) -> None:
    with pytest.raises(EvalSetError, match=message):
        grader_for(evalset("file:grader.py", _file="grader.py", _source=source, _allow_code=True))


# ------------------------------------------------------------------------------- any module of evaluate

METRIC = """
import datasets
import evaluate

class Same(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=datasets.Features(
            {"predictions": datasets.Value("DTYPE"), "references": datasets.Value("DTYPE")}))

    def _compute(self, predictions, references):
        hits = [float(p == r) for p, r in zip(predictions, references)]
        return {"same": sum(hits) / len(hits) * SCALE, "n": len(hits)EXTRA}
"""


def metric(folder: Path, *, dtype: str = "string", scale: str = "1", extra: str = "") -> str:
    source = textwrap.dedent(METRIC).replace("DTYPE", dtype).replace("SCALE", scale).replace("EXTRA", extra)
    (folder / "same").mkdir()
    (folder / "same" / "same.py").write_text(source, encoding="utf-8")
    return str(folder / "same")


PAIRS = [(Answer(text=t), item("29")) for t in ("29", "30", " 29 ")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_any_module_is_a_grader(evaluate_module: Any, tmp_path: Path) -> None:
    path = metric(tmp_path)
    grader = grader_for(evalset(f"evaluate:{path}", _allow_code=True))
    got = grade_all(grader, PAIRS)
    assert [g.score for g in got] == [1.0, 0.0, 1.0]
    assert got[0].parts["over_all_rows"]["same"] == pytest.approx(2 / 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_numbers_per_cent_and_single_results(evaluate_module: Any, tmp_path: Path) -> None:
    path = metric(tmp_path, dtype="int32", scale="100", extra=', "each": [h * 100 for h in hits]')
    calls = []

    def load() -> Any:
        calls.append(1)
        return evaluate_module.load(path, keep_in_memory=True)

    grader = EvaluateGrader(load, key="same", scale=100)
    pairs = [(Answer(text=f"about {n} clips"), item(29)) for n in (29, 30)]
    assert [g.score for g in grader.grade_batch(pairs)] == [1.0, 0.0]
    assert len(calls) == 1
    assert grader(*pairs[0]).score == 1.0
