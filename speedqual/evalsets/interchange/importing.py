"""``import_set``: what kind of source it is, read it, write the folder, load it once to be sure."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from speedqual.errors import EvalSetError, SpeedqualError, UsageError
from speedqual.evalsets.interchange import eval_yaml, inspect_json, lm_eval, promptfoo
from speedqual.evalsets.interchange.draft import Draft, title_of, write
from speedqual.evalsets.interchange.mapping import draft_of
from speedqual.evalsets.interchange.ours import draft_from_set
from speedqual.evalsets.interchange.records import fetch_lines, read_dataset, read_file
from speedqual.evalsets.interchange.safeyaml import read_yaml
from speedqual.evalsets.loading import load
from speedqual.evalsets.problems import nearest, quoted

__all__ = ["IMPORTS", "Imported", "Request", "import_set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for. ``fields`` maps roles to columns; ``split``, ``config`` and ``task`` choose a part."""

    source: str
    fields: Mapping[str, str]
    split: str = ""
    config: str = ""
    task: str = ""

    @property
    def path(self) -> Path:
        """The source as a path."""
        return Path(self.source).expanduser()


@dataclass(frozen=True, slots=True)
class Imported:
    """The new folder, how it was read, and what could not come along."""

    path: Path
    kind: str
    n_items: int
    lost: tuple[str, ...]


def _plain(request: Request) -> Draft:
    return draft_of(read_file(request.path), request.path.name, request.fields)


def _hf(request: Request) -> Draft:
    if (request.path / "README.md").is_file() and not request.fields:
        ours = draft_from_set(request.path)
        if ours is not None:
            return ours
    if not request.path.is_dir() and not request.config:
        with TemporaryDirectory() as aside:
            folder = fetch_lines(request.source, Path(aside) / request.path.name)
            if folder is not None:
                return _hf(replace(request, source=str(folder)))
    name = request.path.name if request.path.is_dir() else request.source
    return draft_of(read_dataset(request.source, request.split, request.config), name, request.fields)


def _eval_yaml(request: Request) -> Draft:
    return eval_yaml.read(request.path, task=request.task, split=request.split)


def _inspect(request: Request) -> Draft:
    return inspect_json.read(request.path, request.fields)


IMPORTS: dict[str, Callable[[Request], Draft]] = {
    "hf": _hf,
    "csv": _plain,
    "jsonl": _plain,
    "parquet": _plain,
    "eval-yaml": _eval_yaml,
    "inspect": _inspect,
    "lm-eval": lambda request: lm_eval.read(request.path),
    "promptfoo": lambda request: promptfoo.read(request.path),
}
"""Kind of source → its reader."""


_HUB = "hf:"
"""Before the id of a data set: says that it is one, whatever the name looks like."""


def import_set(
    source: str,
    *,
    kind: str = "",
    out: str | Path = "",
    fields: Mapping[str, str] | None = None,
    split: str = "",
    config: str = "",
    task: str = "",
    limit: int | None = None,
) -> Imported:
    """Make an eval set from ``source``; the folder is ``out``, or a new one here named after the source.

    Nothing of the source is executed. ``limit`` keeps the first rows only. Raises EvalSetError for what can't be read,
    RefusedError for what names code.
    """
    if source.startswith(_HUB):
        source, kind = source.removeprefix(_HUB), kind or "hf"
    request = Request(source=source, fields=fields or {}, split=split, config=config, task=task)
    kind = kind or _kind(request)
    if kind not in IMPORTS:
        near = nearest(kind, IMPORTS)
        raise UsageError(f"unknown kind {kind!r}", fix=f"Write {near}" if near else f"Use one of: {quoted(IMPORTS)}")
    if not request.path.exists() and kind != "hf":
        raise EvalSetError(f"there is no file {source[:80]}", fix="Check the path")
    draft = IMPORTS[kind](request)
    if limit is not None and limit < len(draft.rows):
        draft.lose(f"all rows after the first {limit}")
        draft.rows = draft.rows[:limit]
    target = Path(out) if str(out) else Path(title_of(request.path.stem if request.path.suffix else request.path.name))
    path = write(draft, target.name, target.parent)
    return Imported(path, kind, _sure(path), tuple(draft.lost))


def _sure(path: Path) -> int:
    """Load the new set once: a folder that does not load is taken away again."""
    try:
        return len(load(path).items)
    except SpeedqualError as fault:
        shutil.rmtree(path, ignore_errors=True)
        where = f"as an eval set, {fault.where}" if fault.where else ""
        raise EvalSetError(fault.what, where=where, fix=fault.fix) from None


def _kind(request: Request) -> str:
    """The kind that suffix and content say; the hub for a name that is no path."""
    path = request.path
    if path.is_dir():
        return _kind_of_folder(path)
    suffix = path.suffix.lower()
    if suffix in {".yaml", ".yml"}:
        return _kind_of_yaml(path)
    if suffix in {".csv", ".tsv"}:
        return "promptfoo" if b"__expected" in _first_line(path) else "csv"
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return "inspect" if path.is_file() and not request.fields and inspect_json.is_one(path) else "jsonl"
    return "parquet" if suffix == ".parquet" else "hf"


def _first_line(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.readline(65536)


def _kind_of_folder(path: Path) -> str:
    if (path / inspect_json.SPEC).is_file():
        return "inspect"
    has_card = (path / "README.md").is_file() and "\nspeedqual:" in (path / "README.md").read_text("utf-8", "replace")
    return "eval-yaml" if (path / "eval.yaml").is_file() and not has_card else "hf"


def _kind_of_yaml(path: Path) -> str:
    head: Any = read_yaml(path) if path.is_file() else None
    keys = set(head) if isinstance(head, dict) else set()
    if isinstance(head, list) or keys & {"prompts", "tests", "providers"}:
        return "promptfoo"
    if keys & {"doc_to_text", "output_type", "dataset_path", "include"}:
        return "lm-eval"
    if "tasks" in keys:
        return "eval-yaml"
    raise UsageError("the YAML is of no kind that is known", where=path.name, fix=f"Give --from: {quoted(IMPORTS)}")
