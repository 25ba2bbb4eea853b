"""The program's side of assert-style tests: loads it in a process of its own and answers requests about its names."""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

from speedqual.grading.code.python_driver import load, raised, run_coroutine
from speedqual.grading.code.values import decode, encode
from speedqual.grading.sandbox.confine import SOCKET_FD
from speedqual.grading.sandbox.framing import read_frame, write_frame

__all__ = ["serve"]

MAX_ITEMS = 100_000


class _Server:
    """Answers requests about the program's module. Foreign objects stay here, known outside by a number."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.tags = {"$ref": lambda number: self.kept[number], "$callback": self.callback}

    def refer(self, value: Any) -> dict[str, int]:
        """Keep a foreign object and give its number."""
        self.kept.append(value)
        return {"$ref": len(self.kept) - 1}

    def callback(self, number: int) -> Callable[..., Any]:
        """A function of the tests, called back through the socket."""

        def call(*args: Any, **kwargs: Any) -> Any:
            form = encode([list(args), kwargs], self.refer)
            write_frame(SOCKET_FD, {"callback": number, "arguments": form})
            reply = read_frame(SOCKET_FD)
            if reply is None or "value" not in reply:
                raise RuntimeError("the function that the test passed in failed")
            return decode(reply["value"], self.tags)

        return call

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request."""
        try:
            target = decode(request["target"], self.tags)
            args, kwargs = decode(request["arguments"], self.tags)
            before = encode(args, lambda _: None)
            value = _OPERATIONS[request["do"]](target, *args, **kwargs)
            if inspect.iscoroutine(value) and request["do"] == "await":
                value = run_coroutine(value)
            reply: dict[str, Any] = {"value": encode(value, self.refer)}
            if encode(args, lambda _: None) != before:
                reply["arguments"] = encode(args, self.refer)
        except BaseException as fault:
            return raised(fault, "call")
        return reply


def _iterate(target: Any) -> list[Any]:
    items = []
    for item in target:
        items.append(item)
        if len(items) > MAX_ITEMS:
            raise MemoryError
    return items


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda target, *args, **kwargs: target(*args, **kwargs),
    "await": lambda target, *args, **kwargs: target(*args, **kwargs),
    "getattr": getattr,
    "setattr": setattr,
    "iter": _iterate,
    "next": next,
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target: type(target).__exit__(target, None, None, None),
    **{kind.__name__: kind for kind in (len, str, repr, bool, hash, abs)},
    **{
        name: getattr(operator, name)
        for name in [
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "add",
            "sub",
            "mul",
            "truediv",
            "floordiv",
            "mod",
            "pow",
            "neg",
            "matmul",
            "and_",
            "or_",
            "xor",
            "getitem",
            "setitem",
            "delitem",
            "contains",
            "iadd",
            "isub",
            "imul",
        ]
    },
}


def serve(payload: dict[str, Any]) -> dict[str, Any]:
    """Load the program, tell its names, answer until the tests are done."""
    server = _Server()
    try:
        module = load(payload)
    except BaseException as fault:
        write_frame(SOCKET_FD, {"failed": raised(fault, "load")})
        return {}
    names = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    write_frame(SOCKET_FD, {"names": {name: _describe(value, server) for name, value in names.items()}})
    while (request := read_frame(SOCKET_FD)) is not None:
        write_frame(SOCKET_FD, server.answer(request))
    return {}


def _describe(value: Any, server: _Server) -> dict[str, Any]:
    if isinstance(value, types.ModuleType):
        return {"kind": "module", "name": value.__name__}
    if isinstance(value, type) and issubclass(value, BaseException):
        return {"kind": "exception", "bases": [base.__name__ for base in value.__mro__[1:]]}
    kind = "async" if inspect.iscoroutinefunction(value) else "value"
    try:
        return {"kind": kind, "value": encode(value, server.refer)}
    except Exception:
        return {"kind": kind, "value": server.refer(value)}
