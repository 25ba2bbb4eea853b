"""``speedqual run`` and what follows it: results on stdout, everything else on stderr, codes that mean something."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def _ask(endpoint: str, *models: str) -> list[str]:
    return [word for model in models for word in ("--model", f"openai/{model}")] + ["--base-url", endpoint, "--quiet"]


def test_a_run_prints_its_table_and_says_where_it_is(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r", "--report", "r.html")
    assert said.code == 0, said.err
    assert "openai/good" in said.out and " 25 % " in said.out
    assert "run: r" in said.err and "report: r.html" in said.err
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_is_strict_and_alone_on_stdout(call, endpoint: str, bare_set: Path) -> None:
    said = call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r", "--json")
    found = json.loads(said.out, parse_constant=lambda name: pytest.fail(name))
    assert found["status"] == "finished"
    assert found["candidates"][0]["n"] == 4
    again = json.loads(call("show", "r", "--json").out)
    assert again["candidates"] == found["candidates"]


def test_show_one_trial_and_list_the_runs(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "runs/one")
    shown = call("show", "runs/one", "--item", "i2")
    assert '{"n": 1}' in shown.out and "score 0.0" in shown.out and "ttft_ms" in shown.out
    assert call("show", "runs/one", "--item", "nothing").code == 2
    listed = call("runs")
    assert "one" in listed.out and "finished" in listed.out and "4/4" in listed.out


def test_a_run_is_graded_again_without_asking(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r", "--no-grade")
    assert "Nothing" not in call("grade", "r").out
    assert json.loads(call("show", "r", "--json").out)["candidates"][0]["quality"] == 0.25


def test_failed_trials_make_the_run_partial(call, endpoint: str, bare_set: Path) -> None:
    words = ("--evalset", bare_set, "--out", "r", "--attempts", "1", "--no-check")
    said = call("run", *_ask(endpoint, "good", "cut"), *words)
    assert said.code == 4
    assert "4 trials ended without a complete answer" in said.err


def test_a_dry_run_asks_nothing(call, bare_set: Path) -> None:
    said = call("run", "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--evalset", bare_set, "--dry-run")
    assert said.code == 0
    assert "4" in said.out and "unknown" in said.out
    assert not Path("runs").exists()


def test_a_limit_stops_and_resume_goes_on(call, endpoint: str, bare_set: Path) -> None:
    first = call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r", "--max-requests", "2")
    assert first.code == 4 and "speedqual run --resume r" in first.err
    second = call("run", "--resume", "r", "--quiet")
    assert second.code == 0, second.err
    assert "4/4" in second.out


def test_settings_come_from_flag_then_environment_then_file(
    call, endpoint: str, bare_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = f'[candidates.mine]\nendpoint = "openai"\nmodel = "good"\nbase_url = "{endpoint}"\n'
    Path("speedqual.toml").write_text("[run]\nseed = 5\nrepeats = 2\n" + mine)
    monkeypatch.setenv("SPEEDQUAL_RUN_REPEATS", "3")
    said = call("run", "--evalset", bare_set, "--out", "r", "--quiet")
    assert said.code == 0, said.err
    manifest = json.loads(Path("r/manifest.json").read_text())
    assert (manifest["seed"], manifest["settings"]["repeats"], manifest["n_trials"]) == (5, 3, 12)
    call("run", "--evalset", bare_set, "--out", "r2", "--quiet", "--repeats", "1")
    assert json.loads(Path("r2/manifest.json").read_text())["n_trials"] == 4


def test_a_hostile_answer_cannot_drive_the_terminal(call, tmp_path: Path) -> None:
    from speedqual.endpoints.scripted import Script, serve_in_process

    evil = "\x1b]0;owned\x07\x1b[2J\u202eevil"
    rows = tmp_path / "evil.jsonl"
    rows.write_text('{"id": "a", "text": "x", "target": {"n": 1}}\n')
    with serve_in_process({"evil": Script(ttft_ms=1, tok_s=0, text=evil)}) as server:
        call("run", *_ask(server.base_url, "evil"), "--evalset", rows, "--out", "r")
    out = call("show", "r", "--item", "a").out
    assert "⟨U+001B⟩" in out and not {"\x1b", "\x07", "\u202e"} & set(out)


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_finished(endpoint: str, bare_set: Path, tmp_path: Path) -> None:
    words = ["run", "--model", "openai/slow", "--base-url", endpoint, "--evalset", str(bare_set), "--out", "r"]
    command = [sys.executable, "-m", "speedqual", *words]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    records = tmp_path / "r" / "records.jsonl"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (records.exists() and records.read_bytes().count(b"\n") >= 1):
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "speedqual run --resume r" in err and "Traceback" not in err
    kept = records.read_bytes().count(b"\n")
    assert 1 <= kept < 4
    again = [sys.executable, "-m", "speedqual", "run", "--resume", "r", "--quiet"]
    done = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    keys = [json.dumps(json.loads(line)["trial"], sort_keys=True) for line in records.read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 4


def test_a_resumed_run_takes_no_other_eval_set(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r")
    said = call("run", "--resume", "r", "--evalset", bare_set)
    assert said.code == 2 and "--evalset" in said.err


def test_a_report_that_cannot_be_written_stops_the_run_before_it_costs(call, endpoint: str, bare_set: Path) -> None:
    Path("file").touch()
    said = call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r", "--report", "file/r.html")
    assert said.code == 2 and "file/r.html" in said.err
    assert not Path("r").exists()


def test_resuming_a_finished_run_blames_no_client(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r")
    before = json.loads(Path("r/manifest.json").read_text(encoding="utf-8"))["client"]
    assert call("run", "--resume", "r", "--quiet").code == 0
    after = json.loads(Path("r/manifest.json").read_text(encoding="utf-8"))
    assert after["client"] == before and after["sessions"][1]["client"] == {}


def test_a_reader_that_goes_away_is_no_failed_gate(call, endpoint: str, bare_set: Path) -> None:
    call("run", *_ask(endpoint, "good"), "--evalset", bare_set, "--out", "r")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "speedqual", "show", "r"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_misspelt_command_names_the_nearest(call) -> None:
    said = call("rnu")
    assert said.code == 2 and "Did you mean 'run'" in said.err


def test_a_server_that_answers_as_another_model_is_noticed(call, tmp_path: Path) -> None:
    from speedqual.endpoints.scripted import Script, serve_in_process

    rows = tmp_path / "one.jsonl"
    rows.write_text('{"id": "a", "text": "x", "target": {"n": 1}}\n')
    with serve_in_process({"real": Script(ttft_ms=1, tok_s=0, text="{}")}) as server:
        said = call("run", *_ask(server.base_url, "real"), "--evalset", rows, "--out", "r")
        assert "replies say" not in said.err
    manifest = json.loads(Path("r/manifest.json").read_text())
    manifest["served"] = {"openai/real": {"real-2026-01": 1, "something-else": 1}}
    Path("r/manifest.json").write_text(json.dumps(manifest))
    said = call("show", "r")
    assert "asked for real, 1 replies say they are by something-else" in said.err and "real-2026-01" not in said.err


def test_a_cost_comes_with_the_day_of_its_prices(call, endpoint: str, bare_set: Path) -> None:
    price = 'price = {input = 1000, output = 2000, as_of = "2026-11-01"}\n'
    mine = f'[candidates.mine]\nendpoint = "openai"\nmodel = "good"\nbase_url = "{endpoint}"\n{price}'
    Path("speedqual.toml").write_text(mine)
    said = call("run", "--evalset", bare_set, "--out", "r", "--quiet", "--report", "r.html")
    assert said.code == 0, said.err
    assert "Prices as of 2026-11-01: mine." in said.err
    assert "prices of 2026-11-01" in Path("r.html").read_text(encoding="utf-8")
