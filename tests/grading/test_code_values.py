"""Values that cross the sandbox's wall: exact built-in types, compared by type."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.grading.code.values import Foreign, TooLarge, decode, encode, equal, show

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary(), st.complex_numbers(allow_nan=False)
)  # fmt: skip
KEYS = st.one_of(st.booleans(), st.integers(), st.text(), st.binary(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(KEYS, inner), st.lists(inner).map(tuple), st.sets(KEYS), st.frozensets(KEYS),
        st.lists(inner).map(deque),
    ),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = decode(json.loads(json.dumps(encode(value))))
    assert type(back) is type(value) and back == value
    assert equal(back, value)


@given(VALUES, VALUES)
def test_equality_is_never_wider_than_pythons_but_for_floats(one: Any, other: Any) -> None:
    if equal(one, other, tolerance=0.0):
        assert one == other


class _Number(IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    "value",
    [object(), _Number.ONE, type("I", (int,), {})(1), type("L", (list,), {})(), namedtuple("P", "x")(1), Decimal(1),
     iter([]), (n for n in ()), {}.keys(), len, int, NotImplemented, ...],
)  # fmt: skip
def test_any_other_type_is_foreign(value: Any) -> None:
    with pytest.raises(Foreign):
        encode([{"a": value}])
    assert encode([value], lambda _: {"$ref": 0}) == [{"$ref": 0}]


def test_dicts_of_the_standard_library_are_dicts() -> None:
    for value in (OrderedDict(a=1), Counter("a"), defaultdict(int, a=1)):
        assert decode(encode(value)) == {"a": 1} and type(decode(encode(value))) is dict


def test_what_never_ends_is_too_large() -> None:
    endless: list[Any] = []
    endless.append(endless)
    doubled: Any = []
    for _ in range(40):
        doubled = [doubled, doubled]
    for value in (endless, doubled, list(range(500_000))):
        with pytest.raises(TooLarge):
            encode(value)


@pytest.mark.parametrize(
    "form", [{"$int": []}, {"$bytes": "xyz"}, {"$set": 3}, {"$set": [[1]]}, {"$dict": [1]}, {"$float": "x"}]
)
def test_a_malformed_form_is_a_value_error(form: Any) -> None:
    with pytest.raises(ValueError):
        decode(form)


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (True, 1.0, False),
        ({True}, {1}, False),
        ({1: "a"}, {True: "a"}, False),
        (0.1 + 0.2, 0.3, True),
        (1e20, 1e20 * (1 + 1e-7), True),
        (0.0, 1e-7, True),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (float("inf"), float("inf"), True),
        (float("inf"), 1e308, False),
        (10**400, 1e308, False),
        (1 + 1e-9j, 1 + 0j, True),
        ([1, [2.0]], [1, [2]], True),
        ((1,), [1], False),
        ("1", 1, False),
        (b"a", "a", False),
        (None, False, False),
    ],
)
def test_pairs(got: Any, expected: Any, same: bool) -> None:
    assert equal(got, expected) is same
    assert equal(expected, got) is same


def test_float_ok_false_keeps_int_and_float_apart() -> None:
    assert not equal(1.0, 1, float_ok=False)
    assert equal(1.0, 1.0, float_ok=False) and equal(1, 1, float_ok=False)


def test_shown_values_are_short() -> None:
    assert len(show("x" * 10_000)) == 200
