"""What a notebook shows of each object: complete without a request, and hostile names are inert."""

from __future__ import annotations

import pytest

import speedqual as sq
from speedqual.records import EvalSet, GraderSpec, Item


@pytest.fixture
def evalset() -> EvalSet:
    item = Item(id="<b>1</b>", row={"text": "<script>alert(1)</script>\u202e"}, difficulty="hard", language="zh")
    return EvalSet(
        name="<i>名</i>", task="facts", items=(item,), grader=GraderSpec(name="facts"), prompt="{text}", floor=0.9
    )


def test_an_eval_set_shows_counts_and_prompts_escaped(evalset: EvalSet) -> None:
    html = evalset._repr_html_()
    assert html is not None
    assert "&lt;i&gt;名&lt;/i&gt;" in html and "hard 1" in html and "zh 1" in html and "90 %" in html
    assert "&lt;script&gt;alert(1)" in html and "⟨U+202E⟩" in html
    assert "<script" not in html and "<b>1" not in html


def test_a_run_shows_its_scoreboard(small_run: sq.Run) -> None:
    html = small_run._repr_html_()
    assert html is not None
    assert "good" in html and "快" in html and "24 trials" in html and "8 trials ended" in html


@pytest.mark.parametrize("analysis", [sq.Frontier, sq.Cliffs])
def test_an_analysis_shows_its_figure_inline(analysis: type, small_run: sq.Run) -> None:
    result = analysis()(small_run)
    html = result._repr_html_()
    assert html.startswith("<p><strong>") and 'src="data:image/png;base64,' in html and 'alt="' in html
    assert "http" not in html and "<details>" in html
    assert result.verdict in repr(result)


def test_records_without_a_display_keep_their_repr(evalset: EvalSet) -> None:
    assert evalset.items[0]._repr_html_() is None
