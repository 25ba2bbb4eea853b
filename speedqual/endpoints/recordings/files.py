"""Recordings of real replies: reading, replaying with exact stamps, and writing them without secrets.

Two forms are read: JSON (``api, status, headers, head_ms, chunks, framing, end, end_ms``, ``chunks`` being
``[t_ms, payload]``), and the line form of ``x-*.txt`` (``ms | read | HTTP chunk | line``). A payload is text,
``{"b64": …}``, ``{"repeat": s, "n": k}`` or a list of these.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from speedqual.endpoints.base import Ending, RawReply, Read
from speedqual.endpoints.registry import endpoint, names
from speedqual.errors import UsageError

__all__ = ["Recording", "endpoint_of", "payload_bytes", "read_recording", "recorded", "write_recording"]

NS_PER_MS = 1_000_000
_ENDINGS: Mapping[str, Ending] = {"eof": "eof", "reset": "reset", "cut": "cut", "length_short": "cut"}
_KEPT_HEADERS = ("content-type", "content-encoding", "retry-after", "retry-after-ms", "date", "location")
_KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-", "anthropic-priority-ratelimit-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One reply: what was sent when, in milliseconds after the request was read."""

    api: str
    path: str
    chunks: tuple[tuple[float, bytes], ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    head_ms: float | None = None
    framing: str = "chunked"  # chunked | length | close
    length: int | None = None
    end: str = "eof"  # eof | reset | cut | length_short
    end_ms: float | None = None
    expect: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    def raw(self, t_send: int = 0) -> RawReply:
        """The reply as a perfect client would have seen it: each write is one read, at its exact time."""
        reads = tuple(Read(t_send + round(ms * NS_PER_MS), data) for ms, data in self.chunks if data)
        first_ms = self.chunks[0][0] if self.chunks else 0.0
        head_ms = min(5.0, first_ms) if self.head_ms is None else self.head_ms
        last_ms = max([head_ms, *(ms for ms, _ in self.chunks), self.end_ms or 0.0])
        return RawReply(
            t_send=t_send,
            t_headers=t_send + round(head_ms * NS_PER_MS),
            t_close=t_send + round(last_ms * NS_PER_MS),
            status=self.status,
            headers={name.lower(): value for name, value in self.headers.items()},
            reads=reads,
            ending=_ENDINGS[self.end],
            stamp="scripted",
        )


def payload_bytes(payload: Any) -> bytes:
    """The bytes of a chunk's payload. Raises ValueError for a form that is not known."""
    if isinstance(payload, str):
        return payload.encode("utf-8")
    if isinstance(payload, list):
        return b"".join(payload_bytes(part) for part in payload)
    if isinstance(payload, dict) and isinstance(payload.get("b64"), str):
        return base64.b64decode(payload["b64"])
    if isinstance(payload, dict) and isinstance(payload.get("repeat"), str) and isinstance(payload.get("n"), int):
        repeated: str = payload["repeat"]
        return repeated.encode("utf-8") * int(payload["n"])
    raise ValueError("a payload is text, b64, repeat or a list of these")


def read_recording(path: Path) -> Recording:
    """The recording in a file of either form. Raises UsageError saying what is wrong with it."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read as text: {type(error).__name__}", where=str(path), fix="Check it") from None
    try:
        return _from_lines(text) if text.startswith("#") else _from_json(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        fix = "See docs/protocols.md for the form of a recording"
        raise UsageError(f"is no recording: {type(error).__name__}: {error}", where=str(path), fix=fix) from None


def _from_json(data: Mapping[str, Any]) -> Recording:
    expect = dict(data.get("expect") or {})
    for key in ("text", "reasoning"):
        if isinstance(expect.get(key), dict):
            expect[key] = payload_bytes(expect[key]).decode("utf-8")
    end = data.get("end", "eof")
    if end not in _ENDINGS:
        raise ValueError(f"end is one of {', '.join(_ENDINGS)}")
    return Recording(
        api=data["api"],
        path=data.get("path", "/"),
        chunks=tuple((float(ms), payload_bytes(payload)) for ms, payload in data["chunks"]),
        status=int(data.get("status", 200)),
        headers=dict(data.get("headers", {})),
        head_ms=data.get("head_ms"),
        framing=data.get("framing", "chunked"),
        length=data.get("length"),
        end=end,
        end_ms=data.get("end_ms"),
        expect=expect,
        source=str(data.get("source", "")),
    )


def _from_lines(text: str) -> Recording:
    """``ms | read | HTTP chunk | line`` rows behind ``# body:``; ``>`` the request, ``<`` the response head."""
    lines = text.split("\n")
    request = next(line for line in lines if line.startswith("> "))
    path = request.split(" ")[2]
    head = [line[2:] for line in lines if line.startswith("< ")]
    head_ms = next(line for line in lines if line.startswith("# response head")).split(" at ")[1].split(" ")[0]
    rows = [line.split(" | ", 3) for line in lines[lines.index("# body:") + 1 :] if line[:1].isdigit()]
    reads: dict[int, tuple[float, list[bytes]]] = {}
    for ms, read, _, line in rows:
        reads.setdefault(int(read), (float(ms), []))[1].append(line.encode("utf-8") + b"\n")
    return Recording(
        api="openai-completions" if path.endswith("/v1/completions") else "openai-chat",
        path=path,
        chunks=tuple((ms, b"".join(parts)) for ms, parts in reads.values()),
        status=int(head[0].split(" ")[1]),
        headers=_body_headers(head[1:]),
        head_ms=float(head_ms),
        framing="close",
        source=lines[0].removeprefix("# "),
    )


def _body_headers(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return {name: value for name, value in headers.items() if name in _KEPT_HEADERS}


def endpoint_of(api: str) -> str:
    """The name of the endpoint that speaks a recording's ``api``. Raises UsageError when there is none."""
    for name in sorted(names(), key=lambda name: (name != "openai", name)):
        if api in (name, getattr(endpoint(name), "wire", None)):
            return name
    raise UsageError(f"no endpoint speaks {api!r}", where="recording, api", fix=f"Use one of {', '.join(names())}")


def recorded(raw: RawReply, *, api: str, path: str, source: str = "", secrets: tuple[str, ...] = ()) -> Recording:
    """A reply as a recording. Headers that could name an account are left out, ``secrets`` are struck out."""
    start = raw.t_send or 0
    kept = {n: v for n, v in raw.headers.items() if n in _KEPT_HEADERS or n.startswith(_KEPT_PREFIXES)}
    end: str = {"eof": "eof", "reset": "reset"}.get(raw.ending, "cut")
    return Recording(
        api=api,
        path=path.partition("?")[0],
        chunks=tuple((_ms(read.t_ns - start), _without(read.data, secrets)) for read in raw.reads),
        status=raw.status or 0,
        headers={name: _without(value.encode(), secrets).decode("utf-8", "replace") for name, value in kept.items()},
        head_ms=None if raw.t_headers is None else _ms(raw.t_headers - start),
        end=end,
        end_ms=None if raw.t_close is None else _ms(raw.t_close - start),
        source=source,
    )


def write_recording(recording: Recording, path: Path) -> None:
    """Write the JSON form, one chunk a line."""
    head = {
        "api": recording.api,
        "path": recording.path,
        "source": recording.source,
        "status": recording.status,
        "headers": dict(recording.headers),
        "head_ms": recording.head_ms,
        "framing": recording.framing,
        "end": recording.end,
        "end_ms": recording.end_ms,
        "expect": dict(recording.expect),
    }
    rows = ",\n  ".join(json.dumps([ms, _payload(data)], ensure_ascii=True) for ms, data in recording.chunks)
    text = json.dumps({k: v for k, v in head.items() if v is not None}, indent=1, ensure_ascii=True)
    path.write_text(f'{text[:-2]},\n "chunks": [\n  {rows}\n ]\n}}\n', "utf-8")


def _payload(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode("ascii")}


def _without(data: bytes, secrets: tuple[str, ...]) -> bytes:
    for secret in secrets:
        if secret:
            data = data.replace(secret.encode("utf-8"), b"[removed]")
    return data


def _ms(ns: int) -> float:
    return round(ns / NS_PER_MS, 3)
