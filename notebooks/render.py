"""Run the notebooks and write the gallery: ``python notebooks/render.py`` with the real model (``make notebooks``).

One page a notebook, in ``gallery/``: the outputs are kept there alone, so that a change of a notebook reads as a change
of its text. The pages hold no script and nothing remote.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

HERE = Path(__file__).parent
SOURCES = sorted(HERE.glob("[0-9]*.py"))
GALLERY = HERE / "gallery"


def kernel_environment(folder: Path) -> dict[str, str]:
    """The environment of a kernel whose settings, history and connection files stay in ``folder``."""
    names = ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
    return {**os.environ, "JUPYTER_PLATFORM_DIRS": "1", **{name: str(folder / f".{name.lower()}") for name in names}}


def execute(source: Path, folder: Path, parameters: dict[str, Any], timeout_s: int = 60) -> nbformat.NotebookNode:
    """Run all cells in ``folder``, a cell at most ``timeout_s``. Raises CellExecutionError at the first that fails."""
    notebook = parameterize_notebook(load_notebook_node(str(source.with_suffix(".ipynb"))), parameters)
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=timeout_s, kernel_name="python3", resources=resources)
    client.execute(env=kernel_environment(folder))
    return notebook


def paired(source: Path) -> str:
    """The .ipynb of a py:percent source: no outputs, cells named by their number, so that the same source gives it."""
    notebook = jupytext.read(source)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return nbformat.writes(notebook) + "\n"


def page(notebook: nbformat.NotebookNode, name: str) -> str:
    """The notebook as one HTML page in the gallery's own template."""
    exporter = HTMLExporter(template_name="gallery", extra_template_basedirs=[str(HERE / "templates")])
    names = [source.stem for source in SOURCES]
    resources = {"metadata": {"name": name}, "gallery": names}
    text, _ = exporter.from_notebook_node(notebook, resources=resources)
    return str(text)


def main(wanted: list[str]) -> None:
    """``--pair`` writes every .ipynb anew and runs none; else render those whose names begin so, or all."""
    for source in SOURCES:
        source.with_suffix(".ipynb").write_text(paired(source), encoding="utf-8")
    GALLERY.mkdir(exist_ok=True)
    for source in SOURCES:
        if not wanted or source.stem.startswith(tuple(wanted)):
            with tempfile.TemporaryDirectory() as folder:
                done = execute(source, Path(folder), {"ENGINE": "local"}, timeout_s=1800)
            target = GALLERY / f"{source.stem}.html"
            target.write_text(page(done, source.stem), encoding="utf-8")
            print(f"{target.name}\t{target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
