"""A gate's result for a pull request (Markdown) and for a CI server (JUnit XML)."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from speedqual.analysis.base import records
from speedqual.analysis.gate import GateResult
from speedqual.display.numbers import digits

__all__ = ["to_junit", "to_markdown"]

_MARK = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "❔ inconclusive"}


def to_markdown(result: GateResult, title: str = "speedqual gate") -> str:
    """A heading, the verdict and a table; names are escaped, so that a model's name cannot break it."""
    lines = [f"### {title}: {_MARK[result.outcome]}", "", _cell(result.verdict), ""]
    lines += [
        "| candidate | check | base | new | change (95 %) | margin | n | result |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    lines += [_line(row) for row in records(result.table)]
    lines += ["", *(f"- {_cell(note)}" for note in result.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _line(row: dict[str, Any]) -> str:
    share = row["check"].split()[0] in ("quality", "failed")
    shown = _share if share else _figure
    change = shown(row["change"]) if share else f"×{digits(row['change'])}"
    bounds = "" if row["lo"] is None or row["hi"] is None else f" ({shown(row['lo'])} to {shown(row['hi'])})"
    need = f" (n ≈ {row['n_needed']:.0f} needed)" if row["n_needed"] else ""
    cells = [_cell(row["candidate"]), row["check"], shown(row["base"]), shown(row["new"]), change + bounds]
    cells += [shown(row["margin"]), str(row["n"]), _MARK[row["result"]] + need]
    return f"| {' | '.join(cells)} |"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _figure(value: float) -> str:
    return digits(value, 4)


def _cell(text: str) -> str:
    plain = " ".join(text.split())
    for sign in ("\\", "|", "<", ">", "`", "[", "]", "*", "_"):
        plain = plain.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return plain


def to_junit(result: GateResult, name: str = "speedqual") -> str:
    """One test case a check; a failure is a failure, an inconclusive one is skipped with its reason."""
    rows = records(result.table)
    counts = {kind: sum(row["result"] == kind for row in rows) for kind in _MARK}
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(rows)),
        failures=str(counts["fail"]),
        skipped=str(counts["inconclusive"]),
        errors="0",
    )
    for row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(row["candidate"]), name=row["check"])
        words = ", ".join(f"{name} {digits(row[name], 6)}" for name in ("base", "new", "change", "margin"))
        if row["result"] == "fail":
            ElementTree.SubElement(case, "failure", message=words)
        elif row["result"] == "inconclusive":
            need = f", about {row['n_needed']:.0f} items would settle it" if row["n_needed"] else ""
            ElementTree.SubElement(case, "skipped", message=f"inconclusive: {words}{need}")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """Without the control characters that XML forbids."""
    return "".join(char for char in text if char >= " " or char == "\t")
