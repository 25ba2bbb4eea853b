"""JavaScript and TypeScript: one warm, confined Node process each; sources are compiled, never run."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from speedqual.grading.checkers.base import Check, gave_up, not_checked, program, tools, version_of
from speedqual.grading.sandbox import SandboxLost, Service

__all__ = ["CHECKERS"]

START_S, CHECK_S = 60.0, 10.0  # the first check parses the standard library
_HERE = Path(__file__).parent
_HEAP_MB = 512


class Warm:
    """Asks a Node script about sources, one JSON line each way; a script that falls silent is replaced."""

    def __init__(self, language: str, script: str) -> None:
        self.language = language
        self._script = script
        self._service: Service | None = None
        self._lock = threading.Lock()

    def version(self) -> str:
        """Name and version of the front end."""
        if self.language == "javascript":
            return version_of("node", "--version")
        return _typescript_version()

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Compile in the warm process. Its death or silence is the checker's, not the program's."""
        sandbox = tools()
        if sandbox is None:
            return not_checked("no sandbox of this machine passed its probe")
        with self._lock:
            try:
                wait_s = CHECK_S if self._service else START_S
                self._service = self._service or Service(sandbox, self._argv(), readable=self._readable())
                reply = json.loads(self._service.ask(json.dumps({"source": source}), wait_s))
            except (SandboxLost, ValueError):
                self.close()
                return gave_up("the checker was stopped or ended", self.version())
        if reply.get("ok") is None:
            return gave_up(str(reply.get("error"))[:300], self.version())
        return Check(ok=reply["ok"] is True, why=str(reply.get("error") or "")[:300], checker=self.version())

    def close(self) -> None:
        """End the process; the next check starts another."""
        if self._service is not None:
            self._service.close()
            self._service = None

    def _argv(self) -> tuple[str, ...]:
        flags = (f"--max-old-space-size={_HEAP_MB}", "--experimental-vm-modules", "--no-warnings", "--stack-size=900")
        library = (str(_typescript()),) if self.language == "typescript" else ()
        return (program("node"), *flags, str(_HERE / self._script), *library)

    def _readable(self) -> tuple[str, ...]:
        library = _typescript()
        return (str(_HERE), *((str(library.parent),) if library and self.language == "typescript" else ()))


@cache
def _typescript() -> Path | None:
    """``typescript.js`` beside the installed ``tsc`` (version 5: later ones are no library)."""
    tsc = program("tsc")
    library = Path(tsc).parents[1] / "lib" / "typescript.js" if tsc else None
    return library if library and library.is_file() and program("node") else None


@cache
def _typescript_version() -> str:
    library = _typescript()
    if library is None:
        return ""
    try:
        version = json.loads((library.parents[1] / "package.json").read_text("utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return ""
    return f"typescript {version}"


CHECKERS = (Warm("javascript", "javascript.cjs"), Warm("typescript", "typescript.cjs"))
