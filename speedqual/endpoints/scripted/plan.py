"""A script and a request → every byte of the reply with its due time, before the first one is sent."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from speedqual.endpoints.scripted.dialects import Dialect
from speedqual.endpoints.scripted.script import Asked, Script, tokens_of

__all__ = ["Plan", "Step", "plan_reply"]

End = Literal["keep", "close", "reset", "hang"]
_REASONS = {200: "OK", 307: "Temporary Redirect", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_PLAIN = ("http", "redirect", "html", "body")


class Step(NamedTuple):
    """One write: due ``at_ns`` after the request was read. ``tokens`` counts those in it; ``kind`` says what it is."""

    at_ns: int
    kind: Literal["head", "token", "event", "end"]
    data: bytes
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order of time, and what happens to the connection after the last one."""

    steps: tuple[Step, ...]
    end: End = "keep"
    n_out: int = 0
    status: int = 200


@dataclass(frozen=True, slots=True)
class _Chunk:
    at_ns: int
    text: str
    tokens: int
    reasoning: bool


def plan_reply(script: Script, asked: Asked, dialect: Dialect) -> Plan:
    """The reply to ``asked`` by ``script``."""
    if script.error in _PLAIN:
        return _plain(script, asked, dialect)
    if script.error in ("silent", "refuse"):
        return Plan((), "hang" if script.error == "silent" else "close")
    reasoning, answer, finish = _tokens(script, asked)
    chunks = list(_chunks(script, reasoning, answer))
    usage = _usage(script, asked, len(reasoning), len(reasoning) + len(answer))
    if not asked.stream:
        return _whole(script, asked, dialect, chunks, finish, usage)
    return _stream(script, asked, dialect, chunks, finish, usage)


def _tokens(script: Script, asked: Asked) -> tuple[list[str], list[str], str]:
    """Reasoning tokens, answer tokens and the finish reason, with ``max_tokens`` obeyed."""
    if script.error in ("empty", "filtered"):
        return [], [], "content_filter" if script.error == "filtered" else script.finish_reason
    reasoning = tokens_of(script.reasoning)
    answer = tokens_of(script.answer_to(asked), script.n)
    limit = asked.max_tokens
    if limit is None or limit >= len(reasoning) + len(answer):
        return reasoning, answer, script.finish_reason
    return reasoning[:limit], answer[: max(0, limit - len(reasoning))], "length"


def _chunks(script: Script, reasoning: list[str], answer: list[str]) -> Iterator[_Chunk]:
    """Tokens in chunks, each due with its last token; a chunk holds one channel."""
    noise = random.Random(f"{script.seed}")
    step_ns = 1e9 / script.tok_s if script.tok_s else 0.0
    floor, first = 0, 0
    for channel, tokens in ((True, reasoning), (False, answer)):
        for start in range(0, len(tokens), script.tokens_per_chunk):
            piece = tokens[start : start + script.tokens_per_chunk]
            last = first + start + len(piece) - 1
            pause_ms = sum(s.ms for s in script.stalls if s.after <= last)
            at = script.ttft_ms * 1e6 + last * step_ns + pause_ms * 1e6
            at += noise.uniform(-1, 1) * script.jitter_ms * 1e6
            floor = max(floor, int(at))
            yield _Chunk(floor, "".join(piece), len(piece), channel)
        first += len(tokens)


def _usage(script: Script, asked: Asked, n_reasoning: int, n_out: int) -> dict[str, int] | None:
    if script.usage == "none" or not asked.wants_usage:
        return None
    n_prompt = script.n_prompt if script.n_prompt is not None else len(tokens_of(asked.prompt))
    usage = {"n_prompt": n_prompt, "n_out": n_out * (10 if script.usage == "wrong" else 1), "n_reasoning": n_reasoning}
    return usage if script.n_cached is None else usage | {"n_cached": script.n_cached}


def _stream(
    script: Script, asked: Asked, dialect: Dialect, chunks: list[_Chunk], finish: str, usage: dict[str, int] | None
) -> Plan:
    model = asked.model
    first_ns = chunks[0].at_ns if chunks else int(script.ttft_ms * 1e6)
    head_ns = first_ns if script.head_ms is None else min(first_ns, int(script.head_ms * 1e6))
    steps = [
        Step(head_ns, "head", _head(200, dialect.content_type) + (_chunk(dialect.role(model)) if script.role else b""))
    ]
    steps += _comments(script, dialect, head_ns, first_ns)
    kept, faulty = _before_fault(script, chunks)
    written = [(c, _chunk(dialect.token(model, c.text, reasoning=c.reasoning))) for c in kept]
    steps += _clumped(script, [Step(c.at_ns, "token", data, c.tokens) for c, data in written])
    n_out = sum(c.tokens for c in kept)
    if faulty:
        at_ns = chunks[len(kept)].at_ns if len(kept) < len(chunks) else steps[-1].at_ns
        return _faulty(script, dialect, tuple(steps), at_ns, n_out)
    at_ns = steps[-1].at_ns + int(script.usage_ms * 1e6)
    return Plan((*steps, Step(at_ns, "end", _last(script, dialect, model, finish, usage))), "keep", n_out)


def _last(script: Script, dialect: Dialect, model: str, finish: str, usage: dict[str, int] | None) -> bytes:
    """Finish, usage, end marker and the last HTTP chunk, in one write."""
    carried = dialect.finish_carries_usage or script.usage == "last"
    events = [dialect.finish(model, finish, usage if carried else None)]
    if usage and not carried:
        events.append(dialect.usage(model, usage))
    if script.error == "payload":
        events.insert(0, dialect.broken())
    return b"".join(map(_chunk, (*events, dialect.end()))) + b"0\r\n\r\n"


def _comments(script: Script, dialect: Dialect, head_ns: int, first_ns: int) -> list[Step]:
    every_ns = int(script.comment_ms * 1e6)
    if not every_ns or not dialect.comment():
        return []
    return [Step(at, "event", _chunk(dialect.comment())) for at in range(head_ns + every_ns, first_ns, every_ns)]


def _before_fault(script: Script, chunks: list[_Chunk]) -> tuple[list[_Chunk], bool]:
    if script.error not in ("stream", "truncated", "cut", "reset", "hang", "long_line"):
        return chunks, False
    kept, n = [], 0
    for chunk in chunks:
        if n + chunk.tokens > script.error_after:
            break
        n += chunk.tokens
        kept.append(chunk)
    return kept, True


def _faulty(script: Script, dialect: Dialect, steps: tuple[Step, ...], at_ns: int, n_out: int) -> Plan:
    if script.error == "stream":
        return Plan((*steps, Step(at_ns, "end", _chunk(dialect.error(script.message)) + b"0\r\n\r\n")), "keep", n_out)
    if script.error == "truncated":
        return Plan((*steps, Step(at_ns, "end", b"0\r\n\r\n")), "keep", n_out)
    if script.error == "long_line":
        size, piece = script.error_bytes, 1 << 16
        bulk = _chunk(b"x" * piece)
        line = [Step(at_ns, "event", _chunk(b"data: "))] + [Step(at_ns, "event", bulk)] * -(-size // piece)
        return Plan((*steps, *line, Step(at_ns, "end", b"0\r\n\r\n")), "keep", n_out)
    ends: dict[str, End] = {"cut": "close", "reset": "reset", "hang": "hang"}
    return Plan((*steps, Step(at_ns, "end", b"")), ends[script.error], n_out)


def _clumped(script: Script, steps: list[Step]) -> list[Step]:
    """``chunks_per_write`` chunks in one write, due with the last of them."""
    size = script.chunks_per_write
    if size == 1:
        return steps
    groups = [steps[i : i + size] for i in range(0, len(steps), size)]
    return [Step(g[-1].at_ns, "token", b"".join(s.data for s in g), sum(s.tokens for s in g)) for g in groups]


def _whole(
    script: Script, asked: Asked, dialect: Dialect, chunks: list[_Chunk], finish: str, usage: dict[str, int] | None
) -> Plan:
    text = "".join(c.text for c in chunks if not c.reasoning)
    reasoning = "".join(c.text for c in chunks if c.reasoning)
    body = dialect.whole(asked.model, text, reasoning, finish, usage)
    at_ns = chunks[-1].at_ns if chunks else int(script.ttft_ms * 1e6)
    n_out = sum(c.tokens for c in chunks)
    return Plan((Step(at_ns, "end", plain_reply(200, "application/json", body), n_out),), "keep", n_out)


def _plain(script: Script, asked: Asked, dialect: Dialect) -> Plan:
    """A reply that is no stream."""
    at_ns = int(script.ttft_ms * 1e6)
    status, kind, more = 200, "application/json", ""
    body = dialect.error_body(script.message, "scripted")
    if script.error == "html":
        kind, body = "text/html", b"<!doctype html><html><title>Sign in</title><p>Please sign in.</p></html>"
    elif script.error == "redirect":
        status, more = 307, f"location: {script.location}\r\n"
    elif script.error == "http":
        status = script.status
        more = f"retry-after: {script.retry_after_s:g}\r\n" if script.retry_after_s is not None else ""
    return Plan((Step(at_ns, "end", plain_reply(status, kind, body, more)),), "keep", 0, status)


def plain_reply(status: int, kind: str, body: bytes, more: str = "") -> bytes:
    """A whole HTTP reply with a length."""
    reason = _REASONS.get(status, "Status")
    head = f"HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def _head(status: int, kind: str) -> bytes:
    reason = _REASONS.get(status, "Status")
    return f"HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
