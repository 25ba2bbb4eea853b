"""A race in words: the view that its script plays, the static twin, the lines of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.notebook import markup
from speedqual.notebook.widgets.lanes import Lane
from speedqual.notebook.words import notebook_words

__all__ = ["RacePicture"]

PROMPT = 2_000  # characters of the prompt that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class RacePicture:
    """The lanes at a moment. ``live``: tokens are still coming. ``seen``: it was watched, so its end is shown first."""

    lanes: tuple[Lane, ...]
    prompt: str
    live: bool
    seen: bool
    lang: str

    def html(self) -> str:
        """The static twin: who began and ended when, with which verdict; each whole reply folded."""
        head = [self._say("head.candidate"), *(self._say(f"race.{key}") for key in ("ttft", "whole", "verdict"))]
        rows = [
            [_name(lane), numbers.milliseconds(lane.ttft_ms), numbers.milliseconds(lane.end_ms), self._verdict(lane)]
            for lane in self.lanes
        ]
        replies = "".join(markup.details(self._reply(lane), lane.text + self._cut(lane)) for lane in self.lanes)
        prompt = markup.details(self._say("race.prompt"), self.prompt)
        return markup.heading(self._title(), self._note()) + prompt + markup.table(head, rows) + replies

    def text(self) -> str:
        """A line a candidate."""
        return "\n".join([self._title(), *(self._line(lane) for lane in self.lanes)])

    def _line(self, lane: Lane) -> str:
        return " · ".join([_name(lane), self._end(lane), *([self._verdict(lane)] if lane.grade else [])])

    def view(self) -> dict[str, Any]:
        """What the script plays; every text is finished but for the clock."""
        return {
            "words": notebook_words(self.lang).group("race"),
            "title": self._title(),
            "note": self._note(),
            "prompt": visible(self.prompt, PROMPT),
            "live": self.live,
            "seen": self.seen,
            "total_ms": max((self._last_ms(lane) for lane in self.lanes), default=0.0),
            "lanes": [self._lane(lane) for lane in self.lanes],
        }

    def _lane(self, lane: Lane) -> dict[str, Any]:
        return {
            "name": _name(lane),
            "reply": self._reply(lane),
            "pieces": [list(piece) for piece in lane.pieces],
            "ttft_ms": lane.ttft_ms,
            "end_ms": lane.end_ms,
            "begun": self._say("race.begun", ms=numbers.milliseconds(lane.ttft_ms)),
            "end": self._end(lane),
            "cut": self._cut(lane),
            "verdict": "" if self.live else self._verdict(lane),
            "mark": "" if self.live or lane.grade is None else lane.grade.verdict,
        }

    def _last_ms(self, lane: Lane) -> float:
        return max(lane.end_ms or 0.0, lane.pieces[-1][0] if lane.pieces else 0.0)

    def _end(self, lane: Lane) -> str:
        """How it ended, in words; a failure by its outcome."""
        if lane.ttft_ms is None:
            said = self._say("race.no_token" if lane.outcome else "race.waiting")
        else:
            times = {"ms": numbers.milliseconds(lane.ttft_ms), "end": numbers.milliseconds(lane.end_ms)}
            said = self._say("race.end", **times)
        again = [self._say("race.retried", n=lane.attempt)] if lane.attempt > 1 else []
        return " · ".join([said, *again, *self._failure(lane)])

    def _failure(self, lane: Lane) -> list[str]:
        if lane.outcome in ("", "ok"):
            return []
        outcome = notebook_words(self.lang).known(f"outcome.{lane.outcome}", lane.outcome)
        return [self._say("race.failed", outcome=outcome)]

    def _verdict(self, lane: Lane) -> str:
        """Verdict, score and reason; of a failure, that it failed."""
        grade = lane.grade
        if grade is None:
            return "".join(self._failure(lane)) or self._say("verdict.not_graded")
        said = self._say(f"verdict.{grade.verdict}")
        score = "" if grade.score is None else f" {numbers.score(grade.score)}"
        return f"{said}{score}" + (f" · {visible(grade.why, 200)}" if grade.why else "")

    def _cut(self, lane: Lane) -> str:
        return self._say("race.cut", n=numbers.count(lane.lost)) if lane.lost else ""

    def _reply(self, lane: Lane) -> str:
        return self._say("race.reply", name=_name(lane))

    def _title(self) -> str:
        return self._say("race.title", n=len(self.lanes))

    def _note(self) -> str:
        return self._say("race.live") if self.live else ""

    def _say(self, key: str, **values: object) -> str:
        return notebook_words(self.lang)(key, **values)


def _name(lane: Lane) -> str:
    return visible(lane.name, 80)
