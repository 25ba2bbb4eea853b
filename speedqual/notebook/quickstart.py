"""Small models for notebooks: the quickstart's real one where it is at hand, else scripted ones with known truth."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from speedqual.endpoints.local import LocalServer, drop_layers, fetch_model, list_models, quickstart_candidates
from speedqual.endpoints.local.models import MODEL_FILE
from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.errors import UsageError
from speedqual.evalsets import build_prompt
from speedqual.evalsets.hashing import hashed
from speedqual.evalsets.prompts import reference
from speedqual.records import Candidate, EvalSet, Item

__all__ = ["SCRIPTED", "Version", "few", "real_model", "scripted_candidates", "small_candidates", "small_models"]

Engine = Literal["auto", "local", "scripted"]
SLOTS = 4  # prompts whose beginning a local server keeps: one an eval set


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a small model.

    ``without``: blocks that are left out of the real one. ``ttft_ms``, ``tok_s``, ``right`` (the share of items that it
    answers rightly) and ``text`` (what it says to all else) are what the scripted model in its place plays. ``rung``:
    the ladder that it stands on.
    """

    name: str
    ttft_ms: float = 40.0
    tok_s: float = 400.0
    right: float = 0.9
    without: tuple[int, ...] = ()
    rung: str = ""
    text: str = "I would rather not say."


SCRIPTED = (
    Version("quick", 20, 900, 0.35),
    Version("careful", 120, 250, 0.9),
    Version("slow and no better", 200, 200, 0.6),
    Version("8 bits", 60, 300, 0.8, rung="quantisation"),
    Version("4 bits", 40, 500, 0.75, rung="quantisation"),
    Version("2 bits", 30, 700, 0.1, rung="quantisation"),
)


def real_model(engine: Engine = "auto") -> Path | None:
    """The file of the embedded model; None = scripted models answer.

    ``local`` fetches it when it is not there; ``auto`` takes it when file and engine are there already.
    """
    if engine not in ("auto", "local", "scripted"):
        raise UsageError(f"no engine {engine!r}", where="engine", fix="Use auto, local or scripted")
    if engine == "local":
        return fetch_model()
    files = [model.path for model in list_models() if model.path.name == MODEL_FILE]
    return files[0] if files and find_spec("xllamacpp") and engine == "auto" else None


def few(evalset: EvalSet, n: int) -> EvalSet:
    """The first ``n`` items; a set of its own, with its own hash."""
    return hashed(replace(evalset, items=evalset.items[:n]))


@contextmanager
def small_candidates(evalsets: Sequence[EvalSet], engine: Engine = "auto") -> Iterator[list[Candidate]]:
    """The candidates of the quickstart: six ways to use the real model, or six scripted ones."""
    model = real_model(engine)
    with scripted_candidates(evalsets) if model is None else quickstart_candidates(model) as candidates:
        yield candidates


@contextmanager
def small_models(
    evalsets: Sequence[EvalSet], versions: Sequence[Version], engine: Engine = "auto", *, slots: int | None = None
) -> Iterator[list[Candidate]]:
    """One candidate a version, each with a server of its own on this machine; the servers end with the block.

    Of the real ones one stream is in flight at a time (``group``), but for load tests. The scripted ones know the
    answers to ``evalsets``. ``slots``: streams that a server carries at a time; more of them queue.
    """
    model = real_model(engine)
    with ExitStack() as stack:
        if model is None:
            yield stack.enter_context(scripted_candidates(evalsets, versions, slots=slots))
            return
        files = [drop_layers(model, one.without) if one.without else model for one in versions]
        servers = [
            stack.enter_context(LocalServer(file, alias=_alias(one), slots=slots or SLOTS))
            for file, one in zip(files, versions, strict=True)
        ]
        yield [_local(one, server) for one, server in zip(versions, servers, strict=True)]


def _alias(version: Version) -> str:
    return "smollm2-135m" + "".join(f"-{block}" for block in version.without)


def _local(version: Version, server: LocalServer) -> Candidate:
    """The real model at temperature 0; the beginning of a prompt is kept in the server's cache."""
    return Candidate(
        name=version.name,
        model=server.alias,
        base_url=server.base_url,
        params={"temperature": 0, "seed": 1},
        cache=True,
        group="this machine",
        params_b=0.135,
    )


@contextmanager
def scripted_candidates(
    evalsets: Sequence[EvalSet], versions: Sequence[Version] = SCRIPTED, *, slots: int | None = None
) -> Iterator[list[Candidate]]:
    """Made-up models in a process of their own: speed as scripted, the reference answer for a known share of items."""
    with serve_in_process({one.name: _script(evalsets, one) for one in versions}, slots=slots) as server:
        yield [
            Candidate(
                name=one.name,
                model=one.name,
                base_url=server.base_url,
                ladder=one.rung,
                rung=one.name if one.rung else "",
                shots=0,
            )
            for one in versions
        ]


def _script(evalsets: Sequence[EvalSet], version: Version) -> Script:
    plain = Candidate(name="any", shots=0)
    rules = tuple(
        Rule(contains=_question(evalset, item, plain), text=reference(evalset, item))
        for evalset in evalsets
        for item in evalset.items
        if _draw(item.id) < version.right
    )
    return Script(ttft_ms=version.ttft_ms, tok_s=version.tok_s, text=version.text, rules=rules)


def _question(evalset: EvalSet, item: Item, candidate: Candidate) -> str:
    return str(build_prompt(evalset, item, candidate).messages[-1].content)


def _draw(item: str) -> float:
    """A number in [0, 1) that is the same in every process: a better model is right wherever a worse one is."""
    return int.from_bytes(hashlib.sha256(item.encode()).digest()[:4]) / 2**32
