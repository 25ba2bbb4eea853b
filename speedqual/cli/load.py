"""``speedqual load``: candidates under load, level by level, into a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.asking import (
    asked,
    faults_placed,
    limit_options,
    limits_of,
    of_run,
    prices_in,
    refuse_at_once,
    who_options,
)
from speedqual.cli.outcome import until_done
from speedqual.cli.settings import config_option, read_settings
from speedqual.records import Candidate, EvalSet

if TYPE_CHECKING:
    from speedqual.running import Run
    from speedqual.running.load import LoadPlan, Seen
    from speedqual.timing.goodput import Slo

__all__ = ["command"]

SECONDS = click.FloatRange(0, min_open=True)


@click.command("load")
@config_option("load")
@who_options
@click.option(
    "--layers",
    is_flag=False,
    flag_value="all",
    metavar="[NAMES]",
    help="The layered plan, or these layers of it.",
)
@click.option("--quick", is_flag=True, help="Layers small enough for a small model on this machine.")
@click.option("--context", type=click.IntRange(256), help="Longest prompt and reply of --layers, tokens.")
@click.option("--users", default="", metavar="N,N,…", help="Closed loop: a level for each number of users.")
@click.option("--think", type=click.FloatRange(0), default=0.0, help="Seconds between a reply and the next request.")
@click.option("--rate", default="", metavar="R,R,…", help="Open loop: a level for each number of requests a second.")
@click.option(
    "--pattern", type=click.Choice(["poisson", "constant"]), default="poisson", show_default=True, help="Of --rate."
)
@click.option(
    "--arrivals",
    multiple=True,
    metavar="SPEC",
    help="gamma:20,cv=2 ramp:1-50 step:5,10 trace:FILE conversations:4x6 swarm:20x5; classes: batch=constant:1.",
)
@click.option("--duration", type=SECONDS, help="Seconds of arrivals a level. Default: 30.")
@click.option("--requests", type=click.IntRange(1), help="Requests a level at most.")
@click.option("--warm-up", type=click.FloatRange(0), default=0.0, help="Seconds at its start that figures leave out.")
@click.option("--cool-down", type=click.FloatRange(0), default=0.0, help="The same at its end.")
@click.option("--drain", type=SECONDS, default=60.0, show_default=True, help="Seconds that replies may take after it.")
@click.option("--slo", "slos", multiple=True, metavar="SLO", help='"ttft_ms < 800 @ 95%"; "batch: e2e_ms < 9000".')
@click.option("--find-knee", is_flag=True, help="Search the highest --rate or --users LOW,HIGH that holds every SLO.")
@click.option("--no-early-stop", is_flag=True, help="Climb on after a broken SLO.")
@click.option("--output-tokens", type=click.IntRange(1), help="Longest reply. Default: as the eval set says.")
@click.option("--same-prompts", is_flag=True, help="Do not make prompts unique: let caches of prefixes work.")
@click.option(
    "--processes", type=click.IntRange(1), default=1, show_default=True, help="Share the requests among these."
)
@click.option("--dask", default="", metavar="ADDRESS", help="Share them among the workers of this Dask scheduler.")
@click.option("--timeout", type=SECONDS, help="Seconds that one reply may take. Default: 600.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of arrivals, order of items, waits of retries.")
@limit_options
def command(config: Path | None, **options: Any) -> None:
    """Send requests on a schedule or as many users do; find where a candidate stops holding its SLOs.

    \b
    Examples:
      speedqual load --model openai/m --base-url http://127.0.0.1:8000/v1 --users 1,2,4,8 --evalset extraction
      speedqual load --model openai/m --base-url URL --rate 5,10,20 --duration 60 --slo "ttft_ms < 800 @ 95%"
      speedqual load --model openai/m --base-url URL --rate 1,100 --find-knee --slo "ttft_ms < 800 @ 95%"
      speedqual load --model openai/m --base-url URL --layers --report load.html
      speedqual load --model openai/m --base-url URL --rate 500,1000 --dask tcp://10.0.0.5:8786
      speedqual load --model openai/m --base-url URL --arrivals interactive=poisson:5 --arrivals batch=constant:1
    """
    tables = read_settings(config) if config else {}
    where = str(config or "settings file")
    refuse_at_once(options, _SETTLED)
    if options["resumed"]:
        candidates, plan, evalsets = _resumed(options, tables, where)
    else:
        from speedqual.cli.load_options import wanted

        found = wanted(options)
        candidates, plan, evalsets = asked(options, tables, where), found.plan, found.evalsets
    if options["dry_run"]:
        from speedqual.cli.load_said import print_plan

        print_plan(candidates, plan, evalsets, prices_in(tables, where), as_json=options["as_json"])
        return
    _run(candidates, plan, evalsets, prices_in(tables, where), options)


_SETTLED = {
    name: f"--{name.replace('_', '-')}"
    for name in ("layers", "users", "rate", "arrivals", "duration", "requests", "find_knee")
} | {"slos": "--slo"}


def _resumed(
    options: dict[str, Any], tables: dict[str, Any], where: str
) -> tuple[list[Candidate], LoadPlan, list[EvalSet]]:
    from speedqual.errors import RunFolderError
    from speedqual.running import Run
    from speedqual.running.load import LoadPlan

    candidates, evalsets = of_run(options, tables, where)
    load = Run.open(options["resumed"]).manifest.get("load")
    if load is None:
        fix = f"Go on with: speedqual run --resume {options['resumed']}"
        raise RunFolderError("this is no load test", where=options["resumed"].name, fix=fix)
    return candidates, LoadPlan.from_dict(load["plan"]), evalsets


def _run(
    candidates: list[Candidate],
    plan: LoadPlan,
    evalsets: list[EvalSet],
    prices: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """Send, grade, print, report; exits with the code of the run."""
    import asyncio

    from speedqual.cli.load_progress import LoadProgress
    from speedqual.cli.load_said import exit_code_of, knee_of, print_levels
    from speedqual.running.load import load_test

    def start(**more: Any) -> Run:
        how = _how(options)
        with faults_placed(options):
            begun = load_test(candidates, plan, evalsets=evalsets, prices=prices, judge=_judge, **how, **more)
            return asyncio.run(begun)

    observers = [] if options["quiet"] else [LoadProgress()]
    folder = options["resumed"] or options["folder"]
    run = until_done(start, "load", folder=folder, observers=observers, resume=bool(options["resumed"]))
    knee = knee_of(run, plan)
    print_levels(run, knee, as_json=options["as_json"])
    click.echo(f"run: {run.folder}", err=True)
    if options["report"]:
        from speedqual.report import write

        click.echo(f"report: {write(run, options['report'])}", err=True)
    raise click.exceptions.Exit(exit_code_of(run, plan, knee))


def _how(options: dict[str, Any]) -> dict[str, Any]:
    from speedqual.endpoints.deadlines import Deadlines
    from speedqual.running import Retry

    whole = {} if options["timeout"] is None else {"total_s": options["timeout"]}
    return {
        "seed": options["seed"],
        "limits": limits_of(options),
        "retry": Retry(attempts=options["attempts"] or 1),
        "deadlines": Deadlines(**whole),
        "preflight": not options["no_check"],
        "grade": not options["no_grade"],
        "processes": options["processes"],
        "dask": options["dask"],
    }


def _judge(seen: Sequence[Seen], slos: Sequence[Slo]) -> str:
    """By evidence where there is enough of it, else by the share that was seen: the search must go somewhere."""
    import pandas as pd

    from speedqual.analysis.load.judging import judge_level
    from speedqual.running.load.tally import at_a_glance

    rows = pd.DataFrame(
        [{"outcome": one.outcome, "traffic": one.traffic, "started_ms": one.at_s * 1000, **one.metrics} for one in seen]
    ).assign(load_number=range(len(seen)))
    state = judge_level(rows, slos)
    return at_a_glance(seen, slos) if state == "open" else state
