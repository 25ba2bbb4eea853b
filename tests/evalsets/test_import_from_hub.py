"""Data sets by their hub id, against a hub that is served here: no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from hub import Hub, serve_hub

from speedqual.evalsets import load

BUILTIN = Path(__file__).parents[2] / "evalsets"
_SCRIPT = """
import json, sys
from speedqual.errors import SpeedqualError
from speedqual.evalsets.interchange import import_set
told = {}
for name, source in json.loads(sys.argv[1]).items():
    try:
        made = import_set(source, out=f"{sys.argv[2]}/{name}", config="main" if name == "config" else "")
        told[name] = [made.kind, made.n_items, list(made.lost)]
    except SpeedqualError as fault:
        told[name] = [type(fault).__name__, fault.exit_code, str(fault)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def hub_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Hub]:
    """What importing each of the ids gave; one process for all, since it has to load ``datasets``."""
    folder = tmp_path_factory.mktemp("hub")
    shutil.copytree(BUILTIN / "facts", folder / "facts")
    dates, table = folder / "dates", folder / "table"
    dates.mkdir()
    rows = [{"question": f"Day {i}?", "answer": f"2024-03-0{i}"} for i in range(1, 4)]
    (dates / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (table / "main").mkdir(parents=True)
    (table / "main" / "test.csv").write_text("question,answer\n1+1?,2\n2+2?,4\n")
    card = "---\nconfigs:\n- {config_name: main, data_files: [{split: test, path: main/test.csv}]}\n---\n# sums\n"
    (table / "README.md").write_text(card)
    sources = {"facts": "lab/facts", "dates": "hf:lab/dates", "config": "hf:lab/table", "none": "hf:lab/none"}
    with serve_hub({"lab/facts": folder / "facts", "lab/dates": dates, "lab/table": table}) as hub:
        own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        env = own | {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1"}
        command = [sys.executable, "-c", _SCRIPT, json.dumps(sources), str(folder / "out")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), folder / "out", hub


def test_a_set_of_ours_comes_back_whole(hub_run: tuple[dict[str, Any], Path, Hub]) -> None:
    told, out, _ = hub_run
    assert told["facts"][:2] == ["hf", len(load("facts").items)]
    assert load(out / "facts").items == load("facts").items
    assert load(out / "facts").grader == load("facts").grader


def test_texts_that_look_like_dates_stay_texts(hub_run: tuple[dict[str, Any], Path, Hub]) -> None:
    told, out, _ = hub_run
    assert told["dates"][:2] == ["hf", 3]
    assert [item.target["answer"] for item in load(out / "dates").items] == ["2024-03-01", "2024-03-02", "2024-03-03"]


def test_a_table_with_a_configuration(hub_run: tuple[dict[str, Any], Path, Hub]) -> None:
    told, out, _ = hub_run
    assert told["config"][:2] == ["hf", 2]
    assert [str(item.target["answer"]) for item in load(out / "config").items] == ["2", "4"]


def test_what_the_hub_does_not_have_is_said(hub_run: tuple[dict[str, Any], Path, Hub]) -> None:
    told, out, hub = hub_run
    kind, code, text = told["none"]
    assert (kind, code) == ("UnreachableError", 3) and "lab/none" in text and "hf:" not in text
    assert not (out / "none").exists()
    assert any("/lab/facts/resolve/" in path for path in hub.asked)
