"""What a metric is: one quantity, one definition, with its unit, formula, source and when it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from speedqual.timing.stream import Stream

__all__ = ["METRICS", "Absent", "Metric", "Value", "metric"]


class Absent(str):
    """Why a metric is None, in words a reader can act on."""

    __slots__ = ()


Value = float | int | str | Absent
"""What a definition returns; the reason in place of a number that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A definition as the documentation shows it, and the function that applies it to a reply."""

    name: str
    unit: str
    formula: str
    undefined: str
    source: str
    doc: str
    needs_success: bool
    apply: Callable[[Stream], Value]


METRICS: dict[str, Metric] = {}
"""Every metric of one trial by its name."""


def metric(
    *, unit: str, formula: str, undefined: str, source: str, needs_success: bool = True
) -> Callable[[Callable[[Stream], Value]], Callable[[Stream], Value]]:
    """Make a function the one definition of the quantity it is named after.

    ``needs_success``: the number describes a complete reply, so that it is None unless an attempt ended ``ok``.
    """

    def define(function: Callable[[Stream], Value]) -> Callable[[Stream], Value]:
        name = function.__name__
        if name in METRICS:
            raise ValueError(f"metric {name} is defined twice")
        METRICS[name] = Metric(
            name=name,
            unit=unit,
            formula=formula,
            undefined=undefined,
            source=source,
            doc=" ".join((function.__doc__ or "").split()),
            needs_success=needs_success,
            apply=function,
        )
        return function

    return define
