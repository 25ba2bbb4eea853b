"""What the commands are called on: a scripted endpoint and a small set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process


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
        "broken": Script(error="http", status=500, message="scripted error"),
    }
    with serve_in_process(scripts) as server:
        yield server.base_url


@pytest.fixture
def bare_set(tmp_path: Path) -> Path:
    """Four extraction items in a bare file."""
    path = tmp_path / "four.jsonl"
    path.write_text("".join(f'{{"id": "i{i}", "text": "n is {i}", "target": {{"n": {i}}}}}\n' for i in range(1, 5)))
    return path
