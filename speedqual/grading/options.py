"""Reading a grader's options from the card: a name that no one knows is an error, never a silent pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.grading.normalise import Settings, Tolerance
from speedqual.records import EvalSet

__all__ = ["one_of", "options_of", "settings_of", "tolerance_of"]


def options_of(evalset: EvalSet, allowed: Collection[str]) -> Mapping[str, Any]:
    """The options under ``grader:``. Raises EvalSetError for one that this grader does not have.

    A ``schema.json`` beside the set comes as the option ``schema`` to every grader; those without use leave it.
    """
    given = evalset.grader.options.items()
    options = {name: value for name, value in given if name not in ("name", "schema") and not name.startswith("_")}
    if "schema" in allowed and "schema" in evalset.grader.options:
        options["schema"] = evalset.grader.options["schema"]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise EvalSetError(
            f"the grader {evalset.grader.name!r} has no option {unknown[0]!r}",
            where=f"eval set {evalset.name}, grader.{unknown[0]}",
            fix=f"Use one of: {', '.join(sorted(allowed))}",
        )
    return options


def one_of(options: Mapping[str, Any], name: str, allowed: tuple[str, ...], where: str) -> str:
    """The option as one of ``allowed``; the first is the default."""
    value = options.get(name, allowed[0])
    if value not in allowed:
        raise EvalSetError(
            f"{name} is {value!r}",
            where=f"{where}, grader.{name}",
            fix=f"Use one of: {', '.join(filter(None, allowed))}",
        )
    return str(value)


def settings_of(options: Mapping[str, Any], where: str) -> Settings:
    """How values are read: ``locale``, ``date_order``, ``tolerance``."""
    return Settings(
        locale=str(options.get("locale") or ""),
        date_order=one_of(options, "date_order", ("", "dmy", "mdy", "ymd"), where),
        tolerance=tolerance_of(options.get("tolerance"), where),
    )


def tolerance_of(value: Any, where: str) -> Tolerance | None:
    """``0.01`` = absolute, ``"1%"`` = relative to the gold, None = exact."""
    if value is None:
        return None
    text = str(value).strip()
    try:
        number = Decimal(text.rstrip("% "))
    except InvalidOperation:
        number = Decimal(-1)
    if number < 0 or isinstance(value, bool):
        raise EvalSetError(
            f"tolerance is {value!r}",
            where=f"{where}, grader.tolerance",
            fix='Give a number such as 0.01, or a share such as "1%"',
        )
    return Tolerance(relative=number / 100) if text.endswith("%") else Tolerance(absolute=number)
