"""OpenAI chat completions, and all that speak its dialects (``dialects.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, data_url, full_url, with_params
from speedqual.endpoints.reading.faults import Fault, fault_in
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.stops import stop_of
from speedqual.endpoints.reading.usage import llamacpp_usage, openai_cost_usd, openai_timings, openai_usage
from speedqual.endpoints.reading.values import as_mapping, clean_text
from speedqual.records import Candidate, Message, Prompt

__all__ = ["OPENAI", "OpenAIChat", "OpenAIReader", "chat_messages", "common_options"]

_COUNTS = frozenset({"usage", "x_groq", "timings", "time_info", "perf_metrics"})
_REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_text", "thinking", "thought")
_LIMITS = frozenset({"max_tokens", "max_completion_tokens"})  # servers refuse a request that has both
_OFFICIAL_HOST = "api.openai.com"  # where reasoning models refuse max_tokens


class OpenAIReader(Reader):
    """Chunks of ``chat.completion.chunk`` and of ``text_completion``, with the fields that dialects add."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        choices = obj.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict):
                    self._choice(choice)
        if not _COUNTS.isdisjoint(obj) or _counts_inside(choices):
            self._usage(obj, choices)
        if self.out.served_model is None or "service_tier" in obj:
            self._served(obj)

    def fault(self, obj: Mapping[str, Any], kind: str) -> Fault | None:
        groq = obj.get("x_groq")
        if isinstance(groq, dict) and groq.get("error"):
            return fault_in(groq)
        return super().fault(obj, kind) or _lone_fault(obj)

    def _choice(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index")
        index = index if isinstance(index, int) else 0
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self.out.choice(index)
            self._delta(delta, index)
        elif isinstance(choice.get("text"), str):
            self.out.answer(choice["text"], index)
        elif isinstance(choice.get("message"), dict) and not self.out.events:
            self._delta(choice["message"], index)  # a whole message counts only when it repeats nothing
        reason = choice.get("finish_reason")
        if choice.get("error") and (found := fault_in(choice)):
            self.out.fail(found)  # OpenRouter
        elif isinstance(reason, str):
            self._finish(reason, index)

    def _finish(self, reason: str, index: int) -> None:
        self.out.finish(reason, index)
        if stop_of(reason) == "error":
            self.out.fail(Fault(code=clean_text(reason), message=f"finish reason {clean_text(reason)}", retryable=True))

    def _delta(self, delta: Mapping[str, Any], index: int) -> None:
        content = delta.get("content")
        if len(delta) > 1 or "content" not in delta:
            self._besides(delta, index)
        if isinstance(content, str):
            if content:
                self.out.answer(content, index)
        elif isinstance(content, list):
            self._parts(content, index)

    def _besides(self, delta: Mapping[str, Any], index: int) -> None:
        """All but the content; thinking goes before the answer that came with it."""
        self.out.reasoning(_reasoning(delta), index)
        if isinstance(delta.get("refusal"), str):
            self.out.refusal(delta["refusal"], index)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else []):
            self._call(call, index, position)
        if isinstance(delta.get("function_call"), dict):
            self._call({"function": delta["function_call"]}, index, 0)

    def _parts(self, parts: list[Any], index: int) -> None:
        """Mistral's content: a list of text and thinking parts."""
        for part in parts:
            part = as_mapping(part)
            kind = part.get("type")
            if kind in ("thinking", "reasoning", "reasoning_content"):
                self.out.reasoning(_flat(part.get(kind)) or _flat(part), index)
            else:
                self.out.answer(_flat(part.get("text")), index)

    def _call(self, call: Any, choice: int, position: int) -> None:
        call = as_mapping(call)
        function = as_mapping(call.get("function"))
        number, call_id = call.get("index"), call.get("id")
        name, arguments = function.get("name"), function.get("arguments")
        self.out.tool(
            (choice, number if isinstance(number, int) else position),
            name if isinstance(name, str) else "",
            arguments if isinstance(arguments, (str, dict)) else "",
            call_id=call_id if isinstance(call_id, str) else "",
        )

    def _usage(self, obj: Mapping[str, Any], choices: Any) -> None:
        usage = obj.get("usage") or as_mapping(obj.get("x_groq")).get("usage")
        if not usage and isinstance(choices, list) and choices:
            first = as_mapping(choices[0])
            usage = first.get("usage") or as_mapping(first.get("delta")).get("usage")  # Moonshot; some proxies
        usage = as_mapping(usage)
        if usage:
            self.out.count(openai_usage(usage), usage)
            cost = openai_cost_usd(usage)
            self.out.cost_usd = self.out.cost_usd if cost is None else cost
        if usage or "timings" in obj or "time_info" in obj or "perf_metrics" in obj:
            self.out.timed(openai_timings(obj, usage))
        if not usage and isinstance(obj.get("timings"), dict) and self.out.usage is None:
            self.out.count(llamacpp_usage(obj["timings"]), obj["timings"])

    def _served(self, obj: Mapping[str, Any]) -> None:
        tier, model = obj.get("service_tier"), obj.get("model")
        if isinstance(tier, str) and tier:
            self.out.served_tier = clean_text(tier)
        if isinstance(model, str) and model and self.out.served_model is None:
            self.out.served_model = clean_text(model)
        if self.out.request_id is None and isinstance(obj.get("id"), str):
            self.out.request_id = obj["id"]


def _lone_fault(obj: Mapping[str, Any]) -> Fault | None:
    """Gateways put their errors into the stream bare: a message where a chunk should be."""
    if "choices" in obj:
        return None
    has_words = isinstance(obj.get("message"), str) or any(obj.get(name) for name in ("detail", "errors", "err"))
    return fault_in(obj, expected=True) if has_words else None


def _counts_inside(choices: Any) -> bool:
    """Moonshot puts usage into the first choice."""
    if not isinstance(choices, list) or not choices:
        return False
    first = as_mapping(choices[0])
    return "usage" in first or "usage" in as_mapping(first.get("delta"))


def _reasoning(delta: Mapping[str, Any]) -> str:
    """The thinking in a delta, once, under whichever names it stands there."""
    for key in _REASONING_KEYS:
        if key in delta and (text := _flat(delta[key])):
            return text
    details = delta.get("reasoning_details") or delta.get("thinking_blocks")  # OpenRouter; LiteLLM
    return "".join(_flat(detail) for detail in details) if isinstance(details, list) else ""


def _flat(value: Any) -> str:
    """Text that may be a string, a list of parts, or a part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_flat(part) for part in value[:1000] if not isinstance(part, list))
    if isinstance(value, dict):
        return next(
            (v for key in ("text", "thinking", "summary", "content") if isinstance(v := value.get(key), str)), ""
        )
    return ""


@dataclass(frozen=True, kw_only=True)
class OpenAIChat(Adapter):
    """``POST /v1/chat/completions`` with ``stream: true``."""

    wire: str = "openai-chat"
    end_hints: tuple[bytes, ...] = (b"[DONE]",)
    asks_usage: bool = True  # send stream_options.include_usage
    max_tokens_key: str = "max_tokens"

    reader = OpenAIReader
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True
    has_tier: ClassVar[bool] = True
    has_cache_switch: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url, "/chat/completions", version="v1")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {"model": candidate.model, "messages": chat_messages(prompt), "stream": True}
        if self.asks_usage:
            body["stream_options"] = {"include_usage": True}
        is_official = _OFFICIAL_HOST in base_url
        if prompt.max_tokens is not None and _LIMITS.isdisjoint(candidate.params):
            body["max_completion_tokens" if is_official else self.max_tokens_key] = prompt.max_tokens
        body |= common_options(candidate, prompt)
        if candidate.cache is not None and not is_official:
            body["cache_prompt"] = candidate.cache  # llama.cpp; other servers ignore it
        return with_params(body, candidate.params)


def common_options(candidate: Candidate, prompt: Prompt) -> dict[str, Any]:
    """The optional fields that chat and completions name alike."""
    options: dict[str, Any] = {}
    if prompt.stop:
        options["stop"] = list(prompt.stop)
    if prompt.tools:
        options["tools"] = list(prompt.tools)
    if prompt.response_format is not None:
        options["response_format"] = prompt.response_format
    if candidate.tier:
        options["service_tier"] = candidate.tier
    return options


def chat_messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages in OpenAI's form; images become data URLs."""
    return [{"role": m.role, "content": _content(m)} for m in prompt.messages]


def _content(message: Message) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    return [_part(part) for part in message.content]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    return dict(part)


OPENAI = OpenAIChat(
    name="openai",
    about=About(
        title="OpenAI chat completions",
        sends="`POST /v1/chat/completions`, `Authorization: Bearer`, `stream_options.include_usage`",
        reads="`delta.content`, `refusal`, `tool_calls`; reasoning under every key name in use; `usage` in its own"
        " chunk, the finish chunk, `choices[0]` or `x_groq`; `service_tier`; llama.cpp `timings`",
        ends="`[DONE]`, or a finish reason of every choice",
        seen="live",
        note="Any OpenAI-compatible server: give its base URL. `cache = false` sends llama.cpp's"
        " `cache_prompt: false`.",
    ),
    key_envs=("OPENAI_API_KEY",),
    base_url_envs=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    default_base_url="https://api.openai.com/v1",
)
