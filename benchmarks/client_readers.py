"""One reader in a process of its own: ``client_readers.py READER JSON``, result as one line of JSON on stdout.

``speedqual`` is the product's client, with decoding held back until the streams are over so that its cost can be told
apart. ``bare`` is what a careful newcomer writes: aiohttp line by line, ``json.loads`` and a clock for every frame.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

PROMPT = "hello there " * 8


@dataclass
class Reply:
    """What a reader saw of one stream: model (which names the request), first send and token stamps, ns."""

    model: str
    t_send: int
    stamps: list[int]


def cpu_s() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rss_mb() -> float:
    """Peak resident memory so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def run_all(ask: Callable[[str], Awaitable[Any]], models: list[str], streams: int) -> list[Any]:
    """``streams`` workers ask for the models in turn."""
    queue, out = iter(models), []

    async def worker() -> None:
        for model in queue:
            out.append(await ask(model))  # noqa: PERF401

    await asyncio.gather(*(worker() for _ in range(streams)))
    return out


async def measured(ask: Callable[[str], Awaitable[Any]], job: dict[str, Any]) -> tuple[list[Any], dict[str, float]]:
    """Warm up, then the timed part: replies, and its cost."""
    await ask(job["warm_up"])
    base_mb, cpu, wall = rss_mb(), cpu_s(), time.perf_counter()
    replies = await run_all(ask, job["models"], job["streams"])
    cost = {"cpu_s": cpu_s() - cpu, "wall_s": time.perf_counter() - wall, "base_mb": base_mb, "peak_mb": rss_mb()}
    return replies, cost


async def read_bare(job: dict[str, Any]) -> dict[str, Any]:
    """aiohttp and json, frame by frame."""
    import aiohttp

    async def ask(model: str) -> Reply:
        body = {
            "model": model,
            "stream": True,
            "max_tokens": 100_000,
            "messages": [{"role": "user", "content": PROMPT}],
        }
        t_send, stamps = time.perf_counter_ns(), []
        async with session.post(f"{job['base_url']}/chat/completions", json=body) as reply:
            async for line in reply.content:
                if not line.startswith(b"data: ") or line.startswith(b"data: [DONE]"):
                    continue
                frame = json.loads(line[6:])
                if frame["choices"] and frame["choices"][0]["delta"].get("content"):
                    stamps.append(time.perf_counter_ns())
        return Reply(model, t_send, stamps)

    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        replies, cost = await measured(ask, job)
    return result(replies, cost | {"decode_cpu_s": 0.0})


async def read_openai(job: dict[str, Any]) -> dict[str, Any]:
    """The openai package, which many tools stand on."""
    import openai

    async def ask(model: str) -> Reply:
        t_send, stamps = time.perf_counter_ns(), []
        messages = [{"role": "user", "content": PROMPT}]
        stream = await sdk.chat.completions.create(model=model, messages=messages, stream=True)
        async for frame in stream:
            if frame.choices and frame.choices[0].delta.content:
                stamps.append(time.perf_counter_ns())  # noqa: PERF401
        return Reply(model, t_send, stamps)

    async with openai.AsyncOpenAI(base_url=job["base_url"], api_key="none", max_retries=0) as sdk:
        replies, cost = await measured(ask, job)
    return result(replies, cost | {"decode_cpu_s": 0.0})


async def read_speedqual(job: dict[str, Any]) -> dict[str, Any]:
    """The client of this package."""
    from speedqual.endpoints.client import Client
    from speedqual.endpoints.protocols.openai_chat import OPENAI
    from speedqual.endpoints.registry import register
    from speedqual.records import Attempt, Candidate, Message, Prompt, Timeline

    raws: list[Any] = []

    class Held:
        """The OpenAI protocol with its decoding held back."""

        def __getattr__(self, name: str) -> Any:
            return getattr(OPENAI, name)

        name = "held"

        def decode(self, raw: Any) -> Attempt:
            raws.append(raw)
            return Attempt(number=1, outcome="ok", timeline=Timeline(stamp=raw.stamp, t_end=raw.t_close))

    register(Held())
    prompt = Prompt(messages=(Message("user", PROMPT),), max_tokens=100_000)

    async def ask(model: str) -> str:
        await client.ask(Candidate(name="bench", endpoint="held", model=model, base_url=job["base_url"]), prompt)
        return model

    async with Client(environ={}) as client:
        _, cost = await measured(ask, job)
        health = client.health()
    before = cpu_s()
    attempts = [OPENAI.decode(raw) for raw in raws[1:]]
    cost["decode_cpu_s"] = cpu_s() - before
    lines = [a.timeline for a in attempts]
    replies = [
        Reply(a.served_model or "", x.t_send or 0, [e.t_ns for e in x.events])
        for a, x in zip(attempts, lines, strict=True)
    ]
    return result(replies, cost) | {"health": health.to_dict()}


def result(replies: list[Reply], cost: dict[str, float]) -> dict[str, Any]:
    """The line that is printed."""
    return cost | {"replies": [[r.model, r.t_send, r.stamps] for r in replies]}


READERS = {"speedqual": read_speedqual, "bare": read_bare, "openai": read_openai}


def main() -> None:
    """Run one job."""
    job = json.loads(sys.stdin.read())
    gc.collect()
    print(json.dumps(asyncio.run(READERS[sys.argv[1]](job))))


if __name__ == "__main__":
    main()
