"""The plug point of a protocol: how a prompt is sent, and what a raw reply says.

The client (``client.py``) moves bytes and stamps them; it knows no protocol. A protocol (``openai_chat.py``, …) turns
a prompt into bytes and stamped bytes into an ``Attempt``; it knows no clock and no socket. Decoding happens after the
stream.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from speedqual.records import Attempt, Candidate, Prompt

__all__ = ["Endpoint", "HttpRequest", "RawReply", "Read", "ReadsInSteps"]

Ending = Literal["eof", "reset", "cut", "deadline", "cancelled", "unreachable"]
"""How the transport ended: cleanly; a reset; inside the HTTP framing; a deadline of ours; by us; before any reply."""


@dataclass(frozen=True, slots=True)
class Read:
    """Bytes of the body that became visible together. ``t_ns`` dates their arrival; HTTP framing is already off."""

    t_ns: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request as it goes to the socket. ``body`` is final; the key, if any, stands only in ``headers``."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    """All that the transport saw of one reply. Times are nanoseconds of ``perf_counter_ns``."""

    t_send: int | None
    t_sched: int | None = None
    t_headers: int | None = None
    t_close: int | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    reads: tuple[Read, ...] = ()
    ending: Ending = "eof"
    deadline: str | None = None  # connect | first_token | silence | total, when ending is "deadline"
    error: str = ""  # the transport's own words, without any secret
    stamp: str = "none"  # kernel | data_received | task | scripted
    connection: str = ""  # new | reused
    client_lag_ns: int | None = None


class Endpoint(Protocol):
    """A protocol. Offered under its name as an entry point of the group ``speedqual.endpoints``."""

    name: str
    needs_key: bool
    key_envs: tuple[str, ...]  # environment variables that may hold the key, first wins
    base_url_envs: tuple[str, ...]
    default_base_url: str
    end_hints: tuple[bytes, ...]  # bytes that may mark the protocol's end; the client looks for them without parsing

    def request(self, candidate: Candidate, prompt: Prompt, base_url: str, key: str | None) -> HttpRequest:
        """The bytes to send. Raises ConfigError when the candidate asks for what the protocol lacks."""
        ...

    def decode(self, raw: RawReply) -> Attempt:
        """What the reply says, with ``number`` 1. Never raises on any bytes."""
        ...


@runtime_checkable
class ReadsInSteps(Protocol):
    """A protocol that can read a long reply in pieces of well under a millisecond; others are read in one go."""

    def decode_in_steps(self, raw: RawReply) -> Generator[None, None, Attempt]:
        """As ``decode``, with a ``yield`` wherever something else may come in between."""
        ...
