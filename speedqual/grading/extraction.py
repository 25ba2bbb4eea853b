"""Grade JSON that was to be extracted from a text: typed leaves, omissions and inventions told apart.

``score`` (strict) is the micro F1 over the document's leaves, so that one wrong field of ten costs a tenth; with
``score: exact`` in the card it is 1 only for a document without any fault. The verdict is ``pass`` only when the
document is exact, ``partial`` above 0. Strict needs real JSON; what had to be mended counts in ``score_lenient``
alone, with the repairs counted by kind.

Leaves: equal after reading both by the declared type = true positive; wrong = false positive and false negative;
missing = false negative; a value where the gold has none = false positive; null on both sides = a right abstention,
outside F1. An answer whose every leaf was to be null scores 1.

Options: ``fields`` or ``schema``, ``locale``, ``date_order``, ``tolerance``, ``strict_null``, ``ignore`` (extra keys
that cost nothing), ``lists`` (multiset | sequence), ``ordered`` (names of lists), ``keys`` (list → its key fields),
``score`` (f1 | exact), ``source`` (the column with the text).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.fields import Node, Record, fields_from_schema, fields_from_spec
from speedqual.grading.jsontext import Found, find_json, is_bare_json
from speedqual.grading.leaves import Rules, Tally, tally
from speedqual.grading.options import one_of, options_of, settings_of
from speedqual.grading.reply import Reply, failed, look, nothing_given
from speedqual.grading.schema import check_schema, violations
from speedqual.grading.text import fold
from speedqual.records import Answer, EvalSet, Failure, Grade, Item

__all__ = ["VERSION", "ExtractionGrader", "f1", "make"]

VERSION = "1"
OPTIONS = frozenset(
    [
        "fields",
        "schema",
        "locale",
        "date_order",
        "tolerance",
        "strict_null",
        "ignore",
        "lists",
        "ordered",
        "keys",
        "score",
        "source",
    ]
)
SOURCES = ("text", "source", "document", "context", "input", "passage", "content")


def make(evalset: EvalSet) -> ExtractionGrader:
    """The grader that the card declares. Raises EvalSetError for an unknown option or type."""
    options = options_of(evalset, OPTIONS)
    where = f"eval set {evalset.name}"
    settings = settings_of(options, where)
    schema = options.get("schema")
    node: Node | None = None
    if schema is not None:
        check_schema(schema, f"{where}, schema")
        node = fields_from_schema(schema, settings)
    if options.get("fields") is not None:
        node = fields_from_spec(options["fields"], settings, f"{where}, grader.fields")
    rules = Rules(
        strict_null=bool(options.get("strict_null", False)),
        ignore=frozenset(_names(options.get("ignore"))),
        sequence=one_of(options, "lists", ("multiset", "sequence"), where) == "sequence",
        ordered=frozenset(_names(options.get("ordered"))),
        settings=settings,
        keys={str(k): tuple(_names(v)) for k, v in dict(options.get("keys") or {}).items()},
    )
    grader = ExtractionGrader(
        node or Record(),
        rules,
        schema,
        one_of(options, "score", ("f1", "exact"), where) == "exact",
        options.get("source"),
    )
    _check_targets(evalset, schema, where)
    return grader


def _names(value: Any) -> Iterable[str]:
    if value is None or isinstance(value, bool):
        return ()
    return (value,) if isinstance(value, str) else tuple(str(v) for v in value)


def _check_targets(evalset: EvalSet, schema: Mapping[str, Any] | None, where: str) -> None:
    """A gold key that the schema does not know makes every answer wrong: say so before the run."""
    if not schema or "properties" not in schema:
        return
    for item in evalset.items:
        unknown = sorted(set(item.target) - set(schema["properties"])) if isinstance(item.target, dict) else []
        if unknown:
            raise EvalSetError(
                f"the target has a key {unknown[0]!r} that the schema lacks",
                where=f"{where}, item {item.id}",
                fix="Add it to schema.json or take it out of the target",
            )


@dataclass(frozen=True, slots=True)
class ExtractionGrader:
    """``(answer, item) -> Grade`` for one card."""

    node: Node
    rules: Rules
    schema: Mapping[str, Any] | None
    exact: bool
    source: str | None
    name: str = "extraction"

    def __call__(self, answer: Answer, item: Item) -> Grade:
        """Find the JSON, compare it with ``item.target``."""
        reply = look(answer)
        target = item.target
        found = find_json(reply.text, _keys(target, self.node), want_list=isinstance(target, list))
        if not found.exists:
            return self._without_json(answer, reply, found, target)
        if _is_nothing(found.value) and _has_leaf(target):
            return failed("no_answer", "the JSON is empty", version=VERSION, how=found.how, flags=reply.flags)
        lenient = tally(found.value, target, self.node, replace(self.rules, lenient=True))
        strict = lenient if not lenient.repairs else tally(found.value, target, self.node, self.rules)
        valid = not found.repairs and type(found.value) is type(target)
        return self._grade(answer, reply, item, found, strict, lenient, valid=valid)

    def _without_json(self, answer: Answer, reply: Reply, found: Found, target: Any) -> Grade:
        """Nothing complete was found: cut off, refused, silent, or in a wrong form. ``null`` alone is no answer."""
        omitted = _parts(tally([] if isinstance(target, list) else {}, target, self.node, self.rules))
        parts = omitted | {"exact": False, "parsed": False, "valid_json": False}
        if found.cut:
            grade = failed("truncated", "the JSON has no end", version=VERSION, how=found.how, flags=reply.flags)
            recovered = sorted(found.value) if isinstance(found.value, dict) else []
            return replace(grade, extracted=found.value, parts=parts | {"recovered": recovered})
        silent = None if found.broken else nothing_given(reply, answer, version=VERSION)
        return replace(silent or _unreadable(reply, found), parts=parts)

    def _grade(
        self, answer: Answer, reply: Reply, item: Item, found: Found, strict: Tally, lenient: Tally, *, valid: bool
    ) -> Grade:
        score = self._score(strict) if valid else 0.0
        exact = valid and strict.exact
        failure = "none" if exact else _failure(strict) if valid else _not_valid(found)
        repairs = {**found.repairs, **lenient.repairs}
        parts = _parts(strict if valid else lenient) | {
            "exact": exact,
            "valid_json": is_bare_json(answer.text),
            "parsed": True,
            "repaired": dict(repairs),
            "unsupported": self._unsupported(strict, item),
            "texts": len(strict.texts),
        }
        parts |= self._schema_parts(found, strict)
        return Grade(
            score=score,
            verdict="pass" if exact else "partial" if score > 0 else "fail",
            failure=failure,
            score_lenient=max(score, self._score(lenient)),
            why=_why(strict if valid else lenient, found, valid=valid),
            how=found.how,
            extracted=found.value,
            repairs=len(repairs),
            flags=_flags(reply, strict, found, repairs, parts),
            parts=parts,
            version=VERSION,
        )

    def _score(self, counts: Tally) -> float:
        return float(counts.exact) if self.exact else f1(counts.tp, counts.fp, counts.fn)

    def _schema_parts(self, found: Found, strict: Tally) -> dict[str, Any]:
        """Validity of the JSON as it came and after repair apart."""
        by_shape = strict.shape_ok and strict.type_ok
        ok = by_shape if self.schema is None else not violations(found.value, self.schema)
        return {"type_ok": strict.type_ok, "schema_ok": ok and not found.repairs, "schema_ok_repaired": ok}

    def _unsupported(self, counts: Tally, item: Item) -> list[str]:
        """Fields whose text is not in the source, None of them when there is no source."""
        source = _source(item, self.source)
        if not source or not counts.texts:
            return []
        folded = _folded_source(source)
        return [path for path, text in counts.texts if text.strip() and _squashed(text) not in folded]


def f1(tp: int, fp: int, fn: int) -> float:
    """2 TP / (2 TP + FP + FN); 1 when nothing was wanted and nothing given."""
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _keys(target: Any, node: Node) -> frozenset[str]:
    """Keys that tell the answer from other JSON in the reply: of the gold, or of its rows, and those declared."""
    rows = target if isinstance(target, list) else [target]
    keys = {str(key) for row in rows if isinstance(row, dict) for key in row}
    return frozenset(keys | set(node.fields)) if isinstance(node, Record) else frozenset(keys)


def _is_nothing(value: Any) -> bool:
    return value is None or value == {} or value == []


def _has_leaf(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_leaf, value.values()))
    return any(map(_has_leaf, value)) if isinstance(value, list) else value is not None


def _unreadable(reply: Reply, found: Found) -> Grade:
    if reply.unfinished:
        return failed("truncated", "the token limit came before the JSON", version=VERSION, flags=reply.flags)
    why = "the JSON is not valid and cannot be mended" if found.broken else "there is no JSON object in the reply"
    return failed("wrong_format", why, version=VERSION, flags=reply.flags)


def _not_valid(found: Found) -> Failure:
    return "ambiguous" if "conflicting_key" in found.repairs else "wrong_format"


def _failure(counts: Tally) -> Failure:
    """One kind for the document: what is wrong before what is missing before what is too much."""
    reasons = {entry["why"] for entry in counts.wrong}
    if "wrong" in reasons or "shape" in reasons:
        return "wrong_field"
    if "ambiguous" in reasons:
        return "ambiguous"
    if "null_like" in reasons:
        return "omission"
    if reasons:
        return "wrong_format"
    return "omission" if counts.omitted else "invented_field"


def _parts(counts: Tally) -> dict[str, Any]:
    both_empty = counts.tp + counts.fp + counts.fn == 0
    return {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "precision": 1.0 if both_empty else _share(counts.tp, counts.tp + counts.fp),
        "recall": 1.0 if both_empty else _share(counts.tp, counts.tp + counts.fn),
        "f1": f1(counts.tp, counts.fp, counts.fn),
        "abstained": counts.abstained,
        "omitted": counts.omitted,
        "wrong": counts.wrong,
        "invented": counts.invented,
        "fields": {name: {"tp": a, "fp": b, "fn": c, "f1": f1(a, b, c)} for name, (a, b, c) in counts.by_field.items()},
        "rows": {name: {"tp": a, "fp": b, "fn": c, "f1": f1(a, b, c)} for name, (a, b, c) in counts.rows.items()},
    }


def _flags(
    reply: Reply, strict: Tally, found: Found, repairs: Mapping[str, int], parts: Mapping[str, Any]
) -> tuple[str, ...]:
    flags = {*reply.flags, *strict.flags}
    if repairs:
        flags.add("repaired")
    if "unwrapped_list" in repairs:
        flags.add("unwrapped")
    if found.repairs.keys() & {"duplicate_key", "conflicting_key"}:
        flags.add("duplicate_key")
    if parts["unsupported"]:
        flags.add("unsupported_value")
    if not strict.type_ok:
        flags.add("type")
    return tuple(sorted(flags))


def _why(counts: Tally, found: Found, *, valid: bool) -> str:
    if not valid:
        kinds = ", ".join(sorted(found.repairs)) or "it is not of the target's shape"
        return f"not valid as it stands: {kinds}"
    if counts.exact:
        return f"all {counts.tp} fields are right" if counts.tp else "nothing was to be found, and nothing was given"
    faults = []
    if counts.wrong:
        first = counts.wrong[0]
        faults.append(f"{first['field']} is {first['got']!r}, not {first['want']!r} ({first['why']})"[:200])
    if counts.omitted:
        faults.append(f"{len(counts.omitted)} omitted ({', '.join(counts.omitted[:3])})")
    if counts.invented:
        names = ", ".join(entry["field"] for entry in counts.invented[:3])
        faults.append(f"{len(counts.invented)} invented ({names})")
    return "; ".join(faults)


def _source(item: Item, column: str | None) -> str:
    names = (column,) if column else SOURCES
    return next((str(item.row[name]) for name in names if isinstance(item.row.get(name), str)), "")


def _squashed(text: str) -> str:
    return "".join(c for c in fold(text) if c.isalnum())


@lru_cache(maxsize=512)
def _folded_source(text: str) -> str:
    return _squashed(text)
