"""The quantities an analysis can put on an axis: unit, which way is better, how a candidate's value is summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MEASURES", "Measure", "find_measure"]


@dataclass(frozen=True, slots=True)
class Measure:
    """``name`` is the column; ``stat`` says how items become one number: their median, or mean (money, tokens)."""

    name: str
    label: str
    unit: str
    higher_is_better: bool = False
    stat: Literal["median", "mean"] = "median"


_ALL = (
    Measure("e2e_ms", "whole answer", "ms"),
    Measure("seconds", "time", "s"),
    Measure("ttft_ms", "time to first token", "ms"),
    Measure("ttfa_ms", "time to first answer token", "ms"),
    Measure("e2e_user_ms", "whole answer, retries included", "ms"),
    Measure("ttft_user_ms", "time to first token, retries included", "ms"),
    Measure("e2e_sched_ms", "whole answer since it was due", "ms"),
    Measure("tpot_ms", "time per output token", "ms"),
    Measure("decode_tok_s", "decode speed", "tokens/s", higher_is_better=True),
    Measure("decode_char_s", "decode speed", "characters/s", higher_is_better=True),
    Measure("cost_usd", "cost", "USD", stat="mean"),
    Measure("n_out", "output tokens", "tokens", stat="mean"),
    Measure("params_b", "parameters", "billions"),
)
MEASURES: dict[str, Measure] = {m.name: m for m in _ALL}
_SHORT = {
    "ttft": "ttft_ms",
    "ttfa": "ttfa_ms",
    "e2e": "e2e_ms",
    "speed": "decode_tok_s",
    "decode": "decode_tok_s",
    "cost": "cost_usd",
    "tokens": "n_out",
    "params": "params_b",
}


def find_measure(name: str) -> Measure:
    """The measure of a column or short name; an unknown column is taken as "lower is better".

    >>> find_measure("ttft").name, find_measure("speed").higher_is_better
    ('ttft_ms', True)
    """
    full = _SHORT.get(name, name)
    return MEASURES.get(full, Measure(full, full, ""))
