"""Public load tools on the streams of ``load.py``, by their own words: each where it is installed, else not at all.

A tool has requirements of its own and lives in an environment of its own; ``GUIDELLM`` and ``AIPERF`` name their
programs where those are not on the PATH. What a tool is measured by are the moments that it writes into its report, set
against the scripted endpoint's log of the same requests, found by their prompts.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from speedqual.endpoints.scripted import Script, serve_in_process

__all__ = ["ToolFigures", "figures_of", "tools"]

Cores = tuple[int | None, int | None]


@dataclass(frozen=True)
class ToolFigures:
    """What a tool says of one case: ``ttft_error_ms`` (stamp of the first token − its write), ``reported_ms`` (its TTFT
    − that of the server's log) of each request that ended well, how many did not, CPU beyond that of a run with one
    request, the realised rate. ``void``: the server was the limit."""

    ttft_error_ms: Sequence[float]
    reported_ms: Sequence[float]
    cpu_s_per_mtok: float
    rate: float
    lost: int
    void: bool

    @property
    def doubt(self) -> str:
        """What to hold against these figures, to be set behind them."""
        return (f"; {self.lost} lost" if self.lost else "") + ("; void" if self.void else "")


class Tool(Protocol):
    """A public load tool."""

    name: str

    @property
    def version(self) -> str: ...

    def run(self, base_url: str, how: Mapping[str, Any], n: int, folder: Path, core: int | None) -> None:
        """Send ``n`` requests; ``how``: ``users`` at a time, or ``rate`` a second, evenly."""
        ...

    def seen(self, folder: Path) -> Iterator[tuple[str, int, int]]:
        """Prompt, start and first token of each request that ended well, ns of the wall clock."""
        ...


@dataclass(frozen=True)
class GuideLLM:
    """``pip install guidellm`` in an environment of its own."""

    program: str
    name: str = "GuideLLM"

    @property
    def version(self) -> str:
        said = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        return said.stdout.split()[-1]

    def run(self, base_url: str, how: Mapping[str, Any], n: int, folder: Path, core: int | None) -> None:
        prompts = _prompts(folder, 2 * n, "prompt")
        profile = (
            {"kind": "concurrent", "streams": [how["users"]]}
            if "users" in how
            else {"kind": "constant", "rate": [how["rate"]]}
        )
        backend = {"kind": "openai_http", "target": base_url.removesuffix("/v1"), "model": "m"}
        spec = {
            "backend": {**backend, "request_format": "/v1/chat/completions"},
            "profile": profile,
            "constraints": [{"kind": "max_requests", "count": n}],
            "data": [{"kind": "json_file", "path": str(prompts)}],
            "outputs": [{"kind": "json", "path": str(folder / "report.json")}],
        }
        scenario = folder / "scenario.json"
        scenario.write_text(json.dumps({"metadata": {"name": "bench", "description": ""}, "spec": spec}))
        _call([self.program, "run", "-c", str(scenario), "--disable-console"], core)

    def seen(self, folder: Path) -> Iterator[tuple[str, int, int]]:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        for request in report["benchmarks"][0]["requests"]["successful"]:
            (message,) = json.loads(request["request_args"])["body"]["messages"]
            timings = request["info"]["timings"]
            start, first = (int(timings[name] * 1e9) for name in ("request_start", "first_token_iteration"))
            yield message["content"][0]["text"], start, first


@dataclass(frozen=True)
class AIPerf:
    """``pip install aiperf`` in an environment of its own. It wants a tokenizer even when the server counts: one of
    single bytes is made for it."""

    program: str
    name: str = "AIPerf"

    @property
    def version(self) -> str:
        said = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        return said.stdout.split()[-1]

    def run(self, base_url: str, how: Mapping[str, Any], n: int, folder: Path, core: int | None) -> None:
        pace = ("--concurrency", how["users"]) if "users" in how else ("--request-rate", how["rate"])
        even = () if "users" in how else ("--arrival-pattern", "constant")
        argv = [
            self.program, "profile", "--model", "m", "--url", base_url.removesuffix("/v1"), "--endpoint-type", "chat",
            "--streaming", *pace, *even, "--request-count", n, "--input-file", _prompts(folder, n, "text"),
            "--custom-dataset-type", "single_turn", "--use-server-token-count", "--tokenizer", _byte_tokenizer(folder),
            "--artifact-dir", folder / "artifacts", "--export-level", "records", "--ui", "none",
        ]  # fmt: skip
        _call([str(word) for word in argv], core)

    def seen(self, folder: Path) -> Iterator[tuple[str, int, int]]:
        sessions = json.loads((folder / "artifacts" / "inputs.json").read_text(encoding="utf-8"))["data"]
        asked = {one["session_id"]: one["payloads"][0]["messages"][0]["content"] for one in sessions}
        with (folder / "artifacts" / "profile_export.jsonl").open(encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                start = line["metadata"]["request_start_ns"]
                first = start + round(line["metrics"]["time_to_first_token"]["value"] * 1e6)
                yield asked[line["metadata"]["conversation_id"]], start, first


def _prompts(folder: Path, n: int, column: str) -> Path:
    path = folder / "prompts.jsonl"
    lines = (json.dumps({column: f"request {k} of a benchmark: say something"}) + "\n" for k in range(n))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _byte_tokenizer(folder: Path) -> Path:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    path, alphabet = folder / "tokenizer", sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={letter: k for k, letter in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    path.mkdir()
    made.save(str(path / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": alphabet[0]}
    (path / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return path


def tools() -> list[Tool]:
    """Those that are installed."""
    known: dict[str, Callable[[str], Tool]] = {"guidellm": GuideLLM, "aiperf": AIPerf}
    programs = {name: os.environ.get(name.upper()) or shutil.which(name) for name in known}
    return [known[name](program) for name, program in programs.items() if program]


def figures_of(tool: Tool, script: Script, how: Mapping[str, Any], n: int, cores: Cores) -> ToolFigures:
    """Let it send ``n`` requests that are answered by ``script``."""
    alone_s = _sent(tool, script, {"users": 1}, 1, cores)[2]
    seen, log, cpu_s, busy_s = _sent(tool, script, how, n, cores)
    by_prompt = {entry["prompt"]: entry for entry in log if entry.get("sent")}
    ahead = time.time_ns() - time.perf_counter_ns()
    errors, reported, starts = [], [], []
    for prompt, start, first in seen:
        entry = by_prompt[prompt]
        errors.append((first - ahead - entry["sent"][0]) / 1e6)
        reported.append((first - start - (entry["sent"][0] - entry["t_request"])) / 1e6)
        starts.append(entry["t_request"])
    if len(errors) < 2:
        raise SystemExit(f"{tool.name}: {len(errors)} of {n} requests ended well")
    rate = (len(starts) - 1) / (max(starts) - min(starts)) * 1e9
    took_s = (max(by_prompt[prompt]["t_end"] for prompt, _, _ in seen) - min(starts)) / 1e9
    cpu_s_per_mtok = (cpu_s - alone_s) / (len(errors) * (script.n or 1)) * 1e6
    return ToolFigures(errors, reported, cpu_s_per_mtok, rate, n - len(errors), busy_s > 0.9 * took_s)


def _sent(
    tool: Tool, script: Script, how: Mapping[str, Any], n: int, cores: Cores
) -> tuple[list[tuple[str, int, int]], list[dict[str, Any]], float, float]:
    """What the tool saw, what the server did, the CPU seconds of the tool and of the server."""
    with serve_in_process(script, core=cores[0]) as served, TemporaryDirectory() as folder:
        before_s = _children_s()
        tool.run(served.base_url, how, n, Path(folder), cores[1])
        tool_s, server_s = _children_s() - before_s, float(served.stats()["cpu_s"])
        return list(tool.seen(Path(folder))), served.log(), tool_s, server_s


def _children_s() -> float:
    """CPU seconds of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _call(argv: Sequence[str], core: int | None) -> None:
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=pin, check=False)
    if done.returncode:
        raise SystemExit(f"{argv[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
