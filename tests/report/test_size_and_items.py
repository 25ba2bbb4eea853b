"""How large a page becomes, what ``--items`` puts in, and that a page says the same in every process."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from command import Call
from made_run import KINDS, make_run

from speedqual.report import render
from speedqual.report.items.shown import Shown
from speedqual.report.words import Words
from speedqual.running import Run

BIG = tuple(kind for kind in KINDS for _ in (0, 1))[:9]


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ten candidates (one a route) that write some 5,000 characters each, more than a page shows of one answer."""
    from dataclasses import replace

    kinds = tuple(replace(kind, name=f"candidate {i}", ladder="") for i, kind in enumerate(BIG))
    return make_run(tmp_path_factory.mktemp("wordy") / "run", kinds, n_items=32, tokens=900, tasks=("extraction",))


def packed_in(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="text/plain" id="packed">([^<]*)</script>', page)
    loaded: list[dict[str, Any]] = json.loads(zlib.decompress(base64.b64decode(found[1]))) if found else []
    return loaded


@pytest.mark.slow
def test_a_page_stays_within_two_megabytes_whatever_was_answered(wordy: Run) -> None:
    page = render(wordy)
    assert 1_000_000 < len(page.encode()) < 2_000_000
    assert 1 < page.count('<li class="item" id=') < 32


def test_all_items_are_in_the_page_once(call: Call, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=30, tasks=("facts",))
    assert call("report", run.folder, "--items", "all", "-o", "all.html").code == 0
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    plain, packed = re.findall(r'data-key="([^"]+)"', page), [item["key"] for item in packed_in(page)]
    assert sorted(plain + packed) == sorted(f"facts/facts-{i:04d}" for i in range(30)) and plain and packed
    assert "more items are packed into this file; reading them needs JavaScript" in page
    assert call("report", run.folder, "--items", "1", "-o", "one.html").code == 0
    few = (tmp_path / "one.html").read_text(encoding="utf-8")
    assert 0 < few.count('<li class="item" id=') <= 5 and not packed_in(few)
    said = call("report", run.folder, "--items", "none")
    assert said.code == 2 and "--items" in said.err


def test_redacted_nothing_is_packed_that_quotes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=30, tasks=("facts",))
    page = render(run, redact=True, items=None)
    assert packed_in(page)
    for item in packed_in(page):
        assert item["prompt"] == item["expected"] == ""
        for answer in item["answers"]:
            assert not any(answer[name] for name in ("why", "tracks", "stream", "rows", "segments"))
    assert "Invoice" not in page and "another value" not in page and "invoice this" not in page


SCRIPT = "import sys; from speedqual.report import render; from speedqual.running import Run; sys.stdout.write(render(Run.open(sys.argv[1]), items=None))"


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=24, tasks=("code",))
    pages = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(run.folder)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert pages[0] == pages[1] and len(pages[0]) > 100_000


def test_nothing_is_shown_of_a_run_without_trials() -> None:
    assert Shown((), (), 0).streams == {}
    assert Words.load("zh")("items.right_of", n=2, right=1) == "2 个中 1 个正确"
