"""``speedqual completion``: the script that makes a shell complete commands, options, runs and eval sets."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      speedqual completion bash >> ~/.bashrc
      speedqual completion zsh >> ~/.zshrc
      speedqual completion fish > ~/.config/fish/completions/speedqual.fish
    """
    from speedqual.cli import group

    made = get_completion_class(shell)
    assert made is not None, "click knows all three"
    click.echo(made(group, {}, "speedqual", "_SPEEDQUAL_COMPLETE").source())
