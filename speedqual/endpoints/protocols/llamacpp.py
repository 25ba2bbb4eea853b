"""llama.cpp's own protocol: ``/completion``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, has_image, with_params
from speedqual.endpoints.protocols.prompt_text import images_of, prompt_text
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.usage import llamacpp_timings
from speedqual.endpoints.reading.values import as_count, as_mapping, clean_text
from speedqual.records import Candidate, Prompt, Usage

__all__ = ["LLAMACPP", "LlamaCpp", "LlamaCppReader"]

_MEDIA = "<__media__>"
_OLD_STOPS = (("stopped_eos", "eos"), ("stopped_word", "word"), ("stopped_limit", "limit"))


class LlamaCppReader(Reader):
    """``content`` pieces; the one with ``stop: true`` carries counts and timings."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        content = obj.get("content")
        self.out.answer(content if isinstance(content, str) else "")
        if isinstance(obj.get("model"), str):
            self.out.served_model = clean_text(obj["model"])
        if obj.get("stop") is True:
            self._last(obj)
        else:
            self.out.so_far(as_count(obj.get("tokens_predicted")))

    def _last(self, obj: Mapping[str, Any]) -> None:
        timings = as_mapping(obj.get("timings"))
        usage = Usage(
            n_prompt=as_count(obj.get("tokens_evaluated")),
            n_out=as_count(obj.get("tokens_predicted")),
            n_cached=as_count(timings.get("cache_n")),  # tokens_cached is the state of the slot, not a cache hit
            source="usage",
        )
        raw = {name: obj[name] for name in ("tokens_evaluated", "tokens_predicted", "timings") if name in obj}
        if raw:
            self.out.count(usage, raw)
        if timings:
            self.out.timed(llamacpp_timings(timings))
        reason = obj.get("stop_type")
        if not isinstance(reason, str):
            reason = next((name for flag, name in _OLD_STOPS if obj.get(flag) is True), None)
        self.out.finish(reason)
        self.out.end()


@dataclass(frozen=True, kw_only=True)
class LlamaCpp(Adapter):
    """``POST /completion`` with ``stream: true``."""

    reader = LlamaCppReader
    has_images: ClassVar[bool] = True
    has_cache_switch: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url.rstrip("/").removesuffix("/v1"), "/completion")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        text: str | dict[str, Any] = prompt_text(prompt)
        if has_image(prompt):
            images = images_of(prompt)
            text = {"prompt_string": f"{_MEDIA}\n" * len(images) + str(text), "multimodal_data": images}
        body: dict[str, Any] = {"prompt": text, "stream": True}
        if prompt.max_tokens is not None:
            body["n_predict"] = prompt.max_tokens
        if prompt.stop:
            body["stop"] = list(prompt.stop)
        if prompt.response_format and "json_schema" in prompt.response_format:
            body["json_schema"] = as_mapping(prompt.response_format["json_schema"]).get("schema")
        if candidate.cache is not None:
            body["cache_prompt"] = candidate.cache
        return with_params(body, candidate.params)


LLAMACPP = LlamaCpp(
    name="llamacpp",
    wire="llamacpp-completion",
    about=About(
        title="llama.cpp native",
        sends="`POST /completion`",
        reads="`content`; running `tokens_predicted`; `tokens_evaluated`, `timings` (`cache_n` is the cached part)",
        ends='`"stop": true`',
        seen="live",
        note="Messages become one text without a chat template. For chat use `openai` with the server's `/v1`.",
    ),
    needs_key=False,
    key_envs=("LLAMA_API_KEY",),
    base_url_envs=("LLAMACPP_BASE_URL", "LLAMA_BASE_URL"),
    default_base_url="http://127.0.0.1:8080",
    end_hints=(b'"stop":true', b'"stop": true'),
)
