"""A stored stream in compact form: how much of the shown text had come, and when.

A text is split by channel: the answer (with refusals), the reasoning before it, tool calls. Times are whole
milliseconds after the request was sent, as differences; lengths are in UTF-16 units, as a browser counts them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from speedqual.display.safe import LIMIT, visible
from speedqual.records import Attempt

__all__ = ["Track", "tracks"]

_TRACK_OF = {"answer": "answer", "refusal": "answer", "reasoning": "reasoning", "tool": "tool"}
_STEPS = 400  # steps of one track; a longer stream joins neighbours


@dataclass
class Track:
    """The shown text of one channel and the steps in which it came; ``steps`` is empty when its times are not known.

    ``lost``: characters beyond the limit, which are not shown but whose times count.
    """

    channel: str
    text: str = ""
    steps: list[tuple[int, int]] = field(default_factory=list)  # ms after the send, UTF-16 units so far
    lost: int = 0
    _units: int = 0

    def add(self, piece: str, at_ms: int, limit: int) -> None:
        """Take up a piece that came ``at_ms`` after the send."""
        kept = visible(piece, len(piece))[: max(0, limit - len(self.text))]
        self.lost += max(0, len(piece) - max(0, limit - len(self.text)))
        self.text += kept
        self._units += len(kept.encode("utf-16-le")) // 2
        if self.steps and self.steps[-1][0] == at_ms:
            self.steps.pop()
        self.steps.append((at_ms, self._units))

    @property
    def shown(self) -> str:
        return f"{self.text} … [+{self.lost:,}]" if self.lost else self.text

    def compact(self) -> list[list[int]]:
        """``[differences of ms, lengths that came]``."""
        stride = -(-len(self.steps) // _STEPS) or 1
        steps = [*self.steps[stride - 1 :: stride]]
        if self.steps and steps[-1:] != self.steps[-1:]:
            steps.append(self.steps[-1])
        before = [(0, 0), *steps]
        return [
            [now[0] - then[0] for then, now in zip(before, steps, strict=False)],
            [now[1] - then[1] for then, now in zip(before, steps, strict=False)],
        ]


def tracks(attempt: Attempt, limit: int = LIMIT) -> list[Track]:
    """What came, channel by channel in the order of their first piece; the bare texts where no event was stored."""
    start = attempt.timeline.t_send
    if start is None or not attempt.timeline.events:
        return _texts(attempt, limit)
    found: dict[str, Track] = {}
    for event in attempt.timeline.events:
        name = _TRACK_OF[event.channel]
        track = found.setdefault(name, Track(name))
        track.add(event.text, round((event.t_ns - start) / 1e6), limit)
    return list(found.values())


def _texts(attempt: Attempt, limit: int) -> list[Track]:
    calls = "\n".join(f"{call.name}({call.arguments})" for call in attempt.tool_calls)
    texts: dict[str, Any] = {"reasoning": attempt.reasoning, "tool": calls, "answer": attempt.text}
    return [Track(name, visible(text, limit)) for name, text in texts.items() if text]
