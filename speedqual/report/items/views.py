"""An item and its answers as a page shows them: plain texts and numbers, made harmless, in one form for the markup
and for the packed data that a script unfolds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.evalsets.prompts import turns
from speedqual.records import GRADED_OUTCOMES, Attempt, EvalSet, Item, Plain, Record
from speedqual.report.items.differences import Difference, difference, expected
from speedqual.report.items.picks import Pick
from speedqual.report.items.streams import Track, tracks
from speedqual.report.private import without_addresses
from speedqual.report.words import Words
from speedqual.running.codec import decode_record, key_of

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["AnswerView", "ItemView", "views"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView(Plain):
    """One candidate's answer. ``how``: pass, partial, fail, error (of the endpoint), open (not graded).

    ``tracks``: ``[channel, heading, text]``; ``stream``: the steps of each track; ``rows`` and ``segments``: what was
    given instead of what was expected.
    """

    id: str
    candidate: str
    kind: str
    how: str
    head: str
    times: str
    why: str = ""
    tracks: tuple[tuple[str, str, str], ...] = ()
    stream: tuple[Any, ...] = ()
    rows: tuple[tuple[str, str, str], ...] = ()
    segments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView(Plain):
    """One item. ``key`` names it in links; ``tags`` say why it is shown and what kind of item it is."""

    id: str
    key: str
    evalset: str
    reasons: tuple[str, ...]
    tags: tuple[str, ...]
    head: str
    prompt: str = ""
    expected: str = ""
    answers: tuple[AnswerView, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every way in which an answer to it failed."""
        return tuple(dict.fromkeys(answer.kind for answer in self.answers if answer.kind))


def views(
    run: Run, picks: Iterable[Pick], words: Words, *, redact: bool, first: int = 1, n_repeats: int = 1
) -> Iterator[ItemView]:
    """The picked items in their order, numbered from ``first``. The records are read once; memory holds what is shown.

    ``redact`` leaves out whatever was asked, expected or answered, and all that quotes it.
    """
    picks = list(picks)
    sets = {evalset.name: (evalset, {item.id: item for item in evalset.items}) for evalset in run.evalsets}
    made: dict[int, AnswerView] = {}
    place = {
        number: (f"item-{i}-{j}", pick) for i, pick in enumerate(picks, first) for j, number in enumerate(pick.rows, 1)
    }
    for number, record in _records(run, place):
        name, pick = place[number]
        item = sets[pick.evalset][1][pick.item]
        made[number] = _answer(name, record, item, words, redact=redact, repeated=n_repeats > 1)
    for i, pick in enumerate(picks, first):
        evalset, items = sets[pick.evalset]
        answers = tuple(made[number] for number in pick.rows)
        yield _item(f"item-{i}", pick, evalset, items[pick.item], answers, words, redact=redact)


def _records(run: Run, wanted: Mapping[int, Any]) -> Iterator[tuple[int, Record]]:
    """Only the wanted records are decoded, with their events."""
    grades = run.grades
    for number, line in enumerate(run.layout.lines(run.layout.records)):
        if number in wanted:
            yield number, decode_record(line, run.layout.read_events(line.get("events")), grades.get(key_of(line)))


def _answer(name: str, record: Record, item: Item, words: Words, *, redact: bool, repeated: bool) -> AnswerView:
    last, grade = record.last, record.grade
    failed = last.outcome not in GRADED_OUTCOMES
    kind = last.outcome if failed else grade.failure if grade and grade.failure != "none" else ""
    bare = AnswerView(
        id=name,
        candidate=visible(record.trial.candidate, 200),
        kind=visible(kind, 80),
        how="error" if failed else _how(record),
        head=_head(record, kind, words, failed=failed),
        times=_times(record, words, repeated=repeated),
    )
    if redact:
        return bare
    came = tracks(last)
    against = difference(item, grade, last.text) if not failed else Difference()
    return replace(
        bare,
        why=visible(without_addresses(_why(last, failed)) if failed else grade.why if grade else "", 600),
        tracks=tuple((track.channel, words(f"items.track_{track.channel}"), track.shown) for track in came),
        stream=_stream(came),
        rows=against.rows,
        segments=against.segments,
    )


def _stream(came: list[Track]) -> tuple[Any, ...]:
    """The steps of each track, where something came bit by bit."""
    return tuple(track.compact() for track in came) if any(track.steps for track in came) else ()


def _how(record: Record) -> str:
    verdict = record.grade.verdict if record.grade else "not_graded"
    return "open" if verdict == "not_graded" else verdict


def _why(last: Attempt, failed: bool) -> str:
    said = [f"HTTP {last.status}" if last.status and last.status >= 400 else "", last.error_code, last.error_message]
    return " · ".join(str(part) for part in [*said, last.deadline] if part) if failed else ""


def _head(record: Record, kind: str, words: Words, *, failed: bool) -> str:
    """``0.50 · wrong format``."""
    score = None if failed or record.grade is None else record.grade.score
    known = words.known(f"{'outcome' if failed else 'kind'}.{kind}", kind) if kind else words("items.right")
    named = words("failures.endpoint_kind", kind=known) if failed else known
    if score is not None and not kind and score < 1:
        named = ""
    return " · ".join(part for part in ("" if score is None else numbers.score(score), visible(named, 80)) if part)


def _times(record: Record, words: Words, *, repeated: bool) -> str:
    """``first token 120 ms · whole answer 1.30 s · 31.2 tokens/s``, of what is known."""
    metrics = record.metrics
    parts = []
    if (ttft := metrics.get("ttft_ms")) is not None:
        parts.append(words("items.ttft", ms=numbers.milliseconds(float(ttft))))
    if (e2e := metrics.get("e2e_ms")) is not None:
        parts.append(words("items.e2e", seconds=numbers.seconds(float(e2e))))
    if (rate := metrics.get("decode_tok_s")) is not None:
        parts.append(words("items.rate", rate=numbers.rate(float(rate))))
    if len(record.attempts) > 1:
        parts.append(words("items.attempts", n=len(record.attempts)))
    if repeated:
        parts.append(words("items.repeat", n=record.trial.repeat + 1))
    return " · ".join(parts)


def _item(
    name: str, pick: Pick, evalset: EvalSet, item: Item, answers: tuple[AnswerView, ...], words: Words, *, redact: bool
) -> ItemView:
    right = sum(answer.how == "pass" for answer in answers)
    tags = [*(words(f"items.reason_{reason}") for reason in pick.reasons), item.difficulty]
    return ItemView(
        id=name,
        key=visible(f"{pick.evalset}/{pick.item}", 200),
        evalset=visible(pick.evalset, 120),
        reasons=pick.reasons,
        tags=tuple(visible(tag, 40) for tag in tags if tag),
        head=words("items.right_of", right=right, n=len(answers)),
        prompt="" if redact else visible(_asked(evalset, item)),
        expected="" if redact else visible(expected(item), 2000),
        answers=answers,
    )


def _asked(evalset: EvalSet, item: Item) -> str:
    """The turns of the item itself; system prompt and examples are the same for every item."""
    said = [(turn.role, _content(turn.content)) for turn in turns(evalset, item)]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said)


def _content(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) if "text" in part else _other(part) for part in content)


def _other(part: dict[str, Any]) -> str:
    """A part that is no text, without its bytes."""
    return json.dumps({key: value for key, value in part.items() if key != "data"}, ensure_ascii=False, default=str)
