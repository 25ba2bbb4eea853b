"""``speedqual run``: candidates × eval sets, timed and graded, into a run folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.outcome import exit_code_of, print_scoreboard, run_until_done, say
from speedqual.cli.settings import config_option, read_settings
from speedqual.cli.table import text_table
from speedqual.display import numbers
from speedqual.errors import UsageError
from speedqual.records import Candidate, EvalSet, Price

if TYPE_CHECKING:
    from speedqual.running.plan import CandidateEstimate

__all__ = ["command"]


@click.command("run")
@config_option("run")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="ENDPOINT/MODEL",
    help="Whom to ask; repeatable. route:FILE = a routing policy.",
)
@click.option("--base-url", default="", help="Address of an OpenAI-compatible server for --model.")
@click.option("--api-key-env", default="", help="Environment variable that holds the key for --model.")
@click.option("--candidate", "names", multiple=True, help="One of the settings file; default: all of them.")
@click.option(
    "--evalset", "evalsets", multiple=True, metavar="NAME|PATH", help="What to ask; NAME@minimal = its short items."
)
@click.option("--out", "folder", type=click.Path(path_type=Path), help="The run's folder. Default: runs/…")
@click.option("--resume", "resumed", type=click.Path(path_type=Path), help="Go on with the run in this folder.")
@click.option("--repeats", type=click.IntRange(1), help="Ask each item so often. Default: as its eval set says.")
@click.option("--seed", type=int, default=0, show_default=True, help="Order of trials and jitter of retries.")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Streams a candidate.")
@click.option("--max-requests", type=click.IntRange(1), help="Stop after so many requests.")
@click.option("--max-tokens", type=click.IntRange(1), help="Stop after so many tokens, prompts included.")
@click.option("--max-usd", type=click.FloatRange(0, min_open=True), help="Stop before this much is spent.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Stop after so many seconds.")
@click.option("--attempts", type=click.IntRange(1), default=3, show_default=True, help="Requests a trial at most.")
@click.option("--items", type=click.IntRange(1), help="Only the first so many items of each eval set.")
@click.option("--dry-run", is_flag=True, help="Print requests, tokens and cost; ask nothing.")
@click.option("--no-check", is_flag=True, help="Skip the one small request to each candidate beforehand.")
@click.option("--no-grade", is_flag=True, help="Only time; grade later with: speedqual grade RUN.")
@click.option("--allow-code", is_flag=True, help="Run the grader.py of an eval set.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the HTML report here.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def command(config: Path | None, **options: Any) -> None:
    """Ask candidates the items of eval sets, time and grade the answers.

    \b
    Examples:
      speedqual run --model openai/gpt-5-mini --model anthropic/claude-haiku-4-5 --evalset extraction
      speedqual run --model openai/m --base-url http://127.0.0.1:8000/v1 --evalset ./my-set --dry-run
      speedqual run --config speedqual.toml --evalset code --max-usd 2 --report report.html
      speedqual run --resume runs/20260101-120000-ab12
      speedqual run --config speedqual.toml --model route:policy.json --evalset extraction

    A route asks the candidates that its policy names, from the settings file or other --model; make one with
    speedqual route RUN --save policy.json
    """
    tables = read_settings(config) if config else {}
    where = str(config or "settings file")
    _refuse_at_once(options)
    if options["resumed"]:
        candidates, evalsets = _of_run(options, tables, where)
    else:
        candidates, evalsets = _asked(options, tables, where), _sets(options)
    job = Job(candidates, evalsets, _prices(tables, where), options)
    if options["dry_run"]:
        job.dry_run()
    else:
        job.run()


_SETTLED = {"models": "--model", "names": "--candidate", "evalsets": "--evalset", "items": "--items", "folder": "--out"}
"""What a run settles when it begins, so that resuming it leaves no choice."""


def _refuse_at_once(options: dict[str, Any]) -> None:
    """What could only fail, or be ignored, after everything was asked and paid."""
    again = [flag for name, flag in _SETTLED.items() if options[name]]
    if options["resumed"] and again:
        fix = "Leave it out, or begin a run without --resume"
        raise UsageError(f"a resumed run asks what it began with; {again[0]} cannot change it", fix=fix)
    report = options["report"]
    if report and (report.is_dir() or any(above.is_file() for above in report.parents)):
        raise UsageError("no report can be written there", where=str(report), fix="Give --report a path of a new file")


def _asked(options: dict[str, Any], tables: dict[str, Any], where: str) -> list[Candidate]:
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


def _sets(options: dict[str, Any]) -> list[EvalSet]:
    from speedqual.evalsets import builtin_names, load

    if not options["evalsets"]:
        raise UsageError("nothing to ask", fix=f"Give --evalset: {', '.join(builtin_names())}, or a path")
    loaded = [load(name, allow_code=options["allow_code"]) for name in options["evalsets"]]
    return [_first(evalset, options["items"]) for evalset in loaded]


def _first(evalset: EvalSet, n: int | None) -> EvalSet:
    from speedqual.evalsets.hashing import hashed

    return evalset if n is None or n >= len(evalset.items) else hashed(replace(evalset, items=evalset.items[:n]))


def _of_run(options: dict[str, Any], tables: dict[str, Any], where: str) -> tuple[list[Candidate], list[EvalSet]]:
    """A resumed run asks what it asked before; candidates of the settings file bring the headers that are not kept."""
    from speedqual.endpoints.naming import candidates_from_table
    from speedqual.running import Run
    from speedqual.running.route import Route, with_lanes

    run = Run.open(options["resumed"])
    known = {one.name: one for one in candidates_from_table(tables.get("candidates", {}), where)}
    again = [with_lanes(one, known) if isinstance(one, Route) else known.get(one.name, one) for one in run.candidates]
    return again, list(run.evalsets)


def _prices(tables: dict[str, Any], where: str) -> dict[str, Price]:
    from speedqual.endpoints.prices import price_from_table

    return {name: price_from_table(row, f"{where}: prices.{name}") for name, row in tables.get("prices", {}).items()}


def _how(options: dict[str, Any]) -> dict[str, Any]:
    from speedqual.running import Limits, Retry

    limits = Limits(
        requests=options["max_requests"],
        tokens=options["max_tokens"],
        usd=options["max_usd"],
        wall_s=options["max_seconds"],
    )
    return {
        "repeats": options["repeats"],
        "seed": options["seed"],
        "concurrency": options["concurrency"],
        "limits": limits,
        "retry": Retry(attempts=options["attempts"]),
        "preflight": not options["no_check"],
    }


@dataclass(frozen=True)
class Job:
    """What a command line asks for, read and checked."""

    candidates: list[Candidate]
    evalsets: list[EvalSet]
    prices: dict[str, Price]
    options: dict[str, Any]

    def dry_run(self) -> None:
        """Print requests, tokens and the most that they can cost."""
        from speedqual.running import estimate

        planned = estimate(self.candidates, self.evalsets, prices=self.prices, **_how(self.options))
        if self.options["as_json"]:
            totals = {"requests": planned.requests, "tokens": planned.tokens, "usd": planned.usd}
            click.echo(json.dumps(planned.to_dict() | totals, ensure_ascii=False, indent=1))
            return
        head = ["candidate", "requests", "prompt tokens ≈", "output tokens ≤", "USD ≤"]
        click.echo(text_table(head, [_planned(row) for row in planned.rows]))
        if not planned.bounded:
            say("An eval set has no max_tokens: the output has no upper bound.")

    def run(self) -> None:
        """Ask, grade, print, report; exits with the code of the run."""
        from speedqual.cli.progress import Progress

        options = self.options
        run = run_until_done(
            self.candidates,
            self.evalsets,
            folder=options["resumed"] or options["folder"],
            resume=bool(options["resumed"]),
            grade=not options["no_grade"],
            observers=[] if options["quiet"] else [Progress()],
            prices=self.prices,
            **_how(options),
        )
        print_scoreboard(run, as_json=options["as_json"])
        say(f"run: {run.folder}")
        if options["report"]:
            from speedqual.report import write

            say(f"report: {write(run, options['report'])}")
        raise click.exceptions.Exit(exit_code_of(run))


def _planned(row: CandidateEstimate) -> list[str]:
    usd = "unknown" if row.usd is None else numbers.usd(row.usd)
    counts = (row.requests, row.prompt_tokens, row.output_tokens)
    return [row.candidate, *(numbers.count(value) for value in counts), usd]
