"""Plots drawn by commands speak the language asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from command import Call

from speedqual.analysis import Frontier, from_table
from speedqual.plots.style import to_svg


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_plot_is_that_of_its_language(call: Call, tmp_path: Path, lang: str) -> None:
    board = pd.DataFrame({"m": ["a", "b", "c"], "q": [0.4, 0.6, 0.9], "s": [1.0, 2.0, 9.0]})
    board.to_csv(tmp_path / "b.csv", index=False)
    columns = ("--candidate", "m", "--quality", "q", "--n", "100", "--seconds", "s", "--draws", "200")
    said = call("frontier", tmp_path / "b.csv", *columns, "--plot", tmp_path / "p.svg", "--lang", lang)
    assert said.code == 0
    result = Frontier(draws=200)(from_table(board, candidate="m", quality="q", n=100, seconds="s"))
    assert (tmp_path / "p.svg").read_text(encoding="utf-8") == to_svg(result.plot(lang=lang))


def test_an_unknown_language_is_refused(call: Call, tmp_path: Path) -> None:
    assert call("frontier", tmp_path / "b.csv", "--lang", "fr").code == 2
