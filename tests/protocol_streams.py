"""Streams in a few lines, for tests of protocols: frames → bytes → attempt."""

from __future__ import annotations

import json
from typing import Any

from speedqual.endpoints.base import RawReply, Read
from speedqual.endpoints.registry import endpoint
from speedqual.records import Attempt

MS = 1_000_000


def sse(*frames: Any) -> list[bytes]:
    """Each frame as one event; text stands as it is."""
    return [
        f.encode() if isinstance(f, str) else b"data: " + json.dumps(f, ensure_ascii=False).encode() + b"\n\n"
        for f in frames
    ]


def decode(name: str, pieces: list[bytes], **raw: Any) -> Attempt:
    """The pieces 10 ms apart, the first at 10 ms."""
    reads = tuple(Read((i + 1) * 10 * MS, piece) for i, piece in enumerate(pieces))
    settings = {"t_send": 0, "status": 200, "headers": {"content-type": "text/event-stream"}, "reads": reads} | raw
    return endpoint(name).decode(RawReply(**settings))


def chat(*frames: Any, name: str = "openai", **raw: Any) -> Attempt:
    """A reply of OpenAI chat, one frame a read."""
    return decode(name, sse(*frames), **raw)


def chat_chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of OpenAI chat."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


DONE = "data: [DONE]\n\n"
STOP = chat_chunk("stop")
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
JSON = {"content-type": "application/json"}


def typed_events(*objects: dict[str, Any]) -> list[bytes]:
    """Events that are named by the type inside, as Anthropic and Responses send them."""
    return [f"event: {o['type']}\ndata: {json.dumps(o)}\n\n".encode() for o in objects]
