"""What most protocols share on the asking side: URLs as people write them, headers, the body."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from speedqual.endpoints.base import HttpRequest, RawReply
from speedqual.endpoints.reading.decoding import decode, decode_in_steps
from speedqual.endpoints.reading.reader import Framing, Reader
from speedqual.errors import ConfigError
from speedqual.records import Attempt, Candidate, Prompt

__all__ = ["About", "Adapter", "bearer", "data_url", "full_url", "has_image", "post", "refuse", "with_params"]

_VERSION = re.compile(r"v\d+[a-z0-9]*")
_LOCAL = re.compile(r"(localhost|0\.0\.0\.0|127\.\d+\.\d+\.\d+|\[::1?\]|10\.\d|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the docs say of a protocol. ``seen``: ``live`` (against a real server, here) or ``recordings`` (only)."""

    title: str
    sends: str
    reads: str
    ends: str
    seen: str = "recordings"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """Base of the protocols that ship with speedqual; a protocol from elsewhere need not use it."""

    name: str
    about: About
    wire: str  # the name of the protocol in recordings
    needs_key: bool = True
    key_envs: tuple[str, ...] = ()
    base_url_envs: tuple[str, ...] = ()
    default_base_url: str = ""
    end_hints: tuple[bytes, ...] = ()

    reader: ClassVar[type[Reader]] = Reader
    framing: ClassVar[Framing] = "sse"
    has_images: ClassVar[bool] = False
    has_tools: ClassVar[bool] = False
    has_tier: ClassVar[bool] = False
    has_cache_switch: ClassVar[bool] = False

    def decode(self, raw: RawReply) -> Attempt:
        """What the reply says, with ``number`` 1. Never raises on any bytes."""
        return decode(raw, type(self).reader, type(self).framing)

    def decode_in_steps(self, raw: RawReply) -> Generator[None, None, Attempt]:
        """The same, piece by piece."""
        return decode_in_steps(raw, type(self).reader, type(self).framing)

    def request(self, candidate: Candidate, prompt: Prompt, base_url: str, key: str | None) -> HttpRequest:
        """The bytes to send."""
        self.check(candidate, prompt)
        body = self.body(candidate, prompt, base_url)
        return post(self.url(candidate, base_url), self.headers(key), body, candidate)

    def url(self, candidate: Candidate, base_url: str) -> str:
        """Where this protocol asks, from a base URL as people write it."""
        raise NotImplementedError

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers beside those of every request; here the key goes in."""
        return bearer(key)

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        """The JSON document to send. ``base_url`` tells dialects apart."""
        raise NotImplementedError

    def check(self, candidate: Candidate, prompt: Prompt) -> None:
        """Refuse what the protocol cannot carry, before anything is sent."""
        if candidate.tier and not self.has_tier:
            refuse(candidate, "tier", f"the protocol {self.name!r} has no service tiers", "Remove it")
        if candidate.cache is False and not self.has_cache_switch:
            refuse(candidate, "cache", f"the protocol {self.name!r} cannot turn its prompt cache off", "Remove it")
        if prompt.tools and not self.has_tools:
            refuse(candidate, "tools", f"the protocol {self.name!r} carries no tools", "Use a chat protocol")
        if not self.has_images and has_image(prompt):
            refuse(candidate, "images", f"the protocol {self.name!r} carries no images", "Use a chat protocol")


def has_image(prompt: Prompt) -> bool:
    """Is any part of any message an image?"""
    parts = (part for m in prompt.messages if isinstance(m.content, list) for part in m.content)
    return any(part.get("type") == "image" for part in parts)


def data_url(part: Mapping[str, Any]) -> str:
    """An image part as a ``data:`` URL."""
    return f"data:{part.get('media_type', 'image/png')};base64,{part.get('data', '')}"


def refuse(candidate: Candidate, field: str, what: str, fix: str) -> None:
    """Raise the ConfigError for a setting that the protocol lacks."""
    raise ConfigError(what, where=f"candidate {candidate.name!r}, {field}", fix=fix)


def bearer(key: str | None) -> dict[str, str]:
    """The usual header for a key; nothing without one."""
    return {"authorization": f"Bearer {key}"} if key else {}


def post(url: str, headers: Mapping[str, str], body: Mapping[str, Any], candidate: Candidate) -> HttpRequest:
    """A request with a JSON body. The candidate's own headers win."""
    own = {name.lower(): value for name, value in candidate.headers.items()}
    usual = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return HttpRequest(url=url, headers={**usual, **headers, **own}, body=data)


def with_params(body: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` with the candidate's parameters laid over it. Objects merge; a parameter of None takes the key out."""
    merged = dict(body)
    for name, value in params.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(name), Mapping):
            merged[name] = with_params(merged[name], value)
        else:
            merged[name] = value
    return merged


def full_url(base_url: str, path: str, *, version: str = "", port: int | None = None) -> str:
    """``base_url`` + ``/version`` + ``path``, however the base was written.

    A scheme is added (http for this machine and private networks, else https); a trailing slash does no harm; the
    version is left out when the base already has one (``/v1``, ``/api/paas/v4``, …); a base that ends in the whole path
    is used as it is; its query is kept. ``port`` is added when neither scheme nor port was given.
    """
    base = base_url.strip()
    if "://" not in base:
        host = base.partition("/")[0]
        scheme = "http" if _LOCAL.match(host) or "." not in host else "https"
        if port and not re.search(r":\d+$", host):
            base = f"{host}:{port}{base[len(host) :]}"
        base = f"{scheme}://{base}"
    parts = urlsplit(base)
    root = parts.path.rstrip("/")
    if not root.endswith(path):
        named = any(_VERSION.fullmatch(segment) for segment in root.split("/"))
        root += ("" if named or not version else f"/{version}") + path
    host = parts.netloc.replace("0.0.0.0", "127.0.0.1")
    return f"{parts.scheme}://{host}{root}" + (f"?{parts.query}" if parts.query else "")
