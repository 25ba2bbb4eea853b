"""What every section of a report draws from: each analysis made once, when a section first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from speedqual.analysis.cliffs import Cliffs
from speedqual.analysis.deadlines import Deadlines
from speedqual.analysis.degraded import Degraded
from speedqual.analysis.frontier import Frontier
from speedqual.analysis.routing import Routing
from speedqual.analysis.scoreboard import Scoreboard
from speedqual.analysis.tasks import ByTask
from speedqual.analysis.tidy import lightest
from speedqual.errors import UsageError
from speedqual.records import GRADED_OUTCOMES, Candidate, EvalSet
from speedqual.report import EACH
from speedqual.report.items.shown import Shown, shown
from speedqual.report.loads import Loads, loads_of
from speedqual.report.words import Words
from speedqual.running.route import ENDPOINT

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["Context", "gather"]

Named = TypeVar("Named", Candidate, EvalSet)


class Context:
    """One run, analysed for a page. An analysis is None when there is nothing to say.

    ``items``: how many items of a kind (worst, slowest, flipped) to show, None = every item. ``main``: the rows of the
    run that count (of a load test its lightest levels); a row's label in ``run.df`` is the number of its record.
    """

    def __init__(self, run: Run, words: Words, *, redact: bool = False, items: int | None = EACH) -> None:
        self.run, self.words, self.redact, self.items = run, words, redact, items
        self.manifest: dict[str, Any] = dict(run.manifest)
        self.client_limit = run.client_limit
        df = run.df
        self.main: pd.DataFrame = lightest(df[df["phase"] == "main"])
        self.floor = _floor(run.evalsets)
        self.local = any(candidate.group == "this machine" for candidate in run.candidates)

    def called(self, name: Any) -> str:
        """A candidate in a sentence: in quotes where its name is more than a word."""
        return self.words("page.quoted", name=name) if any(sign in str(name) for sign in " ,;，、；") else str(name)

    def listed(self, names: Iterable[Any]) -> str:
        """Candidates in a sentence, one after the other."""
        return self.words("page.list").join(map(self.called, names))

    @property
    def lang(self) -> str:
        return self.words.lang

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        return _by_name(self.run.candidates)

    @cached_property
    def evalsets(self) -> dict[str, EvalSet]:
        return _by_name(self.run.evalsets)

    @cached_property
    def n_items(self) -> int:
        return int(self.main[["evalset", "item"]].drop_duplicates().shape[0])

    @cached_property
    def board(self) -> pd.DataFrame:
        """One row a candidate, best delivered quality first."""
        return Scoreboard()(self.main).table

    @cached_property
    def tasks(self) -> dict[str, pd.DataFrame]:
        """The board of each eval set."""
        groups = self.main.groupby("evalset", sort=False)
        return {str(name): Scoreboard()(part).table for name, part in groups}

    @property
    def scored(self) -> bool:
        return bool(self.main["score"].notna().any())

    @property
    def timed(self) -> bool:
        return bool(self.main["e2e_ms"].notna().any())

    @cached_property
    def frontier(self) -> Any:
        return _made(Frontier(floor=self.floor), self.main) if self.scored and self.timed else None

    @cached_property
    def deadlines(self) -> Any:
        return _made(Deadlines(), self.main) if self.scored and self.timed else None

    @cached_property
    def cliffs(self) -> Any:
        on_ladders = (self.main["ladder"].fillna("") != "").any()
        return _made(Cliffs(), self.main) if self.scored and on_ladders else None

    @cached_property
    def by_task(self) -> Any:
        """Small multiples by task, or by eval set where several sets have one task."""
        by = next((name for name in ("task", "evalset") if self.main[name].nunique() > 1), None)
        if by is None or not (self.scored and self.timed):
            return None
        return _made(ByTask(by=by, frontier=Frontier(draws=1000)), self.main)

    @cached_property
    def routing(self) -> Any:
        """Replayed between plain candidates (a route that was measured is no lane of another): the fast lane of the
        verdict where there is one, and the best."""
        plain = self.main[self.main["endpoint"] != ENDPOINT]
        if not self.scored or plain["candidate"].nunique() < 2:
            return None
        names = [str(name) for name in self.board["candidate"] if name in set(plain["candidate"])]
        fast = None if self.frontier is None else self.frontier.recommended
        return _made(Routing(fast=fast if fast in names[1:] else ""), plain)

    @cached_property
    def paired(self) -> Any:
        """Every candidate that answered against the one of the highest quality, on the same items."""
        if not self.scored:
            return None
        graded = self.main[self.main["outcome"].isin(GRADED_OUTCOMES) & self.main["score"].notna()]
        answered = graded.groupby("candidate")["item"].nunique()
        names = [str(name) for name in self.board["candidate"] if answered.get(name, 0) > 1]
        rows = self.main[self.main["candidate"].isin(names)]
        return _made(Degraded(reference=names[0]), rows) if len(names) > 1 else None

    @cached_property
    def load(self) -> Loads | None:
        """The analyses of a load test; None of any other run."""
        return loads_of(self.run)

    @cached_property
    def shown(self) -> Shown:
        """The items of the page."""
        return shown(self.run, self.main, self.words, each=self.items, redact=self.redact)

    @property
    def examples(self) -> dict[tuple[str, str], str]:
        """Candidate and kind of failure → the anchor of an answer that shows it."""
        found: dict[tuple[str, str], str] = {}
        for item in self.shown.plain:
            for answer in item.answers:
                found.setdefault((answer.candidate, answer.kind), answer.id)
        return found


def gather(run: Run, words: Words, *, redact: bool = False, items: int | None = EACH) -> Context:
    """A run, ready to be asked by sections."""
    return Context(run, words, redact=redact, items=items)


def _made(analysis: Callable[[Any], Any], data: pd.DataFrame) -> Any:
    """The analysis, or None where the data do not allow it."""
    try:
        return analysis(data)
    except UsageError:
        return None


def _floor(evalsets: Iterable[EvalSet]) -> float | None:
    """The floor of the run as a whole: that of its sets, weighted by their items; None as soon as one has none."""
    floors = [(evalset.floor, len(evalset.items)) for evalset in evalsets]
    if not floors or any(floor is None for floor, _ in floors):
        return None
    return sum((floor or 0.0) * n for floor, n in floors) / sum(n for _, n in floors)


def _by_name(things: Iterable[Named]) -> dict[str, Named]:
    return {thing.name: thing for thing in things}
