"""The first look at a reply, the same for every grader: what is left without thinking, and the grades of no answer."""

from __future__ import annotations

from dataclasses import dataclass

from speedqual.grading.text import is_blank, is_no_answer, is_refusal, strip_thinking
from speedqual.records import Answer, Failure, Grade

__all__ = ["Reply", "failed", "look"]


@dataclass(frozen=True, slots=True)
class Reply:
    """``text``: the answer without its thinking; ``unfinished``: cut by the token limit or inside the thinking."""

    text: str
    thought: bool = False
    unfinished: bool = False
    lost: bool = False  # the thinking never ended, so there is no answer at all

    @property
    def flags(self) -> tuple[str, ...]:
        """``("thinking",)`` when thinking was taken out."""
        return ("thinking",) if self.thought else ()


def look(answer: Answer) -> Reply:
    """Take the thinking out and say whether the reply came to its end."""
    stripped = strip_thinking(answer.text)
    return Reply(stripped.text, stripped.found, answer.stop == "length" or stripped.unclosed, stripped.unclosed)


def failed(failure: Failure, why: str, *, version: str, how: str = "", flags: tuple[str, ...] = ()) -> Grade:
    """A grade of 0 without anything extracted."""
    return Grade(
        score=0.0, verdict="fail", failure=failure, score_lenient=0.0, why=why, how=how, flags=flags, version=version
    )


def nothing_given(reply: Reply, answer: Answer, *, version: str) -> Grade | None:
    """The grade of a reply without any answer in it, None when there may be one. Look for an answer first."""
    if is_blank(reply.text):
        if reply.unfinished:
            why = "the thinking had no end" if reply.lost else "the token limit came before the answer"
            return failed("truncated", why, version=version, flags=reply.flags)
        if answer.outcome == "filtered" or answer.stop == "filter":
            return failed("refused", "a content filter stopped the reply", version=version, flags=reply.flags)
        return failed("no_answer", "the reply is empty", version=version, flags=reply.flags)
    if is_refusal(reply.text):
        return failed("refused", "the reply refuses the request", version=version, flags=reply.flags)
    if is_no_answer(reply.text):
        return failed("no_answer", "the reply says that it does not know", version=version, flags=reply.flags)
    return None
