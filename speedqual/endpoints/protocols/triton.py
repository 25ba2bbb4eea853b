"""Triton's generate extension: ``/v2/models/MODEL/generate_stream``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from speedqual.endpoints.protocols.adapter import About, Adapter, full_url, with_params
from speedqual.endpoints.protocols.prompt_text import prompt_text
from speedqual.endpoints.reading.reader import Reader
from speedqual.endpoints.reading.values import as_count, clean_text
from speedqual.records import Candidate, Prompt, Usage

__all__ = ["TRITON", "Triton", "TritonReader"]


class TritonReader(Reader):
    """``text_output`` pieces: no end marker, and counts only where the backend was told to add them."""

    ends_with_body = True

    def __init__(self, out: Any) -> None:
        super().__init__(out)
        self._n_out = 0

    def take(self, obj: Mapping[str, Any], kind: str) -> None:
        text = obj.get("text_output")
        for index, piece in enumerate(text if isinstance(text, list) else [text]):  # a list: several answers
            self.out.answer(piece if isinstance(piece, str) else "", index)
        if isinstance(obj.get("model_name"), str):
            self.out.served_model = clean_text(obj["model_name"])
        reason = obj.get("finish_reason")
        self._count(obj)
        if isinstance(reason, str):
            self.out.finish(reason)
            self.out.t_end = None  # the body's end is still the mark

    def _count(self, obj: Mapping[str, Any]) -> None:
        """vLLM's backend adds ``num_output_tokens`` a piece and ``num_input_tokens``, when asked."""
        n_new, n_prompt = as_count(obj.get("num_output_tokens")), as_count(obj.get("num_input_tokens"))
        if n_new is None and n_prompt is None:
            return
        self._n_out += n_new or 0
        usage = Usage(n_prompt=n_prompt, n_out=None if n_new is None else self._n_out, source="usage")
        self.out.count(usage, {"num_output_tokens": self._n_out, "num_input_tokens": n_prompt})


@dataclass(frozen=True, kw_only=True)
class Triton(Adapter):
    """``POST /v2/models/MODEL/generate_stream`` with TensorRT-LLM's input names; params lie at the top level.

    For vLLM's backend give ``params.parameters`` (its sampling parameters) there.
    """

    reader = TritonReader

    def url(self, candidate: Candidate, base_url: str) -> str:
        root = base_url.rstrip("/").removesuffix("/v2")
        return full_url(root, f"/v2/models/{quote(candidate.model, safe='')}/generate_stream")

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        body: dict[str, Any] = {"text_input": prompt_text(prompt), "stream": True}
        if prompt.max_tokens is not None:
            body["max_tokens"] = prompt.max_tokens
        if prompt.stop:
            body["stop_words"] = list(prompt.stop)
        return with_params(body, candidate.params)


TRITON = Triton(
    name="triton",
    wire="triton-generate",
    about=About(
        title="Triton generate_stream",
        sends="`POST /v2/models/MODEL/generate_stream`: `text_input`, `max_tokens`, `stop_words`, `stream`",
        reads="`text_output`; `finish_reason`, `num_input_tokens`, `num_output_tokens` where the backend adds them",
        ends="the end of the body: the protocol has no marker, so a cut stream cannot be told from a whole one",
        note="Messages become one text without a chat template.",
    ),
    needs_key=False,
    key_envs=("TRITON_API_KEY",),
    base_url_envs=("TRITON_BASE_URL",),
    default_base_url="http://127.0.0.1:8000",
)
