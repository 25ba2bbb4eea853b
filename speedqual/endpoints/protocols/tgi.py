"""Text Generation Inference: ``/generate_stream``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from speedqual.endpoints.protocols.adapter import About, Adapter, data_url, full_url, with_params
from speedqual.endpoints.protocols.prompt_text import prompt_text
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.values import as_count, as_mapping
from speedqual.records import Candidate, Prompt, Usage

__all__ = ["TGI", "Tgi", "TgiReader"]


class TgiReader(Reader):
    """One token an event; special tokens are no text; the last event repeats all of it as ``generated_text``."""

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        token = as_mapping(obj.get("token"))
        text, details = token.get("text"), as_mapping(obj.get("details"))
        if isinstance(text, str) and token.get("special") is not True:
            self.out.answer(text)
            self.out.so_far(as_count(obj.get("index")))
        if details:
            counts = Usage(
                n_prompt=as_count(details.get("input_length")),
                n_out=as_count(details.get("generated_tokens")),
                source="usage",
            )
            raw = {name: details[name] for name in ("generated_tokens", "input_length") if name in details}
            self.out.count(counts, raw)
            reason = details.get("finish_reason")
            self.out.finish(reason if isinstance(reason, str) else None)
        if isinstance(obj.get("generated_text"), str):
            self.out.end()


@dataclass(frozen=True, kw_only=True)
class Tgi(Adapter):
    """``POST /generate_stream``. Sampling parameters go into ``parameters``."""

    reader = TgiReader
    has_images: ClassVar[bool] = True

    def url(self, candidate: Candidate, base_url: str) -> str:
        return full_url(base_url.rstrip("/").removesuffix("/v1"), "/generate_stream")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        parameters: dict[str, Any] = {"details": True}
        if prompt.max_tokens is not None:
            parameters["max_new_tokens"] = prompt.max_tokens
        if prompt.stop:
            parameters["stop"] = list(prompt.stop)
        if prompt.response_format and "json_schema" in prompt.response_format:
            schema = as_mapping(prompt.response_format["json_schema"]).get("schema")
            parameters["grammar"] = {"type": "json", "value": schema}
        images = (p for m in prompt.messages if isinstance(m.content, list) for p in m.content if p["type"] == "image")
        text = "".join(f"![]({data_url(part)})" for part in images) + prompt_text(prompt)
        return {"inputs": text, "parameters": with_params(parameters, candidate.params), "stream": True}


TGI = Tgi(
    name="tgi",
    wire="tgi-generate",
    about=About(
        title="Text Generation Inference",
        sends="`POST /generate_stream`; sampling parameters under `parameters`",
        reads="`token.text` (special tokens left out), `details.generated_tokens`, `details.input_length`",
        ends="`generated_text`",
        note="Messages become one text without a chat template.",
    ),
    needs_key=False,
    key_envs=("HF_TOKEN",),
    base_url_envs=("TGI_BASE_URL",),
    default_base_url="http://127.0.0.1:8080",
    end_hints=(b'"generated_text":"',),
)
