"""What every section of a report draws from: computed once, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from speedqual.analysis.cliffs import Cliffs
from speedqual.analysis.frontier import Frontier
from speedqual.analysis.scoreboard import Scoreboard
from speedqual.records import Candidate, EvalSet
from speedqual.report.examples import Example, examples
from speedqual.report.words import Words

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["Context", "gather"]

Named = TypeVar("Named", Candidate, EvalSet)


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
    client_limit: str


def gather(run: Run, words: Words, *, redact: bool) -> Context:
    """Analyse ``run`` for its report."""
    df = run.df
    main = df[df["phase"] == "main"]
    scored = main["score"].notna().any()
    floor = _floor(run.evalsets)
    scoreboard = Scoreboard()
    return Context(
        words=words,
        manifest=dict(run.manifest),
        board=scoreboard(main).table,
        tasks={str(name): scoreboard(part).table for name, part in main.groupby("evalset", sort=False)},
        frontier=Frontier(floor=floor)(main) if scored and main["e2e_ms"].notna().any() else None,
        cliffs=Cliffs()(main) if scored and (main["ladder"].fillna("") != "").any() else None,
        failures=examples(run.records, _by_name(run.evalsets), _by_name(run.candidates)),
        floor=floor,
        n_items=int(main[["evalset", "item"]].drop_duplicates().shape[0]),
        redact=redact,
        local=any(candidate.group == "this machine" for candidate in run.candidates),
        client_limit=run.client_limit,
    )


def _floor(evalsets: Iterable[EvalSet]) -> float | None:
    """The floor of the run as a whole: that of its sets, weighted by their items; None as soon as one has none."""
    floors = [(evalset.floor, len(evalset.items)) for evalset in evalsets]
    if not floors or any(floor is None for floor, _ in floors):
        return None
    return sum((floor or 0.0) * n for floor, n in floors) / sum(n for _, n in floors)


def _by_name(things: Iterable[Named]) -> dict[str, Named]:
    return {thing.name: thing for thing in things}
