"""Interaction budgets: what a use needs of every request, and how often a candidate gives it.

Judged per request, never from means, with a Wilson interval over items. All presets are editable: pass your own
``Budget``. Each names where its figures come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from speedqual.analysis.base import Result, plain, records
from speedqual.analysis.intervals import wilson, wilson_lower, wilson_upper
from speedqual.analysis.tidy import median, numbers, tidy
from speedqual.errors import UsageError

__all__ = ["PRESETS", "AgentLoop", "Budget", "Budgets", "BudgetsResult", "agent_loop"]


@dataclass(frozen=True)
class Budget:
    """Limits that one request must meet; None = no limit.

    ``first_ms`` bounds the first answer token, ``whole_ms`` the whole answer (both as the user waits, retries
    included), ``char_s`` and ``tok_s`` the flow of a stream from below. ``share``: of requests that must meet it.
    """

    name: str
    first_ms: float | None = None
    whole_ms: float | None = None
    char_s: float | None = None
    tok_s: float | None = None
    share: float = 0.95
    source: str = ""


PRESETS: tuple[Budget, ...] = (
    Budget(
        "voice",
        first_ms=500,
        tok_s=10,
        source="people take turns about 200 ms apart (Stivers et al. 2009, PNAS 106:10587); 500 ms is still an answer",
    ),
    Budget(
        "code completion",
        whole_ms=400,
        source="a pause in typing; Nielsen 1993: below 0.1 s instant, below 1 s unbroken",
    ),
    Budget(
        "chat, English",
        first_ms=1000,
        char_s=20,
        source="silent reading 238 words a minute, 20 characters/s with spaces (Brysbaert 2019); 1 s (Nielsen 1993)",
    ),
    Budget(
        "chat, Chinese",
        first_ms=1000,
        char_s=7,
        source="silent reading about 260 words = 400 characters a minute = 7 characters/s (Brysbaert 2019, Chinese)",
    ),
    Budget("design prototype", whole_ms=10_000, source="attention holds for 10 s (Nielsen 1993)"),
    Budget(
        "game or live scene", first_ms=200, whole_ms=1000, source="one exchange a second, begun before it is noticed"
    ),
    Budget("batch", whole_ms=24 * 3_600_000, share=0.99, source="the day that batch tiers promise"),
)
"""Editable starting points, each with its source."""


@dataclass(frozen=True)
class AgentLoop:
    """T = rounds × (ttft + tokens / speed + tool): ``tool_ms`` is what a faster model cannot shorten (Amdahl)."""

    rounds: int = 20
    tokens: int = 2000
    tool_ms: float = 0.0

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.tokens < 0 or self.tool_ms < 0:
            raise UsageError("an agent loop needs at least one round and no negative tokens or times")


def agent_loop(loop: AgentLoop, ttft_ms: float, tok_s: float) -> dict[str, float]:
    """Seconds of the loop and its parts; ``limit_s``: what would remain with an infinitely fast decoder.

    Twenty rounds of 2,000 tokens: 800 s at 50 tokens/s, 40 s at 1,000.

    >>> agent_loop(AgentLoop(20, 2000), 0.0, 50.0)["total_s"], agent_loop(AgentLoop(20, 2000), 0.0, 1000.0)["total_s"]
    (800.0, 40.0)
    """
    first, decode = loop.rounds * ttft_ms / 1000, loop.rounds * loop.tokens / tok_s
    tools = loop.rounds * loop.tool_ms / 1000
    total = first + decode + tools
    return {
        "total_s": total,
        "first_token_s": first,
        "decode_s": decode,
        "tool_s": tools,
        "decode_share": decode / total if total else 0.0,
        "limit_s": first + tools,
    }


@dataclass(frozen=True)
class Budgets:
    """Judge candidates against budgets and an agent loop (None = leave it out)."""

    budgets: Sequence[Budget] = PRESETS
    loop: AgentLoop | None = AgentLoop()

    def __call__(self, data: Any) -> BudgetsResult:
        """Judge a run or its ``df``."""
        table = tidy(data)
        if table.raw is None:
            raise UsageError("budgets are judged per request: a table of summaries has none", fix="Give a run")
        rows = [_judge(table.raw, name, budget) for budget in self.budgets for name in table.names]
        loops = [_loop(table.raw, name, self.loop) for name in table.names if self.loop]
        out = pd.DataFrame(rows)
        return BudgetsResult(out, _verdict(out), table.notes, pd.DataFrame(loops), tuple(self.budgets))


@dataclass(frozen=True, eq=False, repr=False)
class BudgetsResult(Result):
    """``table``: ``budget, candidate, met, met_lo, met_hi, n, undetermined, verdict`` (passes, fails, cannot tell).

    ``loops``: ``candidate, total_s, first_token_s, decode_s, tool_s, decode_share, limit_s``.
    """

    loops: pd.DataFrame
    budgets: tuple[Budget, ...]

    def to_dict(self) -> dict[str, Any]:
        """``budgets[]`` with their sources, ``verdicts[]``, ``loops[]``; strict JSON."""
        return {
            "kind": "budgets",
            "verdict": self.verdict,
            "notes": list(self.notes),
            "budgets": plain(self.budgets),
            "verdicts": records(self.table),
            "loops": records(self.loops),
        }


def _judge(raw: pd.DataFrame, name: str, budget: Budget) -> dict[str, Any]:
    rows = raw[raw["candidate"] == name]
    ok, unknown = _meets(rows, budget)
    by_item = pd.DataFrame({"item": rows["item"], "ok": ok.astype(float)}).groupby("item")["ok"].mean()
    n, met = len(by_item), float(by_item.mean())
    interval = wilson(met * n, n)
    passes = wilson_lower(met * n, n) >= budget.share
    # what could not be measured may have been met: it alone must not make a candidate fail
    at_best = min(1.0, met + float(unknown.mean()))
    fails = wilson_upper(at_best * n, n) < budget.share
    return {
        "budget": budget.name,
        "candidate": name,
        "met": met,
        "met_lo": interval.lo,
        "met_hi": interval.hi,
        "n": n,
        "undetermined": int(unknown.sum()),
        "share": budget.share,
        "verdict": "passes" if passes else "fails" if fails else "cannot tell",
    }


def _meets(rows: pd.DataFrame, budget: Budget) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Per request: met, and undetermined (the reply is fine but a needed figure cannot exist: it counts as not met)."""
    fine = (rows["outcome"] == "ok").to_numpy()
    ok, unknown = fine.copy(), np.zeros(len(rows), dtype=bool)
    limits = (
        (("ttfa_ms", "ttft_user_ms", "ttft_ms"), budget.first_ms, 1.0),
        (("e2e_user_ms", "e2e_ms"), budget.whole_ms, 1.0),
        (("decode_char_s",), budget.char_s, -1.0),
        (("decode_tok_s",), budget.tok_s, -1.0),
    )
    for names, limit, sign in limits:
        if limit is not None:
            known = [n for n in names if n in rows]
            values = numbers(rows, known[0] if known else "")
            unknown |= fine & np.isnan(values)
            ok &= sign * values <= sign * limit
    return ok, unknown


def _loop(raw: pd.DataFrame, name: str, loop: AgentLoop) -> dict[str, Any]:
    rows = raw[raw["candidate"] == name]
    ttft, speed = median(numbers(rows, "ttft_ms")), median(numbers(rows, "decode_tok_s"))
    if ttft is None or speed is None:
        return {"candidate": name, "total_s": None}
    return {"candidate": name, **agent_loop(loop, ttft, speed)}


def _verdict(out: pd.DataFrame) -> str:
    parts = []
    for budget, rows in out.groupby("budget", sort=False):
        passing = list(rows.loc[rows["verdict"] == "passes", "candidate"])
        unsure = int((rows["verdict"] == "cannot tell").sum())
        said = ", ".join(passing[:4]) + ("…" if len(passing) > 4 else "") if passing else "nobody surely"
        parts.append(f"{budget}: {said}" + (f" ({unsure} cannot be told)" if unsure else ""))
    return "; ".join(parts) + "."
