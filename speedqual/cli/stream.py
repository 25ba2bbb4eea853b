"""``speedqual stream``: one stream looked at closely, recorded or live."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from speedqual.cli.table import text_table
from speedqual.display.safe import visible
from speedqual.endpoints.base import RawReply
from speedqual.endpoints.recordings import Recording, read_recording, recorded, write_recording
from speedqual.errors import EndpointError, UsageError
from speedqual.records import Attempt, Candidate, Message, Prompt

__all__ = ["command"]

_PROMPT = "Name the seven colours of the rainbow, one a line."
_EVENT_ROWS = 40
_SOURCE = "recorded by speedqual stream"
_GOOD = ("ok", "empty", "filtered")
_EXPECTED = (
    *("text", "reasoning", "tool_calls", "finish_reason", "stop", "complete", "error", "n_events"),
    *("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens"),
    *("ttft_ms", "first_answer_ms", "last_token_ms"),
)


@click.command("stream")
@click.argument("source", metavar="FILE|CANDIDATE")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON document: the keys of a recording's expect, and metrics."
)
@click.option("--record", type=click.Path(path_type=Path), help="Write the reply as a recording, without secrets.")
@click.option("--prompt", default=_PROMPT, help="What a live candidate is asked.")
@click.option("--max-tokens", type=click.IntRange(1), default=256, show_default=True, help="For a live candidate.")
@click.option("--base-url", default="", help="Where a live candidate is reached.")
@click.option("--split-think", is_flag=True, help="Take <think> tags in the answer for reasoning.")
@click.option("--check", is_flag=True, help="Compare with what the recording expects; exit 1 when it differs.")
@click.option("--all-events", is_flag=True, help=f"List every event, not the first {_EVENT_ROWS}.")
def command(
    source: str,
    as_json: bool,
    record: Path | None,
    prompt: str,
    max_tokens: int,
    base_url: str,
    split_think: bool,
    check: bool,
    all_events: bool,
) -> None:
    """Look at one stream: a recording played over a local socket at its recorded times, or one live reply.

    \b
    Examples:
      speedqual stream reply.json
      speedqual stream openai/gpt-5-mini --prompt "Hi"
      speedqual stream openai/my-model --base-url http://127.0.0.1:8000/v1 --record reply.json

    Exit codes: 0 the stream was read, 1 it is not as expected, 3 a live endpoint failed.
    """
    path = Path(source)
    is_file = path.is_file()
    if is_file:
        raw, attempt, api, url_path = asyncio.run(_played(path))
    else:
        raw, attempt, api, url_path = asyncio.run(_live(source, base_url, prompt, max_tokens))
    if record is not None:
        _write(record, recorded(raw, api=api, path=url_path, source=_SOURCE), attempt)
    if split_think:
        from speedqual.endpoints.thinking import split_think as split

        attempt = split(attempt)
    document = _document(attempt)
    click.echo(json.dumps(document, ensure_ascii=False, indent=1) if as_json else _page(attempt, document, all_events))
    if check and is_file:
        _compare(path, document)
    if not is_file and attempt.outcome not in _GOOD:
        raise EndpointError(f"the reply ended as {attempt.outcome}: {attempt.error_message}", where=source)


async def _played(path: Path) -> tuple[RawReply, Attempt, str, str]:
    from speedqual.endpoints.client import Client
    from speedqual.endpoints.player import play
    from speedqual.endpoints.recordings import endpoint_of

    recording = read_recording(path)
    endpoint = endpoint_of(recording.api)
    with play([path]) as playing:
        candidate = Candidate(name=path.stem, endpoint=endpoint, model="recording", base_url=playing.url(path.stem))
        async with Client(environ={}) as client:
            await client.warm_up(replace(candidate, base_url=playing.url("none")))  # opens the connection
            raw, attempt = await client.listen(candidate, _prompt(_PROMPT, 256))
    return raw, attempt, recording.api, recording.path


async def _live(name: str, base_url: str, prompt: str, max_tokens: int) -> tuple[RawReply, Attempt, str, str]:
    import os
    from urllib.parse import urlsplit

    from speedqual.endpoints.access import base_url_of
    from speedqual.endpoints.client import Client
    from speedqual.endpoints.naming import parse_candidate
    from speedqual.endpoints.registry import endpoint

    if "/" not in name and not base_url:
        raise UsageError("is neither a file nor ENDPOINT/MODEL", where=name, fix="See speedqual stream --help")
    candidate = parse_candidate(name, base_url=base_url)
    asked, known = _prompt(prompt, max_tokens), endpoint(candidate.endpoint)
    async with Client() as client:
        await client.warm_up(candidate)
        raw, attempt = await client.listen(candidate, asked)
        if "stale_connection" in attempt.flags:  # the server dropped the kept-alive connection: nothing was asked yet
            raw, attempt = await client.listen(candidate, asked)
    request = known.request(candidate, asked, base_url_of(candidate, known, os.environ), None)
    return raw, attempt, getattr(known, "wire", candidate.endpoint), urlsplit(request.url).path


def _prompt(text: str, max_tokens: int) -> Prompt:
    return Prompt(messages=(Message("user", text),), max_tokens=max_tokens)


def _write(path: Path, recording: Recording, attempt: Attempt) -> None:
    from speedqual.endpoints.seen import seen

    found = seen(attempt)
    write_recording(replace(recording, expect={name: found[name] for name in _EXPECTED}), path)
    click.echo(f"recorded {path}", err=True)


def _document(attempt: Attempt) -> dict[str, Any]:
    """Strict JSON: what was seen, every metric, and why one is missing."""
    from speedqual.endpoints.seen import seen
    from speedqual.timing import measure

    measured = measure([attempt], failed_too=True)
    flags = sorted({*attempt.flags, *measured.flags})
    return {
        **seen(attempt),
        "flags": flags,
        "buffered": "buffered" in flags,
        "metrics": measured.metrics,
        "missing": measured.missing,
    }


def _compare(path: Path, document: dict[str, Any]) -> None:
    from speedqual.endpoints.seen import differences

    found = differences(read_recording(path).expect, document)
    for line in found:
        click.echo(f"{path.name}: {line}", err=True)
    if found:
        raise click.exceptions.Exit(1)


def _page(attempt: Attempt, document: dict[str, Any], all_events: bool) -> str:
    """What was seen, for reading."""
    apart = ("text", "reasoning", "choices", "tool_calls", "metrics", "missing")
    rows = [(name, word) for name, value in document.items() if name not in apart and (word := _word(value))]
    parts = [f"{name}: {visible(document[name])}" for name in ("reasoning", "text") if document[name]]
    parts += [f"tool call: {visible(call.name)}({visible(call.arguments)})" for call in attempt.tool_calls]
    parts.append("\n".join(f"{name:18} {value}" for name, value in rows))
    parts.append(_events(attempt, None if all_events else _EVENT_ROWS))
    parts.append("\n".join(_metric(name, value, document["missing"]) for name, value in document["metrics"].items()))
    return "\n\n".join(part for part in parts if part)


def _word(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _metric(name: str, value: Any, missing: dict[str, str]) -> str:
    if value is None:
        return f"{name:18} –  ({missing.get(name, 'missing')})"
    return f"{name:18} {value:.3f}" if isinstance(value, float) else f"{name:18} {value}"


def _events(attempt: Attempt, limit: int | None) -> str:
    events, start = attempt.timeline.events, attempt.timeline.t_send or 0
    rows = []
    for i, event in enumerate(events[:limit]):
        gap = "" if i == 0 else f"{(event.t_ns - events[i - 1].t_ns) / 1e6:.3f}"
        tokens = "" if event.n_tokens is None else str(event.n_tokens)
        at = f"{(event.t_ns - start) / 1e6:.3f}"
        rows.append([str(i + 1), at, gap, str(event.read), tokens, event.channel, visible(repr(event.text), 50)])
    if not rows:
        return ""
    more = len(events) - len(rows)
    table = text_table(["event", "ms", "gap ms", "read", "tokens", "channel", "text"], rows)
    return table + (f"\n… {more} more (--all-events)" if more else "")
