"""Where a candidate is reached and with which key: settings first, then the environment, then the default."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from speedqual.endpoints.base import Endpoint, HttpRequest
from speedqual.errors import ConfigError, MissingKeyError
from speedqual.records import Candidate

__all__ = [
    "bare_url",
    "base_url_of",
    "is_loopback",
    "key_of",
    "key_variable",
    "known_keys",
    "scrub",
    "scrub_bytes",
    "split_credentials",
]

_SHORTEST_SECRET = 8  # shorter "keys" are placeholders such as "none" and would be found in any text


def base_url_of(candidate: Candidate, endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """The base URL without a trailing slash. Raises ConfigError when there is none or it is no http(s) URL."""
    stated = candidate.base_url or next((v for e in endpoint.base_url_envs if (v := environ.get(e, "").strip())), "")
    url = (stated or endpoint.default_base_url).strip()
    if not url:
        raise ConfigError(
            f"candidate {candidate.name!r} has no base_url",
            where=f"endpoint {endpoint.name}",
            fix="Give base_url" + (f" or set {endpoint.base_url_envs[0]}" if endpoint.base_url_envs else ""),
        )
    if "://" not in url:
        url = f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _has_good_port(parts):
        raise ConfigError(
            f"{bare_url(url)!r} is no http(s) URL", where=f"candidate {candidate.name!r}", fix="Mend base_url"
        )
    if parts.hostname == "0.0.0.0":  # what OLLAMA_HOST says to listen everywhere
        url = url.replace("0.0.0.0", "127.0.0.1", 1)
    return url.rstrip("/")


def _has_good_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def key_of(candidate: Candidate, endpoint: Endpoint, base_url: str, environ: Mapping[str, str]) -> str | None:
    """The API key, or None where none is needed. Raises MissingKeyError naming the variable.

    A base URL with user and password needs none and gets none, unless the candidate names a variable.
    """
    if urlsplit(base_url).username and not candidate.api_key_env:
        return None
    if variable := key_variable(candidate, endpoint, environ):
        value = environ[variable].strip()
        if not (value.isascii() and value.isprintable()):
            what = f"the key in {variable} holds a character that no header can carry"
            raise ConfigError(what, where=f"candidate {candidate.name!r}", fix="Copy the key again")
        return value
    variables = _variables(candidate, endpoint)
    if candidate.api_key_env or (endpoint.needs_key and not is_loopback(base_url)):
        raise MissingKeyError(
            f"no API key in {' or '.join(variables) or 'any variable'}",
            where=f"candidate {candidate.name!r}",
            fix=f"Set the environment variable {variables[0]}" if variables else "Name one by api_key_env",
        )
    return None


def key_variable(candidate: Candidate, endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The environment variable whose key is sent, or None when none that is asked for is set."""
    return next((name for name in _variables(candidate, endpoint) if environ.get(name, "").strip()), None)


def _variables(candidate: Candidate, endpoint: Endpoint) -> tuple[str, ...]:
    return (candidate.api_key_env,) if candidate.api_key_env else endpoint.key_envs


def is_loopback(url: str) -> bool:
    """Whether the URL points at this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def bare_url(url: str) -> str:
    """The URL without user, password, query and fragment: fit for messages and records."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def known_keys(candidate: Candidate, endpoint: Endpoint, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Every key that could be meant, sent or not: none may stand in a message or a record."""
    variables = (candidate.api_key_env, *endpoint.key_envs)
    return tuple(value for v in variables if v and (value := environ.get(v, "").strip()))


def split_credentials(request: HttpRequest) -> tuple[HttpRequest, str]:
    """The request with user and password moved from its URL to a header, and the password."""
    parts = urlsplit(request.url)
    if not parts.username:
        return request, ""
    user, password = unquote(parts.username), unquote(parts.password or "")
    headers = dict(request.headers)
    if not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
    url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return replace(request, url=url, headers=headers), password


def scrub(text: str, secrets: tuple[str, ...]) -> str:
    """``text`` with every secret replaced."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    return text


def scrub_bytes(data: bytes, secrets: tuple[str, ...]) -> bytes:
    """``data`` with every secret replaced; the same object when there is none in it."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            data = data.replace(secret.encode(), b"[key]")
    return data
