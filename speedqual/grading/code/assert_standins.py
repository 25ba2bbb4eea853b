"""The tests' side of the socket: stand-ins for what the program keeps, and the requests that they make."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from speedqual.grading.code.values import decode, encode
from speedqual.grading.sandbox.confine import SOCKET_FD
from speedqual.grading.sandbox.framing import read_frame, write_frame

__all__ = ["Client", "Lost", "Remote"]


class Lost(Exception):
    """The program's process is gone."""


class Client:
    """Sends requests, serves callbacks, turns numbers into stand-ins and exceptions into exceptions."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[..., Any]] = []
        self.exceptions: dict[str, type[BaseException]] = {}
        self.tags = {"$ref": lambda number: Remote(self, number)}
        self.lost = False

    def form(self, value: Any) -> Any:
        """A value or stand-in on its way to the program."""
        return encode(value, self._foreign)

    def _foreign(self, value: Any) -> Any:
        if type(value) is Remote:
            return {"$ref": object.__getattribute__(value, "_number")}
        if callable(value):
            self.callbacks.append(value)
            return {"$callback": len(self.callbacks) - 1}
        return encode(value)  # raises Foreign

    def ask(self, do: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        """One request. Raises what the program raised."""
        request = {"do": do, "target": self.form(target), "arguments": self.form([list(args), kwargs])}
        try:
            write_frame(SOCKET_FD, request)
            reply = self._reply()
        except (OSError, ValueError) as fault:
            self.lost = True
            raise Lost from fault
        if "raised" in reply:
            raise self.exception(str(reply["raised"]), reply.get("bases") or [], str(reply.get("message", "")))
        self._update(args, reply)
        return decode(reply["value"], self.tags)

    def _reply(self) -> dict[str, Any]:
        while True:
            reply = read_frame(SOCKET_FD)
            if not isinstance(reply, dict):
                raise ValueError("no reply")
            if "callback" not in reply:
                return reply
            write_frame(SOCKET_FD, self._called_back(reply))

    def _called_back(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            args, kwargs = decode(request["arguments"], self.tags)
            return {"value": self.form(self.callbacks[request["callback"]](*args, **kwargs))}
        except Exception:
            return {"failed": True}

    def _update(self, args: tuple[Any, ...], reply: dict[str, Any]) -> None:
        """What the program changed in place is changed here as well."""
        if "arguments" not in reply:
            return
        for mine, theirs in zip(args, decode(reply["arguments"], self.tags), strict=False):
            if type(mine) is list and type(theirs) is list:
                mine[:] = theirs
            elif type(mine) in (dict, set) and type(mine) is type(theirs):
                mine.clear()
                mine.update(theirs)

    def exception(self, name: str, bases: list[str], message: str) -> BaseException:
        """The exception of that name: the built-in one, or one made once under its nearest built-in base."""
        return self.exception_type(name, bases)(message)

    def exception_type(self, name: str, bases: list[str]) -> type[BaseException]:
        """Never one outside ``Exception``: a program must not end its tests."""
        known = [kind for base in [name, *bases] if (kind := _exception(base)) is not None]
        base = known[0] if known else RuntimeError
        if base.__name__ == name:
            return base
        if name not in self.exceptions:
            self.exceptions[name] = type(name, (base,), {"__init__": lambda self, *args: None})
        return self.exceptions[name]


def _exception(name: str) -> type[Exception] | None:
    kind = getattr(builtins, name, None)
    plain = isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError)
    return kind if plain else None


class Remote:
    """Stands for an object of the program.

    Equal to no value; compared with another stand-in by the program's own rules.
    """

    __slots__ = ("_client", "_number")

    def __init__(self, client: Client, number: int) -> None:
        object.__setattr__(self, "_client", client)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _ask(self, "call", *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return _ask(self, "getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "setattr", name, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(_ask(self, "iter"))

    def __next__(self) -> Any:
        return _ask(self, "next")

    def __eq__(self, other: object) -> bool:
        return type(other) is Remote and _ask(self, "eq", other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int(_ask(self, "hash"))

    def __enter__(self) -> Any:
        return _ask(self, "enter")

    def __exit__(self, *_: object) -> None:
        _ask(self, "exit")


def _ask(remote: Remote, do: str, *args: Any, **kwargs: Any) -> Any:
    client: Client = object.__getattribute__(remote, "_client")
    return client.ask(do, remote, *args, **kwargs)


def _forward(do: str) -> Callable[..., Any]:
    return lambda self, *args: _ask(self, do, *args)


def _operate(do: str) -> Callable[..., Any]:
    """An operator of the program. With a plain value it may give another object, never a plain value: otherwise
    an object that is near to every number (``abs(f(x) - 0.5) < 1e-6``) would pass.
    """

    def operate(self: Remote, *args: Any) -> Any:
        value = _ask(self, do, *args)
        if type(value) is not Remote and not (args and all(type(arg) is Remote for arg in args)):
            raise TypeError(f"{do} of an object that is not of a built-in type")
        return value

    return operate


for _name in ("len", "str", "repr", "bool", "getitem", "setitem", "delitem", "contains"):
    setattr(Remote, f"__{_name}__", _forward(_name))
for _name in ("lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "abs"):
    setattr(Remote, f"__{_name}__", _operate(_name))
for _name in ("and", "or"):
    setattr(Remote, f"__{_name}__", _operate(f"{_name}_"))
