"""Eval sets of other tools: read into our folder format, written out of it. What a format cannot carry is listed."""

from __future__ import annotations

from speedqual.evalsets.interchange.exporting import EXPORTS, Exported, export_set
from speedqual.evalsets.interchange.importing import IMPORTS, Imported, import_set

__all__ = ["EXPORTS", "IMPORTS", "Exported", "Imported", "export_set", "import_set"]
