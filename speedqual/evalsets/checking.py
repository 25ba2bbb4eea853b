"""Everything that is wrong with an eval set, at once."""

from __future__ import annotations

from pathlib import Path

from speedqual.errors import EvalSetError
from speedqual.evalsets.datasets_view import compare
from speedqual.evalsets.folders import check_folder
from speedqual.evalsets.lint import lint
from speedqual.evalsets.loading import read
from speedqual.evalsets.problems import Findings, Problem
from speedqual.evalsets.sources import Source, find

__all__ = ["check"]


def check(path: str | Path) -> list[Problem]:
    """The problems of the eval set at ``path`` (folder, .jsonl file or built-in name), errors first; empty when good.

    Nothing of the set is executed. A folder is also read with ``datasets.load_dataset`` and both views are compared.
    """
    try:
        source = find(path)
    except EvalSetError as fault:
        return [Problem("error", fault.where or str(path), fault.what, fault.fix)]
    findings = Findings()
    try:
        _check(source, findings)
    except OSError as fault:
        findings.error(source.name, f"it cannot be read ({fault.strerror})", "Check its rights")
    return sorted(findings.problems, key=lambda problem: problem.severity)


def _check(source: Source, findings: Findings) -> None:
    loaded = read(source, findings)
    if not source.bare:
        check_folder(source, loaded.card, loaded.evalset, findings)
    if not findings.errors:
        lint(loaded, findings)
    if not findings.errors and not source.bare and source.seed is None:
        compare(source, loaded.rows, findings)
