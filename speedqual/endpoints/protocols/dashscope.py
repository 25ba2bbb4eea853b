"""Alibaba's DashScope, its own protocol (the OpenAI-compatible one is ``qwen``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from speedqual.endpoints.base import HttpRequest
from speedqual.endpoints.protocols.adapter import (
    About,
    Adapter,
    bearer,
    data_url,
    full_url,
    has_image,
    post,
    with_params,
)
from speedqual.endpoints.reading.faults import Fault, fault_in
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.transcript import Transcript
from speedqual.endpoints.reading.usage import openai_usage
from speedqual.endpoints.reading.values import as_mapping
from speedqual.records import Candidate, Message, Prompt

__all__ = ["DASHSCOPE", "DashScope", "DashScopeReader"]

_TEXT = "/services/aigc/text-generation/generation"
_MULTIMODAL = "/services/aigc/multimodal-generation/generation"


class DashScopeReader(Reader):
    """Events of which each repeats all text so far (``incremental_output`` off) or not: the stream itself tells.

    The texts of a channel repeat when each begins with the whole of the one before; that is only sure at the end of the
    stream, so the events are kept and told then, each with its own date.
    """

    def __init__(self, out: Transcript) -> None:
        super().__init__(out)
        self._kept: list[tuple[int, int, dict[str, str], Mapping[str, Any]]] = []

    def fault(self, obj: Mapping[str, Any], kind: str) -> Fault | None:
        if obj.get("code") and not obj.get("output"):
            return fault_in(obj, expected=True)
        return super().fault(obj, kind)

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        self._kept.append((self.out.t_ns, self.out.read, _texts(obj), obj))

    def close(self) -> None:
        channels = {channel for _, _, texts, _ in self._kept for channel in texts}
        repeating = {c for c in channels if _repeats([texts.get(c, "") for _, _, texts, _ in self._kept])}
        before: dict[str, str] = {}
        for t_ns, read, texts, obj in self._kept:
            self.out.t_ns, self.out.read = t_ns, read
            new = {c: text[len(before.get(c, "")) :] if c in repeating else text for c, text in texts.items()}
            before.update(texts)
            self._tell(new, obj)
            self.out.flush()

    def _tell(self, new: Mapping[str, str], obj: Mapping[str, Any]) -> None:
        choice = _choice(obj)
        self.out.reasoning(new.get("reasoning", ""))
        self.out.answer(new.get("answer", ""))
        for index, call in _calls(choice):
            name = as_mapping(call.get("function")).get("name")
            self.out.tool(index, name if isinstance(name, str) else "", new.get(f"tool {index}", ""))
        reason = choice.get("finish_reason")
        self.out.finish(reason if isinstance(reason, str) else None)
        usage = as_mapping(obj.get("usage"))
        if usage:
            self.out.count(openai_usage(usage), usage)
        if isinstance(obj.get("request_id"), str):
            self.out.request_id = obj["request_id"]


def _repeats(texts: list[str]) -> bool:
    """Does every text begin with the whole of the one before it? One text alone repeats nothing."""
    said = texts[next((i for i, text in enumerate(texts) if text), 0) :]
    return len(said) > 1 and all(after.startswith(text) for text, after in pairwise(said))


def _choice(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    output = as_mapping(obj.get("output"))
    choices = output.get("choices")
    return as_mapping(choices[0]) if isinstance(choices, list) and choices else output


def _texts(obj: Mapping[str, Any]) -> dict[str, str]:
    """The text of each channel in one event, as sent."""
    choice = _choice(obj)
    message = as_mapping(choice.get("message")) or {"content": choice.get("text")}
    texts = {"reasoning": _text(message.get("reasoning_content")), "answer": _text(message.get("content"))}
    for index, call in _calls(choice):
        arguments = as_mapping(call.get("function")).get("arguments")
        texts[f"tool {index}"] = arguments if isinstance(arguments, str) else ""
    return texts


def _calls(choice: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    calls = as_mapping(choice.get("message")).get("tool_calls")
    found = [as_mapping(call) for call in calls] if isinstance(calls, list) else []
    indexes = (call.get("index") for call in found)
    return [(index if isinstance(index, int) else i, found[i]) for i, index in enumerate(indexes)]


def _text(content: Any) -> str:
    """A string, or the text parts of a list (multimodal models)."""
    if isinstance(content, list):
        return "".join(text for part in content if isinstance(text := as_mapping(part).get("text"), str))
    return content if isinstance(content, str) else ""


@dataclass(frozen=True, kw_only=True)
class DashScope(Adapter):
    """``POST /api/v1/services/aigc/…-generation/generation`` with ``X-DashScope-SSE: enable``."""

    reader = DashScopeReader
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True

    def request(self, candidate: Candidate, prompt: Prompt, base_url: str, key: str | None) -> HttpRequest:
        self.check(candidate, prompt)
        path = _MULTIMODAL if has_image(prompt) else _TEXT
        if base_url.rstrip("/").endswith((_MULTIMODAL, _TEXT)):
            base_url = base_url.rstrip("/").removesuffix(_MULTIMODAL).removesuffix(_TEXT)
        url = full_url(base_url, path, version="api/v1")
        return post(url, self.headers(key), self.body(candidate, prompt, base_url), candidate)

    def headers(self, key: str | None) -> dict[str, str]:
        return {**bearer(key), "x-dashscope-sse": "enable"}

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        parameters: dict[str, Any] = {"result_format": "message", "incremental_output": True}
        if prompt.max_tokens is not None:
            parameters["max_tokens"] = prompt.max_tokens
        if prompt.stop:
            parameters["stop"] = list(prompt.stop)
        if prompt.tools:
            parameters["tools"] = list(prompt.tools)
        if prompt.response_format is not None:
            parameters["response_format"] = prompt.response_format
        parts = has_image(prompt)
        messages = [{"role": m.role, "content": _parts(m) if parts else m.content} for m in prompt.messages]
        parameters = with_params(parameters, candidate.params)
        return {"model": candidate.model, "input": {"messages": messages}, "parameters": parameters}


def _parts(message: Message) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return [{"text": message.content}]
    return [
        {"image": data_url(part)} if part.get("type") == "image" else {"text": part.get("text", "")}
        for part in message.content
    ]


DASHSCOPE = DashScope(
    name="dashscope",
    wire="dashscope",
    about=About(
        title="DashScope native",
        sends="`POST /api/v1/services/aigc/text-generation/generation` (with images: `multimodal-generation`),"
        " `Authorization: Bearer`, `X-DashScope-SSE: enable`, `incremental_output: true`",
        reads="`output.choices[0].message` or `output.text`, increments as well as repeated text;"
        " `reasoning_content`; `usage` of every event, the last one counts",
        ends="a `finish_reason` that is not the string `null`",
        note="The OpenAI-compatible mode of the same service is `qwen`.",
    ),
    key_envs=("DASHSCOPE_API_KEY",),
    base_url_envs=("DASHSCOPE_BASE_URL", "DASHSCOPE_HTTP_BASE_URL"),
    default_base_url="https://dashscope.aliyuncs.com/api/v1",
)
