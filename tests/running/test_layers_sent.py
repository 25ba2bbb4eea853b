"""The layered plan as it is really sent: pairs in order, prompts that are new to every cache, connections as planned."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.records import Candidate, Record
from speedqual.running.load import load_test
from speedqual.running.load.layers import LAYERS, QUICK, Scale, layered

SCALE = Scale(
    context=2048,
    short_n=2,
    input_tokens=(100, 300),
    output_tokens=(40,),
    output_n=2,
    users=(1, 3),
    items=4,
    prefix_tokens=200,
    prefix_shares=(0.0, 0.5, 1.0),
    prefix_lines=(0.5,),
    prefix_pairs=1,
    idle_s=(0.05,),
    idle_n=2,
)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Record], list[str]]:
    """The records of one run of all layers, in the order of their sends, and the first line of each prompt."""
    import asyncio

    folder = tmp_path_factory.mktemp("layers") / "run"
    plan, evalsets = layered(scale=SCALE)
    with serve_in_process(Script(ttft_ms=2, tok_s=0, n=4)) as served:
        candidate = Candidate(name="m", model="m", base_url=served.base_url)
        work = load_test(
            [candidate], plan, evalsets=evalsets, folder=folder, environ={}, preflight=False, warm_up=False
        )
        run = asyncio.run(work)
        lines = [entry["prompt"].split("\n")[0] for entry in served.log()]
    assert run.manifest["status"] == "finished"
    return sorted(run.records, key=lambda record: record.last.timeline.t_send or 0), lines


def of(records: list[Record], layer: str) -> list[Record]:
    return [record for record in records if record.trial.load is not None and record.trial.load.layer == layer]


def test_every_layer_is_sent_and_graded(sent: tuple[list[Record], list[str]]) -> None:
    records, _ = sent
    n = Counter(record.trial.load.layer for record in records if record.trial.load)
    assert n == {"short_text": 2, "long_input": 24, "long_output": 2, "concurrency": 4 + 12, "prefix": 16, "cold": 6}
    assert set(n) == set(LAYERS)
    assert all(record.last.outcome == "ok" and record.grade is not None for record in records)


def test_no_prompt_begins_like_another_but_the_second_of_a_pair(sent: tuple[list[Record], list[str]]) -> None:
    records, lines = sent
    begins = Counter(lines)
    assert len(lines) == len(records)
    assert all(line.startswith(("Reference ", "编号 ")) for line in lines)
    pairs = 3 * 2  # levels with a share × languages: of share 0 each has a line of its own
    assert Counter(begins.values()) == {1: len(records) - 2 * pairs, 2: pairs}


def test_cold_comes_before_warm(sent: tuple[list[Record], list[str]]) -> None:
    records, _ = sent
    notes = [record.trial.load.note for record in of(records, "prefix") if record.trial.load]
    assert notes == ["cold", "warm"] * 8
    items = [record.trial.item.rpartition("-") for record in of(records, "prefix")]
    assert all(a[0] == b[0] for a, b in zip(items[::2], items[1::2], strict=True))


def test_the_ladder_asks_each_item_equally_often(sent: tuple[list[Record], list[str]]) -> None:
    records = of(sent[0], "concurrency")
    by_level = {x: Counter(r.trial.item for r in records if r.trial.load and r.trial.load.x == x) for x in (1, 3)}
    assert set(by_level[1]) == set(by_level[3])
    assert set(by_level[1].values()) == {1} and set(by_level[3].values()) == {3}


def test_cold_starts_wait_and_use_the_connections_that_they_name(sent: tuple[list[Record], list[str]]) -> None:
    for note, how in (("kept connection", "reused"), ("new connection", "new")):
        records = [record for record in of(sent[0], "cold") if record.trial.load and record.trial.load.note == note]
        assert [record.last.timeline.connection for record in records[1:]] == [how, how]
        for before, after in pairwise(records):
            waited_ns = (after.last.timeline.t_send or 0) - before.last.timeline.events[-1].t_ns
            assert waited_ns >= 0.05e9


def test_quick_asks_in_english_alone() -> None:
    _, evalsets = layered(scale=QUICK)
    assert {item.language for evalset in evalsets for item in evalset.items} == {"en"}
