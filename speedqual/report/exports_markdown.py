"""A run as Markdown for a pull request: the verdict, the table, ladders and failures folded away, no link.

Names, ids and whatever a model wrote stand in code spans and code blocks, where Markdown, HTML, mentions and addresses
are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.report.tables import Cell
from speedqual.report.words import Words

if TYPE_CHECKING:
    from speedqual.report.context import Context
    from speedqual.running import Run

__all__ = ["block", "code", "prose", "to_markdown"]

_KINDS = 8  # failures of which an example is shown
_TEXT = 600  # characters of an example


def to_markdown(run: Run, *, redact: bool = False, lang: str = "en") -> str:
    """The text of a comment. ``redact`` leaves prompts and answers out."""
    from speedqual.report.context import gather

    context = gather(run, Words.load(lang), redact=redact)
    return "\n".join(_lines(context)).rstrip() + "\n"


def _lines(context: Context) -> Iterator[str]:
    from speedqual.report.sections.verdict import sentences

    words = context.words
    yield f"### {words('page.title', candidates=len(context.board), items=context.n_items)}"
    yield ""
    yield from (f"- {prose(sentence)}" for sentence in sentences(context))
    yield ""
    yield from _board(context)
    yield from _ladders(context)
    yield from _load(context)
    yield from _failures(context)
    yield from _how(context)


def _board(context: Context) -> Iterator[str]:
    words = context.words
    heads = [words(f"table.{name}") for name in ("candidate", "quality", "ttft", "e2e", "decode", "cost", "ok")]
    heads[3] += f" ({words('table.p50')} / {words('table.p95')})"
    rows = []
    for row in context.board.to_dict("records"):
        waits = f"{numbers.milliseconds(row['e2e_ms_p50'])} / {numbers.milliseconds(row['e2e_ms_p95'])}"
        ttft, rate = numbers.milliseconds(row["ttft_ms_p50"]), numbers.rate(row["decode_tok_s_p50"])
        cost, done = numbers.usd(row["cost_per_success_usd"]), f"{row['n_ok']}/{row['n']}"
        rows.append([code(row["candidate"]), _with_bounds(row, "quality"), ttft, waits, rate, cost, done])
    yield from _table(heads, rows)
    yield ""


def _with_bounds(row: Any, name: str) -> str:
    shown = numbers.score(row[name])
    lo, hi = numbers.score(row[f"{name}_lo"]), numbers.score(row[f"{name}_hi"])
    return shown if numbers.DASH in (lo, hi) else f"{shown} [{lo}, {hi}]"


def _ladders(context: Context) -> Iterator[str]:
    """Rung by rung, folded away."""
    if context.cliffs is None or not context.cliffs.to_dict()["ladders"]:
        return
    words = context.words
    heads = [words(f"ladder.{name}") for name in ("rung", "quality", "drop")]
    yield from _open(words("ladder.heading"))
    for ladder in context.cliffs.to_dict()["ladders"]:
        label = words(f"ladder.label_{ladder['label'].replace(' ', '_')}")
        yield from (f"{code(ladder['ladder'])}: {label}", "")
        steps = [*ladder["steps"], None]
        rows = [_rung(rung, step) for rung, step in zip(ladder["rungs"], steps, strict=True)]
        yield from (*_table(heads, rows), "")
    yield "</details>"
    yield ""


def _rung(rung: dict[str, Any], step: dict[str, Any] | None) -> list[str]:
    drop = ""
    if step is not None and step["drop"] is not None:
        drop = f"{numbers.points(step['drop'])} [{numbers.points(step['drop_lo'])}, {numbers.points(step['drop_hi'])}]"
    return [code(rung["rung"]), _with_bounds(rung, "quality"), drop]


def _load(context: Context) -> Iterator[str]:
    """What a load test shows, level by level, folded away."""
    from speedqual.report.sections.load import levels_table, sentences

    if context.load is None or context.load.levels is None:
        return
    table = levels_table(context)
    yield from _open(context.words("load.heading"))
    yield from (f"- {prose(sentence)}" for sentence in sentences(context))
    yield ""
    heads = [table.first, *(prose(head.text) for head in table.head)]
    yield from _table(heads, ([code(row.name), *map(_cell, row.cells)] for row in table.rows))
    yield from ("", "</details>", "")


def _cell(cell: Cell) -> str:
    """A cell of a page in one line."""
    return prose(" · ".join([cell.text, *cell.small]))


def _failures(context: Context) -> Iterator[str]:
    """An example of each kind of failure, folded away; only the counts in a redacted copy."""
    words = context.words
    counts: dict[tuple[str, str], int] = {}
    for row in context.board.to_dict("records"):
        for group, failures in (("kind", row["answer_failures"]), ("outcome", row["endpoint_failures"])):
            for kind, n in failures.items():
                counts[group, kind] = counts.get((group, kind), 0) + n
    if not counts:
        return
    yield from _open(words("failures.heading"))
    for (group, kind), n in sorted(counts.items(), key=lambda one: -one[1]):
        named = words.known(f"{group}.{kind}", kind)
        yield f"- {prose(named if group == 'kind' else words('failures.endpoint') + ': ' + named)}: {n:,}"
    yield ""
    if not context.redact:
        yield from _examples(context)
    yield "</details>"
    yield ""


def _examples(context: Context) -> Iterator[str]:
    words = context.words
    shown: set[str] = set()
    for item in context.shown.plain:
        for answer in item.answers:
            if not answer.kind or answer.kind in shown or len(shown) == _KINDS:
                continue
            shown.add(answer.kind)
            yield f"{code(answer.candidate)}, {code(item.key)}: {prose(answer.head)}"
            if answer.why:
                yield from ("", prose(answer.why))
            texts = [(words("failures.prompt"), item.prompt), (words("failures.expected"), item.expected)]
            texts += [(heading, text) for _, heading, text in answer.tracks]
            for heading, text in texts:
                if text:
                    yield from ("", f"{heading}:", "", *block(text))
            yield ""


def _how(context: Context) -> Iterator[str]:
    words, manifest = context.words, context.manifest
    yield from _open(words("provenance.heading"))
    sets = ", ".join(code(f"{entry['name']} #{entry['hash']}") for entry in manifest["evalsets"])
    yield f"- {words('provenance.run')}: {code(manifest['run'])}"
    yield f"- {words('provenance.started')}: {manifest['created'][:19].replace('T', ' ')}"
    yield f"- {words('provenance.version')}: {manifest['speedqual']}"
    yield f"- {words('provenance.evalsets')}: {sets}"
    yield f"- {words('provenance.seed')}: {manifest['seed']}"
    yield from ("", words("provenance.definitions"), "", "</details>")


def _open(summary: str) -> Iterator[str]:
    yield from (f"<details><summary>{summary}</summary>", "")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|---{'|---:' * (len(heads) - 1)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def code(text: object) -> str:
    """A code span that stays one inside a table too.

    >>> code("a|b"), code("has ` tick")
    ('`a\\\\|b`', '`` has ` tick ``')
    """
    shown = " ".join(visible(str(text), 200).split()).replace("|", "\\|")
    if "`" not in shown:
        return f"`{shown}`" if shown else ""
    fence = "`" * (_longest_run(shown) + 1)
    return f"{fence} {shown} {fence}"


def block(text: str) -> list[str]:
    """A code block that nothing inside can end."""
    shown = visible(text, _TEXT)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return [f"{fence}text", *shown.split("\n"), fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


_SIGNS = re.compile(r"([\\`*_\[\]|~]|^[#+-])")
_LIVE = re.compile(r"(https?:|ftp:|mailto:|www|@|#)(?=[\w./-])", re.IGNORECASE)


def prose(text: str) -> str:
    """A sentence with names in it, as plain text: no markup, no HTML, no mention, no link that makes itself.

    An empty comment breaks what a page would otherwise turn into a mention or a link.
    """
    plain = " ".join(visible(text, 2000).split())
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LIVE.sub(r"\1<!-- -->", _SIGNS.sub(r"\\\1", plain))
