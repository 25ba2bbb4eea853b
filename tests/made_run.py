"""A run made up whole and written as a real one is: several candidates, a ladder, a route, three kinds of task.

For what must be seen at size, and for pictures: the numbers mean nothing, the same arguments give the same folder.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from speedqual.clock import FakeClock
from speedqual.records import (
    Attempt,
    Candidate,
    EvalSet,
    Event,
    Grade,
    GraderSpec,
    Item,
    Price,
    Record,
    Timeline,
    Trial,
    Usage,
    content_hash,
)
from speedqual.running import Run
from speedqual.running.codec import to_line
from speedqual.running.journal import Journal
from speedqual.running.layout import Layout
from speedqual.running.manifest import new_manifest, new_session
from speedqual.running.plan import make_plan
from speedqual.running.policy import Policy
from speedqual.running.route import Route
from speedqual.running.settings import Settings
from speedqual.timing import measure

MS = 1_000_000
WORDS = [
    "the",
    "total",
    "of",
    "this",
    "invoice",
    "is",
    "due",
    "in",
    "thirty",
    "days",
    "and",
    "the",
    "金额",
    "是",
    "一百",
    "元",
    "on",
    "account",
    "of",
    "our",
    "last",
    "order",
]


@dataclass(frozen=True)
class Kind:
    """How a made-up candidate behaves: ``skill`` in [0, 1], first token and gap in ms, share of failures."""

    name: str
    skill: float
    first_ms: float
    gap_ms: float
    failing: float = 0.01
    thinks: bool = False
    usd_out: float | None = 0.4
    ladder: str = ""
    rung: str = ""


KINDS = (
    Kind("swift-8b", 0.80, 90, 4, usd_out=0.2),
    Kind("steady-70b", 0.93, 240, 14, usd_out=0.9),
    Kind("deep-reasoner", 0.98, 420, 22, thinks=True, usd_out=4.0),
    Kind("swift-8b int8", 0.79, 80, 3, ladder="swift-8b 量化", rung="8 bit"),
    Kind("swift-8b int4", 0.78, 70, 2.6, ladder="swift-8b 量化", rung="4 bit"),
    Kind("swift-8b int3", 0.74, 68, 2.5, ladder="swift-8b 量化", rung="3 bit"),
    Kind("swift-8b int2", 0.22, 66, 2.4, failing=0.02, usd_out=None, ladder="swift-8b 量化", rung="2 bit"),
)


def make_run(
    folder: Path,
    kinds: tuple[Kind, ...] = KINDS,
    n_items: int = 40,
    tokens: int = 60,
    seed: int = 1,
    texts: Sequence[str] = (),
    tasks: Sequence[str] = ("extraction", "facts", "code"),
) -> Run:
    """``n_items`` in an eval set a task, asked of ``kinds`` (and of a route where there are two).

    ``texts``: what is answered, in turn, and wrong; by default what a model could have said.
    """
    rng = random.Random(seed)
    sets = [_set(task, n_items) for task in tasks]
    plain = {kind.name: _candidate(kind) for kind in kinds}
    candidates = [*plain.values(), *_route(list(plain.values()))]
    plan, clock = make_plan(candidates, sets, Settings(seed=seed)), FakeClock()
    layout = Layout(folder)
    layout.create()
    prices = {name: one.price for name, one in plain.items()}
    manifest = new_manifest("made-up", plan, Settings(seed=seed), prices, clock)
    manifest["sessions"] = [new_session(clock, Settings(seed=seed))]
    for evalset in sets:
        layout.write_evalset(evalset, evalset.hash)
    by_name = {kind.name: kind for kind in kinds}
    items = {evalset.name: {item.id: item for item in evalset.items} for evalset in sets}
    journal = Journal(layout, 0, bytes)
    grades = []
    for number, trial in enumerate(plan.trials):
        kind = by_name.get(trial.candidate) or _lane(kinds, rng)
        item = items[trial.evalset][trial.item]
        said = texts[number % len(texts)] if texts else None
        record = _record(rng, trial, item, kind, number, tokens, plain[kind.name].price, said)
        journal.put(record)
        if record.grade is not None:
            grades.append(to_line({"key": trial.key, "grade": record.grade.to_dict()}))
    journal.close()
    layout.grades.write_bytes(b"".join(grades))
    client = {"requests": len(plan.trials), "loop_lag_ms_p99": 1.4, "cpu_share": 0.06, "limited": False, "why": ""}
    layout.write_json(layout.manifest, manifest | {"status": "finished", "n_done": len(plan.trials), "client": client})
    return Run.open(folder)


def _candidate(kind: Kind) -> Candidate:
    price = Price(input_usd_per_mtok=0.1, output_usd_per_mtok=kind.usd_out, source="made up", as_of="2026-11-01")
    return Candidate(
        name=kind.name,
        model=f"maker/{kind.name.split()[0]}",
        base_url="http://models.internal.example/v1",
        params={"temperature": 0},
        ladder=kind.ladder,
        rung=kind.rung,
        price=price if kind.usd_out is not None else None,
    )


def _route(plain: list[Candidate]) -> Iterator[Candidate]:
    if len(plain) > 1:
        fast, strong = plain[0], plain[1]
        policy = Policy(fast.name, strong.name, "difficulty", ("easy",), deadline_ms=4000.0)
        yield Route(name="route: swift, then steady", endpoint="route", policy=policy, fast=fast, strong=strong)


def _lane(kinds: tuple[Kind, ...], rng: random.Random) -> Kind:
    return kinds[0] if rng.random() < 0.6 else kinds[1]


def _set(task: str, n: int) -> EvalSet:
    items = tuple(_item(task, i) for i in range(n))
    name = {"extraction": "invoices", "facts": "facts", "code": "发票-代码"}[task]
    plain = EvalSet(
        name=name, task=task, items=items, grader=GraderSpec(name=task), prompt="{text}", floor=0.75, licence="cc0"
    )
    return replace(plain, hash=content_hash(plain.to_dict()))


def _item(task: str, i: int) -> Item:
    level = ("easy", "medium", "hard")[i % 3]
    row: dict[str, Any] = {"id": f"{task}-{i:04d}", "tier": level}
    row["text"] = f"Invoice {i}: {100 + i} EUR, due on 2026-05-{1 + i % 28:02d}. 请返回 JSON：total、due。"
    target: Mapping[str, Any] | None = {"total": 100 + i, "due": f"2026-05-{1 + i % 28:02d}"}
    if task == "facts":
        row["facts"] = [{"id": "total", "value": str(100 + i), "type": "number"}]
    if task == "code":
        row["tests"] = {"entry_point": "total", "cases": [{"args": [i], "expect": 100 + i}]}
        target = None
    return Item(id=row["id"], row=row, target=target, difficulty=level, cluster=f"supplier {i % (1 + i // 2)}")


def _record(
    rng: random.Random,
    trial: Trial,
    item: Item,
    kind: Kind,
    number: int,
    tokens: int,
    price: Price | None,
    said: str | None,
) -> Record:
    start = number * 40 * MS
    if rng.random() < kind.failing:
        broken = Attempt(
            number=1,
            outcome="http_error",
            status=429,
            error_message="slow down: https://models.internal.example/limits?user=ann",
            timeline=Timeline(t_send=start, t_headers=start + 30 * MS, t_close=start + 31 * MS),
        )
        return _measured(trial, broken, None, price)
    right = rng.random() < kind.skill - {"easy": 0.0, "medium": 0.02, "hard": 0.1}[item.difficulty]
    text = _answer(rng, item, tokens, right=right)
    grade = _grade(item, text, right=right)
    if said is not None:
        text, grade = said, Grade(score=0.0, verdict="fail", failure="wrong_format", why=said, grader="made up")
    return _measured(trial, _streamed(rng, text, kind, start, tokens), grade, price)


def _measured(trial: Trial, attempt: Attempt, grade: Grade | None, price: Price | None) -> Record:
    got = measure([attempt], price=price)
    return Record(
        trial=trial, attempts=(attempt,), metrics=got.metrics, missing=got.missing, grade=grade, flags=got.flags
    )


def _answer(rng: random.Random, item: Item, tokens: int, *, right: bool) -> str:
    if item.row.get("tests"):
        body = f"def total(n):\n    return n + {100 if right else 10}\n"
        return f"```python\n{body}```\n" + " ".join(rng.choices(WORDS, k=max(1, tokens - 16)))
    total = item.target["total"] if right else item.target["total"] + 7
    said = json.dumps({"total": total, "due": item.target["due"]}, ensure_ascii=False)
    return said + "\n" + " ".join(rng.choices(WORDS, k=max(1, tokens - 14)))


def _streamed(rng: random.Random, text: str, kind: Kind, start: int, tokens: int) -> Attempt:
    at = start + round(rng.lognormvariate(0, 0.35) * kind.first_ms * MS)
    thoughts = " ".join(rng.choices(WORDS, k=tokens)) if kind.thinks else ""
    events = []
    for channel, words in (("reasoning", thoughts), ("answer", text)):
        for i, piece in enumerate(_pieces(words)):
            events.append(Event(at, channel, piece, len(events)))  # type: ignore[arg-type]
            stall = 700 if rng.random() < 0.002 else 0
            at += round((rng.lognormvariate(0, 0.4) * kind.gap_ms * (1 + i / 400) + stall) * MS)
    usage = Usage(n_prompt=60, n_out=len(events), n_reasoning=len(thoughts.split()) or None, source="usage")
    line = Timeline(
        t_send=start,
        t_headers=events[0].t_ns - MS,
        events=tuple(events),
        t_end=at,
        t_close=at + MS,
        n_reads=len(events),
        stamp="scripted",
    )
    return Attempt(
        number=1, outcome="ok", timeline=line, status=200, text=text, reasoning=thoughts, stop="stop", usage=usage
    )


def _pieces(text: str) -> list[str]:
    """Words with the blank before them."""
    words = text.split(" ") if text else []
    return [word if i == 0 else f" {word}" for i, word in enumerate(words)]


def _grade(item: Item, text: str, *, right: bool) -> Grade:
    if right:
        return Grade(score=1.0, verdict="pass", score_lenient=1.0, why="all is right", grader="made up", version="1")
    if item.row.get("tests"):
        first = {"input": "total(1)", "expected": "101", "why": "returned 11"}
        parts: dict[str, Any] = {"tests": 4, "passed": 1, "first_failure": first}
        why, failure, extracted = "1 of 4 tests pass; total(1), expected 101: returned 11", "wrong_result", None
    elif item.row.get("facts"):
        parts, extracted = {"facts": {"total": "contradicted"}}, {"total": text.splitlines()[0]}
        why, failure = "total: another value is given", "contradicted"
    else:
        extracted = json.loads(text.splitlines()[0])
        wrong = {"field": "total", "got": extracted["total"], "want": item.target["total"], "why": "wrong"}
        parts, why, failure = {"wrong": [wrong]}, f"total is {extracted['total']} (wrong)", "wrong_field"
    score = 0.5 if failure == "wrong_field" else 0.0
    return Grade(
        score=score,
        verdict="partial" if score else "fail",
        failure=failure,  # type: ignore[arg-type]
        score_lenient=score,
        why=why,
        extracted=extracted,
        parts=parts,
        grader="made up",
        version="1",
    )
