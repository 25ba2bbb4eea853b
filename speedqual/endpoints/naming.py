"""Candidates as people name them: ``openai/gpt-…`` on the command line, ``[candidates.NAME]`` in the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from speedqual.endpoints.prices import price_from_table
from speedqual.endpoints.registry import names
from speedqual.errors import ConfigError
from speedqual.records import Candidate

__all__ = ["ALIASES", "candidates_from_table", "parse_candidate"]

ALIASES: Mapping[str, str] = {
    "openai-chat": "openai",
    "azure-openai": "azure",
    "azure_openai": "azure",
    "google": "gemini",
    "claude": "anthropic",
    "aws": "bedrock",
    "amazon-bedrock": "bedrock",
    "llama.cpp": "llamacpp",
    "llama-cpp": "llamacpp",
    "alibaba": "dashscope",
    "baidu": "qianfan",
    "zai": "zhipu",
    "glm": "zhipu",
    "kimi": "moonshot",
    "ark": "volcengine",
    "doubao": "volcengine",
    "grok": "xai",
    "x-ai": "xai",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "huggingface": "tgi",
}
"""Other names in use for a protocol → ours."""

_TEXTS = frozenset({"endpoint", "model", "base_url", "api_key_env", "tier", "ladder", "rung", "system", "group"})
_NUMBERS = frozenset({"x", "params_b", "claimed_tok_s", "usd_per_hour"})
_KEYS = _TEXTS | _NUMBERS | {"params", "headers", "price", "tags", "shots", "cache", "route"}
_ROUTE = "route:"
_ROUTE_KEYS = frozenset({"route", "ladder", "rung", "x", "tags"})
_SECRET_NAME = re.compile(r"authorization|api[-_]?key|token$|secret|password", re.IGNORECASE)
_HARMLESS = re.compile(r"max_.*tokens?$|.*_tokens$", re.IGNORECASE)


def parse_candidate(text: str, *, name: str = "", base_url: str = "", **settings: Any) -> Candidate:
    """``ENDPOINT/MODEL``, split at the first slash; ``settings`` are fields of ``Candidate``.

    ``route:FILE`` is the routing policy in that file; who stands behind it is looked up when it runs.
    With ``base_url`` a text that begins with no endpoint's name is a model behind an OpenAI-compatible server. Raises
    ConfigError otherwise.
    """
    if text.strip().startswith(_ROUTE):
        return _route(name or text.strip(), text.strip().removeprefix(_ROUTE), "candidate")
    head, slash, rest = text.strip().partition("/")
    # behind a base URL a capital begins the name of a publisher: Qwen/… is a model there, not the endpoint
    endpoint = _endpoint(head) if slash and not (base_url and head != head.lower()) else None
    if endpoint and rest:
        return Candidate(name=name or text, endpoint=endpoint, model=rest, base_url=base_url, **settings)
    if base_url and text.strip():
        return Candidate(name=name or text, endpoint="openai", model=text.strip(), base_url=base_url, **settings)
    if not slash or not rest:
        what, fix = f"{text!r} names no endpoint and model", "Write ENDPOINT/MODEL, such as openai/gpt-5-mini"
    else:
        what, fix = f"no endpoint is called {head!r}", _suggest(head, (*names(), *ALIASES))
    raise ConfigError(what, where="candidate", fix=fix + ", or give base_url for an OpenAI-compatible server")


def candidates_from_table(table: Mapping[str, Any], where: str) -> list[Candidate]:
    """The candidates of a settings table ``{NAME: {endpoint, model, …}}``, in its order.

    ``where`` names the file in errors. Raises ConfigError for an unknown key, a wrong type, or a key in the clear.
    """
    if not isinstance(table, Mapping):
        raise ConfigError("candidates is no table", where=where, fix="Write [candidates.NAME] tables")
    return [_candidate(name, row, f"{where}: candidates.{name}") for name, row in table.items()]


def _candidate(name: str, row: Any, where: str) -> Candidate:
    if not isinstance(row, Mapping):
        raise ConfigError("a candidate is a table", where=where, fix=f"Write [candidates.{name}]")
    for key in row:
        if key not in _KEYS:
            raise ConfigError(f"unknown key {key!r}", where=f"{where}.{key}", fix=_suggest(key, sorted(_KEYS)))
    fields = {key: _value(key, value, f"{where}.{key}") for key, value in row.items()}
    if "route" in fields:
        return _route_of(name, fields, where)
    if not fields.get("model"):
        raise ConfigError("a candidate needs a model", where=f"{where}.model", fix='Write model = "…"')
    if "endpoint" not in fields:
        model, base_url = fields.pop("model"), fields.pop("base_url", "")
        try:
            return parse_candidate(model, name=name, base_url=base_url, **fields)
        except ConfigError as error:
            raise ConfigError(error.what, where=f"{where}.model", fix="Add endpoint, or write ENDPOINT/MODEL") from None
    known = _endpoint(fields["endpoint"])
    if known is None:
        what = f"no endpoint is called {fields['endpoint']!r}"
        raise ConfigError(what, where=f"{where}.endpoint", fix=_suggest(fields["endpoint"], (*names(), *ALIASES)))
    return Candidate(**{**fields, "name": name, "endpoint": known})


def _route(name: str, file: str, where: str, **fields: Any) -> Candidate:
    if not file.strip():
        raise ConfigError("no policy file is named", where=where, fix="Write route:policy.json")
    return Candidate(name=name, endpoint="route", model=file.strip(), **fields)


def _route_of(name: str, fields: dict[str, Any], where: str) -> Candidate:
    """A route's model, address, params and price are those of the candidates that its policy names."""
    for key in fields:
        if key not in _ROUTE_KEYS:
            fix = "Leave it out; the candidates behind the route have their own"
            raise ConfigError(f"a route has no {key}", where=f"{where}.{key}", fix=fix)
    return _route(name, fields.pop("route"), f"{where}.route", **fields)


def _endpoint(name: str) -> str | None:
    """Our name for an endpoint, or None."""
    found = ALIASES.get(name.lower(), name.lower())
    return found if found in names() else None


def _value(key: str, value: Any, where: str) -> Any:
    if key in _TEXTS or key == "route":
        return _of_type(value, str, "a string", where)
    if key in _NUMBERS:
        return _number(value, where)
    if key == "shots":
        return _of_type(value, int, "a whole number", where)
    if key == "cache":
        return _of_type(value, bool, "true or false", where)
    if key == "tags":
        return _tags(value, where)
    if key == "price":
        return price_from_table(value, where)
    table = _of_type(value, Mapping, "a table", where)
    if key == "headers":
        table = {name: _of_type(v, str, "a string", f"{where}.{name}") for name, v in table.items()}
    _refuse_secrets(table, where)
    return dict(table)


def _of_type(value: Any, kind: type, words: str, where: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"{value!r} is not {words}", where=where, fix=f"Write {words}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise ConfigError(f"{value!r} is no number", where=where, fix="Write a number")
    return float(value)


def _tags(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(tag, str) for tag in value):
        raise ConfigError("tags are a list of strings", where=where, fix='Write tags = ["…"]')
    return tuple(value)


def _refuse_secrets(table: Mapping[str, Any], where: str) -> None:
    """Settings are copied into the run folder, so a key has no place in them."""
    for name in table:
        if _SECRET_NAME.search(name) and not _HARMLESS.match(name):
            fix = "Put the key into an environment variable and name it by api_key_env"
            raise ConfigError("a key must not stand in the settings", where=f"{where}.{name}", fix=fix)


def _suggest(name: str, known: tuple[str, ...] | list[str]) -> str:
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"Use one of {', '.join(sorted(set(known)))}"
