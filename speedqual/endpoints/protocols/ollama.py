"""Ollama's own protocol: one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.reading.reader import Framing, Reader
from speedqual.endpoints.reading.values import as_count, as_mapping, as_number, clean_text
from speedqual.records import Candidate, Message, Prompt, ServerTimings, Usage

__all__ = ["OLLAMA", "Ollama", "OllamaReader"]

_PORT = 11434
_TOP_LEVEL = frozenset({"think", "keep_alive", "format", "truncate", "logprobs", "top_logprobs", "options"})


class OllamaReader(Reader):
    """``/api/chat`` (``message``) and ``/api/generate`` (``response``)."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        message = as_mapping(obj.get("message"))
        thinking = message.get("thinking") or obj.get("thinking")
        content = message.get("content") or obj.get("response")
        self.out.reasoning(thinking if isinstance(thinking, str) else "")
        self.out.answer(content if isinstance(content, str) else "")
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            self._call(as_mapping(as_mapping(call).get("function")))
        if isinstance(obj.get("model"), str):
            self.out.served_model = clean_text(obj["model"])
        if obj.get("done") is True:
            self._last(obj)

    def _call(self, function: Mapping[str, Any]) -> None:
        name, arguments = function.get("name"), function.get("arguments")
        self.out.tool(
            len(self.out.tool_calls),  # each call comes whole
            name if isinstance(name, str) else "",
            arguments if isinstance(arguments, (str, dict)) else "",
        )

    def _last(self, obj: Mapping[str, Any]) -> None:
        reason = obj.get("done_reason")
        self.out.finish(reason if isinstance(reason, str) else None)
        counts = {name: obj[name] for name in ("prompt_eval_count", "eval_count") if name in obj}
        if counts:
            n_prompt, n_out = as_count(obj.get("prompt_eval_count")), as_count(obj.get("eval_count"))
            self.out.count(Usage(n_prompt=n_prompt, n_out=n_out, source="usage"), counts)
        self.out.timed(
            ServerTimings(
                load_ms=_ms(obj.get("load_duration")),
                prefill_ms=_ms(obj.get("prompt_eval_duration")),
                decode_ms=_ms(obj.get("eval_duration")),
                total_ms=_ms(obj.get("total_duration")),
            )
        )
        self.out.end()


def _ms(nanoseconds: Any) -> float | None:
    number = as_number(nanoseconds)
    return None if number is None or number < 0 else number / 1e6


@dataclass(frozen=True, kw_only=True)
class Ollama(Adapter):
    """``POST /api/chat``. Sampling parameters go into ``options``, as Ollama wants them."""

    reader = OllamaReader
    framing: ClassVar[Framing] = "lines"
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        url = full_url(base_url, "/api/chat", port=_PORT)
        parts = urlsplit(url)
        if parts.scheme == "http" and parts.port is None:  # OLLAMA_HOST=192.168.1.5
            url = urlunsplit(parts._replace(netloc=f"{parts.netloc}:{_PORT}"))
        return url

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if prompt.max_tokens is not None:
            options["num_predict"] = prompt.max_tokens
        if prompt.stop:
            options["stop"] = list(prompt.stop)
        body: dict[str, Any] = {
            "model": candidate.model,
            "messages": [_message(m) for m in prompt.messages],
            "stream": True,
        }
        if prompt.tools:
            body["tools"] = list(prompt.tools)
        if prompt.response_format is not None:
            body["format"] = _format(prompt.response_format)
        own = {name: value for name, value in candidate.params.items() if name in _TOP_LEVEL}
        sampling = {name: value for name, value in candidate.params.items() if name not in _TOP_LEVEL}
        options = with_params(options, sampling)
        return with_params(body | ({"options": options} if options else {}), own)


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message.content, str):
        return {"role": message.role, "content": message.content}
    texts = [str(part.get("text", "")) for part in message.content if part.get("type") == "text"]
    images = [part.get("data", "") for part in message.content if part.get("type") == "image"]
    return {"role": message.role, "content": "\n".join(texts)} | ({"images": images} if images else {})


def _format(wanted: Mapping[str, Any]) -> Any:
    """OpenAI's ``response_format`` → Ollama's ``format``: a JSON schema, or just ``"json"``."""
    schema = as_mapping(wanted.get("json_schema")).get("schema")
    return schema or "json"


OLLAMA = Ollama(
    name="ollama",
    wire="ollama-chat",
    about=About(
        title="Ollama",
        sends="`POST /api/chat`; sampling parameters under `options`",
        reads="`message.content`, `message.thinking`, `message.tool_calls`; `eval_count`, `prompt_eval_count`;"
        " `load_duration`, `prompt_eval_duration`, `eval_duration`, `total_duration`",
        ends='`"done": true`',
        note="`OLLAMA_HOST` may lack scheme and port.",
    ),
    needs_key=False,
    key_envs=("OLLAMA_API_KEY",),
    base_url_envs=("OLLAMA_HOST",),
    default_base_url="http://127.0.0.1:11434",
    end_hints=(b'"done":true', b'"done": true'),
)
