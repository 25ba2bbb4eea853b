"""One result of each analysis, small and with Chinese names, for tests of what is drawn from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from speedqual.analysis import Cliffs, Frontier, from_table
from speedqual.analysis.anytime import Anytime
from speedqual.analysis.base import Result
from speedqual.analysis.budgets import Budgets
from speedqual.analysis.cost import Cost
from speedqual.analysis.deadlines import Deadlines
from speedqual.analysis.degraded import Degraded
from speedqual.analysis.gate import Gate
from speedqual.analysis.grid import Grid
from speedqual.analysis.history import History
from speedqual.analysis.params import SpeedBySize
from speedqual.analysis.routing import Routing
from speedqual.analysis.streams import Streams
from speedqual.analysis.tails import Tails
from speedqual.analysis.tasks import ByTask
from speedqual.records import Answer, Attempt, Event, Grade, Item, Timeline, Usage


def run(seed: int = 0, n: int = 80) -> pd.DataFrame:
    """Three candidates on a ladder, with Chinese names, two tasks, prices and speeds."""
    rng = np.random.default_rng(seed)
    frames = []
    for k, (name, mean) in enumerate((("快速档", 0.5), ("standard", 0.7), ("强力档 <b>", 0.9))):
        e2e = 100.0 * 2**k * rng.lognormal(0, 0.2, n)
        frames.append(
            pd.DataFrame(
                {
                    "candidate": name, "item": np.arange(n).astype(str), "outcome": "ok", "phase": "main", "evalset": "e",
                    "task": np.where(np.arange(n) % 2, "code", "抽取"), "difficulty": np.where(np.arange(n) < n / 2, "easy", "hard"),
                    "score": (rng.random(n) < mean).astype(float), "e2e_ms": e2e, "ttft_ms": e2e / 3, "cost_usd": 0.001 * 2**k,
                    "decode_tok_s": 100.0 / 2**k, "params_b": 7.0 * 2**k, "ladder": "tiers", "rung": name, "x": 2.0 - k,
                }
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def board(count: int) -> Any:
    rng = np.random.default_rng(count)
    frame = pd.DataFrame(
        {"m": [f"模型 candidate {i}" for i in range(count)], "q": rng.random(count), "s": rng.lognormal(3, 1, count)}
    )
    return from_table(frame, candidate="m", quality="q", n=200, seconds="s")


def length_ladders(count: int) -> Any:
    rng = np.random.default_rng(count)
    names = ["4k", "8k", "16k", "32k", "64k", "128k"]
    rows = [{"m": f"模型 {i}", **dict(zip(names, np.sort(rng.random(6))[::-1], strict=True))} for i in range(count)]
    return from_table(pd.DataFrame(rows), candidate="m", rungs=names, n=300)


def attempt(gaps_ms: list[float], n_out: int, thinking: int = 0) -> Attempt:
    """A stream of ``len(gaps_ms)`` pieces, the first ``thinking`` of them reasoning."""
    stamps = np.cumsum([int(gap * 1_000_000) for gap in gaps_ms]).tolist()
    events = tuple(Event(t, "reasoning" if i < thinking else "answer", "ab", i) for i, t in enumerate(stamps))
    usage = Usage(n_out=n_out, source="usage")
    return Attempt(number=1, outcome="ok", timeline=Timeline(t_send=0, events=events, t_close=stamps[-1]), usage=usage)


def streams() -> Result:
    """A stream that thinks, stalls and slows, and a steady one."""
    slow = [300.0, *[10.0] * 100, 900.0, *[20.0] * 49]
    return Streams()([attempt(slow, 151, thinking=40), attempt([200.0, *[8.0] * 120], 121)], ["强力档", "standard"])


def anytime() -> Result:
    """An answer whose worth grows with its length."""

    def share(answer: Answer, item: Item) -> Grade:
        return Grade(score=min(1.0, len(answer.text) / 200), verdict="partial")

    item = Item(id="1", row={}, target={"x": 1})
    return Anytime()([(attempt([300.0 + 20 * i, *[10.0] * 99], 100), item) for i in range(8)], share)


RESULTS: dict[str, Callable[[], Result]] = {
    "frontier of 3": lambda: Frontier(floor=0.6)(run()),
    "frontier of 12": lambda: Frontier(floor=0.5)(board(12)),
    "frontier of 70": lambda: Frontier()(board(70)),
    "frontier of a rate": lambda: Frontier(x="speed")(run()),
    "frontier of a triple": lambda: Frontier(x=("e2e", "cost"))(run()),
    "frontier of 1": lambda: Frontier()(board(1)),
    "one ladder": lambda: Cliffs()(run()),
    "five ladders": lambda: Cliffs()(length_ladders(5)),
    "seventy ladders": lambda: Cliffs()(length_ladders(70)),
    "deadlines": lambda: Deadlines()(run()),
    "deadlines of 70": lambda: Deadlines()(board(70)),
    "budget": lambda: Deadlines(x="cost")(run()),
    "routing": lambda: Routing()(run()),
    "cost": lambda: Cost()(run()),
    "tails": lambda: Tails(metric="e2e_ms")(run()),
    "tails of a rate": lambda: Tails(metric="decode_tok_s")(run().assign(decode_tok_s=lambda d: 1e4 / d["e2e_ms"])),
    "size": lambda: SpeedBySize()(run()),
    "deployments": lambda: Degraded()(board(12)),
    "gate": lambda: Gate()(run(0), run(1)),
    "history": lambda: History()([run(s) for s in range(4)]),
    "tasks": lambda: ByTask()(run()),
    "budgets": lambda: Budgets()(run()),
    "grid": lambda: Grid(rows="difficulty", columns="candidate", metric="e2e_ms")(run()),
    "grid of quality": lambda: Grid(rows="difficulty", columns="candidate", metric="score")(run()),
    "streams": streams,
    "anytime": anytime,
}


@cache
def result_of(name: str) -> Result:
    """Made once for all tests."""
    return RESULTS[name]()
