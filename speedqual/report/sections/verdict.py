"""The verdict in words: the fast lane, the strong fallback, what could not be told, where quality drops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from speedqual.analysis.tidy import CLIMBED
from speedqual.display import numbers
from speedqual.display.numbers import points, score, seconds
from speedqual.report.context import Context
from speedqual.report.page import Part, fill
from speedqual.report.sections.ladders import slug
from speedqual.report.sections.load import knees
from speedqual.report.sections.routing import sentence

__all__ = ["section", "sentences"]


def section(context: Context) -> Part | None:
    """Absent when a finished run asked nothing."""
    lines = list(sentences(context))
    if not lines:
        return None
    return Part("verdict", context.words("verdict.heading"), fill("verdict.html.j2", context.words, lines=lines))


def sentences(context: Context) -> Iterator[str]:
    """The verdict, a sentence at a time, most important first."""
    board = context.board
    yield from _unfinished(context)
    if not len(board):
        return
    if board["quality"].isna().all():
        yield context.words("verdict.ungraded")
        return
    yield from knees(context, layers=CLIMBED)
    if context.client_limit:
        yield context.words("verdict.client_limited")
    else:
        yield from _lanes(context)
        yield from _untold(context)
    yield from _drops(context)
    yield from _failures(context)
    if context.local:
        yield context.words("verdict.small_model")
    yield context.words("verdict.interval")


def _unfinished(context: Context) -> Iterator[str]:
    """A part of a run must not pass for the whole."""
    manifest, words = context.manifest, context.words
    if manifest["status"] == "finished":
        return
    done, total = (numbers.count(manifest.get(name) or 0) for name in ("n_done", "n_trials"))
    verb = "load" if manifest.get("load") else "run"
    ended = words.known(f"verdict.status_{manifest['status']}", str(manifest["status"]))
    yield words("verdict.unfinished", ended=ended, done=done, total=total, verb=verb)


def _lanes(context: Context) -> Iterator[str]:
    """The fast lane at the floor, the strong fallback behind it, what they make together."""
    words, result = context.words, context.frontier
    rows = {str(row["candidate"]): row for row in context.board.to_dict("records")}
    best = next(iter(rows.values()))
    fast = None if result is None else result.recommended
    if fast is not None:
        facts = _facts(context, rows[fast])
        yield words("verdict.fast_lane", candidate=context.called(fast), floor=score(result.floor), facts=facts)
    elif result is not None and result.floor is not None:
        yield words("verdict.nobody_at_floor", floor=score(result.floor))
    if fast == best["candidate"]:
        yield words("verdict.no_better", candidate=context.called(fast))
    else:
        key = "verdict.fallback" if fast is not None else "verdict.best"
        yield words(key, candidate=context.called(best["candidate"]), facts=_facts(context, best))
    if fast is None:
        yield from _fastest(context)
    if result is not None and result.front:
        yield words("verdict.front", candidates=context.listed(result.front))
    if context.routing is not None and context.routing.policy is not None:
        yield words("verdict.replayed", sentence=sentence(context))


def _fastest(context: Context) -> Iterator[str]:
    timed = context.board.dropna(subset=["e2e_ms_p50"])
    if len(timed):
        first = timed.sort_values("e2e_ms_p50", kind="stable").iloc[0]
        took = seconds(first["e2e_ms_p50"])
        yield context.words("verdict.fastest", candidate=context.called(first["candidate"]), seconds=took)


def _facts(context: Context, row: Any) -> str:
    """Quality, waits and cost of a candidate as part of a sentence."""
    words = context.words
    bounds = {"quality": score(row["quality"]), "lo": score(row["quality_lo"]), "hi": score(row["quality_hi"])}
    parts = [words("verdict.quality", **bounds)]
    if not numbers.missing(row["e2e_ms_p50"]):
        parts.append(words("verdict.waits", p50=seconds(row["e2e_ms_p50"]), p95=seconds(row["e2e_ms_p95"])))
    if not numbers.missing(row["cost_per_success_usd"]):
        parts.append(words("verdict.cost", usd=numbers.usd(row["cost_per_success_usd"])))
    return words("page.list").join(parts)


def _untold(context: Context) -> Iterator[str]:
    """What this run could not tell: who is at the floor, how long the tail is, what a success costs."""
    words, result, board = context.words, context.frontier, context.board
    if result is not None and result.floor is not None:
        judged = result.table.set_index("candidate")["floor"]
        for label, key in (("cannot tell", "verdict.cannot_tell"), ("fails", "verdict.below_floor")):
            names = context.listed(judged.index[judged == label])
            if names:
                yield words(key, n=context.n_items, candidates=names)
    open_end = board["candidate"][board["e2e_ms_p95_hi"].isna() & board["e2e_ms_p50"].notna()]
    if len(open_end):
        yield words("verdict.p95_open", **_some(context, list(open_end)))
    unknown = board["candidate"][board["cost_per_success_usd"].isna() & (board["n_success"] > 0)]
    if len(unknown) and not context.local:
        yield words("verdict.cost_unknown", **_some(context, list(unknown)))


def _some(context: Context, names: list[str]) -> dict[str, Any]:
    """Names for a sentence; "all of them" where it is everyone."""
    everyone = len(names) == len(context.board) > 1
    shown = context.words("verdict.everyone") if everyone else context.listed(names)
    return {"candidates": shown}


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
