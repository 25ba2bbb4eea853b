"""What was seen in one reply, under the key names that recordings use for what they expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from speedqual.endpoints.reading.thinking import has_think_tags, split_think
from speedqual.endpoints.recordings.files import NS_PER_MS
from speedqual.records import Attempt, Outcome

__all__ = ["differences", "error_name", "seen"]

_NOT_ERRORS: frozenset[Outcome] = frozenset({"ok", "empty", "filtered"})


def error_name(outcome: Outcome) -> str | None:
    """The outcome as recordings name it: None for a reply that ended well, ``truncated`` for ``cut_off``."""
    if outcome in _NOT_ERRORS:
        return None
    return "truncated" if outcome == "cut_off" else outcome


def seen(attempt: Attempt) -> dict[str, Any]:
    """Strict JSON: texts, calls, tokens as the server gave them (None = it did not say), times in ms after the send."""
    usage, line = attempt.usage, attempt.timeline
    answers = [e for e in line.events if e.channel in ("answer", "refusal")]
    return {
        "outcome": attempt.outcome,
        "status": attempt.status,
        "text": attempt.text,
        "reasoning": attempt.reasoning,
        "choices": list(attempt.choices) or [attempt.text],
        "tool_calls": [call.to_dict() for call in attempt.tool_calls],
        "finish_reason": attempt.finish_reason,
        "stop": attempt.stop,
        "prompt_tokens": usage.n_prompt,
        "completion_tokens": usage.n_out,
        "reasoning_tokens": usage.n_reasoning,
        "cached_tokens": usage.n_cached,
        "cache_write_tokens": usage.n_cache_write,
        "token_source": usage.source,
        "n_events": len(line.events) if line.n_frames is None else line.n_frames,
        "ttft_ms": _after(attempt, line.events[0].t_ns if line.events else None),
        "first_answer_ms": _after(attempt, answers[0].t_ns if answers else None),
        "last_token_ms": _after(attempt, line.events[-1].t_ns if line.events else None),
        "end_ms": _after(attempt, line.t_end),
        "complete": line.t_end is not None,
        "error": error_name(attempt.outcome),
        "error_code": attempt.error_code,
        "error_message": attempt.error_message,
        "retryable": attempt.retryable,
        "retry_after_s": attempt.retry_after_s,
        "rate": _plain(attempt.rate),
        "server": _plain(attempt.server.to_dict() if attempt.server else None),
        "service_tier": attempt.served_tier,
        "speed": attempt.served_speed,
        "cost_usd": attempt.cost_usd,
        "served_model": attempt.served_model,
        "request_id": attempt.request_id,
        "flags": list(attempt.flags),
        "think_split": _think_split(attempt) if has_think_tags(attempt) else None,
    }


def _think_split(attempt: Attempt) -> dict[str, Any]:
    """The other reading of an answer with ``<think>`` tags."""
    other = split_think(attempt)
    answers = [event for event in other.timeline.events if event.channel == "answer"]
    first_ns = answers[0].t_ns if answers else None
    return {"text": other.text, "reasoning": other.reasoning, "first_answer_ms": _after(other, first_ns)}


def _after(attempt: Attempt, t_ns: int | None) -> float | None:
    start = attempt.timeline.t_send
    return None if t_ns is None or start is None else round((t_ns - start) / NS_PER_MS, 3)


def _plain(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else {name: value for name, value in values.items() if value is not None}


_TIMES = ("ttft_ms", "first_answer_ms", "last_token_ms", "end_ms")


def differences(
    expect: Mapping[str, Any], got: Mapping[str, Any], *, early_ms: float = 2.0, late_ms: float = 25.0
) -> list[str]:
    """Where ``got`` is not as a recording expects, one line each; keys that are not expected are not compared.

    Times may be ``early_ms`` early (the send is stamped before the server has read the request) and ``late_ms`` late.
    """
    found: list[str] = []
    for name, want in expect.items():
        have = got.get(name)
        if isinstance(want, Mapping) and isinstance(have, Mapping):
            found += [f"{name}.{line}" for line in differences(want, have, early_ms=early_ms, late_ms=late_ms)]
        elif not _agree(name, want, have, early_ms, late_ms):
            found.append(f"{name}: expected {want!r}, got {have!r}")
    return found


def _agree(name: str, want: Any, have: Any, early_ms: float, late_ms: float) -> bool:
    if name in _TIMES and isinstance(want, (int, float)) and isinstance(have, (int, float)):
        return want - early_ms - 1e-9 <= have <= want + late_ms + 1e-9
    if isinstance(want, float) and isinstance(have, (int, float)):
        return abs(want - have) <= 1e-6 + 1e-3 * abs(want)
    return bool(want == have)
