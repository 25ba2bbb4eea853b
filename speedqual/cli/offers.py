"""Kinds of arguments that know what a shell can offer: run folders, eval sets, models, named candidates."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = ["CANDIDATE", "DATA", "EVALSET", "MODEL", "RUN"]

_MOST = 30  # run folders that are offered, the newest first


class _RunFolder(click.Path):
    """A run's folder; where ``or_file`` is set, or any table."""

    def __init__(self, *, or_file: bool = False) -> None:
        super().__init__(path_type=Path)
        self.or_file = or_file

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(path, help=status) for path, status in _runs(incomplete)]
        if found and not self.or_file:
            return found
        return [*found, CompletionItem(incomplete, type="file" if self.or_file else "dir")]


class _EvalSet(click.ParamType[str]):
    """A built-in set's name, or the path of one's own."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from speedqual.evalsets.builtin import builtin_names

        names = [*builtin_names(), *sorted(str(card.parent) for card in Path().glob("*/test.jsonl"))]
        found = [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="dir")]


class _Model(click.ParamType[str]):
    """``endpoint/model``: what earlier runs asked, then the endpoints."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from speedqual.endpoints.registry import names

        asked = [name for path, _ in _runs("") for name in _models(Path(path))]
        offered = [*asked, *(f"{name}/" for name in names())]
        return [CompletionItem(name) for name in dict.fromkeys(offered) if name.startswith(incomplete)]


class _Candidate(click.ParamType[str]):
    """A candidate of the settings file."""

    name = "text"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from speedqual.cli.settings import DEFAULT_FILE

        with suppress(OSError, ValueError):
            table = tomllib.loads(Path(ctx.params.get("config") or DEFAULT_FILE).read_text(encoding="utf-8"))
            return [CompletionItem(name) for name in table.get("candidates", {}) if name.startswith(incomplete)]
        return []


def _runs(incomplete: str) -> list[tuple[str, str]]:
    """Path and status of the runs here, in ``runs`` and below what was typed; the newest first."""
    folders = {path.parent for at in ("*", "runs/*") for path in Path().glob(f"{at}/manifest.json")}
    typed = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    with suppress(OSError, ValueError, NotImplementedError):
        folders |= {path.parent for path in typed.glob("*/manifest.json")}
    found = sorted((f"{folder}" for folder in folders if f"{folder}".startswith(incomplete)), reverse=True)
    return [(path, str(_manifest(Path(path)).get("status", ""))) for path in found[:_MOST]]


def _manifest(folder: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        tree = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return tree if isinstance(tree, dict) else {}
    return {}


def _models(folder: Path) -> Iterator[str]:
    for entry in _manifest(folder).get("candidates", []):
        if isinstance(entry, dict) and entry.get("endpoint") and entry.get("model"):
            yield f"{entry['endpoint']}/{entry['model']}"


RUN = _RunFolder()
DATA = _RunFolder(or_file=True)
EVALSET = _EvalSet()
MODEL = _Model()
CANDIDATE = _Candidate()
