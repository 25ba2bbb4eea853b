"""Model text on a page: hidden characters are spelled out, length is bounded."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speedqual.display.safe import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中文 ✓", "plain 中文 ✓"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("abc\u202edcba", "abc⟨U+202E⟩dcba"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("one\r\ntwo\rthree", "one\ntwo⟨U+000D⟩three"),
    ],
)
def test_hidden_characters_are_spelled(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_text_is_cut_with_a_note() -> None:
    assert visible("x" * 1_000_000, 10) == "xxxxxxxxxx … [+999,990]"


TURNING = {"RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI"}


@given(st.text(st.characters(codec=None)))
def test_nothing_hidden_is_left(text: str) -> None:
    shown = visible(text)
    assert {ch for ch in shown if unicodedata.category(ch) in {"Cc", "Cs"}} <= {"\n", "\t"}
    assert not {unicodedata.bidirectional(ch) for ch in shown} & TURNING
    assert shown.encode("utf-8")[:0] == b""
