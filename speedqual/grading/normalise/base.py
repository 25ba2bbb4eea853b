"""What reading a value gives, and the settings of a card that change how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

__all__ = ["AMBIGUOUS", "BAD", "Fault", "Reading", "Settings", "Tolerance"]

Fault = str
AMBIGUOUS: Fault = "ambiguous"  # two readings and nothing declared that chooses
BAD: Fault = "bad_format"  # no reading


class Reading(NamedTuple):
    """A value in canonical form; equal readings are equal values. With a ``fault``, ``value`` is None."""

    value: Any
    fault: Fault = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be off: ``absolute`` in its own unit, or ``relative`` to the gold."""

    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)

    def allows(self, got: Decimal, want: Decimal) -> bool:
        """Whether ``got`` is near enough to ``want``."""
        return abs(got - want) <= max(self.absolute, self.relative * abs(want))


@dataclass(frozen=True, slots=True)
class Settings:
    """``locale``: how numbers are written ("" = only what reads one way); ``date_order``: dmy, mdy, ymd or ""."""

    locale: str = ""
    date_order: str = ""
    tolerance: Tolerance | None = None
    values: tuple[str, ...] = ()  # what an enum allows
