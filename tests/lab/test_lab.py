"""Notebooks in a real JupyterLab: what moves while a run goes on, what stays, what is left when all is ended."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from jupyter_lab import Lab, Opened, open_notebook
from nbconvert import HTMLExporter
from playwright.sync_api import Browser

import speedqual as sq

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
VIEW = "speedqual-view"


def outputs(file: Path) -> list[nbformat.NotebookNode]:
    cells = nbformat.read(file, as_version=4).cells
    return [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]


def shown(file: Path) -> str:
    return "\n".join(output.get("data", {}).get("text/html", "") for output in outputs(file))


def page_of(file: Path) -> str:
    page, _ = HTMLExporter().from_filename(str(file))
    return str(page)


def no_violation(notebook: Opened) -> None:
    found = Axe().run(notebook.page, context=VIEW)
    assert found.violations_count == 0, found.generate_report()


def in_both_themes(notebook: Opened, name: str) -> None:
    for dark in (True, False):
        notebook.dark(dark)
        no_violation(notebook)
        notebook.picture(f"{name}-{'dark' if dark else 'light'}")


def read_again(browser: Browser, lab: Lab, notebook: Opened, words: list[str]) -> None:
    """Saved, its kernel ended and opened anew, it is as readable, and so is the page made of it."""
    notebook.save()
    notebook.page.context.close()
    lab.end_kernels()
    again = open_notebook(browser, lab, notebook.file.name)
    text = again.page.locator(".jp-Notebook").inner_text()
    assert [word for word in words if word not in text] == []
    assert "Error displaying widget" not in text and "Loading widget" not in text
    page = page_of(notebook.file)
    assert [word for word in words if word not in page] == []
    assert "<progress" not in page and "widget-view" not in page
    again.page.context.close()


def test_a_run_is_watched_brushed_raced_and_interrupted(browser: Browser, lab: Lab) -> None:
    nbformat.write(jupytext.read(HERE / "live.py"), lab.root / "live.ipynb")
    notebook = open_notebook(browser, lab, "live.ipynb")
    page = notebook.page
    notebook.run_all()

    live = page.locator(f"{VIEW}.sq-status", has_text="正在提问")
    live.wait_for(timeout=60_000)  # the widget itself: the static twin has no such class
    page.locator(".sq-point.sq-ungraded").first.wait_for(timeout=30_000)  # speeds before qualities
    page.locator(".sq-point.sq-on").first.wait_for(timeout=30_000)
    page.get_by_text("72 次试验中已完成 72 次").wait_for(timeout=30_000)

    endless = page.locator(f"{VIEW}.sq-status", has_text="Asking")
    endless.get_by_text(re.compile(r"[1-9]\d* of 2,880 trials")).wait_for(timeout=60_000)
    page.get_by_role("button", name="Interrupt the kernel").click()
    page.get_by_text("Interrupted: cancelled by the user").wait_for(timeout=30_000)
    notebook.wait_until_run()
    cut = sq.Run.open(lab.root / "cut")
    assert cut.status == "interrupted" and 0 < len(cut) < 2880

    notebook.save()
    assert [output.ename for output in outputs(notebook.file) if output.output_type == "error"] == ["CancelledError"]
    brush(notebook)
    play(notebook)
    in_both_themes(notebook, "live")
    assert page.said == []  # type: ignore[attr-defined]
    words = [
        "Interrupted: cancelled by the user",
        "72 次试验中已完成 72 次",
        "careful",
        "The same prompt, 2 candidates",
    ]
    read_again(browser, lab, notebook, words)


def brush(notebook: Opened) -> None:
    """Choose by keyboard, then by mouse; Python knows who was chosen."""
    page, field = notebook.page, notebook.page.locator(".sq-field")
    field.focus()
    for key in ("Home", " ", "End", " "):
        page.keyboard.press(key)
    page.get_by_text("2 of 6 candidates chosen").wait_for()
    assert (
        notebook.answer("sorted(set(plane.selected['candidate'])) == sorted(plane.chosen), len(plane.chosen)")
        == "(True, 2)"
    )
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    page.get_by_text("6 of 6 candidates chosen").wait_for()
    assert notebook.answer("len(plane.selected)") == "72"


def play(notebook: Opened) -> None:
    """The verdicts are hidden until the race is over. Each kind of view has its own style."""
    lanes = notebook.page.locator(".sq-race").first
    assert lanes.locator(".sq-lanes").evaluate("node => getComputedStyle(node).display") == "grid"
    assert notebook.page.locator("path.sq-front").evaluate("node => getComputedStyle(node).fill") == "none"
    assert lanes.locator(".sq-verdict").all_inner_texts() == ["", ""]
    lanes.get_by_label("Speed").select_option("10")
    lanes.get_by_role("button", name="Play").click()
    lanes.locator(".sq-verdict", has_text=re.compile(r"\w")).first.wait_for()
    assert all(lanes.locator(".sq-verdict").all_inner_texts())


def with_widgets(name: str) -> nbformat.NotebookNode:
    """A notebook that people read, with made-up models, few items, and both widgets at its end."""
    notebook = jupytext.read(NOTEBOOKS / f"{name}.py")
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source += '\nENGINE, ITEMS = "scripted", 2'
    notebook.cells += [nbformat.v4.new_code_cell("sq.Plane(run)"), nbformat.v4.new_code_cell("sq.Race(run)")]
    return notebook


def test_the_quickstart_runs_as_people_run_it(browser: Browser, lab: Lab) -> None:
    nbformat.write(with_widgets("01_quickstart"), lab.root / "01_quickstart.ipynb")
    notebook = open_notebook(browser, lab, "01_quickstart.ipynb")
    notebook.run_all()
    notebook.wait_until_run()
    notebook.page.locator(".sq-point").first.wait_for(timeout=30_000)
    assert notebook.page.locator(".sq-point").count() == 6
    assert notebook.page.locator(".sq-lane").count() % 6 == 0
    notebook.save()
    assert [output.evalue for output in outputs(notebook.file) if output.output_type == "error"] == []
    in_both_themes(notebook, "quickstart")
    assert notebook.page.said == []  # type: ignore[attr-defined]
    read_again(browser, lab, notebook, ["Finished", "36 of 36 trials", "The same prompt, 6 candidates"])
