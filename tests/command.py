"""The command line called in this process: what tests of any room ask it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from speedqual.cli import main


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
