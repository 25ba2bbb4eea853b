"""What every asking command takes: whom to ask what, limits, where the run is kept; read into candidates and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.offers import CANDIDATE, EVALSET, MODEL, RUN
from speedqual.errors import EvalSetError, UsageError
from speedqual.records import Candidate, EvalSet, Price

if TYPE_CHECKING:
    from speedqual.running import Limits

__all__ = [
    "asked",
    "faults_placed",
    "limit_options",
    "limits_of",
    "of_run",
    "prices_in",
    "refuse_at_once",
    "sets_named",
    "who_options",
]

Command = Callable[..., Any]
_WHO = (
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="ENDPOINT/MODEL",
        type=MODEL,
        help="Whom to ask; repeatable. route:FILE = a routing policy.",
    ),
    click.option("--base-url", default="", help="Address of an OpenAI-compatible server for --model."),
    click.option("--api-key-env", default="", help="Environment variable that holds the key for --model."),
    click.option(
        "--candidate", "names", type=CANDIDATE, multiple=True, help="One of the settings file; default: all of them."
    ),
    click.option(
        "--evalset",
        "evalsets",
        multiple=True,
        metavar="NAME|PATH",
        type=EVALSET,
        help="What to ask; NAME@minimal = its short items.",
    ),
    click.option("--out", "folder", type=click.Path(path_type=Path), help="The run's folder. Default: runs/…"),
    click.option("--resume", "resumed", type=RUN, help="Go on with the run in this folder."),
)
_LIMITS = (
    click.option("--max-requests", type=click.IntRange(1), help="Stop after so many requests."),
    click.option("--max-tokens", type=click.IntRange(1), help="Stop after so many tokens, prompts included."),
    click.option("--max-usd", type=click.FloatRange(0, min_open=True), help="Stop before this much is spent."),
    click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Stop after so many seconds."),
    click.option("--attempts", type=click.IntRange(1), help="Requests a trial at most. Default: 3, under load 1."),
    click.option("--items", type=click.IntRange(1), help="Only the first so many items of each eval set."),
    click.option("--dry-run", is_flag=True, help="Print requests, tokens and cost; ask nothing."),
    click.option("--no-check", is_flag=True, help="Skip the one small request to each candidate beforehand."),
    click.option("--no-grade", is_flag=True, help="Only time; grade later with: speedqual grade RUN."),
    click.option("--allow-code", is_flag=True, help="Run the grader.py of an eval set."),
    click.option("--report", type=click.Path(path_type=Path), help="Write the HTML report here."),
    click.option("--json", "as_json", is_flag=True, help="Print the table as JSON."),
    click.option("--quiet", "-q", is_flag=True, help="No progress."),
)


def who_options(command: Command) -> Command:
    """Whom to ask what, and where the run is kept."""
    return _with(command, _WHO)


def limit_options(command: Command) -> Command:
    """When to stop, and what to do with the run at its end."""
    return _with(command, _LIMITS)


def _with(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


_SETTLED = {"models": "--model", "names": "--candidate", "evalsets": "--evalset", "items": "--items", "folder": "--out"}
"""What a run settles when it begins, so that resuming it leaves no choice."""


def refuse_at_once(options: dict[str, Any], settled: Mapping[str, str] | None = None) -> None:
    """What could only fail, or be ignored, after everything was asked and paid.

    ``settled``: more options that a run settles when it begins, and their flags.
    """
    again = [flag for name, flag in (_SETTLED | dict(settled or {})).items() if options[name]]
    if options["resumed"] and again:
        fix = "Leave it out, or begin a run without --resume"
        raise UsageError(f"a resumed run asks what it began with; {again[0]} cannot change it", fix=fix)
    report = options["report"]
    if report and (report.is_dir() or any(above.is_file() for above in report.parents)):
        raise UsageError("no report can be written there", where=str(report), fix="Give --report a path of a new file")


def asked(options: dict[str, Any], tables: dict[str, Any], where: str) -> list[Candidate]:
    from speedqual.endpoints.naming import candidates_from_table, parse_candidate
    from speedqual.running.route import with_routes

    url, key = options["base_url"], options["api_key_env"]
    named = [parse_candidate(model, base_url=url, api_key_env=key) for model in options["models"]]
    known = {one.name: one for one in candidates_from_table(tables.get("candidates", {}), where)}
    for name in options["names"]:
        if name not in known:
            fix = f"Known there: {', '.join(known) or 'none'}"
            raise UsageError(f"no candidate {name!r}", where=where, fix=fix)
    wanted = list(options["names"]) or ([] if named else list(known))
    found = named + [known[name] for name in wanted]
    if not found:
        raise UsageError("nobody to ask", fix="Give --model ENDPOINT/MODEL, or a settings file with candidates")
    return with_routes(found, known.values())


def sets_named(options: dict[str, Any]) -> list[EvalSet]:
    from speedqual.evalsets import builtin_names, load

    if not options["evalsets"]:
        raise UsageError("nothing to ask", fix=f"Give --evalset: {', '.join(builtin_names())}, or a path")
    loaded = [load(name, allow_code=options["allow_code"]) for name in options["evalsets"]]
    return [_first(evalset, options["items"]) for evalset in loaded]


@contextmanager
def faults_placed(options: dict[str, Any]) -> Iterator[None]:
    """What a grader says of its options is said with file and line of the card."""
    from speedqual.evalsets.placing import placed

    try:
        yield
    except EvalSetError as fault:
        found = (placed(fault, name.partition("=")[2] or name) for name in options["evalsets"])
        raise next((one for one in found if one is not fault), fault) from None


def _first(evalset: EvalSet, n: int | None) -> EvalSet:
    from speedqual.evalsets.hashing import hashed

    return evalset if n is None or n >= len(evalset.items) else hashed(replace(evalset, items=evalset.items[:n]))


def of_run(options: dict[str, Any], tables: dict[str, Any], where: str) -> tuple[list[Candidate], list[EvalSet]]:
    """A resumed run asks what it asked before; candidates of the settings file bring the headers that are not kept."""
    from speedqual.endpoints.naming import candidates_from_table
    from speedqual.running import Run
    from speedqual.running.route import Route, with_lanes

    run = Run.open(options["resumed"])
    known = {one.name: one for one in candidates_from_table(tables.get("candidates", {}), where)}
    again = [with_lanes(one, known) if isinstance(one, Route) else known.get(one.name, one) for one in run.candidates]
    return again, list(run.evalsets)


def prices_in(tables: dict[str, Any], where: str) -> dict[str, Price]:
    from speedqual.endpoints.prices import price_from_table

    return {name: price_from_table(row, f"{where}: prices.{name}") for name, row in tables.get("prices", {}).items()}


def limits_of(options: dict[str, Any]) -> Limits:
    """The limits that the options set."""
    from speedqual.running import Limits

    return Limits(
        requests=options["max_requests"],
        tokens=options["max_tokens"],
        usd=options["max_usd"],
        wall_s=options["max_seconds"],
    )
