"""The string catalogue: every language says the same things, with the same blanks to fill."""

from __future__ import annotations

import re
import typing

import pytest

from speedqual.errors import UsageError
from speedqual.records import GRADED_OUTCOMES, Failure, Outcome
from speedqual.report.words import LANGUAGES, Words

BLANK = re.compile(r"\{(\w+)\}")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_the_same_keys_and_blanks(lang: str) -> None:
    english, other = Words.load("en").texts, Words.load(lang).texts
    assert set(other) == set(english)
    for key, text in other.items():
        assert set(BLANK.findall(text)) == set(BLANK.findall(english[key])), key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_failure_and_outcome_has_a_name(lang: str) -> None:
    words = Words.load(lang)
    for kind in set(typing.get_args(Failure)) - {"none"}:
        assert words(f"kind.{kind}")
    for outcome in (set(typing.get_args(Outcome)) - {"ok"}) | GRADED_OUTCOMES - {"ok"}:
        assert words(f"outcome.{outcome}")


def test_blanks_are_filled_once_and_values_are_not_read_as_blanks() -> None:
    words = Words("en", {"a": "{x} and {y}"})
    assert words("a", x="1", y="2") == "1 and 2"


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="en, zh"):
        Words.load("xx")
