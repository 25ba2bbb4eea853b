"""Amazon Bedrock ``converse-stream``: binary messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.protocols.prompt_text import text_of
from speedqual.endpoints.reading.reader import Framing, Reader
from speedqual.endpoints.reading.usage import bedrock_usage
from speedqual.endpoints.reading.values import as_mapping, as_number, clean_text
from speedqual.records import Candidate, Message, Prompt, ServerTimings

__all__ = ["BEDROCK", "Bedrock", "BedrockReader"]

_INFERENCE = {"temperature": "temperature", "top_p": "topP", "topP": "topP", "maxTokens": "maxTokens"}
_TOP_LEVEL = frozenset(
    {"performanceConfig", "guardrailConfig", "toolConfig", "requestMetadata", "additionalModelRequestFields"}
)


class BedrockReader(Reader):
    """The kind of a message is its event type; counts come after the end, in ``metadata``."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        if kind == "contentBlockDelta":
            self._delta(obj.get("contentBlockIndex"), as_mapping(obj.get("delta")))
        elif kind == "contentBlockStart":
            call = as_mapping(as_mapping(obj.get("start")).get("toolUse"))
            if isinstance(call.get("name"), str):
                self.out.tool(_key(obj.get("contentBlockIndex")), call["name"])
        elif kind == "messageStop":
            reason = obj.get("stopReason")
            self.out.finish(reason if isinstance(reason, str) else None)
            self.out.end()
        elif kind == "metadata":
            self._metadata(obj)

    def _delta(self, index: Any, delta: Mapping[str, Any]) -> None:
        text, thinking = delta.get("text"), as_mapping(delta.get("reasoningContent")).get("text")
        piece = as_mapping(delta.get("toolUse")).get("input")
        if isinstance(text, str):
            self.out.answer(text)
        if isinstance(thinking, str):
            self.out.reasoning(thinking)
        if isinstance(piece, str):
            self.out.tool(_key(index), "", piece)

    def _metadata(self, obj: Mapping[str, Any]) -> None:
        usage = as_mapping(obj.get("usage"))
        if usage:
            self.out.count(bedrock_usage(usage), usage, running=False)
        self.out.timed(ServerTimings(total_ms=as_number(as_mapping(obj.get("metrics")).get("latencyMs"))))
        tier = as_mapping(obj.get("serviceTier")).get("type")
        latency = as_mapping(obj.get("performanceConfig")).get("latency")
        if isinstance(tier, str):
            self.out.served_tier = clean_text(tier)
        if isinstance(latency, str):
            self.out.served_speed = clean_text(latency)


def _key(index: Any) -> int:
    return index if isinstance(index, int) else 0


@dataclass(frozen=True, kw_only=True)
class Bedrock(Adapter):
    """``POST /model/MODEL/converse-stream`` with an API key of Bedrock (requests are not signed)."""

    reader = BedrockReader
    framing: ClassVar[Framing] = "aws"
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True
    has_tier: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url, f"/model/{quote(candidate.model, safe='')}/converse-stream")

    def headers(self, key: str | None) -> dict[str, str]:
        return {**super().headers(key), "accept": "application/vnd.amazon.eventstream"}

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": _content(m)} for m in prompt.messages if m.role != "system"]
        }
        system = [{"text": text_of(m)} for m in prompt.messages if m.role == "system"]
        if system:
            body["system"] = system
        inference: dict[str, Any] = {}
        if prompt.max_tokens is not None:
            inference["maxTokens"] = prompt.max_tokens
        if prompt.stop:
            inference["stopSequences"] = list(prompt.stop)
        inference |= {_INFERENCE[n]: v for n, v in candidate.params.items() if n in _INFERENCE}
        if inference:
            body["inferenceConfig"] = inference
        if prompt.tools:
            body["toolConfig"] = {"tools": [_tool(tool) for tool in prompt.tools]}
        if candidate.tier:
            body["serviceTier"] = {"type": candidate.tier}
        known = {n: v for n, v in candidate.params.items() if n in _TOP_LEVEL}
        other = {n: v for n, v in candidate.params.items() if n not in _TOP_LEVEL and n not in _INFERENCE}
        if other:
            known["additionalModelRequestFields"] = {**as_mapping(known.get("additionalModelRequestFields")), **other}
        return with_params(body, known)


def _content(message: Message) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}]
    return [_part(part) for part in message.content]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") != "image":
        return {"text": part.get("text", "")}
    form = str(part.get("media_type", "image/png")).rpartition("/")[2].replace("jpg", "jpeg")
    return {"image": {"format": form, "source": {"bytes": part.get("data", "")}}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's form of a tool → Bedrock's."""
    function = as_mapping(tool.get("function"))
    if not function:
        return dict(tool)
    schema = {"json": function.get("parameters") or {"type": "object", "properties": {}}}
    spec = {"name": function.get("name"), "description": function.get("description"), "inputSchema": schema}
    return {"toolSpec": {name: value for name, value in spec.items() if value is not None}}


BEDROCK = Bedrock(
    name="bedrock",
    wire="bedrock-converse",
    about=About(
        title="Bedrock converse-stream",
        sends="`POST /model/MODEL/converse-stream`, `Authorization: Bearer` with a Bedrock API key",
        reads="`text`, `reasoningContent.text`, `toolUse` deltas; `metadata`: usage, cache reads and writes,"
        " `latencyMs`, `serviceTier`. Both checksums of every message are verified",
        ends="`messageStop`; `metadata` follows it",
        note="Requests are not signed with AWS keys. Set the base URL for another region than us-east-1.",
    ),
    key_envs=("AWS_BEARER_TOKEN_BEDROCK",),
    base_url_envs=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "BEDROCK_BASE_URL"),
    default_base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    end_hints=(b"latencyMs",),
)
