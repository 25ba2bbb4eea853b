"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from speedqual.errors import StorageError

__all__ = ["write_whole"]


def write_whole(path: str | Path, data: bytes) -> Path:
    """Write ``data`` beside ``path``, then move it there. Raises StorageError when it cannot be written."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=target.parent, delete=False) as stream:
            stream.write(data)
        os.chmod(stream.name, 0o644)  # noqa: PTH101 - a temporary file is private; a report is to be shared
        Path(stream.name).replace(target)
    except OSError as fault:
        raise StorageError(
            f"the report cannot be written: {fault.strerror}", where=str(target), fix="Give another path"
        ) from fault
    return target
