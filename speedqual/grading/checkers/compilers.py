"""C, C++, Rust, Go, Java, Bash, CSS and GLSL: programs that read one source and say whether it is right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from speedqual.grading.checkers.base import LIMITS, Check, first_error, gave_up, program, run_program, version_of

__all__ = ["CHECKERS"]

_NO_ADDRESS_LIMIT = replace(LIMITS, memory_mb=0)  # these reserve far more address space than they use
_LARGE = replace(LIMITS, memory_mb=4096)
_GO_ENVIRONMENT = 'GOCACHE="$PWD" GOPATH="$PWD" GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local GOMAXPROCS=2'
_GAVE_UP = re.compile(
    r"out of memory|nesting depth|recursion limit|stack overflow|StackOverflowError|OutOfMemoryError"
    r"|internal compiler error|cannot allocate|memory exhausted|bracket nesting level",
    re.IGNORECASE,
)


def _verdict(argv: tuple[str, ...], checker: str, *, error: str = r"\berror\b", **how: Any) -> tuple[Check, str]:
    """Exit status 0 = right. A compiler that says that it ran out of something gave up."""
    result, lost = run_program(argv, checker=checker, **how)
    if lost is not None:
        return lost, ""
    if result.code == 0:
        return Check(ok=True, checker=checker), result.output
    if _GAVE_UP.search(result.output):
        return gave_up("the compiler reached one of its limits", checker), result.output
    return Check(ok=False, checker=checker, why=first_error(result.output, error)), result.output


@dataclass(frozen=True, slots=True)
class Gcc:
    """``-fsyntax-only``: everything but code generation. Messages without the lines of source that they speak of."""

    language: str
    name: str
    standard: str

    def version(self) -> str:
        """Name and version of the compiler."""
        return version_of(self.name, "--version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Read the source from standard input."""
        kind = "c" if self.language == "c" else "c++"
        argv = (program(self.name), "-fsyntax-only", f"-std={self.standard}", "-x", kind, "-w", "-fmax-errors=1",
                "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-ftemplate-depth=200", "-")  # fmt: skip
        return _verdict(argv, self.version(), stdin=source)[0]


@dataclass(frozen=True, slots=True)
class Rust:
    """``--emit=metadata``: names, types and borrows, no code."""

    language: str = "rust"

    def version(self) -> str:
        """Name and version of the compiler."""
        return version_of("rustc", "--version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """A program when it has a ``main``, else a library."""
        kind = "bin" if re.search(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(", source, re.MULTILINE) else "lib"
        argv = (program("rustc"), "--edition=2021", f"--crate-type={kind}", "--crate-name=answer", "--emit=metadata",
                "-o", "answer.rmeta", "--cap-lints=allow", "--error-format=short", "-")  # fmt: skip
        return _verdict(argv, self.version(), stdin=source, limits=_LARGE)[0]


@dataclass(frozen=True, slots=True)
class Go:
    """``go vet``: the compiler's type check and the checks that every Go user sees."""

    language: str = "go"

    def version(self) -> str:
        """Name and version of the tool."""
        return version_of("go", "version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """One file. Its caches live and die with its folder."""
        if not re.search(r"^\s*package\s+\w+", source, re.MULTILINE):
            return Check(ok=False, checker=self.version(), why="error: expected 'package'")
        script = f'export {_GO_ENVIRONMENT} && exec "$0" vet ./answer.go'
        argv = ("/bin/sh", "-c", script, program("go"))
        limits = replace(_NO_ADDRESS_LIMIT, cpu_s=30.0, disk_mb=256, files=5000, may_idle=True)
        return _verdict(argv, self.version(), error=r"answer\.go:\d", files={"answer.go": source}, limits=limits)[0]


@dataclass(frozen=True, slots=True)
class Java:
    """``javac`` without annotation processors."""

    language: str = "java"

    def version(self) -> str:
        """Name and version of the compiler."""
        return version_of("javac", "-version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """The file is named after its public type."""
        public = (
            r"^\s*public\s+(?:(?:final|abstract|sealed|strictfp)\s+)*(?:class|interface|enum|record|@interface)\s+(\w+)"
        )
        found = re.search(public, source, re.MULTILINE)
        name = f"{found[1] if found else 'Answer'}.java"
        argv = (program("javac"), "-J-Xmx256m", "-J-Xss4m", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1",
                "-proc:none", "-nowarn", "-implicit:none", "-d", ".", "-encoding", "UTF-8", name)  # fmt: skip
        limits = replace(_NO_ADDRESS_LIMIT, may_idle=True)
        return _verdict(argv, self.version(), files={name: source}, limits=limits)[0]


@dataclass(frozen=True, slots=True)
class Bash:
    """``bash -n``: read, do not run."""

    language: str = "bash"

    def version(self) -> str:
        """Name and version of the shell."""
        return version_of("bash", "--version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Also a warning counts: an unfinished here-document is one for the shell."""
        check, said = _verdict((program("bash"), "--norc", "-n"), self.version(), error=r"line \d+:", stdin=source)
        if check.ok and "warning: here-document" in said:
            return replace(check, ok=False, why="a here-document does not end")
        return check


@dataclass(frozen=True, slots=True)
class Css:
    """esbuild, whose warnings are the syntax errors of CSS."""

    language: str = "css"

    def version(self) -> str:
        """Name and version of the tool."""
        return version_of("esbuild", "--version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Read from standard input, print the result away."""
        argv = (program("esbuild"), "--loader=css", "--log-level=warning", "--log-limit=1", "--color=false")
        limits = replace(_NO_ADDRESS_LIMIT, may_idle=True)
        check, said = _verdict(argv, self.version(), stdin=source, limits=limits)
        if check.ok and "[WARNING]" in said:
            return replace(check, ok=False, why=first_error(said, r"\[WARNING\]"))
        return check


@dataclass(frozen=True, slots=True)
class Glsl:
    """glslangValidator. The row may name a ``stage`` (``frag``) and a ``prelude`` that stands before the source."""

    language: str = "glsl"

    def version(self) -> str:
        """Name and version of the tool."""
        return version_of("glslangValidator", "--version")

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Without ``#version`` and prelude it is read as WebGL 2."""
        stage = str(context.get("stage") or "frag")
        prelude = context.get("prelude")
        if prelude is None:
            prelude = "" if "#version" in source else "#version 300 es\nprecision highp float;\n"
        if stage not in ("vert", "tesc", "tese", "geom", "frag", "comp"):
            return gave_up(f"unknown stage {stage!r}", self.version())
        argv = (program("glslangValidator"), "--stdin", "-S", stage)
        return _verdict(argv, self.version(), error=r"^ERROR", stdin=f"{prelude}{source}")[0]


CHECKERS = (Gcc("c", "gcc", "gnu17"), Gcc("c++", "g++", "gnu++17"), Rust(), Go(), Java(), Bash(), Css(), Glsl())
