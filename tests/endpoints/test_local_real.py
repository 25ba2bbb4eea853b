"""The embedded model on this machine: our clock against the server's own, the prefix cache, a layer that matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from speedqual.endpoints.client import Client
from speedqual.endpoints.local import LocalServer, drop_layers, fetch_model
from speedqual.records import Attempt, Candidate, Message, Prompt
from speedqual.timing import measure

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

LONG = "The harbour of the old town was quiet, and the boats lay still in the grey light of the morning. " * 6


@pytest.fixture(scope="module")
def model() -> Path:
    return fetch_model()


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[LocalServer]:
    with LocalServer(model, alias="small", threads=1) as running:
        yield running


def _candidate(server: LocalServer, *, cache: bool | None = None) -> Candidate:
    params = {"temperature": 0, "seed": 1}
    return Candidate(name="small", model=server.alias, base_url=server.base_url, params=params, cache=cache)


def _prompt(text: str, n: int = 48) -> Prompt:
    return Prompt(messages=(Message("user", text),), max_tokens=n)


async def _ask(server: LocalServer, texts: list[str], *, n: int = 48, cache: bool | None = None) -> list[Attempt]:
    async with Client() as client:
        return [await client.ask(_candidate(server, cache=cache), _prompt(text, n)) for text in texts]


@pytest.mark.timing
async def test_decode_speed_and_ttft_agree_with_the_server(server: LocalServer) -> None:
    """The bars are 2 % and 15 ms on a quiet machine; a shared one gets three times that."""
    attempts = await _ask(server, [f"Tell me about the number {i}. {LONG[:100]}" for i in range(8)], cache=False)
    assert len(attempts) >= 4
    ratios, lags = [], []
    for attempt in attempts:
        metrics = measure([attempt]).metrics
        assert attempt.outcome == "ok" and attempt.server is not None
        assert metrics["token_source"] == "usage"
        # the server divides all tokens by the time after the prompt; ours leaves the first token out of both
        n_out, server_ms = attempt.usage.n_out, attempt.server.decode_ms
        assert n_out and server_ms and attempt.server.prefill_ms is not None
        ratios.append(float(metrics["tpot_ms"] or 0) / (server_ms / (n_out - 1)))
        lags.append(float(metrics["ttft_ms"] or 0) - attempt.server.prefill_ms)
    assert median(ratios) == pytest.approx(1, abs=0.06)
    assert -5 <= median(lags) <= 45


async def test_a_warm_prefix_is_counted_and_quicker(server: LocalServer) -> None:
    texts = [LONG + f" Question {i}: is it quiet?" for i in range(6)]
    cold = await _ask(server, texts, n=4, cache=False)
    warm = (await _ask(server, texts, n=4, cache=True))[1:]
    assert all((attempt.usage.n_cached or 0) == 0 for attempt in cold)
    assert all((attempt.usage.n_cached or 0) > 100 for attempt in warm)
    times = [[float(measure([attempt]).metrics["ttft_ms"] or 0) for attempt in some] for some in (cold, warm)]
    assert median(times[1]) < 0.5 * median(times[0])


async def test_a_lost_layer_ruins_the_model_or_does_not(model: Path, tmp_path: Path) -> None:
    ruined = drop_layers(model, [28], tmp_path / "ruined.gguf")
    question = "Write a Python function add(a, b) that returns the sum of a and b."
    with LocalServer(ruined, alias="ruined") as server:
        weak = await _ask(server, [question])
    with LocalServer(model, alias="whole") as server:
        whole = await _ask(server, [question])
    assert "return a + b" in whole[0].text
    assert weak[0].outcome == "ok" and "return a + b" not in weak[0].text


async def test_no_path_of_this_machine_is_in_a_reply(server: LocalServer, model: Path) -> None:
    (attempt,) = await _ask(server, ["hi"], n=2)
    assert attempt.served_model == "small"
    assert str(model.parent) not in str(attempt.to_dict())


def test_the_engine_ends_with_the_block(model: Path) -> None:
    with LocalServer(model) as server:
        child = server._child
        assert child is not None and child.poll() is None
    assert child.poll() is not None
