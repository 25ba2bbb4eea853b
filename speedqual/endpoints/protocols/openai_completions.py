"""OpenAI's older completions: a text that goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.protocols.openai_chat import OpenAIReader, common_options
from speedqual.endpoints.protocols.prompt_text import prompt_text
from speedqual.records import Candidate, Prompt

__all__ = ["OPENAI_COMPLETIONS", "OpenAICompletions"]


@dataclass(frozen=True, kw_only=True)
class OpenAICompletions(Adapter):
    """``POST /v1/completions`` with ``stream: true``."""

    reader = OpenAIReader
    has_tier: ClassVar[bool] = True
    has_cache_switch: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url, "/completions", version="v1")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": candidate.model,
            "prompt": prompt_text(prompt),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if prompt.max_tokens is not None:
            body["max_tokens"] = prompt.max_tokens
        if candidate.cache is not None:
            body["cache_prompt"] = candidate.cache
        return with_params(body | common_options(candidate, prompt), candidate.params)


OPENAI_COMPLETIONS = OpenAICompletions(
    name="openai-completions",
    wire="openai-completions",
    about=About(
        title="OpenAI completions",
        sends="`POST /v1/completions`, `Authorization: Bearer`, `stream_options.include_usage`",
        reads="`choices[].text`; `usage` wherever it comes; llama.cpp `timings`",
        ends="`[DONE]`, or a finish reason of every choice",
        seen="live",
        note="Messages become one text without a chat template.",
    ),
    key_envs=("OPENAI_API_KEY",),
    base_url_envs=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    default_base_url="https://api.openai.com/v1",
    end_hints=(b"[DONE]",),
)
