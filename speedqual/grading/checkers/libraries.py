"""JSON, YAML, TOML, HTML and SQL: front ends that come with Python or as a library of it."""

from __future__ import annotations

import importlib.metadata
import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from speedqual.grading.checkers.base import Check, run_driver

__all__ = ["CHECKERS"]


@dataclass(frozen=True, slots=True)
class Library:
    """A driver function by its name; ``package`` must be installed, empty = part of Python."""

    language: str
    driver: str
    package: str = ""
    columns: tuple[str, ...] = ()  # columns of the row that it is told

    def version(self) -> str:
        """Name and version of the library."""
        if self.language == "sql":
            return f"sqlite {sqlite3.sqlite_version}"
        if not self.package:
            return f"python {sys.version_info.major}.{sys.version_info.minor} {self.language}"
        try:
            return f"{self.package} {importlib.metadata.version(self.package)}"
        except importlib.metadata.PackageNotFoundError:
            return ""

    def check(self, source: str, context: Mapping[str, Any]) -> Check:
        """Call the driver in the sandbox."""
        told = {name: context[name] for name in self.columns if name in context}
        return run_driver(self.driver, {"source": source, **told}, self.version())


CHECKERS = (
    Library("json", "json_"),
    Library("yaml", "yaml_", "pyyaml"),
    Library("toml", "toml_"),
    Library("html", "html_", "html5lib", ("max_errors",)),
    Library("sql", "sql_", columns=("schema",)),
)
