"""What ``speedqual load`` says: the plan beforehand, the levels and the knee afterwards, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.outcome import PARTIAL, planned_table, say, say_causes
from speedqual.cli.outcome import exit_code_of as plain_exit_code
from speedqual.cli.table import text_table
from speedqual.display import numbers
from speedqual.records import Candidate, EvalSet, Price

if TYPE_CHECKING:
    from speedqual.analysis.load.knee import KneeResult
    from speedqual.analysis.load.levels import LevelsResult
    from speedqual.running import Run
    from speedqual.running.load import Level, LoadPlan

__all__ = ["exit_code_of", "knee_of", "print_levels", "print_plan"]

INCONCLUSIVE = 5


def print_plan(
    candidates: Sequence[Candidate],
    plan: LoadPlan,
    evalsets: Sequence[EvalSet],
    overrides: Mapping[str, Price],
    *,
    as_json: bool,
) -> None:
    """What would be sent and might be spent; nothing is sent."""
    from speedqual.endpoints.prices import price_of
    from speedqual.running.load.estimate import estimate_load

    prices = {one.name: price_of(one, overrides) for one in candidates}
    cost = estimate_load(candidates, plan, evalsets, prices)
    rows = [_level(level) for level in plan.levels]
    if as_json:
        told = {"levels": rows, "slos": [str(slo) for slo in plan.slos], "cost": cost.to_dict()}
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
        return
    if rows:
        head = ["layer", "level", "arrivals", "seconds", "requests", "eval set"]
        click.echo(text_table(head, [[_cell(value) for value in row.values()] for row in rows]) + "\n")
        click.echo(text_table(*planned_table(cost.rows)))
    if plan.search is not None:
        search = plan.search
        click.echo(f"search for the knee: {search.level.arrivals} to {search.high:g} {search.level.unit}")
    if cost.open_ended:
        say(f"As many as replies allow, not counted above: {', '.join(cost.open_ended)}.")
    if not cost.bounded:
        say("An eval set has no max_tokens: the output has no upper bound.")


def _level(level: Level) -> dict[str, Any]:
    from speedqual.running.load.level import n_planned

    return {
        "layer": level.layer,
        "level": level.name,
        "arrivals": level.arrivals,
        "duration_s": level.duration_s,
        "requests": n_planned(level),
        "evalset": level.evalset,
    }


def _cell(value: object) -> str:
    if value is None:
        return numbers.DASH
    return f"{value:,g}" if isinstance(value, (int, float)) else str(value)


def print_levels(run: Run, knee: KneeResult | None, *, as_json: bool) -> None:
    """A line a level on stdout, notes on stderr."""
    from speedqual.analysis.load.levels import Levels

    if not run.manifest["load"]["levels"]:
        say("Nothing was sent.")
    elif as_json:
        click.echo(json.dumps(_found(run, Levels()(run), knee), ensure_ascii=False, indent=1))
        say_causes(run)
        return
    else:
        _print_table(Levels()(run), knee)
    say_causes(run)
    for one in run.manifest["load"]["skipped"]:
        say(f"{one['candidate']}, {one['level']}: not sent, {one['why']}")
    for worker in run.manifest["load"].get("workers", ()):
        if worker["lost"] or worker.get("round_trips"):
            say(_worker(worker))
    if run.manifest.get("why"):
        say(f"Stopped: {run.manifest['why']}. Go on with: speedqual load --resume {run.folder}")


def _found(run: Run, levels: LevelsResult, knee: KneeResult | None) -> dict[str, Any]:
    from speedqual.analysis.base import records

    return {
        "run": run.name,
        "status": run.status,
        "levels": records(levels.table),
        "knee": None if knee is None else knee.to_dict(),
        "skipped": run.manifest["load"]["skipped"],
        "workers": run.manifest["load"].get("workers", []),
        "notes": list(levels.notes),
    }


def _print_table(levels: LevelsResult, knee: KneeResult | None) -> None:
    measured = levels.table.to_dict("records")
    rows = [_row(row) for row in measured]
    if knee is not None:
        held = {_place(row): row for row in knee.levels.to_dict("records")}
        for row, cells in zip(measured, rows, strict=True):
            cells.append(_goodput(held.get(_place(row))))
    click.echo(text_table(HEAD if knee is not None else HEAD[:-1], rows))
    if knee is not None:
        click.echo(knee.verdict)
    for note in levels.notes:
        say(note)


HEAD = [
    "candidate, level",
    "sent",
    "failed",
    "planned/s",
    "sent as planned",
    "answered/s",
    "TTFT p50 ms",
    "p95",
    "tokens/s",
    "client lag p99 ms",
    "goodput",
]


def _worker(worker: Mapping[str, Any]) -> str:
    """Who shared the work, and by how much its clock may be off."""
    lost = ", lost: what it had not finished was sent again" if worker["lost"] else ""
    off, half = worker.get("offset_ms", 0.0), worker.get("half_width_ms", 0.0)
    return (
        f"{worker['name']}: its clock is {off:+.2f} ms (± {half:.2f}) from this one, on which all times are given{lost}"
    )


def _place(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    return row["candidate"], row["layer"], row["level"]


def _row(row: Mapping[Any, Any]) -> list[str]:
    """A level at which the client was the limit shows no figures of the server."""
    limited = bool(row["client_limited"])
    mark = " (client limited)" if limited else ""
    shown = ("done_s", "ttft_ms_p50", "ttft_ms_p95", "tok_s")
    answered, ttft_p50, ttft_p95, tok_s = (None if limited else row[name] for name in shown)
    figures = [
        numbers.rate(row["offered_s"]),
        numbers.percent(row["achieved"]),
        numbers.rate(answered),
        numbers.milliseconds(ttft_p50),
        numbers.milliseconds(ttft_p95),
        numbers.rate(tok_s),
        numbers.milliseconds(row["lag_p99_ms"]),
    ]
    cells = [f"{row['candidate']}, {row['layer']} {row['level']}{mark}", f"{row['n'] + row['cut']}", f"{row['failed']}"]
    return [*cells, *figures]


def _goodput(row: Mapping[Any, Any] | None) -> str:
    """Of a level that is judged; those of other layers are not."""
    if row is None or row["client_limited"] or row["goodput"] is None:
        return numbers.DASH
    lo, hi = numbers.percent(row["lo"]), numbers.percent(row["hi"])
    return f"{numbers.percent(row['goodput'])} ({lo} to {hi}), {row['state']}"


def knee_of(run: Run, plan: LoadPlan) -> KneeResult | None:
    """What follows for the SLOs; None without any, or without a layer that climbs."""
    from speedqual.analysis.load.knee import LAYERS, Knee

    climbed = {entry["layer"] for entry in run.manifest["load"]["levels"]} & set(LAYERS)
    return Knee()(run) if plan.slos and climbed else None


def exit_code_of(run: Run, plan: LoadPlan, knee: KneeResult | None) -> int:
    """0 good; 1 an SLO is broken at a level asked for; 3 nothing was answered; 4 stopped early or, without SLOs, some
    requests failed; 5 the SLOs can be told neither to hold nor to be broken, or no knee is found."""
    from speedqual.cli.causes import nothing_answered

    if nothing_answered(run):
        return plain_exit_code(run)
    if run.status != "finished":
        return PARTIAL
    if knee is None:
        return plain_exit_code(run)
    if plan.search is not None:
        return 0 if knee.knees["knee_x"].notna().all() else INCONCLUSIVE
    states = set(knee.levels["state"])
    return 1 if "fails" in states else INCONCLUSIVE if "open" in states else 0
