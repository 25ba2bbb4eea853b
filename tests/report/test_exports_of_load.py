"""A load test in other forms than a page: its levels in Markdown and JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.records import Candidate
from speedqual.report.exports import export
from speedqual.running import Retry, Run
from speedqual.running.load import load_test
from speedqual.running.load.layers import Scale, layered
from speedqual.timing.goodput import parse_slo

SCALE = Scale(
    langs=("en",), short_n=2, short_tokens=8, input_tokens=(100,), output_tokens=(60,), output_n=2, users=(1, 2),
    items=4, prefix_tokens=100, prefix_shares=(0.0,), prefix_lines=(0.5,), prefix_pairs=1, idle_s=(0.05,), idle_n=1,
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = layered(scale=SCALE, slos=(parse_slo("ttft_ms < 2000 @ 50%"),))
    asked: dict[str, Any] = {"evalsets": made.evalsets, "preflight": False, "warm_up": False, "environ": {}}
    folder = tmp_path_factory.mktemp("load") / "run"
    with serve_in_process({"a|b": Script(ttft_ms=2, tok_s=4000, n=60)}) as server:
        candidates = [Candidate(name="a|b", model="a|b", base_url=server.base_url)]
        return asyncio.run(load_test(candidates, made.plan, folder=folder, retry=Retry(attempts=1), **asked))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_markdown_folds_the_levels_away(run: Run, lang: str) -> None:
    text = export(run, "md", lang=lang).decode()
    section = text[text.index("<details><summary>" + _heading(lang)) :].partition("</details>")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    levels = run.manifest["load"]["levels"]
    assert len(rows) == 2 + len(levels)
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1, "a name broke a row"


def _heading(lang: str) -> str:
    from speedqual.report.words import Words

    return Words.load(lang)("load.heading")


def test_json_holds_every_analysis_of_the_load(run: Run) -> None:
    tree = json.loads(export(run, "json"), parse_constant=lambda name: pytest.fail(name))
    assert {"levels", "knee", "saturation", "quality", "errors"} <= set(tree["load"])
    assert tree["load"]["levels"]["kind"] and tree["load"]["knee"]["verdict"]
