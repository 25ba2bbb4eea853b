"""Python: ``compile`` in a confined child."""

from __future__ import annotations

import secrets

from speedqual.grading.checkers.base import MAX_SOURCE_BYTES, Check, gave_up
from speedqual.grading.code.cases import CaseOutcome, stray_end
from speedqual.grading.sandbox import Limits, Role, Sandbox

__all__ = ["check"]

DRIVER = "speedqual.grading.code.python_driver:check"
LIMITS = Limits(cpu_s=5.0, memory_mb=512)


def check(source: str, sandbox: Sandbox, *, mode: str = "script") -> Check:
    """Whether ``source`` compiles on the sandbox's interpreter.

    Notebook mode allows top-level await and drops magics.
    """
    name = f"python {sandbox.python.version}"
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        return gave_up("the source is larger than 256 KB", name)
    nonce = secrets.token_hex(16)
    payload = {"source": source, "mode": mode}
    reply = stray_end(sandbox.run_one(Role(driver=DRIVER, payload=payload, limits=LIMITS, nonce=nonce)), nonce)
    if isinstance(reply, CaseOutcome):
        return gave_up(f"the compiler was stopped: {reply.why}", name)
    if reply["ok"] is None:
        return gave_up(f"the compiler raised {reply['error']}", name)
    if reply["ok"]:
        return Check(ok=True, checker=name, warnings=tuple(reply["warnings"]))
    line = f" (line {reply['line']})" if reply.get("line") else ""
    short = ".".join(sandbox.python.version.split(".")[:2])
    return Check(ok=False, checker=name, why=f"does not compile on Python {short}: {reply['error']}{line}")
