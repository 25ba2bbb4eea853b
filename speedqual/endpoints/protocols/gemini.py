"""Gemini ``streamGenerateContent``: events, or one JSON array in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit, urlunsplit

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.protocols.prompt_text import text_of
from speedqual.endpoints.reading.reader import Framing, Reader
from speedqual.endpoints.reading.usage import gemini_usage
from speedqual.endpoints.reading.values import as_mapping, clean_text
from speedqual.records import Candidate, Message, Prompt

__all__ = ["GEMINI", "Gemini", "GeminiReader"]

_TOP_LEVEL = frozenset(
    {"safetySettings", "tools", "toolConfig", "systemInstruction", "cachedContent", "generationConfig", "service_tier"}
)


class GeminiReader(Reader):
    """``candidates[].content.parts``: text, thoughts, function calls."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        candidates = obj.get("candidates")
        for position, candidate in enumerate(candidates if isinstance(candidates, list) else []):
            self._candidate(as_mapping(candidate), position)
        blocked = as_mapping(obj.get("promptFeedback")).get("blockReason")
        if isinstance(blocked, str):
            self.out.finish(blocked)
            self.out.end()
        usage = as_mapping(obj.get("usageMetadata"))
        if usage:
            self.out.count(gemini_usage(usage), usage)
            tier = usage.get("serviceTier") or usage.get("trafficType")
            self.out.served_tier = clean_text(tier) if isinstance(tier, str) else self.out.served_tier
        if isinstance(obj.get("modelVersion"), str):
            self.out.served_model = clean_text(obj["modelVersion"])
        if isinstance(obj.get("responseId"), str):
            self.out.request_id = obj["responseId"]

    def _candidate(self, candidate: Mapping[str, Any], position: int) -> None:
        index = candidate.get("index")
        index = index if isinstance(index, int) else position
        self.out.choice(index)
        parts = as_mapping(candidate.get("content")).get("parts")
        for part in parts if isinstance(parts, list) else []:
            self._part(as_mapping(part), index)
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason != "FINISH_REASON_UNSPECIFIED":
            self.out.finish(reason, index)

    def _part(self, part: Mapping[str, Any], index: int) -> None:
        text, call = part.get("text"), part.get("functionCall")
        if isinstance(text, str):
            if part.get("thought") is True:
                self.out.reasoning(text, index)
            else:
                self.out.answer(text, index)
        elif isinstance(call, dict):
            arguments, name = call.get("args"), call.get("name")
            self.out.tool(
                (index, len(self.out.tool_calls)),  # each call comes whole
                name if isinstance(name, str) else "",
                arguments if isinstance(arguments, dict) else {},
            )


@dataclass(frozen=True, kw_only=True)
class Gemini(Adapter):
    """``POST /v1beta/models/MODEL:streamGenerateContent``, as events unless ``params.alt`` is ``"json"``."""

    reader = GeminiReader
    framing: ClassVar[Framing] = "array"  # events are recognised by their first byte
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True
    has_tier: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        model = candidate.model.removeprefix("models/")
        parts = urlsplit(full_url(base_url, f"/models/{quote(model)}:streamGenerateContent", version="v1beta"))
        alt = "" if candidate.params.get("alt") == "json" else "alt=sse"
        return urlunsplit((parts.scheme, parts.netloc, parts.path, alt, ""))

    def headers(self, key: str | None) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {"contents": [_content(m) for m in prompt.messages if m.role != "system"]}
        system = "\n\n".join(text_of(m) for m in prompt.messages if m.role == "system")
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        config: dict[str, Any] = {}
        if prompt.max_tokens is not None:
            config["maxOutputTokens"] = prompt.max_tokens
        if prompt.stop:
            config["stopSequences"] = list(prompt.stop)
        if prompt.response_format is not None:
            config |= _json_mode(prompt.response_format)
        if prompt.tools:
            body["tools"] = [{"functionDeclarations": [tool.get("function", tool) for tool in prompt.tools]}]
        if candidate.tier:
            body["service_tier"] = candidate.tier
        own = {name: value for name, value in candidate.params.items() if name in _TOP_LEVEL}
        sampling = {n: v for n, v in candidate.params.items() if n not in _TOP_LEVEL and n != "alt"}
        config = with_params(config, sampling)
        return with_params(body | ({"generationConfig": config} if config else {}), own)


def _content(message: Message) -> dict[str, Any]:
    role = "model" if message.role == "assistant" else "user"
    if isinstance(message.content, str):
        return {"role": role, "parts": [{"text": message.content}]}
    return {"role": role, "parts": [_part(part) for part in message.content]}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") == "image":
        return {"inlineData": {"mimeType": part.get("media_type", "image/png"), "data": part.get("data", "")}}
    return {"text": part.get("text", "")}


def _json_mode(wanted: Mapping[str, Any]) -> dict[str, Any]:
    schema = as_mapping(wanted.get("json_schema")).get("schema")
    return {"responseMimeType": "application/json"} | ({"responseJsonSchema": schema} if schema else {})


GEMINI = Gemini(
    name="gemini",
    wire="gemini",
    about=About(
        title="Gemini",
        sends="`POST /v1beta/models/MODEL:streamGenerateContent?alt=sse`, `x-goog-api-key`",
        reads="`parts[].text`, thought parts, `functionCall`; `usageMetadata` as a running total, thoughts added to"
        " the output; `promptFeedback.blockReason`",
        ends="`finishReason` of every candidate, or a blocked prompt",
        note='`params.alt = "json"` asks for one JSON array instead of events; both are read.',
    ),
    key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    base_url_envs=("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
    default_base_url="https://generativelanguage.googleapis.com",
)
