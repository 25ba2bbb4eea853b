"""Figures of load tests: both styles, both languages, what they mark, and what they must not show as the server's."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from load_results import RESULTS, climb, result_of
from loadruns import Made
from matplotlib.figure import Figure
from matplotlib.text import Text

from speedqual import display
from speedqual.analysis import LatencyByLoad, Saturation
from speedqual.plots.load.places import level_name
from speedqual.plots.style import to_svg
from speedqual.plots.words import plot_words

LETTERS = re.compile(r"[A-Za-z]+")
SAME = {"ms", "s", "token", "k", "HTTP", "standard"}
"""Units, and the name of a candidate."""


def texts(figure: Any) -> list[str]:
    figure.canvas.draw()
    found = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text.get_text() for text in found if text.get_text()]


@pytest.mark.parametrize("name", RESULTS)
def test_a_light_figure_has_words_and_numbers(name: str) -> None:
    result = result_of(name)
    figure = display.render("plot", result)
    assert result.verdict in figure.alt_text and len(figure.numbers)


@pytest.mark.parametrize("name", RESULTS)
def test_a_dark_chinese_figure_says_nothing_in_english(name: str) -> None:
    figure = display.render("plot", result_of(name), style="dark", lang="zh")
    for said in [*texts(figure), figure.alt_text]:
        assert [w for w in LETTERS.findall(said) if w not in SAME and not re.fullmatch(r"p\d*", w)] == [], said


def test_the_same_data_give_the_same_bytes() -> None:
    one, two = (to_svg(display.render("plot", result_of("timeline"))) for _ in range(2))
    assert one == two


def lines_of(figure: Figure, marker: str) -> list[Any]:
    return [line for line in figure.axes[0].lines if line.get_marker() == marker]


def test_a_level_that_the_client_limits_stands_apart() -> None:
    # 16 users: a cross a percentile, and on no curve
    figure = display.render("plot", result_of("latency"))
    assert [list(line.get_xdata()) for line in lines_of(figure, "x")] == [[16.0]] * 3
    assert all(16.0 not in line.get_xdata() for line in lines_of(figure, "o"))
    goodput = display.render("plot", result_of("knee"))
    assert [list(line.get_xdata()) for line in lines_of(goodput, "x") if len(line.get_xdata())] == [[16.0]]


def test_promise_and_knee_are_marked() -> None:
    figure = display.render("plot", result_of("latency"))
    ax = figure.axes[0]
    assert any(list(np.unique(line.get_ydata())) == [400.0] for line in ax.lines)
    assert "knee 4 users" in [text.get_text() for text in ax.texts]


def test_saturation_is_marked_where_it_is_shown() -> None:
    figure = display.render("plot", result_of("saturation"))
    point = result_of("saturation").points.iloc[0]  # type: ignore[attr-defined]
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ([] if point["level"] is None else [f"saturated from {point['level']}"])


def test_bands_only_where_both_bounds_are_known() -> None:
    table = LatencyByLoad()(climb()).table
    assert table["p99_hi"].isna().all() and table["p50_hi"].notna().all()  # n = 96 … 112: no bound for a p99
    display.render("plot", LatencyByLoad()(climb()))


def test_levels_are_named_from_number_and_unit_in_other_languages() -> None:
    zh, en = plot_words("zh"), plot_words("en")
    row = {"level": "8 users", "unit": "users", "x": 8.0}
    assert level_name(en, row) == "8 users" and level_name(zh, row) == "8 个用户"
    assert level_name(zh, {"level": "burst at noon", "unit": "users", "x": 8.0}) == "burst at noon"
    assert level_name(zh, {"level": "20 req/s", "unit": "req/s", "x": 20.0}) == "每秒 20 次请求"


def test_a_single_level_is_drawn_too() -> None:
    made = climb(limited=())
    few = [one for one in made.made if one.trial.load and one.trial.load.level == "4 users"]
    figure = display.render("plot", Saturation()(Made(few)))
    assert len(lines_of(figure, "o")) == 1
