"""What every analysis result offers: a table, a sentence, a plot, JSON."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from speedqual import display
from speedqual.display.numbers import digits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Result", "plain", "records"]


def plain(value: Any) -> Any:
    """``value`` as strict JSON: numpy scalars become Python's, NaN and infinity become None."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return None if type(value).__name__ in ("NaTType", "NAType") else value


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as JSON objects, missing numbers as None."""
    return [plain({str(k): v for k, v in row.items()}) for row in table.to_dict("records")]


@dataclass(frozen=True, eq=False)
class Result:
    """Base of all analysis results.

    ``table`` has one row per thing judged; ``verdict`` says it in words; ``notes`` hold what a reader must know
    before believing the numbers (failures, unknown costs, how many items were lost).
    """

    table: pd.DataFrame
    verdict: str
    notes: tuple[str, ...]

    def plot(self, **options: Any) -> Any:
        """Draw it; returns a matplotlib Figure with ``alt_text`` and ``numbers``."""
        return display.render("plot", self, **options)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: strict, no NaN."""
        return {"verdict": self.verdict, "notes": list(self.notes), "table": records(self.table)}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}>"

    def _repr_html_(self) -> str:
        shown = display.find("html", self)
        if shown is not None:
            return str(shown(self))
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        table: str = self.table.to_html(escape=True, index=False, na_rep="", float_format=lambda v: digits(v, 4))
        return f"<p><strong>{html.escape(self.verdict)}</strong></p>{table}<ul>{notes}</ul>"
