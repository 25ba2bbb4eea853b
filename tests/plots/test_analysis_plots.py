"""Every figure: drawn without a warning in both styles, with words, numbers and the same bytes each time."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from plot_results import RESULTS, board, result_of, run

from speedqual import display
from speedqual.analysis import Cliffs, Frontier
from speedqual.errors import UsageError
from speedqual.plots.axes import amount, log_ticks, shorten
from speedqual.plots.forest import dominance
from speedqual.plots.style import fonts, save, to_svg


@pytest.mark.parametrize("name", RESULTS)
def test_drawn_in_both_styles_with_words_and_numbers(name: str) -> None:
    result = result_of(name)
    for style in ("light", "dark"):
        figure = result.plot(style=style)
        assert figure.alt_text and len(figure.numbers)
        svg = to_svg(figure)
        assert svg.startswith("<svg") and "<script" not in svg and "<b>" not in svg


def test_same_data_same_bytes(tmp_path: Path) -> None:
    for ending in ("svg", "png", "pdf"):
        one = save(Frontier(floor=0.6)(run()).plot(), tmp_path / f"a.{ending}")
        two = save(Frontier(floor=0.6)(run()).plot(), tmp_path / f"b.{ending}")
        assert one.read_bytes() == two.read_bytes(), ending


def test_no_date_and_no_version_in_the_bytes(tmp_path: Path) -> None:
    text = save(Cliffs()(run()).plot(), tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "dc:date" not in text and "<dc:" not in text and "Matplotlib v" not in text


def test_faster_is_to_the_right() -> None:
    times = Frontier()(run()).plot().axes[0].get_xlim()
    speeds = Frontier(x="speed")(run()).plot().axes[0].get_xlim()
    assert times[0] > times[1] and speeds[0] < speeds[1]


@pytest.mark.parametrize("count", [3, 12, 70])
def test_labels_of_the_front_do_not_overlap(count: int) -> None:
    figure = Frontier()(board(count)).plot()
    FigureCanvasAgg(figure).draw()
    boxes = [t.get_window_extent() for t in figure.axes[0].texts if t.get_text().startswith("模型")]
    assert boxes
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)


def test_chinese_is_drawn_with_a_font_that_has_it() -> None:
    if len(fonts()) == 1:
        pytest.skip("no CJK font is installed")
    figure = Frontier()(run()).plot()
    families = figure.axes[0].texts[0].get_fontfamily()
    assert any("CJK" in f or "Hei" in f or "Source Han" in f or "PingFang" in f for f in families)
    FigureCanvasAgg(figure).draw()  # a missing glyph would warn, and warnings are errors


def test_dominance_matrix_is_drawn_with_its_numbers() -> None:
    figure = dominance(Frontier()(board(12)))
    assert figure.numbers.shape == (12, 13) and "row dominates" in figure.alt_text


@pytest.mark.parametrize("style", ["light", "dark"])
@pytest.mark.parametrize("name", ["budgets", "grid", "grid of quality"])
def test_numbers_in_cells_have_contrast(name: str, style: str) -> None:
    ax = result_of(name).plot(style=style).axes[0]
    for text, cell in zip(ax.texts, ax.collections[0].get_facecolors(), strict=True):
        ink, paper = sorted((luminance(to_rgb(text.get_color())), luminance(cell[:3])), reverse=True)
        assert (ink + 0.05) / (paper + 0.05) >= 4.0, text.get_text()


def luminance(colour: Any) -> float:
    """WCAG 2, on sRGB in [0, 1]."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_html_form_has_the_picture_the_words_and_the_table_and_is_escaped() -> None:
    text = Frontier()(run()).plot()._repr_html_()
    assert "<svg" in text and "<table" in text and "aria-label" in text and "强力档 &lt;b&gt;" in text


def test_unknown_styles_and_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no plot style 'sepia'"):
        Frontier()(run()).plot(style="sepia")
    with pytest.raises(UsageError, match=r"\.gif"):
        save(Frontier()(run()).plot(), tmp_path / "a.gif")


def test_every_result_finds_its_plot_through_the_registry() -> None:
    for name in RESULTS:
        assert display.find("plot", result_of(name)) is not None, name


def test_amounts_ticks_and_names_as_people_read_them() -> None:
    assert [amount(v, "ms") for v in (0.5, 999, 1000, 61_500)] == ["0.5 ms", "999 ms", "1 s", "61.5 s"]
    assert amount(0.00001, "USD") == "$0.00001" and amount(12_345, "tokens") == "12,345 tokens"
    assert log_ticks(1, 1000) == [1.0, 10.0, 100.0, 1000.0] and len(log_ticks(3.0, 3.3)) >= 2
    assert shorten("short") == "short" and len(shorten("x" * 99, 20)) == 20
