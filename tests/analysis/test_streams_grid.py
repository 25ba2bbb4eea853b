"""Streams laid over one another, and a metric over two conditions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from speedqual.analysis.grid import Grid
from speedqual.analysis.streams import Streams
from speedqual.errors import UsageError
from speedqual.plots.style import to_svg
from speedqual.records import Attempt, Event, Timeline, Usage

MS = 1_000_000


def attempt(gaps_ms: list[float], n_out: int | None = None, thinking: int = 0) -> Attempt:
    """First event 300 ms after the send, one more after each gap."""
    stamps = [300 * MS, *(300 * MS + int(t * MS) for t in np.cumsum(gaps_ms))]
    events = tuple(Event(t, "reasoning" if i < thinking else "answer", "ab", i) for i, t in enumerate(stamps))
    usage = Usage(n_out=n_out, source="usage") if n_out else Usage()
    return Attempt(number=1, outcome="ok", timeline=Timeline(t_send=0, events=events, t_close=stamps[-1]), usage=usage)


def test_a_stream_that_slows_and_stalls() -> None:
    # 150 tokens: 10 ms a token for two thirds, then 20 ms; one gap of 2 s
    gaps = [10.0] * 100 + [20.0] * 49
    gaps[60] = 2000.0
    got = Streams()([attempt(gaps, n_out=150)])
    row = got.rates.iloc[0]
    assert row["ttft_ms"] == 300.0 and row["stalls"] == 1
    assert row["decay_ratio"] == pytest.approx(0.5, abs=0.02)
    assert got.table["stalled"].sum() == 1 and bool(got.table["stalled"][61])
    assert got.table["done"].iloc[-1] == 150 and got.table["t_ms"].iloc[0] == 300.0
    assert "1 of 1 streams stalled; 1 of 1 long ones were slower" in got.verdict


def test_without_a_count_characters_stand_in_and_no_decay_is_claimed() -> None:
    got = Streams()([attempt([10.0] * 20)], ["x"])
    assert set(got.table["counted"]) == {"characters"} and got.table["done"].iloc[-1] == 42
    assert got.rates["decay_ratio"][0] is None and "too short" in got.notes[0]


def test_streams_are_drawn_with_their_thinking() -> None:
    got = Streams()([attempt([10.0] * 200, n_out=201, thinking=50), attempt([5.0] * 30, n_out=31)], ["思考", "b"])
    for style in ("light", "dark"):
        figure = got.plot(style=style)
        assert to_svg(figure) and len(figure.numbers) == 2
    assert json.dumps(got.to_dict(), allow_nan=False)


def test_no_events_are_said() -> None:
    silent = Attempt(number=1, outcome="empty", timeline=Timeline(t_send=0))
    with pytest.raises(UsageError, match="none of these streams"):
        Streams()([silent])


def load_frame() -> pd.DataFrame:
    rows = [
        (load, length, 100.0 * load + extra)
        for load in (1, 4, 16)
        for length, extra in (("128k", 900), ("4k", 50))
        for _ in range(3)
    ]
    return pd.DataFrame(rows, columns=["load", "length", "ttft_ms"]).assign(outcome="ok", score=1.0)


def test_cells_are_medians_in_ladder_order() -> None:
    got = Grid("load", "length")(load_frame())
    wide = got.wide()
    assert wide.index.tolist() == ["1", "4", "16"] and wide.columns.tolist() == ["4k", "128k"]
    assert wide.loc["4", "128k"] == 1300.0 and got.table["n"].tolist() == [3] * 6
    assert "best at load 1, length 4k, worst at load 16, length 128k" in got.verdict
    assert json.dumps(got.to_dict(), allow_nan=False)


def test_many_numbers_are_cut_into_bins_and_failures_left_out() -> None:
    frame = pd.DataFrame({"load": 1, "n_prompt": np.arange(600), "ttft_ms": np.arange(600.0), "outcome": "ok"})
    frame.loc[frame["n_prompt"] < 100, "outcome"] = "timeout"
    got = Grid("load", "n_prompt", quantile=None)(frame)
    assert len(got.table) == 6 and got.table["n"].sum() == 500


def test_quality_cells_keep_failures_of_the_answer_and_are_drawn() -> None:
    got = Grid("load", "length", metric="score")(load_frame())
    assert set(got.table["value"]) == {1.0}
    for style in ("light", "dark"):
        assert to_svg(got.plot(style=style))
        assert to_svg(Grid("load", "length")(load_frame()).plot(style=style))


def test_missing_columns_are_named() -> None:
    with pytest.raises(UsageError, match="'colour'"):
        Grid("colour", "length")(load_frame())
