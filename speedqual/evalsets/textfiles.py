"""Read the small text files of a set: card, schema, grader."""

from __future__ import annotations

from pathlib import Path

from speedqual.evalsets.problems import Findings

__all__ = ["read_text"]

_MAX_BYTES = 2 * 1024 * 1024


def read_text(path: Path, where: str, findings: Findings) -> str | None:
    """The text of a UTF-8 file without its byte order mark; None when it cannot be had, which is noted."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as fault:
        findings.error(where, f"the file cannot be read ({fault.strerror})", "Check that it is readable")
        return None
    if len(raw) > _MAX_BYTES:
        findings.error(where, f"the file is larger than {_MAX_BYTES // 2**20} MiB", "Make it shorter")
        return None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        findings.error(f"{where}:{line}", "the file is not UTF-8", "Save it as UTF-8")
        return None
