"""Weaker models out of one: the same file with some layers left out, as a ladder whose quality is known to fall."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from speedqual.errors import MissingDependencyError, UsageError

__all__ = ["drop_layers", "layer_count", "variant_path"]

_BLOCK = re.compile(r"^blk\.(\d+)\.")


def variant_path(source: Path, layers: Iterable[int], folder: Path | None = None) -> Path:
    """Where the variant without ``layers`` is kept: beside its source, named after what it lacks."""
    name = f"{source.stem}-without-{'-'.join(str(layer) for layer in sorted(layers))}.gguf"
    return (folder or source.parent) / name


def layer_count(source: Path) -> int:
    """How many transformer blocks the file has."""
    return _block_count(_gguf().GGUFReader(source))


def drop_layers(source: Path, layers: Iterable[int], target: Path | None = None) -> Path:
    """Copy ``source`` without the given blocks (0-based), renumber the rest, and return the new file's path.

    An existing target that is newer than its source is kept. Raises UsageError for a block that is not there.
    """
    lost = sorted(set(layers))
    target = target or variant_path(source, lost)
    if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
        return target
    reader = _gguf().GGUFReader(source)
    count = _block_count(reader)
    if not lost or lost[0] < 0 or lost[-1] >= count or len(lost) >= count:
        raise UsageError(f"cannot drop layers {lost}", where=source.name, fix=f"It has layers 0 to {count - 1}")
    fresh = target.with_suffix(".part")
    _write(reader, fresh, _renumber(count, lost))
    fresh.replace(target)
    return target


def _gguf() -> Any:
    try:
        import gguf
    except ImportError as fault:
        raise MissingDependencyError(
            "the package gguf is not installed", fix="Install the extra: pip install 'speedqual[local]'"
        ) from fault
    return gguf


def _architecture(reader: Any) -> str:
    return str(reader.fields["general.architecture"].contents())


def _block_count(reader: Any) -> int:
    return int(reader.fields[f"{_architecture(reader)}.block_count"].contents())


def _renumber(count: int, lost: list[int]) -> dict[int, int]:
    kept = [block for block in range(count) if block not in set(lost)]
    return {old: new for new, old in enumerate(kept)}


def _write(reader: Any, target: Path, places: dict[int, int]) -> None:
    """Metadata first, then tensors: both in the order of the source."""
    gguf = _gguf()
    architecture = _architecture(reader)
    writer = gguf.GGUFWriter(target, arch=architecture, endianess=reader.endianess)
    for name, entry in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue  # the writer makes these itself
        value = len(places) if name == f"{architecture}.block_count" else entry.contents()
        part = entry.types[-1] if entry.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, value, entry.types[0], sub_type=part)
    for tensor in reader.tensors:
        name = _new_name(tensor.name, places)
        if name is not None:
            writer.add_tensor(name, tensor.data, raw_shape=tensor.data.shape, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file(progress=False)
    writer.close()


def _new_name(name: str, places: dict[int, int]) -> str | None:
    match = _BLOCK.match(name)
    if match is None:
        return name
    new = places.get(int(match.group(1)))
    return None if new is None else f"blk.{new}.{name[match.end() :]}"
