"""How numbers look on a page: one place, so that a table and a sentence agree."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = [
    "amount",
    "cell",
    "count",
    "digits",
    "milliseconds",
    "missing",
    "percent",
    "points",
    "rate",
    "score",
    "seconds",
    "share",
    "usd",
]

DASH = "–"


def missing(value: float | None) -> bool:
    """None and NaN are both "not there"."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def percent(value: float | None) -> str:
    """A share in percent, to a tenth where it is no whole number.

    >>> percent(0.8), percent(0.7194), percent(0.925)
    ('80 %', '71.9 %', '92.5 %')
    """
    return DASH if value is None or missing(value) else f"{100 * value:.1f}".removesuffix(".0") + " %"


def score(value: float | None) -> str:
    """A quality in [0, 1], or a difference of two: in percent, as on the axes of figures."""
    return percent(value)


def points(value: float | None) -> str:
    """A difference of qualities in points of a hundred."""
    return DASH if value is None or missing(value) else f"{100 * value:.0f}"


def milliseconds(value: float | None) -> str:
    """Whole milliseconds from 10 up, one decimal below."""
    return DASH if value is None or missing(value) else (f"{value:,.0f}" if value >= 10 else f"{value:.1f}")


def seconds(ms: float | None) -> str:
    """Milliseconds as seconds for a sentence."""
    if ms is None or missing(ms):
        return DASH
    return f"{ms / 1000:.2f} s" if ms < 10_000 else f"{ms / 1000:.1f} s"


def rate(value: float | None) -> str:
    """Tokens a second: one decimal below 100."""
    return DASH if value is None or missing(value) else (f"{value:,.0f}" if value >= 100 else f"{value:.1f}")


def share(value: float | None) -> str:
    """A probability in whole percent; ">99 %" and "<1 %" where rounding would say certain."""
    if value is None or missing(value):
        return DASH
    if 0 < value < 0.01 or 0.99 < value < 1:
        return "<1 %" if value < 0.5 else ">99 %"
    return f"{100 * value:.0f} %"


def usd(value: float | None) -> str:
    """Dollars with three significant digits."""
    if value is None or missing(value):
        return DASH
    if value >= 1 or value <= 0:
        return f"${value:,.2f}"
    return f"${value:.{2 - math.floor(math.log10(value))}f}".rstrip("0").rstrip(".")


def count(value: float | None) -> str:
    """A whole number with separators."""
    return DASH if value is None or missing(value) else f"{int(value):,}"


def amount(value: float, unit: str) -> str:
    """A quantity as a tick or a cell shows it.

    >>> amount(1500, "ms"), amount(90, "ms"), amount(0.0021, "USD"), amount(2000, "tokens/s")
    ('1.5 s', '90 ms', '$0.0021', '2,000 tokens/s')
    """
    if unit == "ms" and value >= 1000:
        return f"{digits(value / 1000)} s"
    if unit == "USD":
        return f"${digits(value)}"
    return f"{digits(value)} {unit}".strip()


def cell(column: str, value: object) -> str:
    """A value of an analysis table as a terminal shows it: its column says what it is.

    >>> cell("quality_lo", 0.7194), cell("ttft_ms", 1234.5), cell("n", 24), cell("on_front", True)
    ('71.9 %', '1,234', '24', 'yes')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, float):
        return str(value)
    for named, form in _FORMS:
        if named(column):
            return form(value)
    return digits(value)


_SHARES = ("quality", "p_on", "regret", "drop", "lower_bound", "share", "gap", "floor_", "met")
_FORMS: tuple[tuple[Callable[[str], bool], Callable[[float | None], str]], ...] = (
    (lambda column: column.startswith(_SHARES), percent),
    (lambda column: "_ms" in column, milliseconds),
    (lambda column: "cost" in column or "usd" in column, usd),
)


def digits(value: float | None, n: int = 3) -> str:
    """A number to ``n`` significant digits, whole from a thousand up, never with an exponent.

    >>> digits(13364.2), digits(0.00123456), digits(1e-7), digits(2.0), digits(987.65, 4)
    ('13,364', '0.00123', '0.0000001', '2', '987.6')
    """
    if value is None or missing(value):
        return DASH
    text = f"{value:.{n}g}"
    if abs(float(text)) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.9f}".rstrip("0").rstrip(".") if "e" in text else text
