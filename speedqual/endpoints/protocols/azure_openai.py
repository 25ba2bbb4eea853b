"""Azure OpenAI: OpenAI chat under another path, with another header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from speedqual.endpoints.protocols.adapter import About, full_url, with_params
from speedqual.endpoints.protocols.openai_chat import OpenAIChat
from speedqual.records import Candidate, Prompt

__all__ = ["AZURE", "AzureOpenAI"]

_API_VERSION = "2024-10-21"


@dataclass(frozen=True, kw_only=True)
class AzureOpenAI(OpenAIChat):
    """``POST /openai/deployments/MODEL/chat/completions?api-version=…``; the model is the deployment's name.

    A base URL that ends in ``/openai/v1`` asks the newer path, which has no version. ``api_version`` stands in the
    candidate's params or in the query of the base URL.
    """

    def url(self, candidate: Candidate, base_url: str) -> str:
        parts = urlsplit(full_url(base_url, ""))
        if "/openai/v1" in parts.path:
            return full_url(base_url, "/chat/completions")
        root = parts.path.rstrip("/").removesuffix("/openai").partition("/openai/deployments/")[0]
        given = parse_qs(parts.query).get("api-version", [])
        version = str(candidate.params.get("api_version") or (given[0] if given else _API_VERSION))
        path = f"{root}/openai/deployments/{quote(candidate.model, safe='')}/chat/completions"
        return urlunsplit((parts.scheme, parts.netloc, path, f"api-version={quote(version)}", ""))

    def headers(self, key: str | None) -> dict[str, str]:
        return {"api-key": key} if key else {}

    def body(self, candidate: Candidate, prompt: Prompt, base_url: str) -> dict[str, Any]:
        return with_params(super().body(candidate, prompt, base_url), {"api_version": None, "cache_prompt": None})


AZURE = AzureOpenAI(
    name="azure",
    wire="azure-openai",
    about=About(
        title="Azure OpenAI",
        sends="`POST /openai/deployments/MODEL/chat/completions?api-version=…`, `api-key`; or `/openai/v1/…`",
        reads="as OpenAI chat; chunks of filter results are nothing",
        ends="as OpenAI chat",
        note=f"`params.api_version` (default {_API_VERSION}); the model is the deployment's name.",
    ),
    key_envs=("AZURE_OPENAI_API_KEY",),
    base_url_envs=("AZURE_OPENAI_ENDPOINT",),
    max_tokens_key="max_completion_tokens",
)
