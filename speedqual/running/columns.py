"""The columns of ``run.df``, one row a finished trial: the one place that documents them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from speedqual.timing import DEFINITIONS

__all__ = ["COLUMNS", "Column", "page"]

Kind = Literal["text", "number", "count", "truth"]


@dataclass(frozen=True, slots=True)
class Column:
    """``kind``: text (may be empty), number (float, NaN = missing), count (integer), truth (nullable boolean)."""

    name: str
    kind: Kind
    doc: str


_TRIAL = (
    Column("run", "text", "the run's name"),
    Column("candidate", "text", "the candidate's name"),
    Column(
        "candidate_id",
        "text",
        "content hash of endpoint, model, tier, params and prompt settings; of a route: of policy and lanes",
    ),
    Column("endpoint", "text", "the protocol; route: other candidates are asked by a policy"),
    Column("model", "text", "the model as asked; of a route both, the fast one first"),
    Column("service_tier", "text", "the tier as asked; empty = none was asked for"),
    Column("served_tier", "text", "the tier as the reply names it; empty = it does not say"),
    Column("ladder", "text", "the ladder that the candidate stands on; empty = none"),
    Column("rung", "text", "its rung on that ladder"),
    Column("x", "number", "the rung's coordinate; NaN = its rank"),
    Column("params_b", "number", "parameters of the model in thousands of millions"),
    Column("usd_per_hour", "number", "what its own hardware costs an hour"),
    Column("claimed_tok_s", "number", "the advertised speed, tokens/s"),
    Column("evalset", "text", "the eval set's name"),
    Column("task", "text", "code, extraction, facts, …"),
    Column("item", "text", "the item's id"),
    Column("difficulty", "text", "the item's tier of difficulty; empty = none"),
    Column("cluster", "text", "source document, template or subject that items share; empty = none"),
    Column("language", "text", "the item's language; empty = not said"),
    Column("repeat", "count", "0 for the first time the item was asked"),
    Column("phase", "text", "main; other_tier: served on another tier than asked, kept apart and never averaged in"),
    Column("layer", "text", "the layer of a load test: concurrency, arrivals, long_input, …; empty = no load test"),
    Column("level", "text", "the level of that layer in words, such as 8 users or 20 req/s"),
    Column("load_x", "number", "the level's coordinate: users, requests a second, tokens, share or seconds"),
    Column("load_number", "number", "which request of the level it was, from 0"),
    Column("traffic", "text", "its class in mixed traffic; empty = one class only"),
    Column("session", "text", "the conversation or agent that it belongs to; empty = none"),
    Column("turn", "count", "its turn in that session, from 0"),
    Column("load_note", "text", "cold or warm where prefixes and cold starts are compared"),
    Column("sched_ms", "number", "intended start after the start of the run, ms; NaN = it waited for another reply"),
    Column("started_ms", "number", "t_send of the first attempt after the start of the run, ms"),
)
_REPLY = (
    Column("outcome", "text", "how the last attempt ended: ok, or which failure of the endpoint"),
    Column("stop", "text", "why the model stopped: stop, length, tool, filter, error; empty = not said"),
    Column("finish_reason", "text", "the same as the endpoint words it"),
)
_GRADE = (
    Column("verdict", "text", "pass, partial, fail, not_graded; empty = not graded yet, or the endpoint failed"),
    Column("failure", "text", "the kind of failure in the answer; none for a pass; empty = not graded"),
    Column("score", "number", "0 … 1, strict; NaN = not graded"),
    Column("score_lenient", "number", "0 … 1 after repairs that a strict reader would refuse; NaN = not graded"),
    Column("success", "truth", "score ≥ success_at; missing = not graded"),
    Column("floor", "number", "the mean score that the eval set asks of a candidate; NaN = it names none"),
    Column("success_at", "number", "the score from which an item counts as done"),
    Column("answer_chars", "count", "characters of the answer, reasoning not counted"),
    Column(
        "flags",
        "text",
        "what taints the row, separated by spaces: see the metrics page; other_tier, tier_unknown; of a route lane_fast"
        " or lane_strong (whose reply was used) and fell_back_failed, fell_back_late or fell_back_check",
    ),
)
_METRICS = tuple(
    Column(metric.name, "text" if metric.unit == "name" else "number", f"{metric.doc} Unit: {metric.unit}.")
    for metric in DEFINITIONS
)
COLUMNS: tuple[Column, ...] = (*_TRIAL, *_REPLY, *_GRADE, *_METRICS)


HEAD = """\
# The columns of `run.df`

Generated from `speedqual/running/columns.py` by `python -m speedqual.running.columns`; do not edit by hand.

One row a finished trial: one question to one candidate, once, with all its attempts. Columns of kind *number* are
floats with NaN for a missing value; the reason for each is in the record (`record.missing`). *Truth* is a nullable
boolean. Numbers that describe a complete reply are missing unless an attempt ended `ok`, so that no failure enters an
average; rows of failures stay in the table, with their `outcome`.

| column | kind | meaning |
|---|---|---|
"""


def page() -> str:
    """The documentation page as Markdown."""
    docs = ((column, column.doc.replace("|", "\\|")) for column in COLUMNS)
    return HEAD + "".join(f"| `{column.name}` | {column.kind} | {doc} |\n" for column, doc in docs)


if __name__ == "__main__":
    print(page(), end="")
