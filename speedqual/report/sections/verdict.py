"""The verdict in words: what to use at the floor, what could not be told, where quality drops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from speedqual.display.numbers import points, score, seconds
from speedqual.report.context import Context
from speedqual.report.page import Part, fill

__all__ = ["section", "sentences"]


def section(context: Context) -> Part | None:
    """Absent when nothing was graded."""
    lines = list(sentences(context))
    if not lines:
        return None
    body = fill("verdict.html.j2", context.words, lines=lines)
    return Part("verdict", context.words("verdict.heading"), body)


def sentences(context: Context) -> Iterator[str]:
    """The verdict, a sentence at a time, most important first."""
    board = context.board
    if not len(board) or board["quality"].isna().all():
        return
    if context.manifest.get("client", {}).get("limited"):
        yield context.words("verdict.client_limited")
    else:
        yield from _ranking(context)
    yield from _drops(context)
    yield from _failures(context)
    if context.local:
        yield context.words("verdict.small_model")
    yield context.words("verdict.interval")


def _ranking(context: Context) -> Iterator[str]:
    words, result = context.words, context.frontier
    rows = {row["candidate"]: row for row in context.board.to_dict("records")}
    if result is not None and result.floor is not None:
        yield from _floor(context, rows)
    best = context.board.iloc[0]
    yield words("verdict.best", candidate=best["candidate"], **_bounds(best))
    timed = context.board.dropna(subset=["e2e_ms_p50"])
    if len(timed):
        first = timed.loc[timed["e2e_ms_p50"].idxmin()]
        yield words("verdict.fastest", candidate=first["candidate"], seconds=seconds(first["e2e_ms_p50"]))
    if result is not None and result.front:
        yield words("verdict.front", candidates=", ".join(result.front))


def _floor(context: Context, rows: dict[str, Any]) -> Iterator[str]:
    words, result = context.words, context.frontier
    floor = score(result.floor)
    if result.recommended is not None:
        row = rows[result.recommended]
        took = seconds(row["e2e_ms_p50"])
        yield words("verdict.fastest_at_floor", candidate=row["candidate"], floor=floor, seconds=took, **_bounds(row))
    else:
        yield words("verdict.nobody_at_floor", floor=floor)
    judged = result.table.set_index("candidate")["floor"]
    unsure, below = (", ".join(judged.index[judged == label]) for label in ("cannot tell", "fails"))
    if unsure:
        yield words("verdict.cannot_tell", n=context.n_items, candidates=unsure)
    if below:
        yield words("verdict.below_floor", candidates=below)


def _bounds(row: Any) -> dict[str, str]:
    return {"quality": score(row["quality"]), "lo": score(row["quality_lo"]), "hi": score(row["quality_hi"])}


def _drops(context: Context) -> Iterator[str]:
    for ladder in context.ladders:
        yield context.words(
            "verdict.drop",
            ladder=ladder.name,
            points=points(ladder.drop),
            **{"from": ladder.upper, "to": ladder.lower},
            lo=points(ladder.drop_lo),
            hi=points(ladder.drop_hi),
            label=context.words(f"verdict.label_{ladder.label.replace(' ', '_')}"),
        )


def _failures(context: Context) -> Iterator[str]:
    total = int(context.board["n"].sum())
    failed = sum(sum(kinds.values()) for kinds in context.board["endpoint_failures"])
    if failed:
        yield context.words("verdict.failures", n=failed, total=total)
