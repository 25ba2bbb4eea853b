"""The command of a load test's report sends the levels of its plan."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from speedqual.cli.load import command as load_command
from speedqual.cli.load_options import wanted
from speedqual.report.again import command
from speedqual.report.again_load import IN_PYTHON
from speedqual.running.load import LoadPlan

CONFIG = '[candidates.a]\nendpoint = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
PLANS = [
    "--rate 5,10.5 --duration 12 --warm-up 2 --cool-down 1 --slo 'ttft_ms < 800 @ 95%' --drain 9 --output-tokens 40",
    "--users 1,2,4 --requests 6 --think 0.5 --evalset extraction --no-early-stop --seed 3",
    "--users 1,2 --rate 5 --pattern constant --same-prompts",
    "--arrivals gamma:20,cv=2 --arrivals interactive=poisson:5 --arrivals batch=constant:1 --evalset batch=extraction",
    "--layers short_text,concurrency,cold --quick --seed 2 --evalset extraction",
    "--layers short_text,long_input --quick --context 900 --rate 2",
    "--rate 2,64 --find-knee --slo 'interactive_ms < 9' --duration 5".replace("interactive_ms", "ttft_ms"),
]


def planned(text: str) -> tuple[LoadPlan, list[Any], int]:
    options = load_command.make_context("load", shlex.split(text)).params
    found = wanted(options)
    return found.plan, found.evalsets, options["seed"]


def again(plan: LoadPlan, evalsets: list[Any], seed: int) -> str:
    manifest = {
        "load": {"plan": json.loads(json.dumps(plan.to_dict()))},
        "settings": {"retry": {"attempts": 1}},
        "seed": seed,
    }
    entries = [{"name": one.name, "hash": one.hash} for one in evalsets]
    return command({**manifest, "evalsets": entries, "candidates": []}, local=False)


@pytest.mark.parametrize("text", PLANS)
def test_the_command_makes_the_same_plan(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("again.toml").write_text(CONFIG)
    plan, evalsets, seed = planned(text)
    words = shlex.split(again(plan, evalsets, seed))
    assert words[:4] == ["speedqual", "load", "--config", "again.toml"]
    assert "short-text" not in words
    found, sets, _ = planned(shlex.join(words[2:]))
    assert found == plan and [one.hash for one in sets] == [one.hash for one in evalsets]
    said = CliRunner().invoke(load_command, [*words[2:], "--dry-run", "--json"])
    assert said.exit_code == 0, said.output
    assert [row["arrivals"] for row in json.loads(said.stdout)["levels"]] == [one.arrivals for one in plan.levels]


def test_a_plan_that_only_python_makes_has_no_command() -> None:
    plan, evalsets, seed = planned("--users 1,2 --requests 4")
    unlike = replace(plan, levels=(plan.levels[0], replace(plan.levels[1], n=9)))
    assert again(plan, evalsets, seed) != IN_PYTHON
    assert again(unlike, evalsets, seed) == IN_PYTHON
    assert again(replace(plan, levels=(replace(plan.levels[0], shuffled=False),)), evalsets, seed) == IN_PYTHON
