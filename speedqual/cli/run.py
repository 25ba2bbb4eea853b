"""``speedqual run``: candidates × eval sets, timed and graded, into a run folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
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
    sets_named,
    who_options,
)
from speedqual.cli.outcome import exit_code_of, planned_table, print_scoreboard, run_until_done, say
from speedqual.cli.settings import config_option, read_settings
from speedqual.cli.table import text_table
from speedqual.records import Candidate, EvalSet, Price

if TYPE_CHECKING:
    pass

__all__ = ["command"]


@click.command("run")
@config_option("run")
@who_options
@click.option("--repeats", type=click.IntRange(1), help="Ask each item so often. Default: as its eval set says.")
@click.option("--seed", type=int, default=0, show_default=True, help="Order of trials and jitter of retries.")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Streams a candidate.")
@limit_options
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
    refuse_at_once(options)
    if options["resumed"]:
        candidates, evalsets = of_run(options, tables, where)
    else:
        candidates, evalsets = asked(options, tables, where), sets_named(options)
    job = Job(candidates, evalsets, prices_in(tables, where), options)
    if options["dry_run"]:
        job.dry_run()
    else:
        job.run()


def _how(options: dict[str, Any]) -> dict[str, Any]:
    from speedqual.running import Retry

    return {
        "repeats": options["repeats"],
        "seed": options["seed"],
        "concurrency": options["concurrency"],
        "limits": limits_of(options),
        "retry": Retry(attempts=options["attempts"] or 3),
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
        click.echo(text_table(*planned_table(planned.rows)))
        if not planned.bounded:
            say("An eval set has no max_tokens: the output has no upper bound.")

    def run(self) -> None:
        """Ask, grade, print, report; exits with the code of the run."""
        from speedqual.cli.progress import Progress

        options = self.options
        with faults_placed(options):
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
