"""``speedqual serve-script``: the scripted endpoint from the shell."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import click

from speedqual.endpoints.scripted import ScriptedServer, Scripts, script_from_words
from speedqual.endpoints.scripted.ceiling import frames_per_cpu_second
from speedqual.endpoints.scripted.tables import scripts_from_table
from speedqual.errors import ConfigError, UnreachableError

__all__ = ["command"]


@click.command("serve-script")
@click.argument("schedule", required=False, default="")
@click.option("--config", type=click.Path(path_type=Path), help="TOML with a table [scripts.MODEL] for each model.")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8765, show_default=True, help="0 = any free port.")
@click.option("--slots", type=click.IntRange(1), help="So many replies at a time; the others queue.")
@click.option("--api-key", default="", help="Refuse requests that do not bear this key.")
@click.option("--log", type=click.Path(path_type=Path), help="Write the true send times there at the end.")
@click.option("--ceiling/--no-ceiling", default=True, help="Measure at the start what this server can send.")
def command(
    schedule: str,
    config: Path | None,
    host: str,
    port: int,
    slots: int | None,
    api_key: str,
    log: Path | None,
    ceiling: bool,
) -> None:
    """Serve replies with known timing, for testing whatever reads token streams.

    SCHEDULE is a list such as ttft_ms=200,tok_s=50,n=64,jitter_ms=5,reasoning=hmm. It speaks OpenAI chat completions
    (/v1/chat/completions) and Ollama (/api/chat). A client may ask for a schedule itself by the model name
    script:ttft_ms=100,tok_s=20. GET /script/log gives the true send times in nanoseconds of the monotonic clock, GET
    /script/stats the load.

    \b
    Examples:
      speedqual serve-script
      speedqual serve-script ttft_ms=300,tok_s=80,n=200,tokens_per_chunk=3
      speedqual serve-script error=http,status=429,retry_after_s=2
      speedqual serve-script --config scripts.toml --slots 4 --log truth.jsonl
    """
    if config is not None and schedule:
        raise click.UsageError("give SCHEDULE or --config, not both")
    scripts = _scripts(config) if config is not None else script_from_words(schedule)
    if ceiling:
        rate = asyncio.run(frames_per_cpu_second())
        click.echo(f"ceiling: about {rate:,.0f} frames a second on one core, one frame a write", err=True)
    server = ScriptedServer(scripts, host=host, port=port, slots=slots, api_key=api_key)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(server, host, port))
    _report(server, log)


def _scripts(config: Path) -> Scripts:
    try:
        table: dict[str, Any] = tomllib.loads(config.read_text("utf-8"))
    except OSError as fault:
        raise ConfigError(fault.strerror or str(fault), where=str(config), fix="Give a readable file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigError(str(fault), where=str(config), fix="Mend the TOML") from None
    return scripts_from_table(table, str(config))


async def _serve(server: ScriptedServer, host: str, port: int) -> None:
    try:
        async with server:
            click.echo(server.base_url)
            click.echo(f"Ollama clients: {server.root_url}    stop with Ctrl-C", err=True)
            sys.stdout.flush()
            gc.collect()
            gc.freeze()
            await asyncio.Event().wait()
    except OSError as fault:
        where = f"{host}:{port}"
        raise UnreachableError(f"cannot listen: {fault.strerror}", where=where, fix="Choose another --port") from None


def _report(server: ScriptedServer, log: Path | None) -> None:
    """The load at the end, and the log file."""
    stats = server.stats()
    busy = f"{stats['busy']:.0%} of a core" + (", too much for ratios" if stats["busy"] > 0.9 else "")
    late = f"{stats['late_max_ms']:.1f} ms late at most"
    click.echo(f"{stats['requests']} requests, {stats['writes']} writes, {late}, {busy}", err=True)
    if log is not None:
        log.write_text("".join(json.dumps(entry) + "\n" for entry in server.log()), "utf-8")
