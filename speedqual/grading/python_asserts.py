"""Assert-style tests in two confined processes: the program in one, its tests in the other, values between them.

``serve`` loads the program and answers calls; ``test`` runs the asserts against stand-ins. So the expected
values that an assert contains are never in the program's interpreter: it cannot patch ``assert``, walk frames
to the answers, or return an object that claims to be equal to everything (an object that is not of a built-in
type stays where it is; its stand-in equals no value). Both processes are told nothing of each other but the
socket that joins them.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from speedqual.grading.code_values import decode, encode
from speedqual.grading.python_driver import load, raised, run_coroutine
from speedqual.grading.sandbox.confine import SOCKET_FD
from speedqual.grading.sandbox.framing import read_frame, write_frame

__all__ = ["serve", "test"]

MAX_ITEMS = 100_000

# ------------------------------------------------------------------------------------------- the program's side


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


# --------------------------------------------------------------------------------------------- the tests' side


class Lost(Exception):
    """The program's process is gone."""


class _Client:
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

    def __init__(self, client: _Client, number: int) -> None:
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
    client: _Client = object.__getattribute__(remote, "_client")
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


class _Recorder(ast.NodeTransformer):
    """Makes every assert report itself and go on, so that one wrong answer does not hide nine right ones."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Try(self, node: ast.Try) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.count += 1
        good, bad = ast.parse(f"__right({node.lineno})\n__wrong({node.lineno}, __fault)").body
        handler = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), "__fault", [bad])
        wrapped = ast.Try([node], [handler], [good], [])
        return ast.fix_missing_locations(ast.copy_location(wrapped, node))


class _Tally:
    """Asserts that held and that did not."""

    def __init__(self) -> None:
        self.right = 0
        self.wrong: list[dict[str, Any]] = []

    def good(self, line: int) -> None:
        self.right += 1

    def bad(self, line: int, fault: BaseException) -> None:
        if len(self.wrong) < 1000:
            self.wrong.append({"line": line, **raised(fault, "assert")})


def test(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the asserts: ``{"right": n, "wrong": […], "expected": n}``, ``{"failed": …}`` or ``{"broken": …}``."""
    random.seed(0)
    client, tally = _Client(), _Tally()
    try:
        tree, recorder = ast.parse(payload["asserts"]), _Recorder()
        code = compile(ast.fix_missing_locations(recorder.visit(tree)), "tests.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        return {"broken": f"the tests do not compile: {type(fault).__name__}"}
    if not _canary():
        return {"broken": "an assert that must fail did not"}
    hello = read_frame(SOCKET_FD)
    if not isinstance(hello, dict):
        return {"lost": True}
    if "names" not in hello:
        return {"failed": hello.get("failed") or {"raised": "SystemExit", "during": "load"}}
    space = _namespace(client, tally, hello["names"], payload["entry_point"])
    if "candidate" not in space:
        return {"failed": {"raised": "LookupError", "during": "find"}}
    try:
        exec(code, space)
        _run_functions(tree, space)
    except BaseException as fault:
        tally.bad(0, fault)
    return {"right": tally.right, "wrong": tally.wrong, "expected": recorder.count, "lost": client.lost}


def _canary() -> bool:
    tree = ast.fix_missing_locations(_Recorder().visit(ast.parse("assert 1 == 2")))
    tally = _Tally()
    exec(compile(tree, "canary.py", "exec", dont_inherit=True), {"__right": tally.good, "__wrong": tally.bad})
    return tally.right == 0 and len(tally.wrong) == 1


def _namespace(client: _Client, tally: _Tally, names: dict[str, Any], entry_point: str) -> dict[str, Any]:
    space: dict[str, Any] = {name: _stand_in(client, name, about) for name, about in names.items()}
    for name in ("answer", "solution", "submission"):
        module = types.ModuleType(name)
        vars(module).update(space)
        sys.modules.setdefault(name, module)
    space |= {"__name__": "tests", "__right": tally.good, "__wrong": tally.bad}
    top, _, method = entry_point.partition(".")
    if top in names:
        space["candidate"] = getattr(space[top](), method) if method else space[top]
    return space


def _stand_in(client: _Client, name: str, about: dict[str, Any]) -> Any:
    if about["kind"] == "module":
        return __import__(about["name"].partition(".")[0]) if about["name"] in sys.stdlib_module_names else None
    if about["kind"] == "exception":
        return client.exception_type(name, about["bases"])
    value = decode(about["value"], client.tags)
    if about["kind"] != "async":
        return value

    async def ask(*args: Any, **kwargs: Any) -> Any:
        return client.ask("await", value, *args, **kwargs)

    return ask


def _run_functions(tree: ast.Module, space: dict[str, Any]) -> None:
    """``check(candidate)`` as HumanEval has it, or every ``test_…`` that needs no argument, unless the tests
    call them.
    """
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name in called:
            continue
        arguments = [space["candidate"]] if node.name == "check" else []
        if node.name == "check" or (node.name.startswith("test") and not node.args.args):
            made = space[node.name](*arguments)
            if inspect.iscoroutine(made):
                run_coroutine(made)
