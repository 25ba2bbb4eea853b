"""What response headers say: when to retry, rate limits, the request's id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from speedqual.endpoints.reading.values import as_number

__all__ = ["cost_usd", "rate_limits", "request_id", "retry_after_s", "served_tier"]

_OPENAI = re.compile(r"x-ratelimit-(limit|remaining|reset)-([a-z-]+)")
_ANTHROPIC = re.compile(r"anthropic-(?:priority-)?ratelimit-([a-z-]+)-(limit|remaining|reset)")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|d|h|m|s)")
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-dashscope-request-id", "cf-ray")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait before the next attempt, from ``retry-after-ms`` or ``retry-after`` (seconds or a date)."""
    ms = as_number(headers.get("retry-after-ms"))
    if ms is not None and ms >= 0:
        return ms / 1000
    value = headers.get("retry-after", "").strip()
    seconds = as_number(value)
    if seconds is not None:
        return float(seconds) if seconds >= 0 else None
    return _seconds_between(headers.get("date", ""), value)


def rate_limits(headers: Mapping[str, str]) -> dict[str, float] | None:
    """``limit_X``, ``remaining_X`` and ``reset_X_s`` for each resource X; None when no header speaks of limits."""
    found: dict[str, float] = {}
    for name, value in headers.items():
        if matched := _OPENAI.fullmatch(name):
            kind, resource = matched.groups()
        elif matched := _ANTHROPIC.fullmatch(name):
            resource, kind = matched.groups()
        else:
            continue
        resource = resource.replace("-", "_")
        if kind == "reset":
            number, name = _reset_s(value, headers.get("date", "")), f"reset_{resource}_s"
        else:
            number, name = as_number(value), f"{kind}_{resource}"
        if number is not None:
            found[name] = number
    return found or None


def request_id(headers: Mapping[str, str]) -> str | None:
    """The id by which the provider's support finds this request."""
    return next((headers[name] for name in _IDS if headers.get(name)), None)


def served_tier(headers: Mapping[str, str]) -> str | None:
    """The service tier, for endpoints that name it only in a header (Gemini)."""
    return headers.get("x-gemini-service-tier") or None


def cost_usd(headers: Mapping[str, str]) -> float | None:
    """The cost, for proxies that name it only in a header (LiteLLM)."""
    cost = as_number(headers.get("x-litellm-response-cost"))
    return None if cost is None or cost < 0 else float(cost)


def _reset_s(value: str, now: str) -> float | None:
    """``"1m2s"``, ``"120ms"``, ``"0.5"`` or an RFC 3339 time → seconds."""
    plain = as_number(value)
    if plain is not None:
        return float(plain)
    spans = _SPAN.findall(value)
    if spans and "".join(number + unit for number, unit in spans) == value:
        return round(sum(float(number) * _SECONDS[unit] for number, unit in spans), 9)
    return _seconds_between(now, value)


def _seconds_between(now: str, then: str) -> float | None:
    """Both by the server's own clock, so that ours does not matter; None when one is no date."""
    start, end = _date(now), _date(then)
    if start is None or end is None:
        return None
    return max(0.0, (end - start).total_seconds())


def _date(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError):
            continue
        return moment if moment.tzinfo else None
    return None
