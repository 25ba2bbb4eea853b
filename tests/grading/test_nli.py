"""The NLI option, on stand-ins: a model made of words, a graph made here, a hub served here, a fake transformers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from speedqual.errors import ConfigError, EvalSetError, MissingDependencyError
from speedqual.grading import nli, nlimodels
from speedqual.grading.base import grade_all, grader_for
from speedqual.grading.calibrate import support_signal
from speedqual.grading.nli import NliGrader, entailment
from speedqual.grading.nlimodels import Probabilities, label_order, load
from speedqual.records import Answer, EvalSet, GraderSpec, Item

SOURCE = "Acme was founded in 1998. It is in Lyon. " + "It sells machines. " * 12 + "Its head is Ana."
CONFIG = {"id2label": {"0": "CONTRADICTION", "1": "entailment", "2": "Neutral"}}


def by_words(premise: str, hypothesis: str) -> Probabilities:
    """Entails what it holds, contradicts what says "never"."""
    if hypothesis.rstrip(".") in premise:
        return Probabilities(0.9, 0.08, 0.02)
    return Probabilities(0.05, 0.05, 0.9) if "never" in hypothesis else Probabilities(0.1, 0.8, 0.1)


@pytest.mark.parametrize(
    ("text", "score", "lenient", "failure"),
    [
        ("It is in Lyon.", 1.0, 1.0, "none"),
        ("Its head is Ana.", 1.0, 1.0, "none"),  # the last window is read too
        ("It is in Lyon. It is rich.", 0.5, 0.5, "unsupported"),
        ("It is in Lyon. It never sold.", 0.0, 0.5, "contradicted"),
        ("", 0.0, 0.0, "no_answer"),
    ],
)
def test_statement_by_statement(text: str, score: float, lenient: float, failure: str) -> None:
    got = NliGrader(by_words)(Answer(text=text), Item(id="1", row={"text": SOURCE}))
    assert (got.score, got.score_lenient, got.failure) == (score, lenient, failure)


def test_the_threshold_decides_and_no_source_is_not_checked() -> None:
    item = Item(id="1", row={"text": SOURCE})
    assert NliGrader(by_words, threshold=0.95)(Answer(text="It is in Lyon."), item).failure == "unsupported"
    assert NliGrader(by_words)(Answer(text="It is in Lyon."), Item(id="2", row={})).failure == "not_checked"
    assert entailment(by_words, "", "It is in Lyon.") == (0.0, 0.0)


@pytest.mark.parametrize("at", range(14))
def test_no_neighbouring_sentences_are_always_torn_apart(at: int) -> None:
    parts = [f"Number {i}." for i in range(14)]
    pair = " ".join(parts[at : at + 2])
    assert any(pair in window for window in nli._windows(" ".join(parts)))


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        ({"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"}, (1, 2, 0)),
        ({"0": "entailment", "1": "neutral", "2": "contradiction"}, (0, 1, 2)),
        ({"0": "entailment", "1": "not_entailment"}, (0, 1, None)),
        ({"0": "not-entailment", "1": "entailment"}, (1, 0, None)),
    ],
)
def test_the_order_of_the_classes_is_the_models_own(labels: dict[str, str], want: tuple[int, ...]) -> None:
    assert label_order({"id2label": labels}) == want


@pytest.mark.parametrize("config", [{}, {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, {"id2label": [1]}])
def test_classes_without_names_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="id2label names no NLI classes"):
        label_order(config)


def test_probabilities_follow_the_order_and_sum_to_one() -> None:
    got = nlimodels._probabilities([0.0, 2.0, 1000.0], (1, 0, 2))
    assert got.contradiction == 1.0
    assert sum(nlimodels._probabilities([0.3, 2.0, 1.0], (2, 1, 0))) == pytest.approx(1)
    assert nlimodels._probabilities([1.0, 1.0], (1, 0, None)) == (0.5, 0.5, 0.0)


def _write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"config": json.dumps(CONFIG), **files}.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def test_a_missing_runtime_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _write(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match=r"transformers.*speedqual\[nli\]"):
        load(str(folder))
    (folder / "model.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingDependencyError, match=r'onnxruntime.*pip install "speedqual\[nli\]"'):
        load(str(folder))


def test_a_folder_that_is_no_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Give the folder of an NLI model"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "no NLI model is named"),
        ({"model": "m", "threshold": 2}, "threshold is 2"),
        ({"modle": "m"}, "no option 'modle'"),
    ],
)
def test_slips_of_a_card(options: dict[str, Any], what: str) -> None:
    with pytest.raises(EvalSetError, match=what):
        grader_for(EvalSet(name="t", task="facts", items=(), grader=GraderSpec(name="nli", options=options)))


def test_transformers_is_read_locally_and_without_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def from_pretrained(made: Any, folder: str, **how: Any) -> Any:
        asked.append(how)
        return made

    def model(**given: Any) -> Any:
        return SimpleNamespace(logits=[SimpleNamespace(tolist=lambda: [0.0, 9.0 if given["same"] else -9.0, 0.0])])

    def tokenizer(premise: str, hypothesis: str, **_: Any) -> dict[str, Any]:
        return {"same": hypothesis in premise}

    class Model:
        eval = staticmethod(lambda: model)

    fake = ModuleType("transformers")
    fake.AutoTokenizer = SimpleNamespace(from_pretrained=partial(from_pretrained, tokenizer))  # type: ignore[attr-defined]
    fake.AutoModelForSequenceClassification = SimpleNamespace(from_pretrained=partial(from_pretrained, Model()))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", fake)
    entailer = load(str(_write(tmp_path / "m")))
    assert entailer("It is in Lyon.", "in Lyon").entailment > 0.99
    assert entailer("It is in Lyon.", "in Nice").entailment < 0.01
    assert all(how["local_files_only"] and "trust_remote_code" not in how for how in asked)


WORDS = ("[PAD]", "[UNK]", "[SEP]", "lyon", "never", "perhaps")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """An ONNX model that adds up one row of weights a token: lyon entails, never contradicts, perhaps is neutral."""
    pytest.importorskip("onnxruntime")
    onnx, tokenizers = pytest.importorskip("onnx"), pytest.importorskip("tokenizers")
    weights = [0.0] * 9 + [0.0, 4.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 9.0]
    helper, proto = onnx.helper, onnx.TensorProto
    made = helper.make_graph(
        [
            helper.make_node("Gather", ["weights", "input_ids"], ["rows"]),
            helper.make_node("ReduceSum", ["rows", "axis"], ["logits"], keepdims=0),
        ],
        "words",
        [helper.make_tensor_value_info("input_ids", proto.INT64, [1, None])],
        [helper.make_tensor_value_info("logits", proto.FLOAT, [1, 3])],
        [
            helper.make_tensor("weights", proto.FLOAT, [6, 3], weights),
            helper.make_tensor("axis", proto.INT64, [1], [1]),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    folder = tmp_path / "graph"
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    _write(folder, tokenizer=tokenizer.to_str())
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(
        helper.make_model(made, opset_imports=opset, ir_version=8).SerializeToString()
    )
    return folder


def test_a_graph_of_a_local_folder(graph: Path) -> None:
    entailer = load(str(graph))
    assert entailer("It is here.", "Lyon it is").entailment > 0.9
    assert entailer("It is here.", "It never was").contradiction > 0.9
    assert entailer("It is here.", "Perhaps it is").neutral > 0.9
    assert entailer("word " * 5000, "It never was").contradiction > 0.9  # the premise is cut, never the statement
    options = {"model": str(graph)}
    evalset = EvalSet(name="t", task="facts", items=(), grader=GraderSpec(name="nli", options=options))
    item = Item(id="1", row={"text": "It is here."})
    (grade,) = grade_all(grader_for(evalset), [(Answer(text="Lyon it is."), item)])
    assert (grade.score, grade.grader) == (1.0, "nli")


def test_a_broken_graph_says_so(graph: Path) -> None:
    (graph / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ConfigError, match="the model can't be read"):
        load(str(graph))


SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """As much of a model hub as a download needs, with the graph as ``lab/words``. Gives the paths asked for."""
    names = [p.relative_to(graph).as_posix() for p in graph.rglob("*") if p.is_file()] + ["pytorch_model.bin"]
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            asked.append(path)
            file = graph / path.split(f"/resolve/{SHA}/")[-1]
            if path.startswith("/api/models/lab/words/tree/"):
                self._send(json.dumps([{"type": "file", "path": n, "size": 1, "oid": SHA} for n in names]).encode())
            elif path.startswith("/api/models/lab/words"):
                siblings = [{"rfilename": name} for name in names]
                self._send(json.dumps({"id": "lab/words", "sha": SHA, "siblings": siblings}).encode())
            elif "/resolve/" in path and file.is_file():
                self._send(file.read_bytes())
            else:
                self.send_error(404)

        do_HEAD = do_GET  # noqa: N815

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            for name, value in (
                ("Content-Length", str(len(body))),
                ("ETag", f'"{hash(body)}"'),
                ("X-Repo-Commit", SHA),
                ("Content-Type", "application/json"),
            ):
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hub = pytest.importorskip("huggingface_hub")
    url = f"http://127.0.0.1:{server.server_port}"
    stand_in = ModuleType("huggingface_hub")
    stand_in.list_repo_files = hub.HfApi(endpoint=url).list_repo_files  # type: ignore[attr-defined]
    stand_in.snapshot_download = partial(hub.snapshot_download, endpoint=url, cache_dir=tmp_path / "cache")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    yield asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_hub_id_from_a_local_stand_in(hub: list[str]) -> None:
    assert load("lab/words")("It is here.", "Lyon it is").entailment > 0.9
    assert not any("pytorch_model" in path for path in hub)
    with pytest.raises(ConfigError, match="no NLI model at 'lab/other'"):
        load("lab/other")


def test_the_path_on_labelled_claims() -> None:
    """WiCE with the rule-based signal in a model's place: the path is shown, not a model's accuracy."""
    table = Path(__file__).parents[3] / "shared/data/wice-dev/wice-dev.jsonl"
    if not table.exists():
        pytest.skip("../shared is absent")
    lines = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
    rows = [("\n".join(r["evidence"]), r["claim"], r["label"] == "supported") for r in lines]

    def stand_in(premise: str, hypothesis: str) -> Probabilities:
        share = support_signal(hypothesis, premise.split(". "))
        return Probabilities(share, 1 - share, 0.0)

    scores, held = nli.calibrate(stand_in, rows)
    assert held is not None
    print(held.describe(scores))
    assert held.n == 349
    assert held.calibration.balanced_accuracy > 0.6
