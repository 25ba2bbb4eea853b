"""A run in a notebook: its scoreboard, with what failed said above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from speedqual.analysis.scoreboard import Scoreboard, scoreboard_rows
from speedqual.notebook import markup

if TYPE_CHECKING:
    from speedqual.running import Run

__all__ = ["html"]


def html(run: Run) -> str:
    """The table that the command line prints too."""
    board = Scoreboard()(run.df)
    head, rows = scoreboard_rows(board.table)
    notes = "".join(markup.paragraph(note) for note in board.notes)
    return markup.heading(board.verdict, f"{len(run.df):,} trials") + notes + markup.table(head, rows)
