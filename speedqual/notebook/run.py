"""A run in a notebook: its scoreboard, with what failed said above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from speedqual.analysis.scoreboard import Scoreboard, scoreboard_rows
from speedqual.notebook import markup
from speedqual.notebook.words import notebook_words

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["html"]

_HEAD = ("candidate", "quality", "interval", "ttft", "p95", "whole", "p95", "decode", "cost", "complete")


def html(run: Run, *, lang: str = "en") -> str:
    """The table that the command line prints too. What an analysis says in words is said in English."""
    say, board = notebook_words(lang), Scoreboard()(run.df)
    _, rows = scoreboard_rows(board.table)
    trials = say("board.trials", n=f"{len(run.df):,}")
    table = markup.table([say(f"board.{name}") for name in _HEAD], rows)
    if lang != "en":
        return markup.heading(run.name, trials) + table + markup.told(say, board)
    return markup.heading(board.verdict, trials) + "".join(markup.paragraph(note) for note in board.notes) + table
