"""Every word that a figure says, one TOML file a language.

``with use(style, lang) as look:`` hands them to a plot as ``look.say``: ``look.say("axis.quality")``.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from speedqual.analysis.base import Result
from speedqual.analysis.measures import Measure
from speedqual.display import words

__all__ = ["PlotWords", "plot_words"]


class PlotWords(words.Words):
    """The words of figures in one language; names that come from data pass through where no catalogue knows them."""

    package: ClassVar[str] = __name__

    def measure(self, measure: Measure) -> str:
        """What a quantity is called: "time to first token"."""
        return self.known(f"measure.{measure.name}", measure.label)

    def unit(self, unit: str) -> str:
        """A unit; "ms", "s" and "USD" are the same in every language."""
        return self.known(f"unit.{unit.replace('/', '_per_')}", unit)

    def label(self, label: str) -> str:
        """A label that an analysis gives: "cannot tell", "always fast"."""
        return self.known(f"label.{label.replace(', ', '_').replace(' ', '_')}", label)

    def column(self, name: str) -> str:
        """A column of the run's table."""
        return self.known(f"column.{name}", name)

    def check(self, name: str) -> str:
        """A check of a gate: "quality", "e2e_ms p95"."""
        metric, _, stat = name.partition(" ")
        known = self.known(f"measure.{metric}", self.column(metric))
        return f"{known} {'' if stat == 'mean' else stat}".strip()

    def alt(self, result: Result, text: str) -> str:
        """Alternative text: in English after the verdict, which analyses speak in English alone."""
        return f"{result.verdict} {text}".strip() if self.lang == "en" else text


@cache
def plot_words(lang: str) -> PlotWords:
    """The catalogue of ``lang``, read once. Raises UsageError for a language without one."""
    return PlotWords.load(lang)
