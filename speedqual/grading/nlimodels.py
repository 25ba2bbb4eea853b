"""NLI models from a local folder or a hub id: ONNX by onnxruntime and tokenizers, else transformers where installed.

A folder holds ``config.json`` (whose ``id2label`` says which class is which: no order is taken for granted) with
``tokenizer.json`` and ``model.onnx`` or ``onnx/model.onnx``, or the files of transformers. A hub id is fetched by
huggingface_hub, which heeds ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE``. No code of a model repository is ever run.

No published weights are part of the tests: the paths are shown on graphs made there, hub ids on a local stand-in,
transformers on a fake module.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from speedqual.errors import ConfigError, MissingDependencyError

__all__ = ["Entailer", "Probabilities", "label_order", "load"]

MAX_TOKENS = 512
FILES = ("config.json", "tokenizer*", "*vocab*", "merges.txt", "*.model", "special_tokens_map.json")
WEIGHTS = ("model.onnx", "model.onnx_data", "onnx/model.onnx", "onnx/model.onnx_data")
EXTRA = 'Install it with: pip install "speedqual[nli]"'
OR_ONNX = "Export the model to ONNX for speedqual[nli], or install transformers with torch"


class Probabilities(NamedTuple):
    """They sum to 1."""

    entailment: float
    neutral: float
    contradiction: float


class Entailer(Protocol):
    """How likely the premise entails the hypothesis, leaves it open, contradicts it."""

    def __call__(self, premise: str, hypothesis: str, /) -> Probabilities: ...


def load(name: str) -> Entailer:
    """The model of a folder or of a hub id.

    Raises MissingDependencyError without a runtime, ConfigError for a folder or id that gives no NLI model.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _from_hub(name)
    order = label_order(_config(folder), str(folder / "config.json"))
    for file in ("model.onnx", "onnx/model.onnx"):
        if (folder / file).is_file():
            return OnnxEntailer(folder / file, folder / "tokenizer.json", order)
    return TransformersEntailer(folder, order)


def _module(name: str, fix: str = EXTRA) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError(f"the NLI model needs {name}, which is not installed", fix=fix) from None


def _from_hub(name: str) -> Path:
    """The files of a hub id in the hub's cache: ONNX where there is one, else safetensors (never pickled weights)."""
    hub = _module("huggingface_hub")
    try:
        files = hub.list_repo_files(name)
        weights = [w for w in WEIGHTS if w in files] or ["*.safetensors"]
        return Path(hub.snapshot_download(name, allow_patterns=[*FILES, *weights]))
    except Exception as fault:  # the hub's errors have no common base; names and addresses are all they tell
        what = f"no NLI model at {name!r}: {type(fault).__name__}"
        raise ConfigError(
            what, where="grader.model", fix="Give a local folder, or a hub id that can be reached"
        ) from None


def _config(folder: Path) -> Mapping[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        where, fix = str(folder / "config.json"), "Give the folder of an NLI model"
        raise ConfigError(f"unreadable: {type(fault).__name__}", where=where, fix=fix) from None
    return config if isinstance(config, Mapping) else {}


def label_order(config: Mapping[str, Any], where: str = "config.json") -> tuple[int, int | None, int | None]:
    """The output numbers of entailment, neutral and contradiction from ``id2label``.

    A model of two classes (entailment and not_entailment) has no contradiction: the second is neutral, the third None.
    """
    labels = config.get("id2label")
    names = {str(v).lower().replace("-", "_"): int(k) for k, v in labels.items()} if isinstance(labels, Mapping) else {}
    entailed = names.get("entailment")
    neutral = names.get("neutral", names.get("not_entailment"))
    if entailed is None or (neutral is None and "contradiction" not in names):
        fix = "Name the classes entailment, neutral and contradiction in id2label"
        raise ConfigError(f"id2label names no NLI classes: {sorted(names)[:5]}", where=where, fix=fix)
    return entailed, neutral, names.get("contradiction")


def _probabilities(logits: Sequence[float], order: tuple[int, int | None, int | None]) -> Probabilities:
    """Softmax of the logits in the order of ``Probabilities``; a class that the model lacks has 0."""
    top = max(logits)
    powers = [math.exp(value - top) for value in logits]
    return Probabilities(*(powers[at] / sum(powers) if at is not None else 0.0 for at in order))


class OnnxEntailer:
    """A sequence classifier as ONNX, on the CPU."""

    def __init__(self, model: Path, tokenizer: Path, order: tuple[int, int | None, int | None]) -> None:
        runtime, tokenizers = _module("onnxruntime"), _module("tokenizers")
        self._order = order
        try:
            self._session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        except Exception as fault:  # both libraries raise classes of their own, some plain Exception
            where, fix = str(model.parent), "Export the model to ONNX anew, with its tokenizer.json"
            raise ConfigError(f"the model can't be read: {type(fault).__name__}", where=where, fix=fix) from None
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_first")  # the premise gives way
        self._inputs = [one.name for one in self._session.get_inputs()]

    def __call__(self, premise: str, hypothesis: str, /) -> Probabilities:
        """Of one pair."""
        import numpy as np

        got = self._tokenizer.encode(premise, hypothesis)
        given = {"input_ids": got.ids, "attention_mask": got.attention_mask, "token_type_ids": got.type_ids}
        arrays = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        (logits, *_) = self._session.run(None, arrays)
        return _probabilities([float(value) for value in logits[0]], self._order)


class TransformersEntailer:
    """A sequence classifier of transformers, read from local files only and without code of its repository."""

    def __init__(self, folder: Path, order: tuple[int, int | None, int | None]) -> None:
        transformers = _module("transformers", OR_ONNX)
        self._order = order
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        self._model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True
        ).eval()

    def __call__(self, premise: str, hypothesis: str, /) -> Probabilities:
        """Of one pair."""
        given = self._tokenizer(
            premise, hypothesis, return_tensors="pt", truncation="only_first", max_length=MAX_TOKENS
        )
        logits = self._model(**given).logits[0].tolist()
        return _probabilities(logits, self._order)
