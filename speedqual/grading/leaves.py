"""Comparing an extracted value with the gold, leaf by leaf, into one tally of right, wrong, omitted and invented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from speedqual.grading.align import Pair, align, in_order
from speedqual.grading.fields import Leaf, Many, Node, Record
from speedqual.grading.normalise import DEFAULT, Settings, compare, kind_of, native
from speedqual.grading.text import fold

__all__ = ["MISSING", "Rules", "Tally", "tally"]

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing"})()
NULL_LIKE = frozenset(
    ("", "n/a", "na", "null", "none", "nil", "-", "--", "unknown", "无", "未知", "不详", "暂无", "無", "n.a.")
)
FREE_TEXT = frozenset(("string", "name", "id"))
"""Kinds whose text should be found in the source."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the card decides. ``ignore``: extra keys that cost nothing; ``lenient``: mend shapes and key spelling."""

    strict_null: bool = False
    ignore: frozenset[str] = frozenset()
    sequence: bool = False
    ordered: frozenset[str] = frozenset()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lenient: bool = False
    settings: Settings = DEFAULT  # for fields that are not declared


@dataclass(slots=True)
class Tally:
    """Counts of leaves. Wrong = a false positive and a false negative; null on both sides abstains and is no leaf."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    abstained: int = 0
    wrong: list[dict[str, Any]] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)
    invented: list[dict[str, Any]] = field(default_factory=list)
    by_field: dict[str, list[int]] = field(default_factory=dict)  # field -> [tp, fp, fn]
    rows: dict[str, list[int]] = field(default_factory=dict)  # list of objects -> [tp, fp, fn] of whole rows
    texts: list[tuple[str, str]] = field(default_factory=list)  # path and text of what the source should hold
    flags: set[str] = field(default_factory=set)
    type_ok: bool = True
    shape_ok: bool = True
    repairs: dict[str, int] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Every leaf right, nothing omitted and nothing invented."""
        return self.fp == 0 and self.fn == 0

    def count(self, name: str, tp: int = 0, fp: int = 0, fn: int = 0) -> None:
        """Add to the totals and to the field's own."""
        cell = self.by_field.setdefault(name, [0, 0, 0])
        for i, more in enumerate((tp, fp, fn)):
            cell[i] += more
        self.tp, self.fp, self.fn = self.tp + tp, self.fp + fp, self.fn + fn

    def repair(self, kind: str) -> None:
        """Note that the lenient reading mended something."""
        self.repairs[kind] = self.repairs.get(kind, 0) + 1


def tally(got: Any, want: Any, node: Node | None, rules: Rules) -> Tally:
    """Compare a whole document."""
    made = Tally()
    _Walk(rules, made).value(got, want, node, "", "")
    return made


class _Walk:
    """``path`` names a place (``items[2].sku``), ``name`` its field (``items[].sku``)."""

    def __init__(self, rules: Rules, into: Tally) -> None:
        self.rules, self.tally = rules, into
        self.undeclared = Leaf("", rules.settings)

    def value(self, got: Any, want: Any, node: Node | None, path: str, name: str) -> None:
        if got is MISSING:
            self.tally.shape_ok = False
        if want is None or want is MISSING:
            self.nothing_wanted(got, want, node, path, name)
        elif isinstance(want, dict):
            self.record(got, want, node if isinstance(node, Record) else Record(), path, name)
        elif isinstance(want, list):
            self.many(got, want, node if isinstance(node, Many) else Many(self.undeclared), path, name)
        else:
            self.leaf(got, want, node if isinstance(node, Leaf) else self.undeclared, path, name)

    def nothing_wanted(self, got: Any, want: Any, node: Node | None, path: str, name: str) -> None:
        """Gold is null or has no such key: silence is right, a value is invented."""
        if want is None and got is MISSING and self.rules.strict_null:
            self.tally.omitted.append(path)
            self.tally.count(name, fn=1)
            return
        leaves = list(_leaves(got, path, name))
        if not leaves:
            self.tally.abstained += want is None
        for at, field_name, value in leaves:
            if isinstance(value, str) and fold(value) in NULL_LIKE:
                self.tally.flags.add("null_like")
            self.invent(at, field_name, value, node)

    def invent(self, path: str, name: str, value: Any, node: Node | None = None) -> None:
        self.tally.invented.append({"field": path, "got": value})
        self.tally.count(name, fp=1)
        if isinstance(value, str) and (not isinstance(node, Leaf) or node.kind in FREE_TEXT or not node.kind):
            self.tally.texts.append((path, value))

    def omit(self, want: Any, path: str, name: str) -> None:
        for at, field_name, _ in _leaves(want, path, name):
            self.tally.omitted.append(at)
            self.tally.count(field_name, fn=1)

    def misshapen(self, got: Any, want: Any, path: str, name: str) -> None:
        """An object or list where the gold has something else: all of one is wrong, all of the other is missing."""
        self.tally.shape_ok = self.tally.type_ok = False
        self.tally.wrong.append({"field": path, "got": got, "want": want, "why": "shape"})
        self.tally.count(name, fp=max(1, sum(1 for _ in _leaves(got, path, name))))
        for _, field_name, _ in _leaves(want, path, name):
            self.tally.count(field_name, fn=1)

    def record(self, got: Any, want: dict[str, Any], node: Record, path: str, name: str) -> None:
        if self.rules.lenient:
            got = self.mended_record(got, want)
        if got is None or got is MISSING:
            return self.omit(want, path, name)
        if not isinstance(got, dict):
            return self.misshapen(got, want, path, name)
        dot = f"{path}." if path else ""
        dot_name = f"{name}." if name else ""
        for key, inner in want.items():
            self.value(got.get(key, MISSING), inner, node.fields.get(key), dot + key, dot_name + key)
        for key, inner in got.items():
            if key not in want and key not in self.rules.ignore and dot_name + key not in self.rules.ignore:
                if key not in node.fields:
                    self.tally.shape_ok = False
                self.value(inner, MISSING, node.fields.get(key), dot + str(key), dot_name + str(key))
        return None

    def mended_record(self, got: Any, want: dict[str, Any]) -> Any:
        """Unwrap a list of one and an envelope of one key; forgive the spelling of keys."""
        if isinstance(got, list) and len(got) == 1 and isinstance(got[0], dict):
            self.tally.repair("unwrapped_list")
            got = got[0]
        if isinstance(got, dict) and len(got) == 1 and not want.keys() & got.keys():
            inner = next(iter(got.values()))
            if isinstance(inner, dict) and want.keys() & inner.keys():
                self.tally.repair("unwrapped_object")
                got = inner
        if not isinstance(got, dict):
            return got
        wanted = {_plain_key(key): key for key in want}
        renamed = {}
        for key, inner in got.items():
            target = key if key in want else wanted.get(_plain_key(key), key)
            if target != key and target not in got:
                self.tally.repair("key_spelling")
                renamed[target] = inner
            else:
                renamed[key] = inner
        return renamed

    def many(self, got: Any, want: Sequence[Any], node: Many, path: str, name: str) -> None:
        if self.rules.lenient and not isinstance(got, list) and got not in (None, MISSING) and want:
            self.tally.repair("wrapped_value")
            got = [got]
        if got is None or got is MISSING:
            return self.omit(want, path, name)
        if not isinstance(got, list):
            return self.misshapen(got, want, path, name)
        element_name = f"{name}[]"
        ordered = node.ordered or self.rules.sequence or name in self.rules.ordered
        pairs = in_order(len(got), len(want)) if ordered else self.pairs(got, want, node, name)
        is_rows = any(isinstance(row, dict) for row in want)
        for i, j in pairs:
            before = self.tally.fp + self.tally.fn
            place = f"{path}[{j if j is not None else i}]"
            self.value(
                got[i] if i is not None else None,
                want[j] if j is not None else MISSING,
                node.element,
                place,
                element_name,
            )
            if is_rows:
                self.count_row(element_name, i, j, clean=self.tally.fp + self.tally.fn == before)
        return None

    def count_row(self, name: str, i: int | None, j: int | None, *, clean: bool) -> None:
        cell = self.tally.rows.setdefault(name, [0, 0, 0])
        cell[0] += clean
        cell[1] += i is not None and not clean
        cell[2] += j is not None and not clean

    def pairs(self, got: Sequence[Any], want: Sequence[Any], node: Many, name: str) -> list[Pair]:
        key = node.key or self.rules.keys.get(name, ())
        fields = node.element.fields if isinstance(node.element, Record) else {}

        def likeness(a: Any, b: Any) -> float:
            return _likeness(a, b, node.element, self.rules)

        def same_key(a: Any, b: Any) -> bool:
            if not isinstance(a, dict) or not isinstance(b, dict):
                return False
            return all(_equal(a.get(k), b.get(k), fields.get(k)) for k in key)

        return align(got, want, likeness, same_key if key else None)

    def leaf(self, got: Any, want: Any, node: Leaf, path: str, name: str) -> None:
        if self.rules.lenient and isinstance(got, list) and len(got) == 1:
            self.tally.repair("unwrapped_list")
            got = got[0]
        if got is None or got is MISSING:
            return self.omit(want, path, name)
        if isinstance(got, (dict, list)):
            return self.misshapen(got, want, path, name)
        kind = node.kind or kind_of(want)
        if kind in FREE_TEXT and isinstance(got, str):
            self.tally.texts.append((path, got))
        if not native(kind, got):
            self.tally.type_ok = False
        result = compare(kind, got, want, node.settings)
        if result.gold_as_text:
            self.tally.flags.add("gold_as_text")
        if result.equal:
            return self.tally.count(name, tp=1)
        why = result.fault or "wrong"
        if isinstance(got, str) and fold(got) in NULL_LIKE:
            self.tally.flags.add("null_like")
            why = "null_like"
        if result.fault == "ambiguous":
            self.tally.flags.add("ambiguous")
        self.tally.wrong.append({"field": path, "got": got, "want": want, "why": why})
        return self.tally.count(name, fp=1, fn=1)


def _leaves(value: Any, path: str, name: str) -> Iterator[tuple[str, str, Any]]:
    """Path, field and value of every leaf that is not null."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{i}]", f"{name}[]")
    elif value is not None and value is not MISSING:
        yield path, name, value


def _plain_key(key: str) -> str:
    return "".join(c for c in fold(str(key)) if c.isalnum())


def _equal(a: Any, b: Any, node: Node | None) -> bool:
    if a is None or b is None or isinstance(a, (dict, list)) or isinstance(b, (dict, list)):
        return bool(a == b)
    leaf = node if isinstance(node, Leaf) else Leaf()
    return compare(leaf.kind or kind_of(b), a, b, leaf.settings).equal


def _likeness(got: Any, want: Any, node: Node, rules: Rules) -> float:
    """How many leaves of ``got`` are right for ``want``; a small share breaks ties by what is wrong."""
    if not isinstance(want, (dict, list)):
        return float(_equal(got, want, node))
    made = tally(got, want, node, rules)
    return made.tp + 1 / (2 + made.fp + made.fn) if made.tp else 0.0
