"""The one place that writes reports: ``write(run, path)``.

A section is one file in ``sections/``, its markup one file in ``templates/``, its words a key in each ``words/*.toml``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from speedqual.errors import UsageError

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["EACH", "render", "write"]

EACH = 8
"""Items of each kind (flipped, worst, slowest) in a report by default."""


def render(run: Run, *, redact: bool = False, lang: str = "en", items: int | None = EACH) -> str:
    """The report as text: one HTML document without any remote part. The same run gives the same text."""
    from speedqual.report.context import gather
    from speedqual.report.page import assemble
    from speedqual.report.sections import ORDER
    from speedqual.report.words import Words

    words = Words.load(lang)
    context = gather(run, words, redact=redact, items=items)
    when = context.manifest["created"][:16].replace("T", " ")
    return assemble(
        [part for part in (section(context) for section in ORDER) if part is not None],
        words,
        title=words("page.title", candidates=len(context.board), items=context.n_items),
        made=words("page.made", when=when, version=context.manifest["speedqual"]),
        redacted=redact,
        streams=context.shown.streams,
        more=context.shown.packed,
    )


def write(
    run: Run,
    path: str | Path,
    *,
    redact: bool = False,
    lang: str = "en",
    items: int | None = EACH,
    form: str = "",
) -> Path:
    """Write the report of ``run`` and return where. ``redact`` leaves prompts and answers out.

    ``form``: html, md, csv, parquet or json; by default the ending of ``path`` says it, a path without one is html.
    ``items``: how many of a kind (flipped, worst, slowest) a page shows; None = every one, compressed. The file is
    replaced as a whole or not at all. Raises StorageError when it cannot be written, UsageError for a language without
    a catalogue, or another form.
    """
    from speedqual.report.exports import FORMS, export
    from speedqual.report.files import write_whole

    ending = Path(path).suffix.lower().removeprefix(".")
    form = form or {"": "html", "htm": "html"}.get(ending, ending)
    if form not in FORMS:
        raise UsageError(f"no report is written as {form!r}", where=Path(path).name, fix=f"Give {', '.join(FORMS)}")
    if form == "html":
        return write_whole(path, render(run, redact=redact, lang=lang, items=items).encode("utf-8"))
    return write_whole(path, export(run, form, redact=redact, lang=lang))
