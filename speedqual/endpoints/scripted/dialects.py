"""The scripted endpoint's frames: what a token, a finish, a usage and an error look like in each protocol."""

from __future__ import annotations

import json
from typing import Any, Protocol

__all__ = ["DIALECTS", "Dialect", "Ollama", "OpenAI"]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Dialect(Protocol):
    """One protocol, seen from the sending side. Every method gives the bytes of whole events."""

    content_type: str
    finish_carries_usage: bool

    def role(self, model: str) -> bytes:
        """An event without text."""
        ...

    def token(self, model: str, text: str, *, reasoning: bool) -> bytes:
        """Text."""
        ...

    def finish(self, model: str, reason: str, usage: dict[str, int] | None) -> bytes:
        """The finish reason, and the usage where it is carried along."""
        ...

    def usage(self, model: str, usage: dict[str, int]) -> bytes:
        """The usage on its own; empty where the protocol has no such event."""
        ...

    def error(self, message: str) -> bytes:
        """An error inside the stream."""
        ...

    def comment(self) -> bytes:
        """Something that means nothing; empty where there is no such thing."""
        ...

    def broken(self) -> bytes:
        """An event that cannot be read."""
        ...

    def end(self) -> bytes:
        """The end marker, when it is an event of its own."""
        ...

    def error_body(self, message: str, code: str) -> bytes:
        """The body of an error reply."""
        ...

    def whole(self, model: str, text: str, reasoning: str, reason: str, usage: dict[str, int] | None) -> bytes:
        """The reply to a request that wants no stream."""
        ...


class OpenAI:
    """Chat completions: server-sent events, ended by ``[DONE]``."""

    content_type = "text/event-stream; charset=utf-8"
    finish_carries_usage = False

    def _event(self, model: str, choices: str, usage: str = "") -> bytes:
        head = f'{{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":0,"model":{_json(model)}'
        return f'data: {head},"choices":{choices}{usage}}}\n\n'.encode()

    def role(self, model: str) -> bytes:
        return self._event(model, '[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]')

    def token(self, model: str, text: str, *, reasoning: bool) -> bytes:
        key = "reasoning_content" if reasoning else "content"
        return self._event(model, f'[{{"index":0,"delta":{{"{key}":{_json(text)}}},"finish_reason":null}}]')

    def finish(self, model: str, reason: str, usage: dict[str, int] | None) -> bytes:
        carried = f',"usage":{_json(_openai_usage(usage))}' if usage else ""
        return self._event(model, f'[{{"index":0,"delta":{{}},"finish_reason":{_json(reason)}}}]', carried)

    def usage(self, model: str, usage: dict[str, int]) -> bytes:
        return self._event(model, "[]", f',"usage":{_json(_openai_usage(usage))}')

    def error(self, message: str) -> bytes:
        return f"data: {_json({'error': {'message': message, 'type': 'server_error', 'code': 500}})}\n\n".encode()

    def comment(self) -> bytes:
        return b": keep-alive\n\n"

    def broken(self) -> bytes:
        return b'data: {"choices":[{"index":0,"delta":{"content":"half\n\n'

    def end(self) -> bytes:
        return b"data: [DONE]\n\n"

    def error_body(self, message: str, code: str) -> bytes:
        return _json({"error": {"message": message, "type": "scripted", "code": code}}).encode()

    def whole(self, model: str, text: str, reasoning: str, reason: str, usage: dict[str, int] | None) -> bytes:
        message = {"role": "assistant", "content": text, **({"reasoning_content": reasoning} if reasoning else {})}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        body = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": model}
        return _json(body | {"choices": [choice], "usage": _openai_usage(usage) if usage else None}).encode()


def _openai_usage(usage: dict[str, int]) -> dict[str, Any]:
    n_prompt, n_out = usage["n_prompt"], usage["n_out"]
    told: dict[str, Any] = {"prompt_tokens": n_prompt, "completion_tokens": n_out, "total_tokens": n_prompt + n_out}
    if "n_cached" in usage:
        told["prompt_tokens_details"] = {"cached_tokens": usage["n_cached"]}
    if usage.get("n_reasoning"):
        told["completion_tokens_details"] = {"reasoning_tokens": usage["n_reasoning"]}
    return told


class Ollama:
    """Ollama's chat: a JSON object a line, the last one with ``done`` and the counts."""

    content_type = "application/x-ndjson"
    finish_carries_usage = True

    def _line(self, model: str, message: dict[str, str], **more: Any) -> bytes:
        base = {"model": model, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant"} | message}
        return (_json(base | {"done": False} | more) + "\n").encode()

    def role(self, model: str) -> bytes:
        return self._line(model, {"content": ""})

    def token(self, model: str, text: str, *, reasoning: bool) -> bytes:
        return self._line(model, {"content": "", "thinking": text} if reasoning else {"content": text})

    def finish(self, model: str, reason: str, usage: dict[str, int] | None) -> bytes:
        counts = {"prompt_eval_count": usage["n_prompt"], "eval_count": usage["n_out"]} if usage else {}
        return self._line(model, {"content": ""}, done=True, done_reason=reason, **counts)

    def usage(self, model: str, usage: dict[str, int]) -> bytes:
        return b""

    def error(self, message: str) -> bytes:
        return (_json({"error": message}) + "\n").encode()

    def comment(self) -> bytes:
        return b""

    def broken(self) -> bytes:
        return b'{"model":"x","message":{"content":"half\n'

    def end(self) -> bytes:
        return b""

    def error_body(self, message: str, code: str) -> bytes:
        return _json({"error": message}).encode()

    def whole(self, model: str, text: str, reasoning: str, reason: str, usage: dict[str, int] | None) -> bytes:
        message = {"content": text, **({"thinking": reasoning} if reasoning else {})}
        counts = {"prompt_eval_count": usage["n_prompt"], "eval_count": usage["n_out"]} if usage else {}
        return self._line(model, message, done=True, done_reason=reason, **counts)


DIALECTS: dict[str, Dialect] = {"/chat/completions": OpenAI(), "/api/chat": Ollama()}
"""End of the request's path → how the reply is written."""
