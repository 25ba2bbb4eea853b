"""Only ``{column}`` is replaced, once, and nothing is evaluated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.evalsets.template import fill, slots

ROW = {"text": "T", "n": 7, "data": {"k": [1, "é"]}, "nothing": None, "yes": True, "发票 号": "0012"}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{text}", "T"),
        ("a {text} b {text}", "a T b T"),
        ("{n} {yes} {nothing}|", "7 true |"),
        ("{data}", '{"k": [1, "é"]}'),
        ("{发票 号}", "0012"),
        ("{{text}}", "{T}"),
        ('{"total": {n}}', '{"total": 7}'),
    ],
)
def test_columns_are_replaced(template: str, filled: str) -> None:
    assert fill(template, ROW) == filled


@pytest.mark.parametrize(
    "template",
    [
        "{text.upper}",
        "{text.__class__.__mro__}",
        "{data[k]}",
        "{data[0]}",
        "{text!r}",
        "{text:>10}",
        "{ text }",
        "{}",
        "{0}",
        "{other}",
        '{"a": 1, "b": {"c": []}}',
        "for (;;) { x(); }",
        "\\frac{1}{2}",
        "{text",
        "text}",
        "%(text)s $text ${n",
    ],
)
def test_all_else_stays(template: str) -> None:
    assert fill(template, ROW) == template


def test_a_value_is_not_looked_at_again() -> None:
    assert fill("{a} {b}", {"a": "{b}", "b": "{a}"}) == "{b} {a}"


@given(st.text())
def test_without_columns_nothing_changes(template: str) -> None:
    assert fill(template, {}) == template


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="{}"))), st.text())
def test_each_slot_takes_the_value_as_it_is(parts: list[str], value: str) -> None:
    assert fill("{x}".join(parts), {"x": value}) == value.join(parts)


@given(st.text(), st.dictionaries(st.text(min_size=1), st.text()))
def test_filling_never_fails(template: str, row: dict[str, str]) -> None:
    filled = fill(template, row)
    if not set(slots(template, row)) & set(row):
        assert filled == template


def test_slots_are_columns_and_words_that_can_only_be_meant_as_columns() -> None:
    template = '{text} {txt} {a.b} {"json": 1} {发票 号} {0} {x y}'
    assert list(slots(template, set(ROW))) == ["text", "txt", "发票 号"]
