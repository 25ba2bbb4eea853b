"""Errors as endpoints write them: in a JSON body, inside a stream, in the status line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from speedqual.endpoints.reading.values import as_mapping, as_number, as_text

__all__ = ["Fault", "fault_in", "http_fault", "may_be_fault"]

_SIGNS = frozenset({"error", "error_code", "base_resp", "code", "x_groq", "message", "detail", "errors", "err"})
_BAIDU_RETRYABLE = frozenset({"2", "4", "18", "336000", "336100", "336501", "336502"})  # busy, or too many a second

_MESSAGES = ("message", "Message", "detail", "errors", "msg", "err")

_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_RETRYABLE_WORDS = re.compile(
    r"overload|rate.?limit|throttl|too.?many|timeout|unavailable|server.?error|api_error|internal|capacity|exhausted"
    r"|network_error|insufficient_system_resource",
    re.IGNORECASE,
)
_FINAL_WORDS = re.compile(r"insufficient_quota|billing|quota_exceeded|invalid|context_length", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fault:
    """What an endpoint says went wrong. ``retry_after_s`` only where the body itself gives it."""

    code: str | None = None
    message: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None


def may_be_fault(obj: Mapping[str, Any]) -> bool:
    """False for nearly every frame, at little cost: none of the keys that an error comes with."""
    return not _SIGNS.isdisjoint(obj) or obj.get("object") == "error" or obj.get("type") == "error"


def fault_in(obj: Mapping[str, Any], *, expected: bool = False) -> Fault | None:
    """The error that a JSON object reports, or None.

    Knows ``{"error": {…}}``, ``{"error": "…"}``, ``{"object": "error", …}``, ``{"type": "error", …}``, Baidu's
    ``error_code`` and MiniMax's ``base_resp``. With ``expected`` (the object is known to be an error) also bare
    ``message``, ``detail`` and ``errors``.
    """
    error = obj.get("error")
    if error:
        return _nested(error, obj)
    if obj.get("object") == "error":
        return _fault(obj.get("code") or obj.get("type"), obj.get("message"))
    if obj.get("type") == "error":
        return _fault(obj.get("code"), obj.get("message"))
    if obj.get("error_code"):
        found = _fault(obj["error_code"], obj.get("error_msg"))
        return replace(found, retryable=True) if found.code in _BAIDU_RETRYABLE else found
    base = obj.get("base_resp")
    if base and as_number(as_mapping(base).get("status_code")):
        return _fault(base.get("status_code"), base.get("status_msg"))
    return _bare(obj) if expected else None


def http_fault(status: int, body: Any, text: str) -> Fault:
    """The fault of a reply with an error status: from its JSON ``body``, else the first line of its ``text``."""
    if isinstance(body, list) and body:
        body = body[0]
    found = fault_in(body, expected=True) if isinstance(body, dict) else None
    fault = found or Fault(message=as_text(_title(text)) or f"HTTP {status}")
    may_retry = status in _RETRYABLE_STATUS or status >= 500
    final = bool(fault.code and _FINAL_WORDS.search(fault.code))
    return Fault(fault.code, fault.message, may_retry and not (final and status < 500), fault.retry_after_s)


def _nested(error: Any, obj: Mapping[str, Any]) -> Fault:
    if not isinstance(error, dict):
        return _fault(obj.get("error_type") or obj.get("code"), error)
    code = error.get("code")
    if code is None or code == "":
        code = error.get("type") or error.get("http_code") or error.get("status")
    message = error.get("message") or error.get("msg") or error.get("detail")
    return _fault(code, message or error, retry_after_s=_retry_info(error.get("details")))


def _bare(obj: Mapping[str, Any]) -> Fault:
    code = obj.get("code") or obj.get("type") or obj.get("__type")
    message = next((obj[name] for name in _MESSAGES if obj.get(name)), None)
    if isinstance(message, list) and message and isinstance(message[0], dict):
        message = message[0].get("message") or message
    return _fault(code, message or dict(obj))


def _fault(code: Any, message: Any, *, retry_after_s: float | None = None) -> Fault:
    name, text = as_text(code), as_text(message)
    return Fault(name, text, _may_retry(name), retry_after_s)


def _may_retry(code: str | None) -> bool:
    if not code:
        return False
    if code.isdecimal() and len(code) == 3:
        return int(code) in _RETRYABLE_STATUS or int(code) >= 500
    return bool(_RETRYABLE_WORDS.search(code)) and not _FINAL_WORDS.search(code)


def _retry_info(details: Any) -> float | None:
    """Google's ``RetryInfo``: ``{"retryDelay": "17s"}`` in seconds."""
    for detail in details if isinstance(details, list) else []:
        delay = as_mapping(detail).get("retryDelay")
        if isinstance(delay, str) and delay.endswith("s"):
            return as_number(delay[:-1])
    return None


def _title(text: str) -> str:
    """The title of an HTML page, or the first line of any other text."""
    found = re.search(r"<title[^>]*>([^<]{1,200})", text[:4096], re.IGNORECASE)
    return found.group(1).strip() if found else text.strip().split("\n", 1)[0][:200]
