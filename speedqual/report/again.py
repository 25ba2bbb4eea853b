"""How to run it again: the command, and the settings file that it reads. No address, no key, no path is in them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from speedqual.report.again_load import IN_PYTHON, load_options
from speedqual.report.private import without_addresses
from speedqual.running.route import ENDPOINT

__all__ = ["command", "settings"]

_KEPT = ("model", "tier", "params", "shots", "system", "cache", "ladder", "rung", "x", "params_b", "group", "tags")
_PRIVATE = ("system",)
_FILE = "again.toml"


def command(manifest: Mapping[str, Any], *, local: bool) -> str:
    """The command line that asks the same again, or lines of Python where only these can."""
    if local:
        return "speedqual quickstart"
    asked = manifest["settings"]
    parts = ["speedqual", "run", "--config", _FILE]
    if manifest.get("load"):
        options = load_options(manifest)
        if options is None:
            return IN_PYTHON
        parts = ["speedqual", "load", "--config", _FILE, *options]
    else:
        for entry in manifest["evalsets"]:
            parts += ["--evalset", entry["name"]]
    if asked.get("repeats"):
        parts += ["--repeats", str(asked["repeats"])]
    if isinstance(asked.get("concurrency"), int) and asked["concurrency"] > 1:
        parts += ["--concurrency", str(asked["concurrency"])]
    attempts = (asked.get("retry") or {}).get("attempts", 3)
    if attempts != (1 if manifest.get("load") else 3):
        parts += ["--attempts", str(attempts)]
    return shlex.join([*parts, "--seed", str(manifest["seed"])])


def settings(manifest: Mapping[str, Any], *, redact: bool) -> str:
    """The settings file of the candidates. An address is left open; ``redact`` leaves system prompts open as well."""
    return "\n".join(_lines(manifest, redact=redact))


def _lines(manifest: Mapping[str, Any], *, redact: bool) -> Iterator[str]:
    yield f"# {_FILE}"
    for entry in manifest["candidates"]:
        yield ""
        yield f"[candidates.{_text(entry['name'])}]"
        if entry["endpoint"] == ENDPOINT:
            yield 'route = "policy.json"'
            yield f"# policy.json: {json.dumps(entry['policy'], ensure_ascii=False)}"
            continue
        yield f"endpoint = {_text(entry['endpoint'])}"
        for key in _KEPT:
            if entry.get(key) not in (None, "", [], {}):
                line = f"{key} = {_value(entry[key])}"
                yield f"# {key} = …" if redact and key in _PRIVATE else without_addresses(line)
        if entry.get("base_url"):
            yield "# base_url = …"
        if entry.get("headers"):
            yield f"# headers = {{{', '.join(f'{_text(name)} = …' for name in entry['headers'])}}}"


def _value(value: Any) -> str:
    """A TOML value on one line; what TOML has no word for (null) is left out."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        pairs = (f"{_text(str(key))} = {_value(one)}" for key, one in value.items() if one is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(one) for one in value if one is not None)}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL and what lies outside the characters."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
