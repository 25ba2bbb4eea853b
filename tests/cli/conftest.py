"""The command line called in this process, and a scripted endpoint to call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from speedqual.cli import main
from speedqual.endpoints.scripted import Script, serve_in_process


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str


Call = Callable[..., Said]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """``call("run", "--model", …)`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call_(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(int(stop.value.code or 0), captured.out, captured.err)

    return call_


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """Base URL of a scripted endpoint whose models are named after what they do."""
    scripts = {
        "good": Script(ttft_ms=1, tok_s=0, text='{"n": 1}'),
        "page": Script(error="html"),
        "gone": Script(error="http", status=404, message="The model gone does not exist"),
        "shut": Script(error="http", status=401, message="Incorrect API key provided: sk-sec***"),
        "slow": Script(ttft_ms=300, tok_s=100, n=40),
        "cut": Script(ttft_ms=1, error="cut", error_after=1),
    }
    with serve_in_process(scripts) as server:
        yield server.base_url


@pytest.fixture
def bare_set(tmp_path: Path) -> Path:
    """Four extraction items in a bare file."""
    path = tmp_path / "four.jsonl"
    path.write_text("".join(f'{{"id": "i{i}", "text": "n is {i}", "target": {{"n": {i}}}}}\n' for i in range(1, 5)))
    return path
