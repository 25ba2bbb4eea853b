"""Figures in two languages: the same keys, no English left in a Chinese figure, every glyph in a font."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text
from plot_results import RESULTS, board, result_of

from speedqual import display
from speedqual.analysis.budgets import PRESETS
from speedqual.analysis.frontier import Frontier
from speedqual.analysis.measures import MEASURES
from speedqual.analysis.rule import LABELS
from speedqual.display.words import LANGUAGES
from speedqual.errors import UsageError
from speedqual.plots.forest import dominance
from speedqual.plots.style import fonts
from speedqual.plots.words import plot_words

BLANK = re.compile(r"\{(\w+)\}")
LETTERS = re.compile(r"[A-Za-z]+")
KNOWN = {"ms", "s", "token", "k", "b"} | {"standard", "candidate", "tiers", "code", "easy", "hard", "m", "e"}
"""Units, and the names that the results of these tests use."""
PERCENTILE = re.compile(r"p\d*")
"""``p95`` is what the metric is called in both languages."""


def texts(figure: Figure) -> Iterator[str]:
    """Every text that a reader of the figure sees."""
    figure.canvas.draw()  # type: ignore[attr-defined]
    for text in figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible()):
        assert isinstance(text, Text)
        if text.get_text():
            yield text.get_text()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_the_same_keys_and_blanks(lang: str) -> None:
    english, other = plot_words("en").texts, plot_words(lang).texts
    assert set(other) == set(english)
    for key, text in other.items():
        assert set(BLANK.findall(text)) == set(BLANK.findall(english[key])), key


def test_every_measure_label_and_preset_has_words() -> None:
    say = plot_words("zh")
    assert [m.name for m in MEASURES.values() if say.measure(m) == m.label] == []
    assert [label for label in LABELS if say.label(label) == label] == []
    assert [b.name for b in PRESETS if say.label(b.name) == b.name] == []
    assert {m.name: m.label for m in MEASURES.values()} == {
        m.name: plot_words("en").measure(m) for m in MEASURES.values()
    }


@pytest.mark.parametrize("name", RESULTS)
def test_a_chinese_figure_says_nothing_in_english_and_every_glyph_is_in_a_font(name: str) -> None:
    result = result_of(name)
    figure = display.render("plot", result, lang="zh")
    said = list(texts(figure))
    for text in [*said, figure.alt_text]:
        words = [w for w in LETTERS.findall(text) if w not in KNOWN and not PERCENTILE.fullmatch(w)]
        assert words == [], text
    if len(fonts()) == 1:
        pytest.skip("no CJK font is installed")
    assert [c for text in said for c in text if c not in "\n" and ord(c) not in _in_fonts()] == []


@cache
def _in_fonts() -> frozenset[int]:
    return frozenset(code for family in fonts() for code in _glyphs(family))


def _glyphs(family: str) -> set[int]:
    entry = next(e for e in font_manager.fontManager.ttflist if e.name == family)
    return set(font_manager.get_font(entry.fname).get_charmap())


def test_a_chinese_matrix_and_its_numbers() -> None:
    figure = dominance(Frontier()(board(4)), lang="zh")
    assert "支配" in figure.axes[0].get_xlabel() and figure.alt_text.startswith("行支配列")
    assert "<summary>数字</summary>" in figure._repr_html_()


def test_plot_passes_the_language_on_and_refuses_an_unknown_one() -> None:
    result = result_of("frontier of 3")
    assert result.plot(lang="zh").axes[0].get_ylabel() == "质量"
    assert result.plot().axes[0].get_ylabel() == "quality"
    with pytest.raises(UsageError, match="no language 'fr'"):
        result.plot(lang="fr")


def test_words_are_filled_once_so_a_name_with_braces_stays_as_it_is() -> None:
    said = plot_words("en")("alt.point", candidate="{quality}", speed="1 s", quality="50 %")
    assert said == "{quality}: 1 s, 50 %"


def test_faster_is_said_to_be_at_the_right_in_chinese_too() -> None:
    ax = result_of("frontier of 3").plot(lang="zh").axes[0]
    assert "越右越快" in ax.get_xlabel() and np.diff(ax.get_xlim()) < 0
