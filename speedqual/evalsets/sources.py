"""From a name or path to the files of an eval set: a folder, a bare JSONL file or a built-in name.

``#seed`` behind it asks for items made anew, ``@tag`` for a selection: ``reasoning#7@hard``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from speedqual.errors import EvalSetError
from speedqual.evalsets.builtin import builtin_folder, builtin_names
from speedqual.evalsets.generators import MAX_SEED
from speedqual.evalsets.problems import nearest, quoted

__all__ = ["Source", "find", "with_seed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where an eval set lies. ``tag`` selects the items whose ``tags`` contain it, ``seed`` makes the items anew."""

    name: str
    folder: Path
    rows: Path
    bare: bool = False  # one JSONL file, without a folder of its own
    tag: str = ""
    seed: int | None = None

    @property
    def title(self) -> str:
        """The name of the set that is read: with the seed, because other items are another set."""
        return self.name if self.seed is None else f"{self.name}#{self.seed}"

    def where(self, file: str) -> str:
        """The short name of a file of the set for messages: never an absolute path."""
        return file if self.bare else f"{self.name}/{file}"

    def inside(self, file: str) -> Path | None:
        """The path of ``file`` when it lies inside the folder, symbolic links followed; None otherwise."""
        path = (self.folder / file).resolve()
        return path if path.is_relative_to(self.folder.resolve()) else None


def find(name_or_path: str | Path) -> Source:
    """The files that ``name_or_path`` means. A built-in name wins over a folder of that name: ``./name`` names that."""
    text = str(name_or_path)
    if not text.strip():
        raise EvalSetError("the name of the eval set is empty", fix=f"Name a folder, or one of: {_builtin()}")
    source, (head, at, tag) = _find(text), text.rpartition("@")
    if source is None and head and "#" not in tag:
        found = _seeded(head)
        source = replace(found, tag=tag) if found else None
    elif source is None:
        source = _seeded(text)
    if source is None:
        raise _unknown(text)
    if at and not tag:
        raise EvalSetError(f"no tag stands after the @ of {text!r}", fix="Write NAME@minimal")
    return source


def _seeded(text: str) -> Source | None:
    """What ``text`` names, where a last ``#7`` may be a seed; a file that has it in its name wins."""
    source = _find(text)
    head, mark, seed = text.rpartition("#")
    if source is not None or not mark or not head:
        return source
    found = _find(head)
    return replace(found, seed=_seed(seed, text)) if found else None


def with_seed(source: Source, seed: int) -> Source:
    """The same set with this seed. Raises EvalSetError when the name gave another one, or when it is no seed."""
    if source.seed not in (None, seed):
        raise EvalSetError(f"two seeds are given: {source.seed} and {seed}", where=source.name, fix="Give one")
    return replace(source, seed=_seed(str(seed), f"{source.name}#{seed}"))


def _seed(written: str, text: str) -> int:
    if not (written.isascii() and written.isdigit() and len(written) <= 10) or int(written) > MAX_SEED:
        what = f"{written[:40]!r} in {text[:80]!r} is no seed"
        raise EvalSetError(what, fix=f"Write a whole number from 0 to {MAX_SEED} behind the #, such as NAME#7")
    return int(written)


def _find(text: str) -> Source | None:
    folder = builtin_folder(text)
    if folder is not None:
        return Source(text, folder, folder / "test.jsonl")
    try:
        path = Path(text).expanduser()
        if path.is_dir():
            return Source(path.resolve().name, path, path / "test.jsonl")
        if path.is_file():
            return _from_file(path)
    except (OSError, RuntimeError):  # too long for a path, or the home of nobody
        return None
    return None


def _from_file(path: Path) -> Source:
    if path.name == "README.md" or (path.name == "test.jsonl" and (path.parent / "README.md").is_file()):
        return Source(path.parent.resolve().name, path.parent, path.parent / "test.jsonl")
    if path.suffix not in {".jsonl", ".ndjson", ".json"}:
        fix = "Name a folder or a .jsonl file; `speedqual evalset new NAME --from FILE.csv` reads tables"
        raise EvalSetError(f"{path.suffix or 'a file without suffix'} is not read", where=path.name, fix=fix)
    name = path.parent.resolve().name if path.stem == "test" else path.stem
    return Source(name, path.parent, path, bare=True)


def _unknown(text: str) -> EvalSetError:
    near = nearest(text.partition("@")[0].partition("#")[0], builtin_names())
    if near:
        fix = f"Write {near}"
    elif "/" in text or text.endswith(".jsonl"):
        fix = "Check the path"
    else:
        fix = f"Name a folder, a .jsonl file, or one of: {_builtin()}"
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    return EvalSetError(f"there is no eval set {shown!r}", fix=fix)


def _builtin() -> str:
    return quoted(builtin_names()) or "(no built-in sets are installed)"
