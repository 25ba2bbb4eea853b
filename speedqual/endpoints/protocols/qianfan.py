"""Baidu Qianfan, version 1 of its protocol (ERNIE); version 2 is OpenAI's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from speedqual.endpoints.base import HttpRequest
from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, post, with_params
from speedqual.endpoints.protocols.prompt_text import text_of
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.usage import openai_usage
from speedqual.endpoints.reading.values import as_mapping
from speedqual.records import Candidate, Prompt

__all__ = ["QIANFAN", "Qianfan", "QianfanReader"]

_ROOT = "/rpc/2.0/ai_custom/v1/wenxinworkshop/chat"


class QianfanReader(Reader):
    """``result`` pieces, one a sentence; ``is_end`` marks the last."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        result, call = obj.get("result"), as_mapping(obj.get("function_call"))
        self.out.answer(result if isinstance(result, str) else "")
        if call:
            name, arguments = call.get("name"), call.get("arguments")
            thoughts = call.get("thoughts")
            self.out.reasoning(thoughts if isinstance(thoughts, str) else "")
            self.out.tool(
                len(self.out.tool_calls),  # each call comes whole
                name if isinstance(name, str) else "",
                arguments if isinstance(arguments, (str, dict)) else "",
            )
        usage = as_mapping(obj.get("usage"))
        if usage:
            self.out.count(openai_usage(usage), usage)
        if isinstance(obj.get("id"), str):
            self.out.request_id = obj["id"]
        if obj.get("is_end") is True:
            self._last(obj)

    def _last(self, obj: Mapping[str, Any]) -> None:
        reason = obj.get("finish_reason")
        if obj.get("is_truncated") is True and reason in (None, "", "normal"):
            reason = "length"
        self.out.finish(reason if isinstance(reason, str) else None)
        self.out.end()


@dataclass(frozen=True, kw_only=True)
class Qianfan(Adapter):
    """``POST …/wenxinworkshop/chat/MODEL?access_token=KEY``: here alone the key must stand in the URL."""

    reader = QianfanReader
    has_tools: ClassVar[bool] = True

    def request(self, candidate: Candidate, prompt: Prompt, base_url: str, key: str | None) -> HttpRequest:
        self.check(candidate, prompt)
        parts = urlsplit(self.url(candidate, base_url))
        query = parse_qsl(parts.query) + ([("access_token", key)] if key else [])
        url = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
        return post(url, {}, self.body(candidate, prompt, base_url), candidate)

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url.rstrip("/").removesuffix(_ROOT), f"{_ROOT}/{quote(candidate.model, safe='')}")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        messages = [{"role": m.role, "content": text_of(m)} for m in prompt.messages if m.role != "system"]
        body: dict[str, Any] = {"messages": messages, "stream": True}
        system = "\n\n".join(text_of(m) for m in prompt.messages if m.role == "system")
        if system:
            body["system"] = system
        if prompt.max_tokens is not None:
            body["max_output_tokens"] = prompt.max_tokens
        if prompt.stop:
            body["stop"] = list(prompt.stop)
        if prompt.tools:
            body["functions"] = [tool.get("function", tool) for tool in prompt.tools]
        if prompt.response_format is not None:
            body["response_format"] = prompt.response_format.get("type")
        return with_params(body, candidate.params)


QIANFAN = Qianfan(
    name="qianfan",
    wire="qianfan",
    about=About(
        title="Baidu Qianfan v1",
        sends="`POST /rpc/2.0/ai_custom/v1/wenxinworkshop/chat/MODEL?access_token=…`",
        reads="`result` per sentence, `function_call`; `usage`, whose last value counts; `is_truncated`",
        ends='`"is_end": true`',
        note="The access token stands in the URL, as the protocol wants; queries are shown nowhere. Version 2 is OpenAI"
        " chat: `openai` with its base URL.",
    ),
    key_envs=("QIANFAN_ACCESS_TOKEN",),
    base_url_envs=("QIANFAN_BASE_URL",),
    default_base_url="https://aip.baidubce.com",
    end_hints=(b'"is_end":true', b'"is_end": true'),
)
