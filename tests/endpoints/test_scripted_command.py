"""``speedqual serve-script`` from the shell."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from speedqual.cli.serve_script import command
from speedqual.endpoints.scripted import Script, Stall
from speedqual.endpoints.scripted.tables import scripts_from_table
from speedqual.errors import ConfigError

BODY = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}).encode()


def test_it_serves_prints_its_ceiling_and_writes_the_truth(tmp_path: Path):
    config, log = tmp_path / "scripts.toml", tmp_path / "truth.jsonl"
    config.write_text("[scripts.m]\nttft_ms = 5\ntok_s = 0\nn = 3\nstalls = [{after = 1, ms = 2}]\n", "utf-8")
    arguments = ["serve-script", "--config", str(config), "--port", "0", "--log", str(log)]
    child = subprocess.Popen(
        [sys.executable, "-c", "from speedqual.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    base_url = child.stdout.readline().strip()
    with urlopen(Request(f"{base_url}/chat/completions", data=BODY), timeout=10) as reply:
        frames = reply.read().decode().split("\n\n")
    child.send_signal(signal.SIGINT)
    _, words = child.communicate(timeout=10)
    assert frames[-2] == "data: [DONE]"
    assert "ceiling: about" in words
    assert "1 requests" in words
    assert child.returncode == 0
    (entry,) = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert len(entry["sent"]) == entry["n_out"] == 3


def test_scripts_of_a_table():
    table = {"scripts": {"a": {"ttft_ms": 9.0, "stalls": [{"after": 1, "ms": 2.0}]}, "*": [{"error": "html"}, {}]}}
    scripts = scripts_from_table(table, "x.toml")
    assert scripts["a"] == Script(ttft_ms=9.0, stalls=(Stall(after=1, ms=2.0),))
    assert [s.error for s in scripts["*"]] == ["html", ""]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "scripts.MODEL"),
        ({"scripts": {"a": 3}}, "[scripts.a]"),
        ({"scripts": {"a": {"ttft": 3}}}, "'ttft'"),
        ({"scripts": {"a": {"tok_s": -3}}}, "tok_s is -3"),
        ({"scripts": {"a": {"tok_s": "fast"}}}, "tok_s"),
    ],
)
def test_a_wrong_table_is_named(table, words):
    with pytest.raises(ConfigError) as caught:
        scripts_from_table(table, "x.toml")
    assert words in str(caught.value)
    assert "x.toml" in str(caught.value)


def test_bad_input_is_refused():
    runner = CliRunner()
    assert "SCHEDULE or --config" in runner.invoke(command, ["n=3", "--config", "x.toml"]).output
    assert isinstance(runner.invoke(command, ["--config", "no-such.toml"]).exception, ConfigError)
    assert isinstance(runner.invoke(command, ["colour=red"]).exception, ConfigError)
