"""The documentation page of the metrics, written from their definitions.

``python -m speedqual.timing.page > docs/metrics.md``
"""

from __future__ import annotations

from speedqual.timing.contract import Metric
from speedqual.timing.measure import DEFINITIONS

__all__ = ["page"]

HEAD = """\
# Metrics

Generated from the definitions in `speedqual/timing/` by `python -m speedqual.timing.page`; do not edit by hand.

Every number is derived from the raw events of a request: `t_sched` (when the schedule wanted it), `t_send` (its first
byte handed to the socket), the counted events, `t_close`. A **counted event** is a piece with non-empty text: answer,
refusal, reasoning, tool name or arguments. Never: role-only, empty, finish-only, usage-only, ping, comment, end marker.
Stamps are integers of nanoseconds of one monotonic clock, taken when bytes arrive, before any parsing.

A number that does not exist is null with a reason beside it: never 0, −1, NaN or infinity. Latencies and speeds
describe complete replies: they are null unless an attempt ended `ok`.
"""

TAIL = """\
## Flags

| flag | meaning |
|---|---|
| `coalesced` | some events share a read, and so a stamp: the gap between them is an interval, counted as 0 |
| `buffered` | at least half of the events coalesced, at least 8 a read, in one read or with ≥ 50 ms of \
idle time (median) between reads: decode speed is not measurable |
| `first_chunk_unknown` | nobody said how many tokens the first chunk held: 1 was assumed |
| `zero_usage` | the server reported 0 output tokens for a reply that had some: its count was not used |
| `filtered` | a content filter stopped an answer that had begun |
| `client_lag` | the client's event loop was late by more than 5 ms, or 5 % of the median gap \
(never less than 1.5 ms), while this stream was open |
| `rate_limited` | an attempt was answered with 429 |
| `cost_from_endpoint` | the endpoint sent the cost itself |
| `cached_at_input_price`, `cache_write_at_input_price` | no price of its own is known: \
for cached tokens an upper bound |

## Summaries

`speedqual.timing.summary`: `_p50`, `_p95`, `_p99`, `_mean` over the finite values, linear interpolation, with `_lo` and
`_hi` of the 95 % order-statistic interval. Where n is too small for a bound (upper, two-sided: 36 for p90, 72 for p95,
368 for p99) only that bound reads "n too small". The twin with failures takes the nearest rank over all that was sent,
a failure being worse than any value. A rate's tail is its slow end: `_p5`, `_p1`. A mean or percentile is never
inverted.

`speedqual.timing.throughput`: `tok_s`, `req_s` = tokens of counted events, requests / window; the steady window is the
time with at least 90 % of the peak concurrency. `speedqual.timing.goodput`: requests that meet every promise / all
sent; any outcome but `ok` is bad; a number that cannot exist makes it undetermined, which stays in the denominator.
"""


def _section(metric: Metric) -> str:
    formula = metric.formula.replace("|", "\\|")
    scope = "complete replies" if metric.needs_success else "every trial"
    return (
        f"## `{metric.name}`\n\n{metric.doc}\n\n| | |\n|---|---|\n| unit | {metric.unit} |\n"
        f"| formula | {formula} |\n| undefined when | {metric.undefined} |\n"
        f"| source | {metric.source} |\n| given for | {scope} |\n"
    )


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join([HEAD, *(_section(metric) for metric in DEFINITIONS), TAIL])


if __name__ == "__main__":
    print(page(), end="")
