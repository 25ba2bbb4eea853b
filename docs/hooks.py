"""Pages of the site that are made from the code while it is built: the Python reference and the notebooks.

Nothing is run: notebooks are shown as text, and beside each the page that ``make notebooks`` kept with its outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"

REFERENCE = {
    "api/python.md": (
        "Python",
        "The names of `import speedqual as sq`. They are imported when first used.",
        "speedqual",
    ),
    "api/analysis.md": (
        "Analyses",
        "Each is a frozen dataclass of parameters, called on a run, its `df` or `sq.from_table(…)`.",
        "speedqual.analysis",
    ),
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages to those that lie in ``docs``."""
    for path, (title, intro, package) in REFERENCE.items():
        files.append(File.generated(config, path, content=_reference(title, intro, package)))
    sources = sorted(NOTEBOOKS.glob("[0-9]*.py"))
    for source in sources:
        files.append(File.generated(config, f"notebooks/{source.stem}.md", content=_notebook(source)))
    for page in sorted((NOTEBOOKS / "gallery").glob("*.html")):
        files.append(File.generated(config, f"gallery/{page.name}", abs_src_path=str(page)))
    files.append(File.generated(config, "notebooks/index.md", content=_contents(sources)))
    pages = [{_title(source): f"notebooks/{source.stem}.md"} for source in sources]
    for entry in config.nav or []:
        if "Notebooks" in entry:
            entry["Notebooks"] = ["notebooks/index.md", *pages]
    return files


def _title(source: Path) -> str:
    return _opening(source)[0].lstrip("# ")


def _opening(source: Path) -> list[str]:
    """The first cell of text: its title, and what stands under it."""
    first = next(cell.source for cell in jupytext.read(source).cells if cell.cell_type == "markdown")
    return re.split(r"\n\s*\n|\n(?=[^#])", first, maxsplit=1)


def _reference(title: str, intro: str, package: str) -> str:
    """A page with every public name of a package, found where it is defined; what ``sq`` has stands on its page."""
    names = [name for name in import_module(package).__all__ if not name.startswith("__")]
    if package != "speedqual":
        names = [name for name in names if name not in import_module("speedqual").__all__]
    found = {name: _home(package, name) for name in names}
    entries = [_entry_of(package, name, home) for name, home in found.items()]
    return f"# {title}\n\n{intro}\n\n" + "\n".join(entries)


def _entry_of(package: str, name: str, home: str) -> str:
    said = f"sq.{name}" if package == "speedqual" else name
    return f'::: {home}\n    options: {{heading: "{said}", toc_label: "{name}"}}\n'


def _home(package: str, name: str) -> str:
    value = getattr(import_module(package), name)
    return f"{value.__module__}.{value.__qualname__}"


def _notebook(source: Path) -> str:
    cells = jupytext.read(source).cells
    parts = [cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```" for cell in cells]
    rendered = NOTEBOOKS / "gallery" / f"{source.stem}.html"
    where = f"*[With its outputs](../gallery/{rendered.name})*" if rendered.exists() else ""
    title, *rest = parts
    return "\n\n".join(part for part in (title, where, *rest) if part) + "\n"


def _contents(sources: list[Path]) -> str:
    lines = ["# Notebooks", "", "Each is a file of `notebooks/`, runs as it stands, and tells one story.", ""]
    return "\n".join([*lines, *(line for source in sources for line in _entry(source))]) + "\n"


def _entry(source: Path) -> Iterator[str]:
    """The notebook's title, and the first paragraph under it."""
    _, *paragraphs = _opening(source)
    said = " ".join(" ".join(paragraphs).split("\n\n")[0].split())
    yield f"- [{_title(source)}]({source.stem}.md): {said}"
