"""OpenAI Responses: typed events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, data_url, full_url, with_params
from speedqual.endpoints.reading.faults import Fault, fault_in
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.transcript import Transcript
from speedqual.endpoints.reading.usage import openai_cost_usd, openai_usage
from speedqual.endpoints.reading.values import as_mapping, clean_text
from speedqual.records import Candidate, Message, Prompt

__all__ = ["OPENAI_RESPONSES", "OpenAIResponses", "ResponsesReader"]

_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_CALL_DELTAS = tuple(
    f"response.{name}.delta"
    for name in ("function_call_arguments", "custom_tool_call_input", "mcp_call_arguments", "mcp_call.arguments")
)
_CALL_DONES = tuple(name.removesuffix("delta") + "done" for name in _CALL_DELTAS)


class ResponsesReader(Reader):
    """Deltas count; the ``done`` events repeat them and count only where no delta came."""

    def __init__(self, out: Transcript) -> None:
        super().__init__(out)
        self._seen: set[tuple[Any, ...]] = set()
        self._has_text = False
        self._called: set[Any] = set()  # calls whose arguments were said
        self._spoken: set[Any] = set()  # output items that said something

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        name = obj.get("type")
        name = name if isinstance(name, str) else kind
        if name.startswith(("response.output_text.", "response.refusal.", "response.reasoning")):
            self._text(name, obj)
        elif name in _CALL_DELTAS:
            delta = obj.get("delta")
            self._called.add(_key(obj))
            self.out.tool(_key(obj), "", delta if isinstance(delta, str) else "")
        elif name in _CALL_DONES:
            self._arguments(_key(obj), obj.get("arguments") or obj.get("input"))
        elif name == "response.output_item.added":
            self._item(as_mapping(obj.get("item")), obj)
        elif name == "response.content_part.done":
            self._whole({"type": "message", "content": [obj.get("part")]}, _key(obj))
        elif name == "response.output_item.done":
            self._whole(as_mapping(obj.get("item")), _key(obj))
        elif isinstance(obj.get("response"), dict):
            self._response(name, obj["response"])

    def _text(self, name: str, obj: Mapping[str, Any]) -> None:
        channel, _, step = name.removeprefix("response.").rpartition(".")
        place = (channel, _key(obj), _index(obj, "content_index"), _index(obj, "summary_index"))
        if step == "delta":
            self._seen.add(place)
            piece = obj.get("delta")
        elif step == "done" and place not in self._seen:
            piece = obj.get("text") or obj.get("refusal")
        else:
            return
        if not isinstance(piece, str):
            return
        if piece:
            self._spoken.add(_key(obj))
        if channel == "output_text" and piece:
            self._has_text = True
        if channel == "output_text":
            self.out.answer(piece)
        elif channel == "refusal":
            self.out.refusal(piece)
        elif channel in ("reasoning_text", "reasoning_summary_text", "reasoning_summary", "reasoning"):
            self.out.reasoning(piece)

    def _item(self, item: Mapping[str, Any], obj: Mapping[str, Any]) -> None:
        if item.get("type") in _CALLS:
            name = item.get("name")
            self._spoken.add(_key(obj))
            self.out.tool(_key(obj), name if isinstance(name, str) else "")
            self._arguments(_key(obj), item.get("arguments") or item.get("input"))

    def _arguments(self, key: Any, arguments: Any) -> None:
        """The whole arguments of a call, unless deltas said them."""
        if isinstance(arguments, str) and arguments and key not in self._called:
            self._called.add(key)
            self.out.tool(key, "", arguments)

    def _whole(self, item: Mapping[str, Any], key: Any) -> None:
        """An item at its end: counts where nothing of it came before."""
        if item.get("type") in _CALLS and key in self._spoken:
            self._arguments(key, item.get("arguments") or item.get("input"))
        if key in self._spoken:
            return
        self._item(item, {"output_index": key} if isinstance(key, int) else {"item_id": key})
        content = item.get("content")
        is_new = item.get("type") == "message" and not self._has_text  # indexes may be wrong; text is never said twice
        for part in content if is_new and isinstance(content, list) else []:
            text, refusal = as_mapping(part).get("text"), as_mapping(part).get("refusal")
            self.out.answer(text if isinstance(text, str) else "")
            self.out.refusal(refusal if isinstance(refusal, str) else "")
            self._spoken.add(key)

    def _response(self, name: str, response: Mapping[str, Any]) -> None:
        self._served(response)
        usage = as_mapping(response.get("usage"))
        if usage:
            self.out.count(openai_usage(usage), usage, running=False)
            self.out.cost_usd = openai_cost_usd(usage)
        if name in ("response.completed", "response.done", "response.incomplete"):
            output = response.get("output")
            if isinstance(output, list) and not self._spoken:
                for index, item in enumerate(output):
                    self._whole(as_mapping(item), index)
            reason = as_mapping(response.get("incomplete_details")).get("reason")
            status = response.get("status")
            self.out.finish(next((r for r in (reason, status) if isinstance(r, str)), "completed"))
            self.out.end()
        elif name in ("response.failed", "response.cancelled"):
            words = name.removeprefix("response.")
            self.out.finish(words)
            self.out.fail(fault_in(response) or Fault(code=words, message=f"the response has {words}"))

    def _served(self, response: Mapping[str, Any]) -> None:
        tier, model, number = (response.get(key) for key in ("service_tier", "model", "id"))
        if isinstance(tier, str):
            self.out.served_tier = clean_text(tier)
        if isinstance(model, str):
            self.out.served_model = clean_text(model)
        if isinstance(number, str):
            self.out.request_id = number


def _key(obj: Mapping[str, Any]) -> Any:
    index = _index(obj, "output_index")
    item = obj.get("item_id")
    return index if index is not None else item if isinstance(item, str) else None


def _index(obj: Mapping[str, Any], name: str) -> int | None:
    value = obj.get(name)
    return value if isinstance(value, int) else None


@dataclass(frozen=True, kw_only=True)
class OpenAIResponses(Adapter):
    """``POST /v1/responses`` with ``stream: true``; nothing is stored on the server."""

    reader = ResponsesReader
    has_images: ClassVar[bool] = True
    has_tools: ClassVar[bool] = True
    has_tier: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url, "/responses", version="v1")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": candidate.model,
            "input": [{"role": m.role, "content": _content(m)} for m in prompt.messages],
            "stream": True,
            "store": False,
        }
        if prompt.max_tokens is not None:
            body["max_output_tokens"] = prompt.max_tokens
        if prompt.tools:
            body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.response_format is not None:
            body["text"] = {"format": _format(prompt.response_format)}
        if candidate.tier:
            body["service_tier"] = candidate.tier
        return with_params(body, candidate.params)


def _content(message: Message) -> str | list[dict[str, Any]]:
    if isinstance(message.content, str):
        return message.content
    text_type = "output_text" if message.role == "assistant" else "input_text"
    return [
        {"type": "input_image", "image_url": data_url(part)}
        if part.get("type") == "image"
        else {"type": text_type, "text": part.get("text", "")}
        for part in message.content
    ]


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Responses has the function's fields at the top."""
    return {"type": "function", **as_mapping(tool.get("function"))} if "function" in tool else dict(tool)


def _format(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": wanted.get("type"), **as_mapping(wanted.get("json_schema"))}


OPENAI_RESPONSES = OpenAIResponses(
    name="openai-responses",
    wire="openai-responses",
    about=About(
        title="OpenAI Responses",
        sends="`POST /v1/responses`, `Authorization: Bearer`, `store: false`",
        reads="`output_text`, `refusal`, `reasoning_text`, `reasoning_summary_text` and call-argument deltas;"
        " `usage`, `service_tier`",
        ends="`response.completed`, `response.incomplete`; `response.failed` and `error` are errors",
        note="The protocol has no stop sequences: those of a prompt are not sent.",
    ),
    key_envs=("OPENAI_API_KEY",),
    base_url_envs=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    default_base_url="https://api.openai.com/v1",
    end_hints=(b"response.completed", b"response.incomplete", b"response.failed", b"[DONE]"),
)
