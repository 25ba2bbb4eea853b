"""The first look at an endpoint: one tiny request, and an error that says what to mend."""

from __future__ import annotations

from collections.abc import Mapping

from speedqual.endpoints.access import is_loopback, key_variable
from speedqual.endpoints.base import RawReply
from speedqual.endpoints.registry import endpoint
from speedqual.errors import (
    AuthError,
    EndpointError,
    NotAStreamError,
    RedirectError,
    UnknownModelError,
    UnreachableError,
)
from speedqual.records import Attempt, Candidate, Message, Prompt

__all__ = ["TINY", "raise_for"]

TINY = Prompt(messages=(Message("user", "Hi"),), max_tokens=1)
_GOOD = frozenset({"ok", "empty", "filtered"})
_LATER = frozenset({429, 500, 502, 503, 504, 529})
_MODEL_CODES = ("model_not_found", "unknown_model", "invalid_model", "modelnotfound", "notfounderror")
_SHOWN = 160


def raise_for(attempt: Attempt, raw: RawReply, candidate: Candidate, url: str, environ: Mapping[str, str]) -> None:
    """Raise the EndpointError that this attempt amounts to. ``url`` is bare. Busy (429, 5xx) is no error yet."""
    if attempt.outcome in _GOOD or (attempt.status in _LATER and attempt.retryable):
        return
    kind, what, fix = _diagnose(attempt, raw, candidate, environ, url)
    raise kind(what, where=url, fix=fix)


def _diagnose(
    attempt: Attempt, raw: RawReply, candidate: Candidate, environ: Mapping[str, str], url: str
) -> tuple[type[EndpointError], str, str]:
    said = _said(attempt, raw)
    name, status = f"candidate {candidate.name!r}", attempt.status
    if attempt.outcome == "timeout":
        kind = UnreachableError if attempt.deadline == "connect" else EndpointError
        return kind, f"no answer in time (deadline: {attempt.deadline})", "Check the address, or raise the deadline"
    if status is None:
        return UnreachableError, f"{name} cannot be reached: {said}", _reach_fix(url, environ)
    if 300 <= status < 400:
        return RedirectError, f"HTTP {status}: {said}", f"Set base_url of {name} to where it points"
    if status in (401, 403):
        variable = key_variable(candidate, endpoint(candidate.endpoint), environ)
        if variable is None:
            fix = "Name the variable that holds the key: --api-key-env VARIABLE, or api_key_env in the settings file"
            return AuthError, f"HTTP {status}, and no key was sent: {said}", fix
        return AuthError, f"HTTP {status}, the key was refused: {said}", f"Check {variable} and what it may do"
    if _is_model_fault(attempt):
        return (
            UnknownModelError,
            f"no model {candidate.model!r}: {said}",
            "Look the model up in the endpoint's list",
        )
    path_fix = "Check base_url: it may lack a path such as /v1"
    if attempt.outcome == "not_stream":
        return (
            NotAStreamError,
            f"HTTP {status}, but no stream: {said}",
            "Check base_url: it may lack a path such as /v1",
        )
    if status == 404:
        return EndpointError, f"HTTP 404: {said}", path_fix
    return EndpointError, f"HTTP {status}, {attempt.outcome}: {said}", "See what the endpoint says"


def _is_model_fault(attempt: Attempt) -> bool:
    code = (attempt.error_code or "").lower().replace("-", "_")
    words = (attempt.error_message or "").lower()
    if any(known in code for known in _MODEL_CODES[:4]):
        return True
    unknown = ("not found", "not exist", "unknown", "no such", "invalid", "not supported", "not available")
    return attempt.status in (400, 404, 422, 200) and "model" in words and any(w in words for w in unknown)


def _said(attempt: Attempt, raw: RawReply) -> str:
    """What came back, in one short printable line."""
    body = b"".join(read.data for read in raw.reads[:4])[: _SHOWN * 4].decode("utf-8", "replace")
    kind = raw.headers.get("content-type", "").split(";")[0]
    text = attempt.error_message or raw.error or (f"{kind or 'a body'} beginning {body[:60]!r}" if body else "nothing")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _reach_fix(url: str, environ: Mapping[str, str]) -> str:
    if is_loopback(url):
        return "Is the server running, and on that port?"
    proxy = next((v for v in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy") if environ.get(v)), "")
    if proxy:
        return f"Check base_url and the network; {proxy} is set but not used unless trust_env is on"
    return "Check base_url and the network"
