"""What an outside judge of statements gives, made into a grade, and held against people.

A signal (an LLM judge, an NLI model) says of each statement of a reply whether the source supports it. ``score`` is
the share of statements supported, and 0 when one is contradicted; ``score_lenient`` is the share alone. A verdict that
is missing is never guessed: the reply is then not graded (``not_checked``), and that counts as coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from speedqual.grading.calibrate import Calibration, calibrate, corrected_rate
from speedqual.grading.mentions import prepare
from speedqual.grading.reply import look, nothing_given
from speedqual.records import Answer, Failure, Grade, Item

__all__ = ["Held", "StatementVerdict", "grade_statements", "hold", "source_of"]

StatementVerdict = Literal["supported", "contradicted", "not_in_text"]
SOURCES = ("context", "text", "source", "document", "passage", "input")


def source_of(item: Item, named: str = "") -> str:
    """The text that a reply is held against: the column ``named``, else the first of the usual ones. "" = none."""
    columns = (named,) if named else SOURCES
    return next((str(item.row[name]) for name in columns if isinstance(item.row.get(name), str)), "")


def grade_statements(
    answer: Answer, source: str, judge: Callable[[str], StatementVerdict | None], *, how: str, version: str
) -> Grade:
    """Ask ``judge`` for each sentence of the reply. No source, or a missing verdict, gives a grade without a score."""
    reply = look(answer)
    silent = nothing_given(reply, answer, version=version)
    if silent is not None:
        return silent
    statements = prepare(reply.text)
    if not statements or not source.strip():
        why = "there is no source to hold the reply against" if statements else "the reply has no words"
        return _undecided(why, {}, how, version)
    verdicts = {statement: judge(statement) for statement in dict.fromkeys(statements)}
    return _grade(verdicts, reply.flags, how, version)


def _grade(verdicts: Mapping[str, StatementVerdict | None], flags: tuple[str, ...], how: str, version: str) -> Grade:
    counts = Counter(verdict or "missing" for verdict in verdicts.values())
    parts: dict[str, Any] = {"statements": dict(verdicts), **{str(name): n for name, n in counts.items()}}
    if counts["missing"]:
        why = f"{counts['missing']} of {len(verdicts)} statements got no verdict"
        return _undecided(why, parts, how, version)
    share = counts["supported"] / len(verdicts)
    failure: Failure = "contradicted" if counts["contradicted"] else "unsupported" if share < 1 else "none"
    score = 0.0 if failure == "contradicted" else share
    return Grade(
        score=score,
        verdict="pass" if failure == "none" else "partial" if score > 0 else "fail",
        failure=failure,
        score_lenient=share,
        why=_why(verdicts),
        how=how,
        flags=flags,
        parts=parts,
        version=version,
    )


def _undecided(why: str, parts: Mapping[str, Any], how: str, version: str) -> Grade:
    return Grade(
        score=None, verdict="not_graded", failure="not_checked", why=why, how=how, parts=parts, version=version
    )


def _why(verdicts: Mapping[str, StatementVerdict | None]) -> str:
    bad = [f"{verdict}: {statement[:80]!r}" for statement, verdict in verdicts.items() if verdict != "supported"]
    return "; ".join(bad)[:300] if bad else "the source supports every statement"


@dataclass(frozen=True, slots=True)
class Held:
    """A signal held against human labels. Figures are of the ``n - n_missing`` rows that it decided."""

    n: int
    n_missing: int
    calibration: Calibration

    def rates(self, scores: Sequence[float | None]) -> tuple[float | None, float | None]:
        """The raw share at or above the threshold, and that share corrected (Rogan and Gladen). None = undefined."""
        decided = [score for score in scores if score is not None]
        if not decided:
            return None, None
        raw = sum(score >= self.calibration.threshold for score in decided) / len(decided)
        return raw, corrected_rate(raw, self.calibration)

    def describe(self, scores: Sequence[float | None]) -> str:
        """One line: raw rate, balanced accuracy with its interval, corrected rate, and how many had no verdict."""
        (raw, corrected), (low, high) = self.rates(scores), self.calibration.interval
        return (
            f"raw {_number(raw)} · balanced accuracy {self.calibration.balanced_accuracy:.3f} "
            f"(95 % {low:.3f} to {high:.3f}) · corrected {_number(corrected)} · {self.n_missing} of {self.n} missing"
        )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def hold(scores: Sequence[float | None], labels: Sequence[bool]) -> Held | None:
    """Hold scores (None = no verdict) against labels (True = people call it supported).

    The rows that were decided are split as ``calibrate`` splits them; None when one half lacks a class.
    """
    decided = [(score, label) for score, label in zip(scores, labels, strict=True) if score is not None]
    calibration = calibrate([score for score, _ in decided], [label for _, label in decided])
    return None if calibration is None else Held(len(labels), len(labels) - len(decided), calibration)
