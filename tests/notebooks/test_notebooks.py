"""Every notebook runs top to bottom on scripted models, its two forms say the same, and its pages stand alone."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbconvert import HTMLExporter
from render import GALLERY, SOURCES, execute, page, paired

NAMES = [
    "01_quickstart",
    "01_quickstart_zh",
    "02_custom_eval_set",
    "03_frontiers_and_cliffs",
    "04_load_and_tails",
    "05_cost_and_routing",
    "06_gate_a_release",
    "07_share_a_report",
]
CI = {"ENGINE": "scripted", "ITEMS": 8}
FETCHED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?!data:|#)[^\"'>\s]+")
by_name = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert [path.stem for path in SOURCES] == NAMES


@by_name
def test_both_forms_are_one_notebook_without_outputs(source: Path) -> None:
    assert source.with_suffix(".ipynb").read_text(encoding="utf-8") == paired(source), (
        "python notebooks/render.py --pair"
    )
    kept = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert not [cell for cell in kept.cells if cell.get("outputs") or cell.get("execution_count")]


@by_name
def test_parameters_choose_model_and_size(source: Path) -> None:
    tagged = [cell for cell in jupytext.read(source).cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1 and re.findall(r"^([A-Z]+) =", tagged[0].source, re.M) == list(CI)


def test_the_chinese_twin_takes_the_same_steps() -> None:
    english, chinese = (jupytext.read(SOURCES[0].with_stem(name)).cells for name in NAMES[:2])
    assert [cell.cell_type for cell in english] == [cell.cell_type for cell in chinese]
    for said in (cell.source for cell in chinese if cell.cell_type == "markdown"):
        assert re.search(r"[\u4e00-\u9fff]", said) and not re.search(r"\b(?:the|and|is)\b", said)


def test_the_gallery_is_small_and_fetches_nothing() -> None:
    pages = {kept.stem: kept.read_text(encoding="utf-8") for kept in GALLERY.glob("*")}
    assert set(pages) <= set(NAMES) and sum(len(text.encode()) for text in pages.values()) <= 2_000_000
    assert not [name for name, text in pages.items() if FETCHED.search(text) or "<script" in text]


@pytest.mark.slow
@pytest.mark.timeout(300)
@by_name
def test_it_runs_and_its_pages_stand_alone(source: Path, tmp_path: Path) -> None:
    notebook = execute(source, tmp_path, CI)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in shown if output.output_type == "error"]
    assert not [output.text for output in shown if output.get("name") == "stderr"]
    for data in (output["data"] for output in shown if "data" in output):
        assert "text/plain" in data and len(data["text/plain"]) < 3000, "an object that only its page can show"
        assert "application/vnd.jupyter.widget-view+json" not in data, "a widget leaves an empty place once saved"
    assert not FETCHED.search(page(notebook, source.stem))
    adds_nothing_remote(notebook)


def adds_nothing_remote(notebook: nbformat.NotebookNode) -> None:
    """nbconvert's own template links require.js and MathJax; outputs of ours must not add to what an empty one has."""
    empty = nbformat.v4.new_notebook(metadata={"language_info": {"name": "python"}})
    ours, theirs = (HTMLExporter().from_notebook_node(one)[0] for one in (notebook, empty))
    assert set(FETCHED.findall(ours)) <= set(FETCHED.findall(theirs))
    assert "progress" not in "".join(re.findall(r"<progress[^>]*>", ours))
