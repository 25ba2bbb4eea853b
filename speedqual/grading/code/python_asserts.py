"""Assert-style tests in two confined processes: the program in one, its tests in the other, values between them.

``assert_server.serve`` loads the program and answers calls; ``test`` runs the asserts against stand-ins. So the
expected values that an assert contains are never in the program's interpreter: it cannot patch ``assert``, walk
frames to the answers, or return an object that claims to be equal to everything (an object that is not of a
built-in type stays where it is; its stand-in equals no value). Both processes are told nothing of each other but
the socket that joins them.
"""

from __future__ import annotations

import ast
import inspect
import random
import sys
import types
from typing import Any

from speedqual.grading.code.assert_standins import Client
from speedqual.grading.code.python_driver import raised, run_coroutine
from speedqual.grading.code.values import decode
from speedqual.grading.sandbox.confine import SOCKET_FD
from speedqual.grading.sandbox.framing import read_frame

__all__ = ["test"]


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
    client, tally = Client(), _Tally()
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


def _namespace(client: Client, tally: _Tally, names: dict[str, Any], entry_point: str) -> dict[str, Any]:
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


def _stand_in(client: Client, name: str, about: dict[str, Any]) -> Any:
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
