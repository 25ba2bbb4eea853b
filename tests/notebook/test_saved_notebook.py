"""A notebook that is run without any front end holds how each run ended, as HTML and as text, and nothing that moves."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

CELL = """
import speedqual as sq
from speedqual.evalsets import minimal_sets
from speedqual.notebook.quickstart import few, small_candidates

evalsets = [few(minimal_sets()[1], 2)]
with small_candidates(evalsets, "scripted") as candidates:
    plane = sq.Plane()
    display(plane)
    run = await sq.evaluate(candidates[:2], evalsets, folder="kept", observers=[plane])
    again = await sq.evaluate(candidates[:2], evalsets, folder="kept", resume=True)
    try:
        await sq.evaluate([sq.candidate("openai/x", base_url="http://127.0.0.1:9/v1")], evalsets, folder="none")
    except sq.SpeedqualError:
        pass
"""


@pytest.mark.slow
def test_what_stays_is_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=90, kernel_name="python3", resources=resources).execute(env=dict(os.environ))

    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs] == ["display_data"] * 3
    assert all(set(output.data) == {"text/html", "text/plain"} for output in outputs)
    plane, resumed, refused = (output.data["text/plain"] for output in outputs)
    assert "quick: " in plane and "not graded yet" not in plane
    assert resumed.startswith("Finished · 4 of 4 trials · 4 of them by an earlier call")
    assert refused.startswith("Failed: ") and "127.0.0.1:9" in refused
    assert "widgets" not in notebook.metadata  # no script travels where nobody could be woken
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert "Finished" in page and "<progress" not in page
