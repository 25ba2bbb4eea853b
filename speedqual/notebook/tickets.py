"""The questions that several notebooks ask: made-up tickets of a help desk, short enough for a very small model."""

from __future__ import annotations

import random
from collections.abc import Iterator

from speedqual.evalsets.hashing import hashed
from speedqual.records import EvalSet, GraderSpec, Item

__all__ = ["EXAMPLES", "help_desk"]

EXAMPLES = 8
"""Tickets with their answers that a candidate may be shown; they are never asked."""

_CITIES = ("Lisbon", "Oslo", "Lima", "Cairo", "Osaka", "Quito", "Turin", "Perth", "Dakar", "Minsk", "Porto", "Leeds")
_NAMES = ("Ana", "Ben", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hana", "Ivan", "Jana", "Kofi", "Lena")
_FAULTS = ("printer is jammed", "screen is black", "door is stuck", "login fails", "heating is cold")
_URGENCIES = ("low", "high", "urgent")


def help_desk(n: int, seed: int = 1, shots: int = 4) -> EvalSet:
    """``n`` tickets, each with one question and one right word: half ask for the city, half for the priority.

    The same seed gives the same tickets, another one others. ``difficulty`` is the kind of question.
    """
    return hashed(
        EvalSet(
            name=f"help-desk-{seed}",
            task="exact",
            items=tuple(_tickets(n, seed)),
            fewshot=tuple(_tickets(EXAMPLES, seed=0)),
            shots=shots,
            grader=GraderSpec(name="exact", options={"type": "string"}),
            prompt="{text}\n{question} Answer with one word.",
            max_tokens=8,
            floor=0.9,
        )
    )


def _tickets(n: int, seed: int) -> Iterator[Item]:
    draw = random.Random(seed)
    for number in range(n):
        city, name, fault = draw.choice(_CITIES), draw.choice(_NAMES), draw.choice(_FAULTS)
        urgency = draw.choice(_URGENCIES)
        kind, answer = (("city", city), ("priority", urgency))[number % 2]
        text = f"Ticket {draw.randrange(100, 1000)} from {name} in {city}: the {fault}. Priority {urgency}."
        row = {"text": text, "question": f"Which {kind}?", "target": {"answer": answer}}
        yield Item(id=f"ticket-{seed}-{number}", row=row, target=row["target"], difficulty=kind)
