"""The one place that writes HTML files: ``write(run, path)``.

A section is one file in ``sections/``, its markup one file in ``templates/``, its words a key in each ``words/*.toml``.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from speedqual.errors import StorageError

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["render", "write"]


def render(run: Run, *, redact: bool = False, lang: str = "en") -> str:
    """The report as text: one HTML document without any remote part. The same run gives the same text."""
    from speedqual.report.context import gather
    from speedqual.report.page import assemble
    from speedqual.report.sections import ORDER
    from speedqual.report.words import Words

    words = Words.load(lang)
    context = gather(run, words, redact=redact)
    title = words("page.title", candidates=len(context.board), items=context.n_items)
    when = context.manifest["created"][:16].replace("T", " ")
    made = words("page.made", when=when, version=context.manifest["speedqual"])
    parts = [part for part in (section(context) for section in ORDER) if part is not None]
    return assemble(parts, words, title=title, made=made, redacted=redact)


def write(run: Run, path: str | Path, *, redact: bool = False, lang: str = "en") -> Path:
    """Write the report of ``run`` and return where. ``redact`` leaves prompts and answers out.

    The file is replaced as a whole or not at all. Raises StorageError when it cannot be written, UsageError for a
    language without a catalogue.
    """
    target = Path(path)
    text = render(run, redact=redact, lang=lang)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as stream:
            stream.write(text)
        os.chmod(stream.name, 0o644)  # noqa: PTH101 - a temporary file is private; a report is to be shared
        Path(stream.name).replace(target)
    except OSError as fault:
        raise StorageError(
            f"the report cannot be written: {fault.strerror}", where=str(target), fix="Give another path"
        ) from fault
    return target
