"""The page of two runs compared: ``write_comparison(base, new, path)``. It keeps the rules of the report's page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from speedqual.analysis.base import records
from speedqual.analysis.gate import Gate, GateResult, pairs_of
from speedqual.analysis.sameness import KINDS, differences
from speedqual.analysis.tidy import tidy
from speedqual.plots.words import plot_words
from speedqual.report import EACH
from speedqual.report.compare_flips import REASONS, Flip, flip_views, flips
from speedqual.report.compare_manifest import manifest_table
from speedqual.report.compare_tables import by_set, checks, factor, signed, speeds
from speedqual.report.figures import figure
from speedqual.report.files import write_whole
from speedqual.report.page import Part, assemble, fill
from speedqual.report.sections.items import items_part
from speedqual.report.tables import Table
from speedqual.report.words import Words

if TYPE_CHECKING:
    from speedqual.report.items.views import ItemView
    from speedqual.running import Run

__all__ = ["Pair", "render_comparison", "sentences", "write_comparison"]


def write_comparison(
    base: Run,
    new: Run,
    path: str | Path,
    *,
    result: GateResult | None = None,
    redact: bool = False,
    lang: str = "en",
    items: int | None = EACH,
) -> Path:
    """Write the page that compares ``new`` with ``base`` and return where.

    ``result``: the gate's, by default with its own margins and every difference accepted and named. ``redact`` leaves
    prompts and answers out; ``items``: how many of each kind of flip to show, None = all.
    """
    page = render_comparison(base, new, result=result, redact=redact, lang=lang, items=items)
    return write_whole(path, page.encode("utf-8"))


def render_comparison(
    base: Run,
    new: Run,
    *,
    result: GateResult | None = None,
    redact: bool = False,
    lang: str = "en",
    items: int | None = EACH,
) -> str:
    """The page as text: one HTML document without any remote part. The same runs give the same text."""
    words = _words(lang)
    judged = result or Gate(allow=KINDS)(base, new)
    pair = Pair(base, new, judged, words, redact, items)
    return assemble(
        [part for part in _parts(pair) if part is not None],
        words,
        title=words("compare.title", base=base.name, new=new.name),
        made=words("compare.made", base=_day(base), new=_day(new), version=new.manifest["speedqual"]),
        redacted=redact,
        streams={answer.id: answer.stream for item in pair.views for answer in item.answers if answer.stream},
    )


def _words(lang: str) -> Words:
    """The report's words, with those of a page of two runs in the place of the ones of a single run."""
    words = Words.load(lang)
    own = {f"items.{name}": words(f"compare.items_{name}") for name in ("heading", "caption", "overlay")}
    return Words(lang, {**words.texts, **own})


def _day(run: Run) -> str:
    return str(run.manifest["created"])[:16].replace("T", " ")


@dataclass(frozen=True)
class Pair:
    """Two runs, the gate's result, and what a page shows of them."""

    base: Run
    new: Run
    result: GateResult
    words: Words
    redact: bool = False
    items: int | None = EACH

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        return pairs_of(tidy(self.base), tidy(self.new))

    @cached_property
    def flips(self) -> list[Flip]:
        return flips(self.base.df, self.new.df, self.pairs)

    @cached_property
    def views(self) -> tuple[ItemView, ...]:
        return flip_views(self.base, self.new, self.flips, self.words, redact=self.redact, each=self.items)


def _parts(pair: Pair) -> Iterator[Part | None]:
    words = pair.words
    yield Part("verdict", words("verdict.heading"), fill("verdict.html.j2", words, lines=list(sentences(pair))))
    drawn, table = figure(pair.result, words.lang), checks(pair.result, words)
    gate = fill("figure.html.j2", words, figure=drawn, caption=words("compare.forest"), table=table)
    yield Part("checks", words("compare.checks"), gate)
    main = [run.df[run.df["phase"] == "main"] for run in (pair.base, pair.new)]
    yield _table("sets", by_set(main[0], main[1], pair.pairs, words), words)
    yield _table("speeds", speeds(pair.base, pair.new, words), words)
    if pair.views:
        yield items_part(pair.views, REASONS, words, total=len(pair.flips), redact=pair.redact)
    yield _table("manifest", manifest_table(pair.base.manifest, pair.new.manifest, words, redact=pair.redact), words)


def _table(anchor: str, table: Table | None, words: Words) -> Part | None:
    return None if table is None else Part(anchor, table.label, fill("table.html.j2", words, table=table))


def sentences(pair: Pair) -> Iterator[str]:
    """The verdict: what the gate says, what failed, how many items flipped, what was accepted."""
    words, rows = pair.words, records(pair.result.table)
    counts = {kind: sum(row["result"] == kind for row in rows) for kind in ("pass", "fail", "inconclusive")}
    yield words(f"compare.outcome_{pair.result.outcome}", n=len(rows), fail=counts["fail"], open=counts["inconclusive"])
    for row in rows:
        if row["result"] == "fail":
            show = signed if row["check"].split()[0] in ("quality", "failed") else factor
            check = plot_words(words.lang).check(row["check"])
            told = {"candidate": row["candidate"], "check": check, "change": show(row["change"])}
            yield words("compare.failed_check", **told, lo=show(row["lo"]), hi=show(row["hi"]))
    lost = sum(flip.kind == "lost" for flip in pair.flips)
    yield words("compare.flips", lost=lost, gained=len(pair.flips) - lost)
    for unlike in dict.fromkeys(one.kind for one in differences(pair.base, pair.new)):
        yield words(f"compare.unlike_{unlike}")
    if pair.base.client_limit or pair.new.client_limit:
        yield words("verdict.client_limited")
    yield words("verdict.interval")
