"""The command line: parse, call the library, exit with a code that means something.

Results go to stdout (``--json`` is stable), progress and errors to stderr. A command is a file of this folder that
holds a click command named ``command``; it is imported when it is called.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from speedqual import __version__
from speedqual.errors import SpeedqualError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["main"]

COMMANDS = {
    "quickstart": "Measure a real small model on this machine and write a report.",
    "run": "Ask candidates the items of eval sets, time and grade the answers.",
    "load": "Put candidates under load: users, arrivals, SLOs, the knee.",
    "report": "Write the HTML report of a run.",
    "runs": "List the runs in a folder.",
    "show": "Print a run's table, or one trial in full.",
    "frontier": "Draw the speed-quality frontier of a run or of any table.",
    "cliffs": "Find capability cliffs on the ladders of a run or of any table.",
    "deadlines": "Say which candidate is best within each deadline or budget.",
    "route": "Replay routing and fallback between two candidates of a run or table.",
    "cost": "Account for cost per success, tokens and tiers.",
    "compare": "Gate: is a new run no worse than a base run?",
    "history": "Follow many runs: changes of level and slow drifts.",
    "grade": "Grade a run again, without asking anyone.",
    "stream": "Look at one stream: a recording, or one live reply.",
    "evalset": "Make, check and show eval sets.",
    "local": "Serve, list and vary model files on this machine.",
    "serve-script": "Play token streams with known timing, to try readers on.",
    "completion": "Print the completion script of a shell.",
    "doctor": "Say what this machine can measure and grade.",
}
"""Name → what it does, here so that the help needs no import."""
_READER_GONE = 141  # what a shell reports of any program that was piped into head


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = import_module(f"speedqual.cli.{name.replace('-', '_')}").command
        return found

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # which click ends with 1: a failed gate
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads what is still to come
            raise click.exceptions.Exit(_READER_GONE) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = [] if args[0] in COMMANDS else get_close_matches(args[0], COMMANDS, n=1)
        if near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=does) for name, does in COMMANDS.items() if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "auto_envvar_prefix": "SPEEDQUAL"}


@click.command(cls=_Lazy, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="speedqual")
def group() -> None:
    """Which model is fast enough AND good enough, and where does it fall off a cliff?

    \b
    Examples:
      speedqual quickstart
      speedqual run --model openai/gpt-5-mini --evalset extraction --report report.html
      speedqual run --config speedqual.toml --evalset ./my-set
      speedqual report RUN --lang zh

    Exit codes: 0 good, 1 a gate failed, 2 bad input, 3 endpoint, 4 partial, 5 inconclusive, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script."""
    try:
        code = group.main(args=arguments, prog_name="speedqual", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as fault:
        fault.show()
        code = 2
    except SpeedqualError as fault:
        click.echo(f"speedqual: {fault}", err=True)
        code = fault.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("speedqual: interrupted", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
