"""The settings file: one TOML for a command's options, the candidates and the gate's margins, in named tables.

Precedence: flag, then environment (``SPEEDQUAL_RUN_SEED``), then file, then default.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from speedqual.errors import ConfigError

__all__ = ["DEFAULT_FILE", "config_option", "read_settings"]

DEFAULT_FILE = Path("speedqual.toml")
TABLES = ("run", "load", "candidates", "gate", "prices", "report")


def read_settings(path: Path) -> dict[str, Any]:
    """The tables of the file. Raises ConfigError with line and column for a slip, or for a table nobody reads."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ConfigError("cannot be read", where=str(path), fix=fault.strerror or "") from fault
    except UnicodeDecodeError as fault:
        raise ConfigError("is not UTF-8 text", where=str(path), fix="Save it as UTF-8") from fault
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"not valid TOML: {fault}", where=str(path), fix="Mend the line it names") from fault
    for name in tables:
        _known(name, TABLES, where=str(path), what="table")
    return tables


def _known(name: str, names: tuple[str, ...], *, where: str, what: str) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, 1)
    fix = f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(names)}"
    raise ConfigError(f"unknown {what} {name!r}", where=where, fix=fix)


def config_option(command: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--config FILE``: its table named like the command becomes the defaults of the options."""

    def apply(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        path = value or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)
        if path is not None:
            options = read_settings(path).get(command, {})
            names = tuple(p.name for p in ctx.command.params if p.name and p.name != "config")
            for name in options:
                _known(name, names, where=f"{path}, [{command}]", what="setting")
            ctx.default_map = {**(ctx.default_map or {}), **options}
        return path

    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        is_eager=True,
        callback=apply,
        help=f"Settings file. Default: {DEFAULT_FILE} where there is one.",
    )
