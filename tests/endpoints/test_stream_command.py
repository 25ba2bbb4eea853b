"""``speedqual stream``: recordings played, live replies looked at and recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from speedqual.endpoints.recordings.files import read_recording
from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.timing import DEFINITIONS

FOLDER = Path(__file__).parents[1] / "recordings"
KEY = "sk-very-secret-0123456789"
TEXT = "The sky is blue."


def _speedqual(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from speedqual.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "stream", *arguments]
    full = {**os.environ, **environ}
    return subprocess.run(command, env=full, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def live() -> Iterator[str]:
    with serve_in_process(Script(text=TEXT, ttft_ms=30, tok_s=100), api_key=KEY) as server:
        yield server.base_url


def _json(*arguments: str, **environ: str) -> dict[str, Any]:
    done = _speedqual(*arguments, "--json", **environ)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_json_has_the_keys_of_expect_and_every_metric() -> None:
    document = _json(str(FOLDER / "W020.json"))
    expect = read_recording(FOLDER / "W020.json").expect
    assert set(expect) <= set(document)
    assert set(document["metrics"]) == {definition.name for definition in DEFINITIONS}
    assert document["metrics"]["n_out"] == 12
    assert document["missing"]["n_reasoning"] == "the server did not say"


@pytest.mark.parametrize("name", ["W001", "W017", "W026", "W033", "W055", "W062"])
def test_a_recording_is_as_it_expects(name: str) -> None:
    done = _speedqual(str(FOLDER / f"{name}.json"), "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_recording_that_is_not_as_it_expects_fails_the_check(tmp_path: Path) -> None:
    changed = json.loads((FOLDER / "W001.json").read_text())
    changed["expect"]["text"] = "The sky is green."
    file = tmp_path / "changed, 中 #1.json"
    file.write_text(json.dumps(changed))
    done = _speedqual(str(file), "--check")
    assert done.returncode == 1
    assert "changed, 中 #1.json: text: expected 'The sky is green.', got 'The sky is blue.'" in done.stderr


def test_the_page_shows_text_events_metrics_and_outcome() -> None:
    page = _speedqual(str(FOLDER / "W049.json")).stdout
    for words in ("text: Let me look.", 'tool call: find({"q": "x"})', "outcome            ok", "tpot_ms", "gap ms"):
        assert words in page


def test_hostile_text_is_made_visible(tmp_path: Path) -> None:
    hostile = json.loads((FOLDER / "W001.json").read_text().replace(" is blue.", "\\\\u001b[31m"))
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(hostile))
    page = _speedqual(str(file)).stdout
    assert "\x1b" not in page
    assert "⟨U+001B⟩" in page


def test_think_tags_are_split_on_demand() -> None:
    document = _json(str(FOLDER / "W026.json"), "--split-think")
    assert (document["text"], document["reasoning"], document["first_answer_ms"] > 125) == ("4", "2+2", True)


def test_a_live_reply_is_asked_for_and_recorded_without_the_key(live: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    arguments = ("openai/scripted", "--base-url", live, "--record", str(file), "--prompt", f"say {KEY}")
    document = _json(*arguments, OPENAI_API_KEY=KEY)
    assert (document["outcome"], document["text"]) == ("ok", TEXT)
    assert KEY not in file.read_text()
    again = _json(str(file))
    assert again["text"] == TEXT
    assert again["completion_tokens"] == document["completion_tokens"]
    assert _speedqual(str(file), "--check").returncode == 0


SETTINGS = """
[candidates.mine]
endpoint = "openai"
model = "scripted"
base_url = "{url}"
price = {{input = 1000000, output = 2000000, as_of = "2026-11-01"}}
"""


def test_a_candidate_of_the_settings_with_its_price(live: str, tmp_path: Path) -> None:
    file = tmp_path / "speedqual.toml"
    file.write_text(SETTINGS.format(url=live))
    document = _json("mine", "--config", str(file), OPENAI_API_KEY=KEY)
    assert document["metrics"]["cost_usd"] == document["prompt_tokens"] + 2 * document["completion_tokens"]
    assert document["price"]["as_of"] == "2026-11-01"


def test_a_recording_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    done = _speedqual(str(FOLDER / "W001.json"), "--record", str(tmp_path / "none" / "x.json"))
    assert done.returncode == 4
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("no-such-file.json",), 2, "is no file, no candidate of the settings, and not ENDPOINT/MODEL"),
        (("opnai/x",), 2, "Did you mean 'openai'"),
        (("openai/x", "--base-url", "http://127.0.0.1:9/v1"), 3, "the reply ended as unreachable"),
    ],
)
def test_bad_input_has_one_clear_message_and_its_code(arguments: tuple[str, ...], code: int, words: str) -> None:
    done = _speedqual(*arguments)
    assert done.returncode == code
    assert words in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "KeyError"),
        ("nonsense", "JSONDecodeError"),
        ('{"api":"openai-chat","chunks":[[1,2]]}', "a payload is text"),
    ],
)
def test_a_file_that_is_no_recording(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    done = _speedqual(str(file))
    assert done.returncode == 2
    assert "is no recording" in done.stderr
    assert words in done.stderr


def test_a_wrong_key_is_an_endpoint_error_that_does_not_repeat_it(live: str) -> None:
    done = _speedqual("openai/scripted", "--base-url", live, OPENAI_API_KEY="sk-wrong-but-secret")
    assert done.returncode == 3
    assert "sk-wrong" not in done.stdout + done.stderr
