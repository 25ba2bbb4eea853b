"""A toy eval set, its grader, and a client that answers from a list instead of a socket."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from speedqual.evalsets.hashing import hashed
from speedqual.grading import base
from speedqual.records import (
    Answer,
    Attempt,
    Candidate,
    EvalSet,
    Event,
    Grade,
    GraderSpec,
    Item,
    Prompt,
    Timeline,
    Usage,
)

MS = 1_000_000


def toy_evalset(n: int = 6, name: str = "toy", **fields) -> EvalSet:
    """Item k asks "Question k" and wants the answer k."""
    items = tuple(Item(id=f"i{k}", row={"q": f"Question {k}"}, target={"answer": str(k)}) for k in range(n))
    grader = GraderSpec(name="toy")
    given = {"prompt": "{q}", "max_tokens": 64, "items": items, **fields}
    return hashed(EvalSet(name=name, task="exact", grader=grader, **given))


def toy_grade(answer: Answer, item: Item) -> Grade:
    right = answer.text.strip() == item.target["answer"]
    return Grade(score=float(right), verdict="pass" if right else "fail", failure="none" if right else "wrong_result")


def ok(text: str = "x", **fields) -> Attempt:
    """A reply of three tokens in 30 ms."""
    events = tuple(Event((10 + 10 * i) * MS, "answer", piece, i + 1) for i, piece in enumerate([text, "", ""]) if piece)
    timeline = Timeline(t_send=0, events=events, t_close=40 * MS)
    usage = Usage(n_prompt=5, n_out=3, source="usage")
    return Attempt(**{"number": 1, "outcome": "ok", "timeline": timeline, "text": text, "usage": usage, **fields})


def failed(outcome: str = "http_error", **fields) -> Attempt:
    timeline = Timeline(t_send=0, t_close=5 * MS)
    return Attempt(**{"number": 1, "outcome": outcome, "timeline": timeline, "retryable": True, **fields})


@dataclass
class FakeClient:
    """Answers by ``reply(candidate, prompt, number)``; remembers what it was asked."""

    reply: Callable[[Candidate, Prompt, int], Attempt]
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    async def ask(self, candidate: Candidate, prompt: Prompt, *, number: int = 1, deadlines=None) -> Attempt:
        self.asked.append((candidate.name, str(prompt.messages[-1].content), number))
        return replace(self.reply(candidate, prompt, number), number=number)

    async def check(self, candidate: Candidate) -> Attempt:
        self.checked.append(candidate.name)
        return ok()

    async def warm_up(self, candidate: Candidate) -> Attempt:
        return ok()


def echo(candidate: Candidate, prompt: Prompt, number: int) -> Attempt:
    """The right answer to every toy question."""
    return ok(str(prompt.messages[-1].content).rpartition(" ")[2])


def candidate(name: str = "a", **fields) -> Candidate:
    return Candidate(
        **{"name": name, "endpoint": "openai", "model": "m", "base_url": "https://example.test/v1", **fields}
    )


@pytest.fixture(autouse=True)
def toy_grader() -> Iterator[None]:
    base.register("toy", lambda evalset: toy_grade)
    yield
    base._registered.pop("toy")
