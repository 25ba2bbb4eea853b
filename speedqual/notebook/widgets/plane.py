"""The live speed-quality plane: points whose intervals shrink as items come in; brush them to choose records."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from speedqual.analysis.frontier import Frontier, FrontierResult
from speedqual.analysis.measures import find_measure
from speedqual.errors import UsageError
from speedqual.notebook.widgets.gathering import Gathering
from speedqual.notebook.widgets.moving import Moving
from speedqual.notebook.widgets.plane_picture import PlanePicture, points_of
from speedqual.notebook.words import notebook_words
from speedqual.running.watching import Finished, RunEvent, Started

if TYPE_CHECKING:
    import pandas as pd

    from speedqual.running import Run

__all__ = ["Plane"]

_HEARD = ("candidate", "evalset", "item", "repeat", "outcome", "score")  # columns where nothing has been heard yet


class Plane(Moving):
    """Speed against quality, live or of a finished run. Faster is to the right, better is up.

    As an observer it moves while the run goes on: speeds at once, qualities when the answers are graded, which is after
    all timing::

        plane = sq.Plane()
        display(plane)
        run = await sq.evaluate(candidates, evalsets, observers=[plane])

    Candidates are chosen by dragging over their points, or with the arrow keys and the space bar; ``plane.selected`` is
    then the table of their trials. ``sq.Plane(run)`` shows a run that is there already. ``x``: what to draw quality
    against, as in ``Frontier``.
    """

    _kind = "plane"

    def __init__(self, run: Run | None = None, *, x: str = "e2e", floor: float | None = None, lang: str = "en") -> None:
        notebook_words(lang)  # refuses a language without words
        self._lang, self._measure, self._floor = lang, find_measure(x), floor
        self._gathering, self._lock = Gathering(self._measure), threading.Lock()
        self._names: tuple[str, ...] = ()
        self._frame: pd.DataFrame | None = None
        self._result: FrontierResult | None = None
        self._chosen: frozenset[str] = frozenset()
        super().__init__()
        if run is not None:
            self.read(run)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The candidates that were brushed, in the order of the run; empty = all."""
        return tuple(point.name for point in self._picture().points if point.name in self._chosen)

    @property
    def selected(self) -> pd.DataFrame:
        """The trials of the chosen candidates, one row each: of ``run.df``, or of what has been heard of a live run."""
        frame, chosen = self._table(), self.chosen
        return frame[frame["candidate"].isin(chosen)] if chosen else frame

    def read(self, run: Run) -> None:
        """Show a run with its own figures: intervals by cluster, its floor."""
        self._names = tuple(candidate.name for candidate in run.candidates)
        self._settle(run.df)
        self._show()

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Started):
            self._names = event.candidates
        with self._lock:
            self._gathering.take(event)
        if isinstance(event, Finished):
            self._gathering.settle()
            self._settle(self._table())
            self._painter.finish()
        else:
            self._painter.touch()

    def _table(self) -> pd.DataFrame:
        import pandas as pd

        if self._frame is not None:
            return self._frame
        with self._lock:
            rows = self._gathering.rows
        return pd.DataFrame(rows, columns=None if rows else _HEARD)

    def _settle(self, frame: pd.DataFrame) -> None:
        """Take the figures of a run that is over from its table; where they cannot be had, the live ones stay."""
        self._frame = frame
        try:
            self._result = Frontier(x=self._measure.name, floor=self._floor)(frame)
        except UsageError:
            self._result = None

    def _choose(self, choice: Mapping[str, Any]) -> None:
        said = choice.get("names")
        self._chosen = (
            frozenset(name for name in said if isinstance(name, str)) if isinstance(said, list) else frozenset()
        )

    def _picture(self) -> PlanePicture:
        gathering, result = self._gathering, self._result
        with self._lock:
            found = gathering.points() if result is None else points_of(result)
        points = {point.name: point for point in found}
        order = dict.fromkeys((*self._names, *points))  # each keeps its colour and marker through the run
        return PlanePicture(
            points=tuple(points[name] for name in order if name in points),
            measure=self._measure,
            lang=self._lang,
            floor=self._floor if result is None else result.floor,
            result=result,
            n_graded=gathering.n_graded,
            n_to_grade=gathering.n_to_grade,
        )

    @property
    def _over(self) -> bool:
        return self._frame is not None

    def __repr__(self) -> str:
        return f"<Plane of {len(self._picture().points)} candidates>"
