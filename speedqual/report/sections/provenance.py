"""How the numbers came about: enough to repeat the run, and no name of host, user or path."""

from __future__ import annotations

from typing import Any

from speedqual.display.numbers import milliseconds
from speedqual.report.context import Context
from speedqual.report.page import Part, fill

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Always there: a number without its provenance is not worth a page."""
    words, manifest = context.words, context.manifest
    rows = [
        (words("provenance.run"), manifest.get("run", "")),
        (words("provenance.version"), manifest.get("speedqual", "")),
        (words("provenance.started"), manifest.get("started", "")),
        (words("provenance.seed"), manifest.get("seed", "")),
        (words("provenance.evalsets"), ", ".join(_evalset(entry) for entry in manifest.get("evalsets", []))),
        (words("provenance.candidates"), ", ".join(_candidate(entry) for entry in manifest.get("candidates", []))),
        (words("provenance.machine"), _machine(manifest.get("machine", {}))),
        (words("provenance.clock"), _facts(manifest.get("clock", {}))),
        (words("provenance.client"), _client(context)),
        (words("provenance.prices"), _prices(context)),
        (words("provenance.command"), manifest.get("command", "")),
    ]
    shown = [(name, str(value)) for name, value in rows if value not in ("", None)]
    return Part("provenance", words("provenance.heading"), fill("provenance.html.j2", words, rows=shown))


def _evalset(entry: dict[str, Any]) -> str:
    return f"{entry.get('name')} ({entry.get('n_items', '?')}, #{entry.get('hash', '')})"


def _candidate(entry: dict[str, Any]) -> str:
    return f"{entry.get('name')} = {entry.get('endpoint')}/{entry.get('model')} (#{entry.get('id', '')})"


def _machine(machine: dict[str, Any]) -> str:
    return _facts(machine)


def _facts(facts: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items() if value not in (None, "", {}, []))


def _client(context: Context) -> str:
    lag = context.manifest.get("client", {})
    if lag.get("lag_p99_ms") is None:
        return ""
    share = 100 * (lag.get("cpu_share") or 0)
    return context.words("provenance.lag", lag=milliseconds(lag["lag_p99_ms"]), share=f"{share:.0f}")


def _prices(context: Context) -> str:
    dates = {str(entry.get("price", {}).get("as_of") or "") for entry in _priced(context)}
    return ", ".join(sorted(date for date in dates if date))


def _priced(context: Context) -> list[dict[str, Any]]:
    return [entry for entry in context.manifest.get("candidates", []) if entry.get("price")]
