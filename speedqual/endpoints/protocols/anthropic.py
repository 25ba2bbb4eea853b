"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.protocols.prompt_text import text_of
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.usage import anthropic_usage
from speedqual.endpoints.reading.values import as_mapping, clean_text
from speedqual.records import Candidate, Message, Prompt

__all__ = ["ANTHROPIC", "Anthropic", "AnthropicReader"]

_VERSION = "2023-06-01"
_MAX_TOKENS = 4096  # the protocol demands a number


class AnthropicReader(Reader):
    """Content blocks by index: text, thinking, and calls whose input comes as pieces of JSON."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        name = obj.get("type") or kind
        if name == "content_block_delta":
            self._delta(obj.get("index"), as_mapping(obj.get("delta")))
        elif name == "content_block_start":
            self._block(obj.get("index"), as_mapping(obj.get("content_block")))
        elif name == "message_start":
            self._start(as_mapping(obj.get("message")))
        elif name == "message_delta":
            self._count(as_mapping(obj.get("usage")), final=True)
            reason = as_mapping(obj.get("delta")).get("stop_reason")
            self.out.finish(reason if isinstance(reason, str) else None)
        elif name == "message_stop":
            self.out.end()

    def _delta(self, index: Any, delta: Mapping[str, Any]) -> None:
        text, thinking, piece = delta.get("text"), delta.get("thinking"), delta.get("partial_json")
        if isinstance(text, str):
            self.out.answer(text)
        elif isinstance(thinking, str):
            self.out.reasoning(thinking)
        elif isinstance(piece, str):
            self.out.tool(_key(index), "", piece)

    def _block(self, index: Any, block: Mapping[str, Any]) -> None:
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            self.out.answer(block["text"])
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            self.out.reasoning(block["thinking"])
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use") and isinstance(block.get("name"), str):
            self.out.tool(_key(index), block["name"], block.get("input") or "")

    def _start(self, message: Mapping[str, Any]) -> None:
        if isinstance(message.get("model"), str):
            self.out.served_model = clean_text(message["model"])
        if isinstance(message.get("id"), str):
            self.out.request_id = message["id"]
        self._count(as_mapping(message.get("usage")), final=False)

    def _count(self, usage: Mapping[str, Any], *, final: bool) -> None:
        if not usage:
            return
        self.out.count(anthropic_usage(usage, final=final), {**(self.out.usage_raw or {}), **usage}, running=False)
        if isinstance(usage.get("service_tier"), str):
            self.out.served_tier = clean_text(usage["service_tier"])
        if isinstance(usage.get("speed"), str):
            self.out.served_speed = clean_text(usage["speed"])


def _key(index: Any) -> int:
    return index if isinstance(index, int) else 0


@dataclass(frozen=True, kw_only=True)
class Anthropic(Adapter):
    """``POST /v1/messages`` with ``stream: true``. System messages go to the top; ``cache = true`` asks for caching."""

    reader = AnthropicReader
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True
    has_tier: ClassVar[bool] = True
    has_cache_switch: ClassVar[bool] = True  # no caching unless it is asked for

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url, "/messages", version="v1")

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": candidate.model,
            "max_tokens": _MAX_TOKENS if prompt.max_tokens is None else prompt.max_tokens,
            "messages": [{"role": m.role, "content": _content(m)} for m in prompt.messages if m.role != "system"],
            "stream": True,
        }
        system = "\n\n".join(text_of(m) for m in prompt.messages if m.role == "system")
        if system:
            body["system"] = system
        if prompt.stop:
            body["stop_sequences"] = list(prompt.stop)
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.response_format and "json_schema" in prompt.response_format:
            schema = as_mapping(prompt.response_format["json_schema"]).get("schema")
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if candidate.tier:
            body["service_tier"] = candidate.tier
        if candidate.cache:
            body["cache_control"] = {"type": "ephemeral"}
        return with_params(body, candidate.params)


def _content(message: Message) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_part(part) for part in message.content]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") != "image":
        return dict(part)
    source = {"type": "base64", "media_type": part.get("media_type", "image/png"), "data": part.get("data", "")}
    return {"type": "image", "source": source}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's form of a tool → Anthropic's."""
    function = as_mapping(tool.get("function"))
    if not function:
        return dict(tool)
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    made = {"name": function.get("name"), "description": function.get("description"), "input_schema": schema}
    return {name: value for name, value in made.items() if value is not None}


ANTHROPIC = Anthropic(
    name="anthropic",
    wire="anthropic-messages",
    about=About(
        title="Anthropic Messages",
        sends=f"`POST /v1/messages`, `x-api-key`, `anthropic-version: {_VERSION}`",
        reads="`text_delta`, `thinking_delta`, `input_json_delta`; `usage` of `message_start` and `message_delta`"
        " (the last one counts), cache reads and writes, `service_tier`, `speed`",
        ends="`message_stop`, or a `stop_reason`",
        note=f"`max_tokens` is {_MAX_TOKENS} when the prompt has none: the protocol demands one.",
    ),
    key_envs=("ANTHROPIC_API_KEY",),
    base_url_envs=("ANTHROPIC_BASE_URL",),
    default_base_url="https://api.anthropic.com",
    end_hints=(b"message_stop",),
)
