"""The candidates of the first notebook: a real model where one is at hand, else scripted ones with known truth."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from speedqual.endpoints.local import list_models, quickstart_candidates
from speedqual.endpoints.local.models import MODEL_FILE
from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import build_prompt
from speedqual.evalsets.prompts import reference
from speedqual.records import Candidate, EvalSet, Item

__all__ = ["SCRIPTED", "scripted_candidates", "small_candidates"]

SCRIPTED = (
    # name, TTFT ms, tokens/s, share of items answered rightly, rung of the ladder
    ("quick", 20, 900, 0.35, ""),
    ("careful", 120, 250, 0.9, ""),
    ("slow and no better", 200, 200, 0.6, ""),
    ("8 bits", 60, 300, 0.8, "quantisation"),
    ("4 bits", 40, 500, 0.75, "quantisation"),
    ("2 bits", 30, 700, 0.1, "quantisation"),
)


@contextmanager
def small_candidates(evalsets: Sequence[EvalSet]) -> Iterator[list[Candidate]]:
    """The local quickstart model when it has been fetched and its engine is installed, else ``scripted_candidates``.

    ``SPEEDQUAL_SCRIPTED=1`` asks for the scripted ones.
    """
    files = [model.path for model in list_models() if model.path.name == MODEL_FILE]
    if files and find_spec("xllamacpp") and not os.environ.get("SPEEDQUAL_SCRIPTED"):
        with quickstart_candidates(files[0]) as candidates:
            yield candidates
    else:
        with scripted_candidates(evalsets) as candidates:
            yield candidates


@contextmanager
def scripted_candidates(evalsets: Sequence[EvalSet]) -> Iterator[list[Candidate]]:
    """Made-up models in a process of their own: speed as scripted, the reference answer for a known share of items."""
    scripts = {name: _script(evalsets, ttft, rate, share) for name, ttft, rate, share, _ in SCRIPTED}
    with serve_in_process(scripts) as server:
        yield [
            Candidate(
                name=name, model=name, base_url=server.base_url, ladder=ladder, rung=name if ladder else "", shots=0
            )
            for name, _, _, _, ladder in SCRIPTED
        ]


def _script(evalsets: Sequence[EvalSet], ttft_ms: float, tok_s: float, share: float) -> Script:
    plain = Candidate(name="any", shots=0)
    rules = tuple(
        Rule(contains=_question(evalset, item, plain), text=reference(evalset, item))
        for evalset in evalsets
        for item in evalset.items
        if _draw(item.id) < share
    )
    return Script(ttft_ms=ttft_ms, tok_s=tok_s, text="I would rather not say.", rules=rules)


def _question(evalset: EvalSet, item: Item, candidate: Candidate) -> str:
    return str(build_prompt(evalset, item, candidate).messages[-1].content)


def _draw(item: str) -> float:
    """A number in [0, 1) that is the same in every process: a better model is right wherever a worse one is."""
    return int.from_bytes(hashlib.sha256(item.encode()).digest()[:4]) / 2**32
