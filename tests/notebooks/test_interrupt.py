"""A cell that is interrupted in mid-run keeps what was finished: the folder opens, and the run goes on from there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from render import kernel_environment

ASK = """
import speedqual as sq
from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.notebook.tickets import help_desk

served = serve_in_process({"slow": Script(ttft_ms=150, tok_s=100, text="Oslo", n=3)})
one = sq.candidate("openai/slow", base_url=served.__enter__().base_url)
desk = help_desk(200)
"""
RUN = 'run = await sq.evaluate([one], [desk], folder="kept")'
LOOK = """
kept = sq.Run.open("kept")
print(kept.status, 0 < len(kept) < 200, len(kept.df) == len(kept), kept.df["e2e_ms"].notna().all())
"""
GO_ON = """
desk_done = len(kept)
run = await sq.evaluate([one], [desk], folder="kept", resume=True, limits=sq.Limits(requests=3))
print(run.status, len(run) - desk_done, run.df["item"].is_unique)
served.__exit__(None, None, None)
"""


def stdout_of(cell: nbformat.NotebookNode) -> list[str]:
    text = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
    return text.split()


@pytest.mark.slow
async def test_interrupting_a_cell_keeps_the_finished_trials(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (ASK, RUN, LOOK, GO_ON)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.allow_error_names = ["KeyboardInterrupt", "CancelledError"]
    async with client.async_setup_kernel(env=kernel_environment(tmp_path)):
        await client.async_execute_cell(cells[0], 0)
        running = asyncio.create_task(client.async_execute_cell(cells[1], 1))
        records = tmp_path / "kept" / "records.jsonl"
        while not records.is_file() or records.read_bytes().count(b"\n") < 5:
            assert not running.done()
            await asyncio.sleep(0.02)
        assert client.km is not None
        await client.km.interrupt_kernel()
        await running
        assert [output.ename for output in cells[1].outputs if output.output_type == "error"]
        await client.async_execute_cell(cells[2], 2)
        await client.async_execute_cell(cells[3], 3)
    assert stdout_of(cells[2]) == ["interrupted", "True", "True", "True"]
    assert stdout_of(cells[3]) == ["stopped", "3", "True"]
