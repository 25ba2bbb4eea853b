"""Token counts and server timings as endpoints send them → one normal form.

``n_prompt`` includes cache reads and writes, ``n_out`` includes reasoning once. Whether a count already includes
another is decided by the endpoint's own total where it gives one, never by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from speedqual.endpoints.reading.values import as_count, as_mapping, as_number
from speedqual.records import ServerTimings, Usage

__all__ = [
    "anthropic_usage",
    "bedrock_usage",
    "gemini_usage",
    "llamacpp_timings",
    "llamacpp_usage",
    "merge",
    "openai_cost_usd",
    "openai_timings",
    "openai_usage",
]

_USD_PER_XAI_TICK = 1e-10


T = TypeVar("T", Usage, ServerTimings)


def merge(old: T | None, new: T) -> T:
    """``new``, with what it leaves open taken from ``old``: running totals keep the last value of each count."""
    if old is None:
        return new
    gaps = {f.name: getattr(old, f.name) for f in fields(new) if getattr(new, f.name) is None}
    return replace(new, **gaps) if gaps else new


def _first(source: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        count = as_count(source.get(name))
        if count is not None:
            return count
    return None


def _either(a: int | None, b: int | None) -> int | None:
    return b if a is None else a


def openai_usage(usage: Mapping[str, Any]) -> Usage:
    """The ``usage`` object of OpenAI and of all that speak its dialects (chat, completions, Responses, DashScope)."""
    n_prompt = _first(usage, "prompt_tokens", "input_tokens", "num_prompt_tokens")
    n_out = _first(usage, "completion_tokens", "output_tokens", "num_completion_tokens")
    prompt = as_mapping(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
    out = as_mapping(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
    n_reasoning = _either(_first(out, "reasoning_tokens", "thinking_tokens"), _first(usage, "reasoning_tokens"))
    total = _first(usage, "total_tokens")
    if n_reasoning and n_out is not None and _is_apart(n_prompt or 0, n_out, n_reasoning, total):
        n_out += n_reasoning
    cached = _first(prompt, "cached_tokens", "cache_read_tokens", "cached_input_tokens")
    written = _first(prompt, "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
    return Usage(
        n_prompt=n_prompt,
        n_out=n_out,
        n_reasoning=n_reasoning,
        n_cached=_either(
            cached,
            _first(usage, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens", "num_cached_tokens"),
        ),
        n_cache_write=_either(written, _first(usage, "cache_creation_input_tokens", "cache_write_tokens")),
        source="usage",
    )


def _is_apart(n_prompt: int, n_out: int, n_reasoning: int, total: int | None) -> bool:
    """Is reasoning counted beside ``n_out`` (xAI) and not inside it? The total says so; else only an overflow can."""
    return total == n_prompt + n_out + n_reasoning or (total is None and n_reasoning > n_out)


def openai_cost_usd(usage: Mapping[str, Any]) -> float | None:
    """What the endpoint says the request cost (OpenRouter, Perplexity, DeepInfra, xAI)."""
    cost = usage.get("cost")
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    value = as_number(usage.get("estimated_cost") if cost is None else cost)
    if value is None:
        ticks = as_number(usage.get("cost_in_usd_ticks"))
        value = None if ticks is None else ticks * _USD_PER_XAI_TICK
    return None if value is None else float(value)


def openai_timings(chunk: Mapping[str, Any], usage: Mapping[str, Any]) -> ServerTimings | None:
    """Server-side times in any of the forms seen: llama.cpp, Groq (in ``usage``), Cerebras, SambaNova, Fireworks."""
    if isinstance(chunk.get("timings"), dict):
        return llamacpp_timings(chunk["timings"])
    times = as_mapping(chunk.get("time_info")) or usage
    perf = as_mapping(chunk.get("perf_metrics"))
    found = ServerTimings(
        queue_ms=_ms(times.get("queue_time")),
        prefill_ms=_ms(times.get("prompt_time")),
        decode_ms=_ms(times.get("completion_time")),
        ttft_ms=_ms(times.get("time_to_first_token") or perf.get("server-time-to-first-token")),
        total_ms=_ms(times.get("total_time") or times.get("total_latency")),
    )
    return found if found != ServerTimings() else None


def llamacpp_timings(timings: Mapping[str, Any]) -> ServerTimings:
    """The ``timings`` object of a llama.cpp server; already in milliseconds."""
    return ServerTimings(
        prefill_ms=as_number(timings.get("prompt_ms")),
        decode_ms=as_number(timings.get("predicted_ms")),
        decode_tok_s=as_number(timings.get("predicted_per_second")),
    )


def llamacpp_usage(timings: Mapping[str, Any]) -> Usage:
    """Counts out of llama.cpp's ``timings``, for replies without ``usage``. ``prompt_n`` leaves the cached ones out."""
    n_new, n_cached = as_count(timings.get("prompt_n")), as_count(timings.get("cache_n"))
    return Usage(
        n_prompt=None if n_new is None else n_new + (n_cached or 0),
        n_out=as_count(timings.get("predicted_n")),
        n_cached=n_cached,
        source="server_timings",
    )


def anthropic_usage(usage: Mapping[str, Any], *, final: bool) -> Usage:
    """Anthropic's ``usage``. Before the last ``message_delta`` its ``output_tokens`` counts nothing: left out."""
    read = as_count(usage.get("cache_read_input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens"))
    n_new = as_count(usage.get("input_tokens"))
    details = as_mapping(usage.get("output_tokens_details"))
    return Usage(
        n_prompt=None if n_new is None else n_new + (read or 0) + (written or 0),
        n_out=as_count(usage.get("output_tokens")) if final else None,
        n_reasoning=_first(details, "thinking_tokens", "reasoning_tokens"),
        n_cached=read,
        n_cache_write=written,
        source="usage",
    )


def bedrock_usage(usage: Mapping[str, Any]) -> Usage:
    """The ``usage`` of Bedrock's metadata event; ``inputTokens`` leaves cache reads and writes out."""
    read, written = as_count(usage.get("cacheReadInputTokens")), as_count(usage.get("cacheWriteInputTokens"))
    n_new = as_count(usage.get("inputTokens"))
    return Usage(
        n_prompt=None if n_new is None else n_new + (read or 0) + (written or 0),
        n_out=as_count(usage.get("outputTokens")),
        n_cached=read,
        n_cache_write=written,
        source="usage",
    )


def gemini_usage(usage: Mapping[str, Any]) -> Usage:
    """Gemini's ``usageMetadata``, a running total; thoughts are counted apart from the candidates."""
    answer, thoughts = as_count(usage.get("candidatesTokenCount")), as_count(usage.get("thoughtsTokenCount"))
    prompt, tools = as_count(usage.get("promptTokenCount")), as_count(usage.get("toolUsePromptTokenCount"))
    return Usage(
        n_prompt=None if prompt is None else prompt + (tools or 0),
        n_out=None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0),
        n_reasoning=thoughts,
        n_cached=as_count(usage.get("cachedContentTokenCount")),
        source="usage",
    )


def _ms(seconds: Any) -> float | None:
    number = as_number(seconds)
    return None if number is None or number < 0 else number * 1000
