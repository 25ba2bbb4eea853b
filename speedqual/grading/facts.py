"""Grade whether a reply agrees with what was given: required facts, forbidden facts, and saying that it is not stated.

Deterministic, and for constructed tasks: each fact has a known ``value`` (typed, with ``aliases`` and ``tolerance``)
or is a statement (``text``). ``score`` (strict) is the share of ``must`` facts supported, and 0 when one of them is
contradicted or several answers are offered, or when a ``forbidden`` fact is asserted; ``score_lenient`` is the share
of all facts supported. An ``unanswerable`` item is right when the reply says that the text does not say, or that it
does not know (flag ``abstained``), and wrong when it gives a value. Where the rules do not reach, a fact is
``unverifiable``: not supported, counted apart, never guessed.

Options: ``locale``, ``date_order``, ``tolerance``, ``source`` and ``question`` (columns), ``copy_cap`` (the most that
a copy of the whole source can score, 0.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.claims import Known, known_of, unsupported_claims
from speedqual.grading.mentions import numbers_in, prepare
from speedqual.grading.normalise import KINDS, Settings
from speedqual.grading.options import options_of, settings_of, tolerance_of
from speedqual.grading.placed import placed_instead
from speedqual.grading.polarity import clause_start, is_reason
from speedqual.grading.reply import Reply, failed, look, nothing_given
from speedqual.grading.restating import echoes, is_copied, is_part_of, without_echo
from speedqual.grading.statements import exchanged_in, judge_statement
from speedqual.grading.text import fold, is_no_answer, is_refusal, says_not_stated
from speedqual.grading.valuefacts import Finding, ValueFact, judge_value, kind_of_value
from speedqual.records import Answer, EvalSet, Failure, Grade, Item

__all__ = ["VERSION", "Fact", "FactsGrader", "make"]

VERSION = "1"
OPTIONS = frozenset(["locale", "date_order", "tolerance", "source", "question", "copy_cap"])
SOURCES = ("context", "text", "source", "document", "passage", "input")
QUESTIONS = ("question", "ask", "query", "prompt")
FACT_KEYS = frozenset(["id", "value", "text", "type", "aliases", "tolerance", "must", "values", "date_order", "locale"])


@dataclass(frozen=True, slots=True)
class Fact:
    """One required or forbidden fact: a value or a statement."""

    id: str
    must: bool
    value: ValueFact | None
    text: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """An item read once."""

    row: Mapping[str, Any]
    facts: tuple[Fact, ...]
    forbidden: tuple[Fact, ...]
    unanswerable: bool
    memory: bool
    source: str
    question: str
    known: Known


def make(evalset: EvalSet) -> FactsGrader:
    """The grader that the card declares. Every item is read here, so that a slip is found before the run."""
    options = options_of(evalset, OPTIONS)
    where = f"eval set {evalset.name}"
    settings = settings_of(options, where)
    grader = FactsGrader(
        settings if settings.locale else replace(settings, locale="en"),
        options.get("source"),
        options.get("question"),
        _cap(options.get("copy_cap", 0.5), where),
    )
    for item in evalset.items:
        grader.plan(item, where)
    return grader


def _answers_itself(plan: Plan, parts: tuple[str, ...]) -> bool:
    """Whether what the reply says beside its copy of the source gives every required fact."""
    own = tuple(part for part in parts if not is_part_of(part, plan.source))
    must = [fact for fact in plan.facts if fact.must] or list(plan.facts)
    return bool(own) and all(_judge(fact, own, plan).status == "supported" for fact in must)


def _with_others(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Each fact knows the values of the others, which are no rivals of its own."""
    every = list(facts)
    values = [fold(str(fact.value.value)) if fact.value else "" for fact in every]
    return tuple(
        replace(fact, value=replace(fact.value, others=tuple(v for j, v in enumerate(values) if v and j != i)))
        if fact.value
        else fact
        for i, fact in enumerate(every)
    )


def _cap(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise EvalSetError(f"copy_cap is {value!r}", where=f"{where}, grader.copy_cap", fix="Give a number from 0 to 1")
    return float(value)


class FactsGrader:
    """``(answer, item) -> Grade``; keeps the items it has read."""

    name = "facts"

    def __init__(self, settings: Settings, source: str | None, question: str | None, copy_cap: float) -> None:
        self.settings, self.source, self.question, self.copy_cap = settings, source, question, copy_cap
        self._plans: dict[str, Plan] = {}

    def plan(self, item: Item, where: str = "") -> Plan:
        """The facts of an item. Raises EvalSetError for one that makes no sense."""
        known = self._plans.get(item.id)
        if known is None or known.row is not item.row:
            if len(self._plans) > 50_000:
                self._plans.clear()
            known = self._plans[item.id] = self._read(item, f"{where}, item {item.id}" if where else f"item {item.id}")
        return known

    def _read(self, item: Item, where: str) -> Plan:
        row = item.row
        question = _column(row, self.question, QUESTIONS) or _last_question(row)
        facts, forbidden = _listed(row, "facts", where), _listed(row, "forbidden", where)
        if not facts and not forbidden and not row.get("unanswerable"):
            raise EvalSetError(
                "there is nothing to judge",
                where=f"{where}, facts",
                fix="Give facts, forbidden facts, or unanswerable: true",
            )
        alone = len(facts) == 1
        source = _column(row, self.source, SOURCES) or _conversation(row)
        texts = [
            source,
            question,
            *(str(f.get("value", f.get("text", ""))) for f in facts),
            *(str(a) for f in facts for a in f.get("aliases") or ()),
        ]
        return Plan(
            row=row,
            facts=_with_others(self._fact(f, i, question, alone, f"{where}, facts[{i}]") for i, f in enumerate(facts)),
            forbidden=tuple(
                self._fact(f, i, question, False, f"{where}, forbidden[{i}]") for i, f in enumerate(forbidden)
            ),
            unanswerable=bool(row.get("unanswerable")),
            memory=bool(row.get("messages")) or "memory" in item.tags or "memory" in (row.get("tags") or ()),
            source=source,
            question=question,
            known=known_of("\n".join(texts)),
        )

    def _fact(self, spec: Any, number: int, question: str, alone: bool, where: str) -> Fact:
        if isinstance(spec, str):
            spec = {"text": spec}
        unknown = sorted(set(spec) - FACT_KEYS) if isinstance(spec, Mapping) else ["it is no object"]
        if unknown:
            raise EvalSetError(
                f"unknown key {unknown[0]!r} in a fact", where=where, fix=f"Use: {', '.join(sorted(FACT_KEYS))}"
            )
        name, must = str(spec.get("id", number)), bool(spec.get("must", True))
        aliases = tuple(str(a) for a in spec.get("aliases") or ())
        if spec.get("value") is None:
            if not spec.get("text"):
                raise EvalSetError("a fact needs a value or a text", where=where, fix="Give one of them")
            return Fact(name, must, None, str(spec["text"]), aliases)
        declared = spec.get("type")
        if declared is not None and declared not in KINDS:
            raise EvalSetError(f"unknown type {declared!r}", where=where, fix=f"Use one of: {', '.join(KINDS)}")
        own = replace(
            self.settings,
            locale=str(spec.get("locale") or self.settings.locale),
            date_order=str(spec.get("date_order") or self.settings.date_order),
            tolerance=tolerance_of(spec["tolerance"], where)
            if spec.get("tolerance") is not None
            else self.settings.tolerance,
        )
        kind = kind_of_value(spec["value"], declared)
        return Fact(
            name,
            must,
            ValueFact(name, spec["value"], kind, aliases, own, question, alone),
            str(spec.get("text") or ""),
            aliases,
        )

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Judge one reply."""
        plan, reply = self.plan(item), look(answer)
        parts = prepare(reply.text)
        if not parts:
            grade = nothing_given(reply, answer, version=VERSION) or failed(
                "no_answer", "the reply has no words", version=VERSION
            )
            return _as_memory(grade, plan)
        if echoes(parts, plan.question):
            return _as_memory(failed("no_answer", "the reply repeats the question", version=VERSION), plan)
        parts = without_echo(parts, plan.question)
        if plan.unanswerable:
            return _unanswerable(plan, reply, parts)
        return self._answerable(plan, answer, reply, parts)

    def _answerable(self, plan: Plan, answer: Answer, reply: Reply, parts: tuple[str, ...]) -> Grade:
        findings = {fact.id: _judge(fact, parts, plan) for fact in plan.facts}
        statuses = [f.status for f in findings.values()]
        if plan.facts and "supported" not in statuses:
            silent = _silence(plan, answer, reply, parts)
            if silent is not None:
                nothing = {name: Finding("missing", silent.why) for name in findings}
                return replace(silent, parts=_parts(plan, nothing, [], None))
        asserted = [f for f in plan.forbidden if _is_asserted(f, parts, plan)]
        claims = unsupported_claims(parts, plan.known) if plan.source else None
        return self._grade(plan, reply, parts, findings, [f.id for f in asserted], claims)

    def _grade(
        self,
        plan: Plan,
        reply: Reply,
        parts: tuple[str, ...],
        findings: dict[str, Finding],
        asserted: list[str],
        claims: tuple[int, list[str]] | None,
    ) -> Grade:
        must = [findings[f.id].status for f in plan.facts if f.must] or [f.status for f in findings.values()]
        every = [f.status for f in findings.values()]
        failure = _failure(must, every, asserted, reply)
        score = 0.0 if asserted or {"contradicted", "ambiguous"} & set(must) else _share(must)
        lenient = 0.0 if asserted else _share(every)
        details = _parts(plan, findings, asserted, claims)
        flags = {*reply.flags, *(flag for f in findings.values() for flag in f.flags)}
        flags |= {"unsupported"} if details["unsupported"] else set()
        if plan.source and is_copied(" ".join(parts), plan.source) and not _answers_itself(plan, parts):
            flags.add("copied")
            score, lenient = min(score, self.copy_cap), min(lenient, self.copy_cap)
            failure = "copied" if failure == "none" and score < 1 else failure
        grade = Grade(
            score=score,
            verdict="pass" if failure == "none" else "partial" if score > 0 else "fail",
            failure=failure,
            score_lenient=max(score, lenient),
            why=_why(findings, asserted, failure),
            how="values and statements looked up in the reply",
            extracted=_extracted(findings, parts),
            flags=tuple(sorted(flags)),
            parts=details,
            version=VERSION,
        )
        return _as_memory(grade, plan)


def _column(row: Mapping[str, Any], named: str | None, usual: tuple[str, ...]) -> str:
    for name in (named,) if named else usual:
        if isinstance(row.get(name), str):
            return str(row[name])
    return ""


def _conversation(row: Mapping[str, Any]) -> str:
    return "\n".join(_content(m) for m in (row.get("messages") or ())[:-1])


def _last_question(row: Mapping[str, Any]) -> str:
    turns = [_content(m) for m in row.get("messages") or () if isinstance(m, Mapping) and m.get("role") == "user"]
    return turns[-1] if turns else ""


def _content(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else ""
    return content if isinstance(content, str) else ""


def _listed(row: Mapping[str, Any], name: str, where: str) -> list[Any]:
    value = row.get(name) or []
    if not isinstance(value, (list, tuple)):
        raise EvalSetError(f"{name} is no list", where=f"{where}, {name}", fix="Give a list of facts")
    return list(value)


def _judge(fact: Fact, parts: tuple[str, ...], plan: Plan) -> Finding:
    """A fact with both a value and a statement must hold as both, unless the reply is too short to be a statement."""
    known = plan.known.text
    if fact.value is None:
        return judge_statement(fact.text, fact.aliases, parts, known)
    finding = judge_value(fact.value, parts, known)
    if fact.text and finding.status == "supported":
        spoken = judge_statement(fact.text, (), parts, known)
        if spoken.status == "contradicted":
            return spoken
    if finding.status == "missing" and isinstance(fact.value.value, str) and plan.source:
        other = exchanged_in(fact.value.value, plan.source, parts, known) or placed_instead(
            fact.value.value, fact.value.others, plan.source, plan.question, parts
        )
        return Finding("contradicted", f"{other!r} stands in its place", other) if other else finding
    return finding


_PAST = (
    "was ",
    "were ",
    "used to",
    "previous",
    "original",
    "former",
    "earlier",
    "before",
    "no longer",
    "from ",
    "old ",
    "原来",
    "之前",
    "以前",
    "原先",
    "旧",
    "本来",
    "曾",
    "取代",
    "代替",
)


def _is_asserted(fact: Fact, parts: tuple[str, ...], plan: Plan) -> bool:
    """Whether a forbidden fact is said, and not as what used to be."""
    finding = _judge(fact, parts, plan)
    if finding.status not in ("supported", "ambiguous"):
        return False
    if any(f.value is not None and fact.value is not None and f.value.value == fact.value.value for f in plan.facts):
        return False
    if not finding.at:
        return True
    settled = any(_judge(f, parts, plan).status == "supported" for f in plan.facts if f.must)
    for sentence in parts:
        at = sentence.lower().find(finding.at.lower())  # what is named comes case-folded
        if at >= 0:
            clause = sentence[clause_start(sentence, at) : at].lower()
            past = plan.memory and any(word in clause for word in _PAST)
            return not past and not (settled and is_reason(sentence, at))
    return True


def _share(statuses: list[str]) -> float:
    return sum(s == "supported" for s in statuses) / len(statuses) if statuses else 1.0


def _failure(must: list[str], every: list[str], asserted: list[str], reply: Reply) -> Failure:
    if "ambiguous" in must:
        return "ambiguous"
    if asserted or "contradicted" in must:
        return "contradicted"
    if "missing" in must and reply.unfinished:
        return "truncated"
    if "missing" in must:
        return "omission"
    if "unverifiable" in must:
        return "unverifiable"
    return "contradicted" if "contradicted" in every else "none"


def _silence(plan: Plan, answer: Answer, reply: Reply, parts: tuple[str, ...]) -> Grade | None:
    """A reply without any of the facts that refuses, does not know, or says that the text does not say."""
    grade = nothing_given(reply, answer, version=VERSION)
    if grade is None and says_not_stated(reply.text) and not any(numbers_in(p, Settings(locale="en")) for p in parts):
        grade = failed(
            "no_answer", "the reply says that it is not stated, and it is", version=VERSION, flags=reply.flags
        )
    return None if grade is None else _as_memory(grade, plan)


_GUESS = (
    "probably",
    "likely",
    "i guess",
    "i think",
    "estimate",
    "assume",
    "perhaps",
    "maybe",
    "might be",
    "大概",
    "可能是",
    "估计",
    "应该是",
    "也许",
    "推测",
    "猜",
)


def _unanswerable(plan: Plan, reply: Reply, parts: tuple[str, ...]) -> Grade:
    """Right: to say that it is not stated. Wrong: any value that the source does not hold, and a refusal."""
    not_stated, unsure = says_not_stated(reply.text), is_no_answer(reply.text)
    if not not_stated and is_refusal(reply.text):
        return failed(
            "refused", "the reply refuses instead of saying that it is not stated", version=VERSION, flags=reply.flags
        )
    numbers = [m for p in parts for m in numbers_in(p, Settings(locale="en"))]
    invented = [m.text for m in numbers if m.value not in plan.known.numbers and not m.text.isalpha()]
    guessed = any(word in " ".join(parts).lower() for word in _GUESS) and bool(numbers)
    if (not_stated or unsure) and not invented and not guessed:
        flags = (*reply.flags, *(("abstained",) if not not_stated else ()))
        return Grade(
            score=1.0,
            verdict="pass",
            score_lenient=1.0,
            why="the reply says that it is not stated",
            how="abstention",
            extracted=None,
            flags=flags,
            parts={"abstained": True},
            version=VERSION,
        )
    if reply.unfinished and not invented:
        return failed("truncated", "the token limit came before an answer", version=VERSION, flags=reply.flags)
    why = f"the text does not say, and the reply gives {(invented or parts)[0][:60]!r}"
    return replace(
        failed("unsupported", why, version=VERSION, flags=reply.flags),
        extracted=" ".join(parts)[:200],
        parts={"abstained": False},
    )


def _as_memory(grade: Grade, plan: Plan) -> Grade:
    """In a conversation, what is wrong or not known of an earlier turn has been forgotten."""
    if plan.memory and grade.failure in ("contradicted", "omission", "no_answer"):
        return replace(grade, failure="forgot_context")
    return grade


def _parts(
    plan: Plan, findings: dict[str, Finding], asserted: list[str], claims: tuple[int, list[str]] | None
) -> dict[str, Any]:
    statuses = [f.status for f in findings.values()]
    counts = {
        name: statuses.count(name) for name in ("supported", "contradicted", "ambiguous", "missing", "unverifiable")
    }
    strange = claims[1] if claims is not None else []
    bad = len(strange) + counts["contradicted"] + len(asserted)
    given = counts["supported"] + bad
    return {
        "facts": {name: finding.status for name, finding in findings.items()},
        **counts,
        "recall": _share(statuses),
        "precision": counts["supported"] / given if given else None,
        "unsupported": strange,
        "claims": claims[0] if claims is not None else None,
        "forbidden": asserted,
    }


def _extracted(findings: dict[str, Finding], parts: tuple[str, ...]) -> Any:
    said = {name: finding.at for name, finding in findings.items() if finding.at}
    return said or " ".join(parts)[:200]


def _why(findings: dict[str, Finding], asserted: list[str], failure: Failure) -> str:
    if asserted:
        return f"the forbidden fact {asserted[0]!r} is asserted"
    if failure == "copied":
        return "the reply is a copy of the source"
    faults = [f"{name}: {f.why or f.status}" for name, f in findings.items() if f.status != "supported"]
    return "; ".join(faults)[:300] if faults else "every fact is there"
