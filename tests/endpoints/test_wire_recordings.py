"""Every recording gives exactly what it expects: first with exact stamps, then over a real socket."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from speedqual.endpoints.client import Client
from speedqual.endpoints.recordings.files import endpoint_of, read_recording
from speedqual.endpoints.recordings.player import Playing, play
from speedqual.endpoints.recordings.seen import differences, seen
from speedqual.endpoints.registry import endpoint
from speedqual.records import Attempt, Candidate, Message, Prompt
from speedqual.timing import measure

FOLDER = Path(__file__).parents[1] / "recordings"
FILES = sorted(FOLDER.glob("[WLTN]*.json"))
LAG_NS = 10_000_000  # beyond it a figure is the client's, and the recording is played once more


def _document(attempt: Attempt) -> dict[str, Any]:
    measured = measure([attempt], failed_too=True)
    return {**seen(attempt), "buffered": "buffered" in measured.flags}


def test_the_corpus_is_complete() -> None:
    assert len([file for file in FILES if file.stem.startswith("W")]) == 62
    assert {read_recording(file).api for file in FILES} >= {
        "triton-generate",
        "llamacpp-completion",
        "bedrock-converse",
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_exact_stamps_give_exact_figures(file: Path) -> None:
    recording = read_recording(file)
    attempt = endpoint(endpoint_of(recording.api)).decode(recording.raw(t_send=7_000_000_000))
    assert differences(recording.expect, _document(attempt), early_ms=0, late_ms=0) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_any_split_of_the_bytes_gives_the_same_reply(file: Path) -> None:
    recording = read_recording(file)
    known = endpoint(endpoint_of(recording.api))
    whole = known.decode(recording.raw())
    pieces = tuple((ms, data[i : i + 7]) for ms, data in recording.chunks for i in range(0, len(data), 7))
    cut = known.decode(replace(recording, chunks=pieces).raw())
    same = ("outcome", "text", "reasoning", "tool_calls", "finish_reason", "usage", "error_code", "error_message")
    assert [getattr(cut, name) for name in same] == [getattr(whole, name) for name in same]
    assert [(e.t_ns, e.text) for e in cut.timeline.events] == [(e.t_ns, e.text) for e in whole.timeline.events]


async def _ask(client: Client, playing: Playing, file: Path) -> Attempt:
    api = read_recording(file).api
    candidate = Candidate(name=file.stem, endpoint=endpoint_of(api), model="m", base_url=playing.url(file.stem))
    return await client.ask(candidate, Prompt(messages=(Message("user", "Hi"),), max_tokens=64))


@pytest.mark.slow
@pytest.mark.timing
async def test_a_real_socket_gives_the_same() -> None:
    wrong: list[str] = []
    with play(FILES) as playing:
        async with Client(environ={}) as client:
            await _ask(client, playing, FILES[0])
            for file in FILES:
                found = await _played(client, playing, file)
                wrong += [f"{file.stem}: {line}" for line in found]
    assert wrong == []


async def _played(client: Client, playing: Playing, file: Path) -> list[str]:
    expect = read_recording(file).expect
    found: list[str] = []
    for _ in range(3):
        attempt = await _ask(client, playing, file)
        found = differences(expect, _document(attempt))
        if not found or (attempt.timeline.client_lag_ns or 0) < LAG_NS:
            break
        await asyncio.sleep(0.2)
    return found
