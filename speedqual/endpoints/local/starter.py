"""The quickstart's candidates: one model file, and each of them a real trade between speed and quality."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from speedqual.endpoints.local.server import LocalServer
from speedqual.endpoints.local.variants import drop_layers
from speedqual.records import Candidate, Price

__all__ = ["LADDER", "quickstart_candidates"]

LADDER = ((), (14,), (10, 14), (10, 14, 28))
"""Blocks left out at each rung. The middle ones cost little; block 28 of 30 carries the answer."""

SHOTS = 2
SLOTS = 4  # one prefix an eval set, kept side by side


@contextmanager
def quickstart_candidates(model: Path, *, say: Callable[[str], None] = lambda _line: None) -> Iterator[list[Candidate]]:
    """Start a server for each variant of ``model`` and yield the candidates; the servers end with the block.

    All share one machine (``group``), so one stream is in flight at a time. The plain and the uncached candidate use a
    server of their own: a request without cache would empty the slots that the cached one lives by.
    """
    with ExitStack() as stack:
        say("making the model variants")
        files = [drop_layers(model, rung) if rung else model for rung in LADDER]
        plain = stack.enter_context(LocalServer(model, alias="smollm2-135m"))
        say("starting the local servers")
        ladder = [
            stack.enter_context(LocalServer(file, alias=_alias(rung), slots=SLOTS))
            for file, rung in zip(files, LADDER, strict=True)
        ]
        yield [
            _candidate("no examples", plain, shots=0, cache=False),
            _candidate("2 examples uncached", plain, shots=SHOTS, cache=False),
            *(
                _candidate(_name(rung), server, shots=SHOTS, cache=True, rung=rung)
                for server, rung in zip(ladder, LADDER, strict=True)
            ),
        ]


def _alias(rung: tuple[int, ...]) -> str:
    return "smollm2-135m" + "".join(f"-{layer}" for layer in rung)


def _name(rung: tuple[int, ...]) -> str:
    return "2 examples cached" if not rung else f"{30 - len(rung)} layers"


def _candidate(
    name: str, server: LocalServer, *, shots: int, cache: bool, rung: tuple[int, ...] | None = None
) -> Candidate:
    return Candidate(
        name=name,
        endpoint="openai",
        model=server.alias,
        base_url=server.base_url,
        params={"temperature": 0, "seed": 1},
        shots=shots,
        cache=cache,
        group="this machine",
        params_b=0.135,
        ladder="" if rung is None else "layers dropped",
        rung="" if rung is None else f"{30 - len(rung)} layers",
        x=None if rung is None else float(len(rung)),
        price=Price(source="own machine"),
    )
