"""Runs with little in them: a section that has nothing to say is absent, and the page is whole."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_run import KINDS, make_run

from speedqual.report import render
from speedqual.running import Run


def sections(run: Run, lang: str = "en") -> list[str]:
    page = render(run, lang=lang)
    assert page.endswith("</html>")
    return re.findall(r'<section id="([a-z_-]+)"', page)


ALWAYS = ["candidates", "failures", "items", "validity", "provenance"]


def test_all_failed(tmp_path: Path) -> None:
    kinds = tuple(replace(kind, failing=1.0) for kind in KINDS[:2])
    assert sections(make_run(tmp_path / "run", kinds, n_items=3, tasks=("facts",))) == ["verdict", *ALWAYS]


def test_nothing_graded_yet(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=3, tasks=("facts",))
    run.layout.grades.write_bytes(b"")
    assert [name for name in sections(run.reload(), "zh") if name != "tails"] == ["verdict", *ALWAYS]
    page = render(run.reload())
    assert "No answer is graded. Grade them with: speedqual grade RUN" in page
    failures = page.split('<section id="failures"')[1].split("</section>")[0]
    assert "<table" not in failures  # an answer that nobody judged went not wrong


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "The run was interrupted: 5 of 12 trials are finished"), ("zh", "运行被中断：12 次试验中完成了 5 次")],
)
def test_a_part_of_a_run_says_so(tmp_path: Path, lang: str, said: str) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=3, tasks=("facts",))
    manifest = json.loads(run.layout.manifest.read_text(encoding="utf-8"))
    manifest |= {"status": "interrupted", "n_done": 5, "n_trials": 12}
    run.layout.write_json(run.layout.manifest, manifest)
    assert said in render(run.reload(), lang=lang) and "--resume RUN" in render(run, lang=lang)


def test_nothing_asked_yet(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", KINDS[:2], n_items=3, tasks=("facts",))
    run.layout.records.write_bytes(b"")
    run.layout.grades.write_bytes(b"")
    assert sections(run.reload()) == ["provenance"]


@pytest.mark.parametrize("n_items", [1, 3])
def test_one_candidate(tmp_path: Path, n_items: int) -> None:
    found = sections(make_run(tmp_path / "run", KINDS[2:3], n_items=n_items, tasks=("code",)))
    assert "frontier" in found and "routing" not in found and "tasks" not in found
