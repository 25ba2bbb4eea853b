"""The plane in words and figures: the view that its script draws, the static twin, the lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from speedqual import display
from speedqual.analysis.base import plain
from speedqual.analysis.frontier import FrontierResult
from speedqual.analysis.measures import Measure
from speedqual.display import numbers
from speedqual.display.safe import visible
from speedqual.notebook import markup
from speedqual.notebook.widgets.gathering import Point
from speedqual.notebook.words import notebook_words
from speedqual.plots.words import plot_words

__all__ = ["PlanePicture", "points_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanePicture:
    """What is known at a moment. ``result``: the frontier of a run that is over, None before."""

    points: tuple[Point, ...]
    measure: Measure
    lang: str
    floor: float | None
    result: FrontierResult | None
    n_graded: int
    n_to_grade: int

    def html(self) -> str:
        """The static twin: the frontier as it is drawn everywhere, or what is known so far as a table."""
        shown = None if self.result is None else display.find("html", self.result)
        if shown is not None:
            return str(shown(self.result))
        return markup.heading(self._say("plane.title"), self.note()) + markup.table(self._head(), self._rows())

    def text(self) -> str:
        """A line a candidate."""
        return "\n".join([self._say("plane.title"), *(self.label(point) for point in self.points)])

    def view(self) -> dict[str, Any]:
        """What the script draws: numbers for the places, finished texts for everything that is read."""
        unit = plot_words(self.lang).unit(self.measure.unit)
        view = {
            "words": notebook_words(self.lang).group("plane"),
            "note": self.note(),
            "x": {"label": self._axis(), "unit": unit, "higher": self.measure.higher_is_better},
            "floor": self.floor,
            "floor_label": "" if self.floor is None else self._say("plane.floor", floor=numbers.percent(self.floor)),
            "points": [{**asdict(each), "label": self.label(each), "shown": _name(each)} for each in self.points],
            "head": self._head(),
            "rows": self._rows(),
        }
        return dict(plain(view))

    def note(self) -> str:
        """How far the figures can be trusted yet; nothing once the run is over."""
        if not any(point.x is not None for point in self.points):
            return self._say("plane.waiting")
        if self.result is not None:
            return ""
        if not self.n_graded:
            return self._say("plane.ungraded")
        done, total = numbers.count(self.n_graded), numbers.count(self.n_to_grade)
        return f"{self._say('plane.partly', done=done, total=total)} {self._say('plane.rough')}"

    def label(self, point: Point) -> str:
        """A candidate in one sentence."""
        if point.y is None:
            return self._say("plane.point_speed", name=_name(point), x=self._amount(point))
        values = {"quality": point.y, "lo": point.y_lo, "hi": point.y_hi}
        shown = {key: numbers.score(value) for key, value in values.items()}
        said = self._say("plane.point", name=_name(point), x=self._amount(point), n=point.n, **shown)
        return said + (self._say("plane.on_front") if point.front else "")

    def _say(self, key: str, **values: object) -> str:
        return notebook_words(self.lang)(key, **values)

    def _axis(self) -> str:
        m, say = self.measure, plot_words(self.lang)
        way = "faster" if m.higher_is_better or m.unit in ("ms", "s") else "less"
        return self._say(f"plane.{way}", label=say.measure(m), unit=say.unit(m.unit))

    def _amount(self, point: Point) -> str:
        unit = plot_words(self.lang).unit(self.measure.unit)
        return numbers.DASH if point.x is None else numbers.amount(point.x, unit)

    def _head(self) -> list[str]:
        measure = plot_words(self.lang).measure(self.measure)
        others = (self._say(f"plane.{key}") for key in ("quality", "interval", "n", "front"))
        return [self._say("head.candidate"), measure, *others]

    def _rows(self) -> list[list[str]]:
        return [
            [
                _name(point),
                self._amount(point),
                numbers.score(point.y),
                f"[{numbers.score(point.y_lo)}, {numbers.score(point.y_hi)}]",
                numbers.count(point.n),
                self._say("plane.yes") if point.front else "",
            ]
            for point in self.points
        ]


def points_of(result: FrontierResult) -> Iterator[Point]:
    """The rows of a frontier as points; the first measure is the axis."""
    x = result.measures[0].name
    for row in (plain(row) for row in result.table.to_dict("records")):
        yield Point(
            name=row["candidate"],
            x=row[x],
            x_lo=row[f"{x}_lo"],
            x_hi=row[f"{x}_hi"],
            y=row["quality"],
            y_lo=row["quality_lo"],
            y_hi=row["quality_hi"],
            n=int(row["n"] or 0),
            front=bool(row["on_front"]),
        )


def _name(point: Point) -> str:
    return visible(point.name, 80)
