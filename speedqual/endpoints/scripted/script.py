"""What the scripted endpoint plays: one frozen ``Script`` a model, every time in it relative to the request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from speedqual.errors import ConfigError
from speedqual.records import Plain

__all__ = ["Asked", "ErrorKind", "Rule", "Script", "Stall", "script_from_words", "tokens_of"]

ErrorKind = Literal[
    "",
    # instead of a stream
    "http",  # ``status`` with a JSON error, ``retry_after_s`` as a header
    "redirect",  # 307 to ``location``
    "html",  # a page under status 200
    "body",  # a JSON error under status 200
    "silent",  # the request is read and nothing is ever sent
    "refuse",  # the connection is closed without a reply
    # inside the stream, after ``error_after`` tokens
    "stream",  # an error event
    "truncated",  # the body ends cleanly, without the protocol's end
    "cut",  # the connection is closed inside the body
    "reset",  # the same by RST
    "hang",  # nothing more, the connection stays open
    "payload",  # one unreadable event, then on
    "long_line",  # one event of ``error_bytes`` bytes
    # complete and without an answer
    "empty",
    "filtered",
]
TEXT = "The quick brown fox jumps over the lazy dog while the small grey cat sleeps on the warm stone wall. "
_TOKEN = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+)|\s+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Plain):
    """A request as the scripts see it. ``prompt`` is the text of the last user message."""

    model: str
    prompt: str
    messages: tuple[Mapping[str, Any], ...] = ()
    max_tokens: int | None = None
    stream: bool = True
    wants_usage: bool = True
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    number: int = 0  # how many requests this model had before


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall(Plain):
    """A pause of ``ms`` before token number ``after`` + 1."""

    after: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Plain):
    """``text`` is the answer to a prompt that contains ``contains``; the first rule that fits wins."""

    contains: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Plain):
    """One reply. Token k (from 0) is due at ``ttft_ms`` + k / ``tok_s`` + the stalls before it, ± ``jitter_ms``;
    a chunk is due with its last token. ``tok_s`` 0 = undelayed: everything after the first token at once."""

    ttft_ms: float = 200.0
    tok_s: float = 50.0
    text: str | Callable[[Asked], str] = TEXT
    rules: tuple[Rule, ...] = ()
    n: int | None = None  # answer tokens: the text is repeated or cut to fit; None = the text as it is
    reasoning: str = ""  # comes first, at the same rate
    tokens_per_chunk: int = 1
    chunks_per_write: int = 1  # more = the clumps of a buffering proxy
    jitter_ms: float = 0.0  # uniform, each chunk on its own; the order is kept
    stalls: tuple[Stall, ...] = ()
    seed: int = 0
    head_ms: float | None = 0.0  # when status and headers are sent; None = with the first token
    role: bool = True  # a chunk without text together with the head
    comment_ms: float = 0.0  # keep-alive comments this often until the first token; 0 = none
    usage: Literal["own", "last", "none", "wrong"] = "own"  # own chunk, in the finish chunk, not at all, ten times off
    usage_ms: float = 0.0  # how long after the last token finish and usage are sent
    n_prompt: int | None = None  # None = words of the prompt
    n_cached: int | None = None
    finish_reason: str = "stop"
    error: ErrorKind = ""
    error_after: int = 0
    error_bytes: int = 64 << 20
    status: int = 503
    retry_after_s: float | None = None
    message: str = "scripted error"
    location: str = ""

    def __post_init__(self) -> None:
        for name in ("ttft_ms", "tok_s", "jitter_ms", "comment_ms", "usage_ms", "error_after"):
            _at_least(self, name, 0)
        for name in ("tokens_per_chunk", "chunks_per_write", "error_bytes"):
            _at_least(self, name, 1)
        if self.error not in get_args(ErrorKind):
            kinds = ", ".join(k for k in get_args(ErrorKind) if k)
            raise ConfigError(f"no error is called {self.error!r}", where="script.error", fix=f"Use one of {kinds}")

    def answer_to(self, asked: Asked) -> str:
        """The whole answer to this request, before ``n`` and ``max_tokens``."""
        for rule in self.rules:
            if rule.contains in asked.prompt:
                return rule.text
        return self.text if isinstance(self.text, str) else self.text(asked)


def _at_least(script: Script, name: str, least: float) -> None:
    value = getattr(script, name)
    if not isinstance(value, (int, float)) or not least <= value < float("inf"):
        raise ConfigError(f"{name} is {value!r}", where="script", fix=f"Give a finite number of at least {least}")


def tokens_of(text: str, n: int | None = None) -> list[str]:
    """The tokens of ``text``: words with the space before them, CJK characters one by one; joined they are the text.

    With ``n`` the text is repeated or cut to exactly so many.
    """
    tokens = _TOKEN.findall(text)
    if n is None or not tokens:
        return tokens
    return (tokens * -(-n // len(tokens)))[:n]


def script_from_words(words: str) -> Script:
    """``ttft_ms=200,tok_s=50,n=64`` → ``Script``. Raises ConfigError naming the field."""
    types = {f.name: str(f.type) for f in fields(Script)}
    values: dict[str, Any] = {}
    for word in filter(None, (w.strip() for w in words.split(","))):
        name, _, value = word.partition("=")
        if name not in types or "tuple" in types[name]:
            known = ", ".join(n for n, t in types.items() if "tuple" not in t)
            raise ConfigError(f"no field is called {name!r}", where="script", fix=f"Use some of {known}")
        values[name] = _value(value, types[name], name)
    return Script(**values)


def _value(value: str, kind: str, name: str) -> Any:
    if "None" in kind and value == "none":
        return None
    try:
        if kind.startswith("int"):
            return int(value)
        if kind.startswith("float"):
            return float(value)
    except ValueError:
        raise ConfigError(f"{name} is {value!r}", where="script", fix="Give a number") from None
    return value not in ("0", "false", "no") if kind == "bool" else value
