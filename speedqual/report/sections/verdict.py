"""The verdict in words: what to use at the floor, what could not be told, where quality drops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from speedqual.display.numbers import points, score, seconds
from speedqual.report.context import Context
from speedqual.report.page import Part, fill
from speedqual.report.sections.ladders import slug

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
    if context.client_limit:
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
        first = timed.sort_values("e2e_ms_p50", kind="stable").iloc[0]
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
    """The largest drop of each ladder, by the name that the rule allows it."""
    if context.cliffs is None:
        return
    for ladder in context.cliffs.to_dict()["ladders"]:
        step = max(ladder["steps"], key=lambda row: row["drop"] or 0.0)
        if (step["drop"] or 0.0) <= 0:
            continue
        yield context.words(
            "verdict.drop",
            ladder=ladder["ladder"],
            points=points(step["drop"]),
            **{"from": step["from"], "to": step["to"]},
            lo=points(step["drop_lo"]),
            hi=points(step["drop_hi"]),
            label=context.words(f"ladder.label_{slug(ladder['label'])}"),
        )


def _failures(context: Context) -> Iterator[str]:
    total = int(context.board["n"].sum())
    failed = sum(sum(kinds.values()) for kinds in context.board["endpoint_failures"])
    if failed:
        yield context.words("verdict.failures", n=failed, total=total)
