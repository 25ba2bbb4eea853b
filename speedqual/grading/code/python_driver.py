"""Runs inside the sandbox: compiles a program, or loads it and calls its entry point. It is told inputs, never answers.

Why a pass can be trusted although the program shares this interpreter and can read, patch or forge anything in
it: what leaves is a value, and the value is compared outside with an expectation that never comes in. A program
that walks frames, patches built-ins, prints markers, writes a forged reply or ends early can at most report
some value of its own; to report the right one it has to know it, which is what is being tested. Each case runs
in a process of its own, so nothing that a program does in one case reaches another.
"""

from __future__ import annotations

import inspect
import random
import re
import sys
import types
import warnings
from typing import Any

from speedqual.grading.code.values import Foreign, TooLarge, decode, encode

__all__ = ["call", "check", "load"]

FILENAME = "answer.py"
_MAGIC = re.compile(r"^[ \t]*[!%][^\n]*$", re.MULTILINE)
_TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def check(payload: dict[str, Any]) -> dict[str, Any]:
    """Compile, never run. ``{"ok": …, "error": …, "line": …, "warnings": […]}``; ``ok`` None = the compiler gave up."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _compile(payload)
        except (MemoryError, RecursionError) as fault:
            return {"ok": None, "error": type(fault).__name__}
        except (SyntaxError, ValueError) as fault:  # ValueError: a null byte or a lone surrogate
            text = fault.msg if isinstance(fault, SyntaxError) else str(fault)
            name = type(fault).__name__
            return {"ok": False, "error": f"{name}: {text}"[:300], "line": getattr(fault, "lineno", None)}
    return {"ok": True, "warnings": [f"{w.category.__name__}: {w.message}"[:200] for w in caught[:5]]}


def _compile(payload: dict[str, Any]) -> types.CodeType:
    source, flags = payload["source"], 0
    if payload.get("mode") == "notebook":
        source, flags = _MAGIC.sub("", source), _TOP_LEVEL_AWAIT
    code = compile(source, FILENAME, "exec", flags=flags, dont_inherit=True)
    assert isinstance(code, types.CodeType)
    return code


def load(payload: dict[str, Any]) -> types.ModuleType:
    """Run the program as a module that is not ``__main__``."""
    random.seed(0)
    sys.setrecursionlimit(payload.get("recursion_limit", 5000))
    module = types.ModuleType("answer")
    module.__file__ = FILENAME
    sys.modules["answer"] = module  # dataclasses and typing look their module up
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        code = _compile(payload)
    if code.co_flags & inspect.CO_COROUTINE:
        run_coroutine(eval(code, module.__dict__))
    else:
        exec(code, module.__dict__)
    return module


def call(payload: dict[str, Any]) -> dict[str, Any]:
    """One case: ``{"value": form}``, or ``{"raised": type name, "message": …, "during": "load" | "call" | "value"}``.

    A coroutine function is awaited; a plain function that returns a coroutine is not, so that value is foreign.
    """
    during = "load"
    try:
        module = load(payload)
        during = "find"
        function = find(module, payload["entry_point"])
        during = "call"
        args, kwargs = decode(payload["args"]), decode(payload["kwargs"])
        value = function(*args, **kwargs)
        if inspect.iscoroutinefunction(function):
            value = run_coroutine(value)
        during = "value"
        reply = {"value": encode(value)}
        if payload.get("with_args"):
            reply["args"] = encode(args)
    except BaseException as fault:
        return raised(fault, during)
    return reply


def run_coroutine(coroutine: Any) -> Any:
    """``asyncio.run``. The import stands here because a small worker forks faster; few programs need it."""
    import asyncio

    return asyncio.run(coroutine)


def find(module: types.ModuleType, name: str) -> Any:
    """``f``, or ``Solution.f`` for a method of a fresh object. Raises LookupError when there is none."""
    target: Any = module.__dict__
    for part in name.split("."):
        if isinstance(target, dict):
            if part not in target:
                raise LookupError(name)
            target = target[part]
        else:
            target = getattr(target() if isinstance(target, type) else target, part)
    return target


def raised(fault: BaseException, during: str) -> dict[str, Any]:
    """An exception as data, without asking it for anything that could raise again."""
    try:
        message = str(fault)[:300]
    except BaseException:
        message = ""
    errno = getattr(fault, "errno", None) if type(fault) in (OSError, BlockingIOError) else None
    name = "Foreign" if type(fault) is Foreign else "TooLarge" if type(fault) is TooLarge else type(fault).__name__
    bases = [base.__name__ for base in type(fault).__mro__][:8]
    return {"raised": name, "bases": bases, "message": message, "errno": errno, "during": during}
