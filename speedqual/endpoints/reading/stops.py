"""Finish reasons as endpoints name them → the five that speedqual knows."""

from __future__ import annotations

from speedqual.records import Stop

__all__ = ["stop_of"]

_NAMES: dict[Stop, str] = {
    "stop": "stop end_turn stop_sequence stop_token eos eos_token eos_found completed complete normal word end finished"
    " pause_turn done",
    "length": "length max_tokens max_output_tokens max_completion_tokens limit model_length max_length context_length"
    " model_context_window_exceeded context_window_exceeded token_limit",
    "tool": "tool_calls tool_call tool_use function_call tool",
    "filter": "content_filter content_filtered filter safety refusal recitation blocklist prohibited_content spii"
    " sensitive guardrail_intervened language image_safety image_prohibited_content image_recitation model_armor"
    " jailbreak blocked_reason_unspecified",
    "error": "error network_error insufficient_system_resource malformed_function_call unexpected_tool_call"
    " malformed_model_output malformed_tool_use too_many_tool_calls abort aborted cancelled failed other",
}
_STOPS: dict[str, Stop] = {name: stop for stop, names in _NAMES.items() for name in names.split()}


def stop_of(finish_reason: str | None) -> Stop | None:
    """The normalised reason; None when there is none or the name is new to us."""
    return _STOPS.get(finish_reason.lower()) if finish_reason else None
