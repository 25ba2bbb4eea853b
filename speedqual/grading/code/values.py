"""Values of built-in types as JSON: written in the sandbox by ``encode``, read and compared outside it.

Only exact built-in types cross (``type(v) is int``), so an object that claims to be equal to everything never reaches a
comparison. An expected value in an eval set is plain JSON; what JSON cannot say is tagged: ``{"$tuple": [1, 2]}``,
``{"$set": [1]}``, ``{"$frozenset": [1]}``, ``{"$bytes": "00ff"}``, ``{"$float": "inf"}``, ``{"$complex": [0.0, 1.0]}``,
``{"$dict": [[1, "a"]]}`` (keys that are no strings).
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Foreign", "TooLarge", "decode", "encode", "equal", "plain", "show"]

MAX_DEPTH, MAX_NODES = 150, 400_000
TOLERANCE = 1e-6
_INT_AS_TEXT = 1 << 53
_DICT_LIKE = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_SEQUENCES = {tuple: "$tuple", set: "$set", frozenset: "$frozenset", collections.deque: "$deque"}
_KINDS: dict[str, Any] = {tag: kind for kind, tag in _SEQUENCES.items()}


class Foreign(TypeError):
    """A value of a type that is not built in."""


class TooLarge(ValueError):
    """A value too deep or with too many parts to be compared."""


class _Encoder:
    def __init__(self, foreign: Callable[[Any], Any] | None) -> None:
        self.nodes = 0
        self.foreign = foreign

    def __call__(self, value: Any, depth: int = 0) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise TooLarge("the value is too deep or has too many parts")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_INT_AS_TEXT < value < _INT_AS_TEXT else {"$int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if kind is list:
            return [self(each, depth + 1) for each in value]
        return self._tagged(value, kind, depth + 1)

    def _tagged(self, value: Any, kind: type, depth: int) -> Any:
        if kind in _SEQUENCES:
            return {_SEQUENCES[kind]: [self(each, depth) for each in value]}
        if kind is bytes or kind is bytearray:
            return {"$bytes" if kind is bytes else "$bytearray": value.hex()}
        if kind is complex:
            return {"$complex": [self(value.real), self(value.imag)]}
        if kind is range:
            return {"$range": [self(value.start), self(value.stop), self(value.step)]}
        if kind in _DICT_LIKE:
            pairs = [(self(key, depth), self(each, depth)) for key, each in dict.items(value)]
            if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
                return dict(pairs)
            return {"$dict": [list(pair) for pair in pairs]}
        if self.foreign is not None:
            return self.foreign(value)
        raise Foreign(f"a value of type {kind.__name__}, which is not a built-in type")


def encode(value: Any, foreign: Callable[[Any], Any] | None = None) -> Any:
    """The JSON form.

    Raises TooLarge, and for any other type (subclasses included) Foreign unless ``foreign`` gives a form.
    """
    return _Encoder(foreign)(value)


def decode(form: Any, tags: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
    """The value behind a JSON form; ``tags`` adds decoders, unknown tags are plain objects.

    Raises ValueError when malformed.
    """
    if isinstance(form, list):
        return [decode(each, tags) for each in form]
    if not isinstance(form, dict):
        return form
    if len(form) == 1:
        (tag, body), *_ = form.items()
        if tags and tag in tags:
            return tags[tag](body)
        if tag in _LEAVES or tag in _KINDS or tag == "$dict":
            return _decode_tagged(tag, body, tags)
    return {key: decode(each, tags) for key, each in form.items()}


def _decode_tagged(tag: str, body: Any, tags: Mapping[str, Callable[[Any], Any]] | None) -> Any:
    try:
        if tag in _LEAVES:
            return _LEAVES[tag](body)
        if tag == "$dict":
            return {decode(key, tags): decode(each, tags) for key, each in body}
        return _KINDS[tag](decode(each, tags) for each in body)
    except (TypeError, OverflowError, IndexError, AttributeError) as fault:
        raise ValueError(f"malformed {tag}: {fault}") from fault


_LEAVES: dict[str, Any] = {
    "$int": lambda text: int(text, 0),
    "$float": float,
    "$bytes": bytes.fromhex,
    "$bytearray": bytearray.fromhex,
    "$complex": lambda parts: complex(decode(parts[0]), decode(parts[1])),
    "$range": lambda parts: range(*parts),
}


def equal(got: Any, expected: Any, *, float_ok: bool = True, tolerance: float = TOLERANCE) -> bool:
    """Whether two decoded values are the same: type-exact, but int and float compare as numbers unless
    ``float_ok`` is False.

    Floats may differ by ``tolerance``, absolute or relative, whichever is wider; integers never. A bool is
    never a number.
    """
    if _is_number(got) and _is_number(expected):
        return _same_number(got, expected, float_ok, tolerance)
    if type(got) is not type(expected):
        return False
    if isinstance(got, (list, tuple, collections.deque)):
        return len(got) == len(expected) and all(
            equal(a, b, float_ok=float_ok, tolerance=tolerance) for a, b in zip(got, expected, strict=True)
        )
    if isinstance(got, dict):
        return _same_dict(got, expected, float_ok, tolerance)
    if isinstance(got, complex):
        return bool(got == expected or abs(got - expected) <= tolerance * max(1.0, abs(expected)))
    if isinstance(got, (set, frozenset)):
        return _keys(got) == _keys(expected)
    same: bool = got == expected
    return same


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def _same_number(got: float, expected: float, float_ok: bool, tolerance: float) -> bool:
    if type(got) is int and type(expected) is int:
        return got == expected
    if not float_ok and type(got) is not type(expected):
        return False
    try:
        if math.isnan(got) or math.isnan(expected):
            return math.isnan(got) and math.isnan(expected)
        if type(expected) is int:  # an integer is meant: a float must be that integer
            return got == expected
        return math.isclose(got, expected, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # an integer beyond every float
        return False


def _same_dict(got: dict[Any, Any], expected: dict[Any, Any], float_ok: bool, tolerance: float) -> bool:
    if _keys(got) != _keys(expected):
        return False
    return all(equal(got[key], expected[key], float_ok=float_ok, tolerance=tolerance) for key in expected)


def _keys(values: Any) -> set[Any]:
    """Members with their type where Python would confuse them: True and 1."""
    return {(type(value) is bool, value) for value in values}


def plain(value: Any) -> Any:
    """A short JSON-able view for a report: the JSON form, or its text where that is long."""
    form = encode(value)
    text = repr(value)
    return form if len(text) <= 400 else text[:400] + "…"


def show(value: Any) -> str:
    """``repr`` cut to one readable line."""
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
