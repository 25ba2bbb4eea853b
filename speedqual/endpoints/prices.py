"""What tokens cost: the candidate's own price, then the user's price file, then a dated offline snapshot.

US dollars per million tokens; an unknown price is None, never 0. The snapshot is the data inside the installed package
``genai-prices``; nothing is fetched. Reasoning tokens are part of the output and cost as much.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from speedqual.endpoints.registry import endpoint
from speedqual.errors import ConfigError
from speedqual.records import Candidate, Price

__all__ = ["load_prices", "price_from_table", "price_of"]

_PROVIDERS: Mapping[str, str] = {
    "openai": "openai",
    "openai-completions": "openai",
    "openai-responses": "openai",
    "azure": "azure",
    "anthropic": "anthropic",
    "gemini": "google",
    "bedrock": "aws",
    "deepseek": "deepseek",
    "moonshot": "moonshotai",
    "minimax": "minimax",
    "openrouter": "openrouter",
    "groq": "groq",
    "cerebras": "cerebras",
    "mistral": "mistral",
    "together": "together",
    "fireworks": "fireworks",
    "xai": "x-ai",
    "zhipu": "zhipuai",
}
_FIELDS: Mapping[str, str] = {
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "cached": "cached_usd_per_mtok",
    "cache_write": "cache_write_usd_per_mtok",
}
_SNAPSHOT_UNITS: Mapping[str, str] = {
    "input_usd_per_mtok": "input_mtok",
    "output_usd_per_mtok": "output_mtok",
    "cached_usd_per_mtok": "cache_read_mtok",
    "cache_write_usd_per_mtok": "cache_write_mtok",
}
_LOOKED_UP = re.compile(r"(?:verified|checked|retrieved)(?: \w+)? (20\d\d-[01]\d-[0-3]\d)", re.IGNORECASE)
_TIER_NAMES = {"": "default", "auto": "default", "standard": "default"}


def price_of(
    candidate: Candidate,
    overrides: Mapping[str, Price] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    today: date | None = None,
) -> Price | None:
    """The price of a candidate, or None when nobody knows it.

    ``overrides`` (``load_prices``) is asked for the candidate's name, ``ENDPOINT/MODEL`` and the model, in this order.
    A server of one's own has no price in the snapshot.
    """
    if candidate.price is not None:
        return candidate.price
    for name in (candidate.name, f"{candidate.endpoint}/{candidate.model}", candidate.model):
        if overrides and name in overrides:
            return overrides[name]
    provider = _PROVIDERS.get(candidate.endpoint)
    if provider is None:
        return None
    url = _other_base_url(candidate, os.environ if environ is None else environ)
    return _from_snapshot(candidate.model, None if url else provider, url or None, candidate.tier, today)


def load_prices(path: Path) -> dict[str, Price]:
    """A price file: TOML tables ``[prices."ENDPOINT/MODEL"]`` with ``input, output, cached, cache_write, as_of``."""
    where = path.name
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {type(error).__name__}", where=where, fix="Check the path") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is no TOML: {error}", where=where, fix="Mend that line") from None
    rows = table.get("prices")
    if not isinstance(rows, dict):
        raise ConfigError("has no table [prices]", where=where, fix='Write [prices."openai/MODEL"] tables')
    named = {name: price_from_table(row, f"{where}: prices.{name}") for name, row in rows.items()}
    return {name: replace(price, source=where) for name, price in named.items()}


def price_from_table(table: Any, where: str) -> Price:
    """``{input = 2.5, output = 10, cached = 1.25, as_of = "2026-11-01"}`` → Price. Raises ConfigError."""
    if not isinstance(table, Mapping):
        raise ConfigError(
            "a price is a table", where=where, fix="Write {input = …, output = …}, USD per million tokens"
        )
    known = {**_FIELDS, **{name: name for name in _FIELDS.values()}}
    found: dict[str, Any] = {"source": "settings"}
    for key, amount in table.items():
        if key in ("as_of", "source"):
            found[key] = str(amount)
        elif key not in known:
            close = get_close_matches(key, [*known, "as_of"], n=1)
            fix = f"Did you mean {close[0]!r}?" if close else f"Use {', '.join(_FIELDS)} and as_of"
            raise ConfigError(f"unknown key {key!r}", where=f"{where}.{key}", fix=fix)
        else:
            found[known[key]] = _amount(amount, f"{where}.{key}")
    return Price(**found)


def _amount(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ConfigError(f"{value!r} is no price", where=where, fix="Write USD per million tokens, or leave it out")
    return float(value)


def _other_base_url(candidate: Candidate, environ: Mapping[str, str]) -> str:
    """The base URL when it is not the endpoint's own: then the model's name alone says nothing of its price."""
    known = endpoint(candidate.endpoint)
    stated = (environ.get(name, "") for name in known.base_url_envs)
    url = candidate.base_url or next((value for value in stated if value), "")
    return "" if candidate.endpoint == "azure" or url.startswith(known.default_base_url) else url


def _from_snapshot(model: str, provider: str | None, url: str | None, tier: str, today: date | None) -> Price | None:
    from genai_prices import data_snapshot  # 0.4 s: only where a price is asked for

    moment = datetime.combine(today, time(), UTC) if today else datetime.now(UTC)
    context = {"service_tier": _TIER_NAMES.get(tier, tier)}
    try:
        _, info = data_snapshot.get_snapshot().find_provider_model(model, None, provider, url)
        prices = info.get_prices(moment, context)
    except (LookupError, ValueError):
        return None
    amounts = {ours: getattr(prices, theirs, None) for ours, theirs in _SNAPSHOT_UNITS.items()}
    stepped = any(hasattr(amount, "tiers") for amount in amounts.values())
    version, as_of = _snapshot_dates()
    found = Price(
        **{
            name: None if amount is None else float(getattr(amount, "base", amount)) for name, amount in amounts.items()
        },
        source=f"genai-prices {version}" + (", first step of a price that rises with the prompt" if stepped else ""),
        as_of=as_of,
    )
    return found if found.input_usd_per_mtok is not None or found.output_usd_per_mtok is not None else None


def _usd(amount: Any) -> float | None:
    """A plain price, or the first step of one that rises with the length of the prompt."""
    return None if amount is None else float(getattr(amount, "base", amount))


@cache
def _snapshot_dates() -> tuple[str, str]:
    """The snapshot's version, and the latest day that it names as one on which prices were looked up."""
    from importlib.metadata import version

    from genai_prices.data import providers

    comments = (model.price_comments or "" for provider in providers for model in provider.models)
    days = [day for comment in comments for day in _LOOKED_UP.findall(comment)]
    return version("genai-prices"), max(days, default="")
