"""What is wrong with an eval set: collected while reading, raised by ``load``, listed by ``check``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from speedqual.errors import EvalSetError
from speedqual.records import Plain

__all__ = ["Findings", "Problem", "nearest", "quoted"]

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem(Plain):
    """One finding. ``where`` is ``folder/file:line:column`` as far as known, ``fix`` a sentence in the imperative."""

    severity: Severity
    where: str
    what: str
    fix: str = ""

    def __str__(self) -> str:
        text = f"{self.severity}: {self.where}: {self.what}"
        return f"{text}. {self.fix}" if self.fix else text


@dataclass
class Findings:
    """The problems found so far, in the order of reading."""

    problems: list[Problem] = field(default_factory=list)

    def error(self, where: str, what: str, fix: str = "") -> None:
        """Note what keeps the set from being run."""
        self._add("error", where, what, fix)

    def warn(self, where: str, what: str, fix: str = "") -> None:
        """Note what is probably not meant."""
        self._add("warning", where, what, fix)

    def _add(self, severity: Severity, where: str, what: str, fix: str) -> None:
        self.problems.append(Problem(severity, where, _clipped(what, 300), _clipped(fix, 1_500)))

    @property
    def errors(self) -> list[Problem]:
        """Those that keep the set from being run."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def raise_first(self) -> None:
        """Raise the first error as EvalSetError; say how many more there are."""
        if not self.errors:
            return
        first, more = self.errors[0], len(self.errors) - 1
        fix = first.fix
        if more:
            fix = f"{fix}. " if fix else ""
            fix += f"`speedqual evalset check` lists {more} more problem{'s' if more > 1 else ''}"
        raise EvalSetError(first.what, where=first.where, fix=fix)


def _clipped(text: str, size: int) -> str:
    """Keys and values of a hostile set may be endless."""
    return text if len(text) <= size else f"{text[: size - 1]}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that ``name`` was probably meant to be; empty when none is near."""
    folded = {_fold(k): k for k in known}
    found = get_close_matches(_fold(name), folded, n=1, cutoff=0.7)
    return folded[found[0]] if found else ""


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_").strip("_")


def quoted(names: Iterable[str]) -> str:
    """Names for a message, at most 12 of them: ``id, text, target``."""
    listed = list(names)
    return ", ".join(listed[:12]) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")
