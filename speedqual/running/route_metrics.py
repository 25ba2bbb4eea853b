"""The metrics of a route are the user's: from the first lane's send to what was shown of the reply that was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from speedqual.records import Attempt, Price
from speedqual.running.fallback import lane_of
from speedqual.running.route import Route
from speedqual.timing import Absent, Measured, measure
from speedqual.timing.cost import cost_usd
from speedqual.timing.stream import MS, Stream

__all__ = ["measure_route"]


def measure_route(route: Route, attempts: Sequence[Attempt], prices: Mapping[str, Price | None]) -> Measured:
    """As ``measure``, but latencies run from the first attempt's send (from the moment that it was wanted, where no
    connection was had), and each lane is paid at its own price.

    A reply that a check held back is shown when the check is over: first token, first answer and end are then that
    moment. Decode speed and gaps are those of the reply that was used, as its lane sent it.
    """
    plain = measure(attempts)
    known = {name: value for name, value in _shown_ms(Stream(attempts)).items() if plain.metrics[name] is not None}
    cost, notes = _cost(route, attempts, prices)
    missing = {name: why for name, why in plain.missing.items() if name != "cost_usd"}
    if isinstance(cost, Absent):
        missing["cost_usd"] = str(cost)
    metrics = {**plain.metrics, **known, "cost_usd": None if isinstance(cost, Absent) else cost}
    return replace(plain, metrics=metrics, missing=missing, flags=tuple(dict.fromkeys((*plain.flags, *notes))))


def _shown_ms(stream: Stream) -> dict[str, float]:
    """Latencies of the reply that was used, in ms after the user's wait began."""
    line = stream.attempts[0].timeline
    start = stream.t_user if line.t_send is not None else line.t_begun or stream.t_user
    if start is None or not stream.events:
        return {}
    held = stream.attempt.timeline.t_checked
    first, last = held or stream.events[0].t_ns, held or stream.events[-1].t_ns
    shown = {"ttft_ms": first, "ttft_user_ms": first, "e2e_ms": last, "e2e_user_ms": last}
    if stream.first_answer is not None:
        shown["ttfa_ms"] = held or stream.first_answer.t_ns
    return {name: (t_ns - start) / MS for name, t_ns in shown.items()}


def _cost(
    route: Route, attempts: Sequence[Attempt], prices: Mapping[str, Price | None]
) -> tuple[float | Absent, list[str]]:
    """USD of all attempts, each at its lane's price; unknown as soon as one is, with what is to be said of it."""
    total, notes = 0.0, list[str]()
    for attempt in attempts:
        lane = lane_of(route, attempt)
        own = Stream((attempt,), prices[lane.name])
        cost = cost_usd(own)
        if isinstance(cost, Absent):
            return Absent(f"attempt {attempt.number}, {lane.name}: {cost}"), notes
        total += float(cost)
        notes += own.notes
    return total, notes
