"""The documentation page of the command line: what ``--help`` says, for every command."""

from __future__ import annotations

from collections.abc import Iterator

import click

from speedqual.cli import group

__all__ = ["page"]

_HEAD = """\
# The command line

Generated from the commands by `python -m speedqual.cli.page`; do not edit by hand.

Results go to stdout, progress and errors to stderr. Every option can also be set in the environment
(`SPEEDQUAL_RUN_SEED=7`) or in a table of the settings file (`[run]` in `speedqual.toml`); a flag wins over both.
`speedqual completion bash` prints what makes a shell complete all this.
"""
_WIDTH = 100


def page() -> str:
    """The page as Markdown."""
    return _HEAD + "".join(f"\n{text}" for text in _sections(group, "speedqual", level=2))


def _sections(command: click.Command, path: str, level: int) -> Iterator[str]:
    """The command's own help, then those of its subcommands."""
    names = ["-h", "--help"]
    context = click.Context(command, info_name=path, terminal_width=_WIDTH, help_option_names=names)
    yield f"{'#' * level} `{path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _sections(inner, f"{path} {name}", level + (level > 2))


if __name__ == "__main__":
    print(page(), end="")
