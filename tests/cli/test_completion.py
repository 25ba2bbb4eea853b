"""Shell completion: the printed script, run in bash; what is offered where."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command import Call

from speedqual.cli.offers import CANDIDATE, DATA, EVALSET, MODEL, RUN


def offered(kind: click.ParamType, typed: str, **params: object) -> list[str]:
    context = click.Context(click.Command("x"))
    context.params.update(params)
    return [item.value for item in kind.shell_complete(context, click.Argument(["x"]), typed) if item.type == "plain"]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, model in (("a", "m1"), ("b", "m2")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        manifest = {"status": "finished", "candidates": [{"endpoint": "openai", "model": model}]}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "manifest.json").write_text("{")
    return tmp_path


@pytest.mark.slow
def test_bash_completes_commands_options_and_runs(runs: Path) -> None:
    script = """
    source <(speedqual completion bash)
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _speedqual_completion speedqual; echo "${COMPREPLY[*]}"; }
    try speedqual rep
    try speedqual report runs/a
    try speedqual run --evalset extr
    try speedqual report --la
    """
    bash = shutil.which("bash")
    assert bash, "CI has bash"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.stdout.splitlines() == ["report", "runs/a", "extraction", "--lang"], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(call: Call, shell: str) -> None:
    said = call("completion", shell)
    assert said.code == 0 and "_SPEEDQUAL_COMPLETE" in said.out and "speedqual" in said.out
    assert call("completion", "tcsh").code == 2


def test_runs_are_offered_the_newest_first(runs: Path) -> None:
    assert offered(RUN, "") == ["runs/broken", "runs/b", "runs/a"]
    assert offered(RUN, "runs/b") == ["runs/broken", "runs/b"]
    assert offered(RUN, "nowhere/") == [] and offered(DATA, "runs/a") == ["runs/a"]
    (runs / "deep" / "x").mkdir(parents=True)
    (runs / "deep" / "x" / "manifest.json").write_text("{}")
    assert offered(RUN, "deep/") == ["deep/x"]


def test_eval_sets_of_ours_and_of_this_folder(runs: Path) -> None:
    (runs / "invoices").mkdir()
    (runs / "invoices" / "test.jsonl").write_text("")
    assert "extraction" in offered(EVALSET, "") and offered(EVALSET, "inv") == ["invoices"]


def test_models_of_earlier_runs_come_before_endpoints(runs: Path) -> None:
    assert offered(MODEL, "openai") == [
        "openai/m2", "openai/m1", "openai/", "openai-completions/", "openai-responses/",
    ]  # fmt: skip


def test_candidates_of_the_settings_file(runs: Path) -> None:
    assert offered(CANDIDATE, "") == []
    (runs / "speedqual.toml").write_text('[candidates.fast]\nendpoint = "openai"\n[candidates.strong]\n')
    assert offered(CANDIDATE, "") == ["fast", "strong"]
    (runs / "other.toml").write_text("[candidates.third]\n")
    assert offered(CANDIDATE, "t", config=runs / "other.toml") == ["third"]
