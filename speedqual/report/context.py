"""What every section of a report draws from: computed once, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from speedqual.analysis.cliffs import Cliffs
from speedqual.analysis.frontier import Frontier
from speedqual.analysis.scoreboard import Scoreboard
from speedqual.report.examples import Example, examples
from speedqual.report.words import Words

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["Context", "gather"]


@dataclass(frozen=True, slots=True)
class Context:
    """One run, analysed for a page. ``frontier`` and ``cliffs`` are None when there is nothing to say."""

    words: Words
    manifest: dict[str, Any]
    board: pd.DataFrame
    tasks: dict[str, pd.DataFrame]
    frontier: Any
    cliffs: Any
    failures: list[Example]
    floor: float | None
    n_items: int
    redact: bool
    local: bool


def gather(run: Run, words: Words, *, redact: bool) -> Context:
    """Analyse ``run`` for its report."""
    df = run.df
    main = df[df["phase"] == "main"]
    scoreboard = Scoreboard()
    floors = [value for value in (evalset.floor for evalset in run.evalsets) if value is not None]
    evalsets = {evalset.name: evalset for evalset in run.evalsets}
    candidates = {candidate.name: candidate for candidate in run.candidates}
    return Context(
        words=words,
        manifest=dict(run.manifest),
        board=scoreboard(main).table,
        tasks={str(name): scoreboard(part).table for name, part in main.groupby("evalset", sort=False)},
        frontier=Frontier(floor=floors[0] if len(set(floors)) == 1 else None)(main) if len(main) else None,
        cliffs=Cliffs()(main) if (main["ladder"].fillna("") != "").any() else None,
        failures=examples(run.records, evalsets, candidates),
        floor=floors[0] if len(set(floors)) == 1 else None,
        n_items=int(main[["evalset", "item"]].drop_duplicates().shape[0]),
        redact=redact,
        local=any(candidate.group == "this machine" for candidate in run.candidates),
    )
