"""Scripts from a TOML table: ``[scripts.MODEL]``, or ``[[scripts.MODEL]]`` for several in turn; ``*`` = any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from speedqual.endpoints.scripted.script import Script
from speedqual.endpoints.scripted.server import Scripts
from speedqual.errors import ConfigError

__all__ = ["scripts_from_table"]


def scripts_from_table(table: Mapping[str, Any], where: str) -> Scripts:
    """Read ``table``; raises ConfigError with the table and field that is wrong. ``where`` names the file."""
    found = table.get("scripts")
    if not isinstance(found, Mapping) or not found:
        raise ConfigError("no table [scripts.MODEL]", where=where, fix='Add [scripts."*"] with ttft_ms = 200')
    return {model: _of_model(value, f"{where} [scripts.{model}]") for model, value in found.items()}


def _of_model(value: Any, where: str) -> Script | Sequence[Script]:
    if isinstance(value, list) and value:
        return [_script(one, where) for one in value]
    return _script(value, where)


def _script(value: Any, where: str) -> Script:
    if not isinstance(value, Mapping):
        raise ConfigError("not a table", where=where, fix="Write fields such as ttft_ms = 200")
    known = [f.name for f in fields(Script)]
    for name in value:
        if name not in known:
            raise ConfigError(f"no field is called {name!r}", where=where, fix=f"Use some of {', '.join(known)}")
    try:
        return Script.from_dict(value)
    except (TypeError, ConfigError) as fault:
        what = fault.what if isinstance(fault, ConfigError) else str(fault)
        raise ConfigError(what, where=where, fix="Mend the field") from None
