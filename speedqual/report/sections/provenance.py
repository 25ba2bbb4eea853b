"""How the numbers came about: enough to repeat the run, and no name of host, user or path."""

from __future__ import annotations

from typing import Any

from speedqual.report.again import command, settings
from speedqual.report.context import Context
from speedqual.report.page import Part, fill
from speedqual.report.private import without_addresses
from speedqual.report.words import Words

__all__ = ["section"]


def section(context: Context) -> Part | None:
    """Always there: a number without its provenance is not worth a page."""
    words, manifest = context.words, context.manifest
    rows = [
        (words("provenance.run"), manifest["run"]),
        (words("provenance.started"), manifest["created"]),
        (words("provenance.version"), _facts(words, {"speedqual": manifest["speedqual"], **manifest["versions"]})),
        (words("provenance.evalsets"), "\n".join(_evalset(entry) for entry in manifest["evalsets"])),
        (words("provenance.candidates"), "\n".join(_candidate(words, entry) for entry in manifest["candidates"])),
        (words("provenance.seed"), manifest["seed"]),
        (words("provenance.machine"), _facts(words, manifest["machine"])),
        (words("provenance.clock"), _facts(words, manifest["clock"])),
        (words("provenance.prices"), _prices(manifest)),
    ]
    shown = [(name, str(value)) for name, value in rows if value not in ("", None)]
    body = fill(
        "provenance.html.j2",
        words,
        rows=shown,
        command=command(manifest, local=context.local),
        settings="" if context.local else settings(manifest, redact=context.redact),
    )
    return Part("provenance", words("provenance.heading"), body)


def _evalset(entry: dict[str, Any]) -> str:
    return f"{entry['name']} ({entry['n_items']}, #{entry['hash']})"


def _candidate(words: Words, entry: dict[str, Any]) -> str:
    settings = {key: entry[key] for key in ("tier", "shots", "cache", "params") if entry.get(key) not in (None, "", {})}
    asked = without_addresses(f"{entry['model']} {_facts(words, settings)}")
    return f"{entry['name']} = {entry['endpoint']}/{asked} (#{entry['id']})"


def _facts(words: Words, facts: dict[str, Any]) -> str:
    """What is known, each under its name in the page's language."""
    known = ((key, value) for key, value in facts.items() if value not in (None, "", {}, []))
    return words("page.list").join(
        _facts(words, value) if isinstance(value, dict) else f"{words.known(f'fact.{key}', key)} {_plain(value)}"
        for key, value in known
    )


def _plain(value: Any) -> str:
    """``true``, not Python's ``True``: as settings write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _prices(manifest: dict[str, Any]) -> str:
    known = {name: price for name, price in manifest["prices"].items() if price and price.get("as_of")}
    return "; ".join(f"{name}: {price['as_of']} ({price['source']})" for name, price in known.items())
