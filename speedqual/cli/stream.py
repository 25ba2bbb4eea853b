"""``speedqual stream``: one stream looked at closely, recorded or live."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from speedqual.cli.settings import DEFAULT_FILE
from speedqual.cli.table import text_table
from speedqual.display.safe import visible
from speedqual.endpoints.base import RawReply
from speedqual.endpoints.recordings.files import read_recording, recorded, write_recording
from speedqual.errors import EndpointError, StorageError, UsageError
from speedqual.records import Attempt, Candidate, Message, Price, Prompt

if TYPE_CHECKING:
    from speedqual.endpoints.client import Client

__all__ = ["command"]

_PROMPT = "Name the seven colours of the rainbow, one a line."
_EVENT_ROWS = 40
_HELP = "See speedqual stream --help"
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
@click.option("--config", type=click.Path(path_type=Path), help=f"Settings with candidates. Default: {DEFAULT_FILE}.")
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
    config: Path | None,
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
    found = asyncio.run(_played(path) if is_file else _live(_candidate(source, base_url, config), prompt, max_tokens))
    if record is not None:
        _write(record, found)
    if split_think:
        from speedqual.endpoints.reading.thinking import split_think as split

        found = replace(found, attempt=split(found.attempt))
    document = _document(found)
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        click.echo(_page(found.attempt, document, all_events))
    if check and is_file:
        _compare(path, document)
    if not is_file and found.attempt.outcome not in _GOOD:
        words = f"the reply ended as {found.attempt.outcome}: {found.attempt.error_message}"
        raise EndpointError(words, where=source)


@dataclass(frozen=True)
class _Found:
    """One reply, and what a recording of it has to say besides."""

    raw: RawReply
    attempt: Attempt
    api: str
    path: str
    price: Price | None = None


async def _played(path: Path) -> _Found:
    from speedqual.endpoints.client import Client
    from speedqual.endpoints.recordings.files import endpoint_of
    from speedqual.endpoints.recordings.player import play

    recording = read_recording(path)
    endpoint = endpoint_of(recording.api)
    with play([path]) as playing:
        candidate = Candidate(name=path.stem, endpoint=endpoint, model="recording", base_url=playing.url(path.stem))
        async with Client(environ={}) as client:
            await client.warm_up(replace(candidate, base_url=playing.url("none")))  # opens the connection
            raw, attempt = await _listen(client, candidate, _prompt(_PROMPT, 256))
    return _Found(raw, attempt, recording.api, recording.path)


def _candidate(name: str, base_url: str, config: Path | None) -> Candidate:
    """A candidate of the settings by its name, or ENDPOINT/MODEL."""
    from speedqual.cli.settings import read_settings
    from speedqual.endpoints.naming import candidates_from_table, parse_candidate

    file = config or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)
    table = read_settings(file).get("candidates", {}) if file else {}
    named = {one.name: one for one in candidates_from_table(table, str(file))}
    if name in named:
        return replace(named[name], base_url=base_url) if base_url else named[name]
    if "/" not in name and not base_url:
        raise UsageError("is no file, no candidate of the settings, and not ENDPOINT/MODEL", where=name, fix=_HELP)
    return parse_candidate(name, base_url=base_url)


async def _live(candidate: Candidate, prompt: str, max_tokens: int) -> _Found:
    import os
    from urllib.parse import urlsplit

    from speedqual.endpoints.access import base_url_of
    from speedqual.endpoints.client import Client
    from speedqual.endpoints.prices import price_of
    from speedqual.endpoints.registry import endpoint

    asked, known = _prompt(prompt, max_tokens), endpoint(candidate.endpoint)
    async with Client() as client:
        await client.warm_up(candidate)
        raw, attempt = await _listen(client, candidate, asked)
    path = urlsplit(known.request(candidate, asked, base_url_of(candidate, known, os.environ), None).url).path
    return _Found(raw, attempt, getattr(known, "wire", candidate.endpoint), path, price_of(candidate))


async def _listen(client: Client, candidate: Candidate, prompt: Prompt) -> tuple[RawReply, Attempt]:
    raw, attempt = await client.listen(candidate, prompt)
    if "stale_connection" in attempt.flags:  # the server had dropped the kept-alive connection: nothing was asked yet
        raw, attempt = await client.listen(candidate, prompt)
    return raw, attempt


def _prompt(text: str, max_tokens: int) -> Prompt:
    return Prompt(messages=(Message("user", text),), max_tokens=max_tokens)


def _write(path: Path, found: _Found) -> None:
    from speedqual.endpoints.recordings.seen import seen

    told = seen(found.attempt)
    recording = recorded(found.raw, api=found.api, path=found.path, source=_SOURCE)
    try:
        write_recording(replace(recording, expect={name: told[name] for name in _EXPECTED}), path)
    except OSError as fault:
        raise StorageError("cannot be written", where=str(path), fix=fault.strerror or "") from None
    click.echo(f"recorded {path}", err=True)


def _document(found: _Found) -> dict[str, Any]:
    """Strict JSON: what was seen, every metric, and why one is missing."""
    from speedqual.endpoints.recordings.seen import seen
    from speedqual.timing import measure

    measured = measure([found.attempt], price=found.price, failed_too=True)
    flags = sorted({*found.attempt.flags, *measured.flags})
    return {
        **seen(found.attempt),
        "flags": flags,
        "buffered": "buffered" in flags,
        "price": found.price.to_dict() if found.price else None,
        "metrics": measured.metrics,
        "missing": measured.missing,
    }


def _compare(path: Path, document: dict[str, Any]) -> None:
    from speedqual.endpoints.recordings.seen import differences

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
    metrics, missing = document["metrics"], document["missing"]
    if attempt.timeline.events:
        parts.append("\n".join(_metric(name, value, missing) for name, value in metrics.items()))
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
