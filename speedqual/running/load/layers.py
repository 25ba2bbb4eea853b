"""The layered plan: short texts, long inputs, long outputs, more and more users, prefixes, cold starts.

The defaults suit a remote endpoint: some 500 requests and 350,000 input tokens a candidate. ``QUICK`` fits a small
model on this machine in a few minutes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from speedqual.errors import UsageError
from speedqual.evalsets.generators.load_prefixes import Differs, prefix_pairs
from speedqual.evalsets.generators.load_texts import LANGS, long_input, long_output, short_text
from speedqual.records import EvalSet
from speedqual.running.load.plan import Level, LoadPlan, Unit
from speedqual.timing.goodput import Slo

__all__ = ["LAYERS", "QUICK", "REMOTE", "Layered", "Scale", "layered"]

_REPLY_TOKENS = 256
"""What a reply to a long input may take of the context."""
_COLD_TOKENS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much each layer sends: numbers of requests, lengths in tokens, idle times in seconds."""

    context: int = 16_384  # longest prompt and reply together that is asked for
    langs: tuple[str, ...] = LANGS
    short_n: int = 20
    short_tokens: int = 256
    input_tokens: tuple[int, ...] = (100, 500, 2000, 8000, 32_000, 128_000)  # those that the context allows
    output_tokens: tuple[int, ...] = (2000,)
    output_n: int = 4
    users: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    items: int = 24  # of the eval set, the same for every number of users
    prefix_tokens: int = 2000
    prefix_shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    prefix_lines: tuple[float, ...] = (0.5,)  # one line differs there, and what follows it does not
    prefix_pairs: int = 3  # a language
    idle_s: tuple[float, ...] = (1.0, 10.0, 60.0)
    idle_n: int = 3


REMOTE = Scale()
QUICK = Scale(
    context=2048,
    langs=("en",),  # the embedded model's tokens for Chinese are bytes
    short_n=6,
    short_tokens=64,
    input_tokens=(100, 400, 1200),
    output_tokens=(400,),
    output_n=2,
    users=(1, 2, 4, 8),
    items=8,
    prefix_tokens=800,
    prefix_shares=(0.0, 0.5, 1.0),
    prefix_lines=(),
    prefix_pairs=2,
    idle_s=(1.0, 5.0),
    idle_n=2,
)


class Layered(NamedTuple):
    """A plan and the eval sets that it asks from."""

    plan: LoadPlan
    evalsets: tuple[EvalSet, ...]


@dataclass(slots=True)
class _Builder:
    """Levels as they come, and the sets that they need."""

    scale: Scale
    seed: int
    ladder: EvalSet | None
    sets: dict[str, EvalSet] = field(default_factory=dict)

    def asking(self, evalset: EvalSet) -> str:
        """The name of the set, which is noted."""
        if self.sets.setdefault(evalset.name, evalset).hash != evalset.hash:
            fix = "Give your eval set another name"
            raise UsageError(f"a layer makes a set that is named {evalset.name!r} too", where="layers", fix=fix)
        return evalset.name

    def short_text(self) -> EvalSet:
        scale = self.scale
        return short_text(self.seed, langs=scale.langs, max_tokens=scale.short_tokens)


def layered(
    layers: Sequence[str] = (),
    *,
    evalset: EvalSet | None = None,
    scale: Scale | None = None,
    quick: bool = False,
    seed: int = 0,
    slos: tuple[Slo, ...] = (),
) -> Layered:
    """The plan of these layers (default: all), in the order of ``LAYERS``.

    ``evalset``: whose items every number of users is asked, so that quality under load can be seen; default: the short
    texts. Other numbers than those of ``REMOTE`` or ``QUICK`` come in ``scale``.
    """
    for name in layers:
        if name not in LAYERS:
            raise UsageError(f"there is no layer {name!r}", where="layers", fix=f"Use some of: {', '.join(LAYERS)}")
    scale = scale or (QUICK if quick else REMOTE)
    builder = _Builder(scale, seed, evalset)
    chosen = [name for name in LAYERS if name in (layers or LAYERS)]
    levels = tuple(level for name in chosen for level in LAYERS[name](builder))
    plan = LoadPlan(levels=tuple(replace(level, seed=seed) for level in levels), slos=slos)
    return Layered(plan, tuple(builder.sets.values()))


def _short_text(builder: _Builder) -> Iterator[Level]:
    """One user, short prompts: time to first token, and decoding at its best."""
    asked = builder.asking(builder.short_text())
    yield _alone("short_text", "1 user", 1, "users", asked, builder.scale.short_n)


def _long_input(builder: _Builder) -> Iterator[Level]:
    """One user, longer and longer prompts with the same questions in them."""
    scale = builder.scale
    for tokens in scale.input_tokens:
        if _room(tokens) + _REPLY_TOKENS <= scale.context:
            evalset = long_input(tokens, builder.seed, langs=scale.langs)
            n = len(evalset.items)
            yield _alone("long_input", f"{tokens:,} tokens", tokens, "tokens", builder.asking(evalset), n)


def _room(tokens: int) -> int:
    """What a text of about so many tokens may take at most."""
    return int(tokens * 1.25)


def _long_output(builder: _Builder) -> Iterator[Level]:
    """One user, replies that run into their limit: how speed falls along them."""
    scale = builder.scale
    for tokens in scale.output_tokens:
        evalset = long_output(tokens, builder.seed, n=scale.output_n, langs=scale.langs)
        asked = builder.asking(evalset)
        yield _alone("long_output", f"{tokens:,} tokens", tokens, "tokens", asked, scale.output_n)


def _concurrency(builder: _Builder) -> Iterator[Level]:
    """The same items for every number of users, as often as it takes to keep all of them busy for four rounds."""
    scale, evalset = builder.scale, builder.ladder or builder.short_text()
    ids = [item.id for item in evalset.items]
    n_items = min(scale.items, len(ids))
    chosen = set(random.Random(f"ladder/{builder.seed}").sample(ids, n_items))
    items = tuple(name for name in ids if name in chosen)
    asked = builder.asking(evalset)
    for users in scale.users:
        n = n_items * max(1, -(-4 * users // n_items))
        name = f"{users} user{'s' if users > 1 else ''}"
        yield Level(
            layer="concurrency", name=name, x=users, unit="users", arrivals=f"users:{users}", evalset=asked,
            items=items, n=n,
        )  # fmt: skip


def _prefix(builder: _Builder) -> Iterator[Level]:
    """Pairs of prompts that begin alike, one user after the other; half a second lets a cache take the first one in."""
    scale = builder.scale
    kinds: Mapping[Differs, tuple[float, ...]] = {"rest": scale.prefix_shares, "line": scale.prefix_lines}
    for differs, shares in kinds.items():
        for share in shares:
            evalset = prefix_pairs(
                scale.prefix_tokens, share, builder.seed, differs=differs, n=scale.prefix_pairs, langs=scale.langs
            )
            name = f"{share:.0%} shared" if differs == "rest" else f"one line differs at {share:.0%}"
            n = len(evalset.items)
            level = _alone("prefix", name, share, "share", builder.asking(evalset), n)
            yield replace(level, arrivals="users:1,think=0.5", shuffled=False)


def _cold(builder: _Builder) -> Iterator[Level]:
    """A short answer after a pause, on the connection that was kept and on a new one.

    The first request of a level is one more: it has waited for nothing.
    """
    scale = builder.scale
    asked = builder.asking(long_input(_COLD_TOKENS, builder.seed, langs=scale.langs))
    for idle_s in scale.idle_s:
        for note in ("kept connection", "new connection"):
            level = _alone("cold", f"after {idle_s:g} s, {note}", idle_s, "s", asked, scale.idle_n + 1)
            arrivals = f"users:1,think={idle_s:g}"
            yield replace(level, arrivals=arrivals, note=note, new_connections=note == "new connection")


def _alone(layer: str, name: str, x: float, unit: Unit, evalset: str, n: int) -> Level:
    """``n`` requests one after the other."""
    return Level(layer=layer, name=name, x=x, unit=unit, arrivals="users:1", evalset=evalset, n=n)


LAYERS: Mapping[str, Callable[[_Builder], Iterator[Level]]] = {
    "short_text": _short_text,
    "long_input": _long_input,
    "long_output": _long_output,
    "concurrency": _concurrency,
    "prefix": _prefix,
    "cold": _cold,
}
"""Name → its levels, in the order in which they run."""
