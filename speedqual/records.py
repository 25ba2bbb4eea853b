"""The frozen types that flow through the house, from eval set to report. Standard library only, no I/O.

``EvalSet`` → ``Trial`` → ``Attempt`` (with its ``Timeline``) → ``Record`` (with its ``Grade``) → a run's manifest.
Times are integers of nanoseconds on one monotonic clock; a missing number is None, with a reason beside it.
"""

from __future__ import annotations

import hashlib
import json
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Self

from speedqual import display

__all__ = [
    "Answer",
    "Attempt",
    "Candidate",
    "EvalSet",
    "Event",
    "Failure",
    "Grade",
    "GraderSpec",
    "Item",
    "Message",
    "Outcome",
    "Place",
    "Price",
    "Prompt",
    "Record",
    "ServerTimings",
    "Timeline",
    "ToolCall",
    "Trial",
    "Usage",
    "content_hash",
]

Outcome = Literal[
    "ok",
    "cut_off",  # clean end without the protocol's end marker
    "disconnect",  # the transport failed in mid-body
    "http_error",  # status >= 400, or a redirect
    "body_error",  # 200 with a JSON error instead of a stream
    "not_stream",  # 200 with something else
    "stream_error",  # an error inside the stream
    "bad_payload",  # complete, with an unreadable event
    "empty",  # complete, no counted event on any channel
    "filtered",  # stopped by a content filter without any answer text
    "timeout",
    "cancelled",
    "unreachable",  # no connection: nothing came back at all
]
GRADED_OUTCOMES: frozenset[str] = frozenset({"ok", "empty", "filtered"})
"""Outcomes whose answer is graded; all others are failures of the endpoint, not wrong answers."""

Channel = Literal["answer", "reasoning", "tool", "refusal"]
Stop = Literal["stop", "length", "tool", "filter", "error"]
Verdict = Literal["pass", "partial", "fail", "not_graded"]
Failure = Literal[
    "none",
    "no_answer",
    "truncated",
    "refused",
    "no_code",
    "does_not_compile",
    "wrong_result",
    "wrong_format",
    "ambiguous",
    "omission",
    "wrong_field",
    "invented_field",
    "contradicted",
    "unsupported",
    "unverifiable",
    "copied",
    "forgot_context",
    "time_limit",
    "memory_limit",
    "output_limit",
    "process_limit",
    "crashed",
    "forged",
    # with score None:
    "not_executed",
    "not_checked",
    "checker_gave_up",
    "sandbox_lost",
    "grader_error",
]
UNGRADED_FAILURES: frozenset[str] = frozenset(
    {"not_executed", "not_checked", "checker_gave_up", "sandbox_lost", "grader_error"}
)
"""Failures whose score is None: nothing is known of the answer, which is neither right nor wrong."""


class Plain:
    """``to_dict`` and ``from_dict`` for frozen dataclasses: tuples become lists, unknown keys are ignored."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form. Round trip: ``from_dict(to_dict(x)) == x``."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def _repr_html_(self) -> str | None:
        """How a notebook shows it, where a renderer is offered; None leaves the plain repr."""
        renderer = display.find("html", self)
        return None if renderer is None else str(renderer(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The same as text, where a renderer is offered: a line instead of a dataclass with all of its parts."""
        renderer = display.find("text", self)
        return {} if renderer is None else {"text/plain": str(renderer(self))}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build from the JSON form; a key that this version does not know is left out."""
        hints = _hints(cls)  # type: ignore[arg-type]
        return cls(**{name: _revive(hint, data[name]) for name, hint in hints.items() if name in data})


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value  # nearly all of them, and the check for a mapping is slow
    if isinstance(value, Plain):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls) if f.init}


def _revive(hint: Any, value: Any) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        return _revive_union(args, value)
    if origin is tuple and isinstance(value, list):
        return tuple(_revive(args[0], v) for v in value)
    if is_dataclass(hint) and isinstance(hint, type) and issubclass(hint, Plain) and isinstance(value, Mapping):
        return hint.from_dict(value)
    return value


def _revive_union(args: tuple[Any, ...], value: Any) -> Any:
    for arm in args:
        is_record = isinstance(arm, type) and issubclass(arm, Plain)
        if isinstance(value, Mapping) and is_record:
            return _revive(arm, value)
        if isinstance(value, list) and typing.get_origin(arm) is tuple:
            return _revive(arm, value)
    return value


def content_hash(value: Any) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON of ``value``."""
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# ------------------------------------------------------------------------------------------------ what is asked


@dataclass(frozen=True, slots=True)
class Message(Plain):
    """One chat message. ``content`` is text, or parts such as ``{"type": "text", "text": …}`` and
    ``{"type": "image", "media_type": "image/png", "data": base64}``."""

    role: str
    content: str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Plain):
    """All that one request asks, before any protocol."""

    messages: tuple[Message, ...]
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    response_format: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSpec(Plain):
    """The name of a grader (``code``, ``extraction``, ``facts``, ``exact``, …) and its options from the card."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Plain):
    """One row of an eval set. ``row`` holds every column as read; the others are the ones we know."""

    id: str
    row: Mapping[str, Any]
    target: Any = None
    difficulty: str = ""  # the column named by tiers.by, "tier" by default
    cluster: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSet(Plain):
    """Items with one task, one prompt and one grader. ``hash`` covers all that changes an answer or a grade."""

    name: str
    task: str
    items: tuple[Item, ...]
    grader: GraderSpec
    prompt: str = ""
    messages: tuple[Message, ...] = ()
    system: str = ""
    fewshot: tuple[Item, ...] = ()
    shots: int = 0  # how many of ``fewshot`` go into a prompt by default
    floor: float | None = None
    success_at: float = 1.0
    difficulty_order: tuple[str, ...] = ()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    repeats: int = 1
    timeout_s: float | None = None
    version: str = ""
    licence: str = ""
    hash: str = ""


# ------------------------------------------------------------------------------------------------- who is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Plain):
    """US dollars per million tokens; None = unknown, never free. ``as_of`` dates the figures."""

    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    cached_usd_per_mtok: float | None = None
    cache_write_usd_per_mtok: float | None = None
    source: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Plain):
    """Who is asked, and how: endpoint + model + tier + params + prompt settings make the identity (``id``).

    ``ladder`` and ``rung`` place it on an ordered ladder (``x`` is the rung's coordinate, None = its rank); ``group``
    names the machine it shares with others, so that one stream of a group is in flight at a time.
    """

    name: str
    endpoint: str = "openai"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    tier: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    # prompt settings
    shots: int | None = None
    system: str | None = None
    cache: bool | None = None
    # what is known of it
    price: Price | None = None
    usd_per_hour: float | None = None
    claimed_tok_s: float | None = None
    params_b: float | None = None
    ladder: str = ""
    rung: str = ""
    x: float | None = None
    group: str = ""
    tags: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Content hash of endpoint, model, tier, params and prompt settings; neither name, address nor tags."""
        return content_hash(
            {
                "endpoint": self.endpoint,
                "model": self.model,
                "tier": self.tier,
                "params": self.params,
                "shots": self.shots,
                "system": self.system,
                "cache": self.cache,
            }
        )


# --------------------------------------------------------------------------------------------- what came back


@dataclass(frozen=True, slots=True)
class Event(Plain):
    """One counted piece of a stream: non-empty text on a channel, dated by the read that completed it."""

    t_ns: int
    channel: Channel
    text: str
    read: int
    n_tokens: int | None = None  # cumulative tokens after this event where the server says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Plain):
    """When things happened, in nanoseconds of ``perf_counter_ns``. Every number is derived from this, later."""

    t_send: int | None = None
    t_sched: int | None = None
    t_headers: int | None = None
    events: tuple[Event, ...] = ()
    t_usage: int | None = None
    t_end: int | None = None  # the protocol's end marker
    t_close: int | None = None
    t_begun: int | None = None  # when a route turned to its first lane, which may never have got as far as a send
    t_checked: int | None = None  # when the check of a route had read the reply: nobody was shown it before
    n_reads: int = 0
    n_frames: int | None = None  # frames of the wire that carried output; one frame may hold several events
    stamp: str = "none"  # "kernel" | "data_received" | "scripted" | "none": which clock dated the reads
    connection: str = ""  # "new" | "reused"
    client_lag_ns: int | None = None  # largest event-loop lag seen while this stream was open


@dataclass(frozen=True, slots=True)
class ToolCall(Plain):
    """A function call the model asked for; ``arguments`` is the joined string as sent."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Plain):
    """Token counts as the server gave them, normalised. None = the server did not say.

    ``n_prompt`` includes cache reads and writes; ``n_out`` includes reasoning once.
    """

    n_prompt: int | None = None
    n_out: int | None = None
    n_reasoning: int | None = None
    n_cached: int | None = None
    n_cache_write: int | None = None
    source: str = "none"  # usage | server_timings | tokenizer:NAME | none


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimings(Plain):
    """What the server says of its own time, in milliseconds: a cross-check, never a metric."""

    queue_ms: float | None = None
    load_ms: float | None = None
    prefill_ms: float | None = None
    decode_ms: float | None = None
    ttft_ms: float | None = None
    total_ms: float | None = None
    decode_tok_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Plain):
    """One request and all that came back, failures included."""

    number: int
    outcome: Outcome
    timeline: Timeline
    status: int | None = None
    text: str = ""  # answer and refusal text of choice 0
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    choices: tuple[str, ...] = ()  # texts of all choices when more than one was sent
    finish_reason: str | None = None
    stop: Stop | None = None
    usage: Usage = Usage()
    usage_raw: Mapping[str, Any] | None = None
    server: ServerTimings | None = None
    error_code: str | None = None
    error_message: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None
    deadline: str | None = None  # connect | first_token | silence | total, when outcome is timeout
    served_model: str | None = None
    served_tier: str | None = None
    served_speed: str | None = None  # a speed mode as served ("fast"), where the endpoint names one
    rate: Mapping[str, float] | None = None  # rate limits from the headers: limit_requests, reset_tokens_s, …
    cost_usd: float | None = None  # as the endpoint sent it
    request_id: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Plain):
    """What a grader sees of a reply: never a time."""

    text: str
    stop: Stop | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    outcome: Outcome = "ok"


# --------------------------------------------------------------------------------------------------- how good


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade(Plain):
    """One answer judged. ``score`` is strict and the headline; None = not graded, with the reason in ``failure``."""

    score: float | None
    verdict: Verdict
    failure: Failure = "none"
    score_lenient: float | None = None
    why: str = ""
    how: str = ""
    extracted: Any = None
    repairs: int = 0
    flags: tuple[str, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    grader: str = ""
    version: str = ""


# ------------------------------------------------------------------------------------------------ one trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Plain):
    """Where a trial stands in a load test: a request of one level of one layer."""

    layer: str  # short_text | long_input | long_output | concurrency | arrivals | prefix | cold
    level: str  # in words: "8 users", "20 req/s", "4,000 tokens"
    x: float  # the level's coordinate: users, requests a second, tokens, share or seconds
    number: int  # the n-th request of the level, from 0
    traffic: str = ""  # its class in mixed traffic: interactive, batch
    session: str = ""  # the conversation or agent that it belongs to
    turn: int = 0  # its turn in that session, from 0
    note: str = ""  # cold | warm where prefixes and cold starts are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(Plain):
    """One question to one candidate, once. ``key`` is unique within a run."""

    candidate: str  # the candidate's name
    evalset: str
    item: str
    repeat: int = 0
    phase: str = "main"  # main | warmup
    t_sched_ns: int | None = None  # intended start after the start of the run; None in a closed loop
    load: Place | None = None

    @property
    def key(self) -> str:
        """A stable name: ``candidate/evalset/item/repeat``, of a load test ``/layer/level/number`` too, quoted."""
        place = [] if self.load is None else [self.load.layer, self.load.level, self.load.number]
        return json.dumps([self.candidate, self.evalset, self.item, self.repeat, *place], ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Plain):
    """A finished trial: every attempt, the answer, its grade and its metrics under the names of the metric contract."""

    trial: Trial
    attempts: tuple[Attempt, ...]
    metrics: Mapping[str, float | int | str | None] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)  # metric -> why it is None
    grade: Grade | None = None
    flags: tuple[str, ...] = ()

    @property
    def last(self) -> Attempt:
        """The attempt that counts: the last one."""
        return self.attempts[-1]
