"""Small eval set folders, written by the test that uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """\
license: cc-by-4.0
configs:
- {config_name: default, data_files: [{split: test, path: test.jsonl}]}
dataset_info: {features: [{name: id, dtype: string}, {name: text, dtype: string}, {name: target, dtype: json}]}
"""
ROWS = [
    {"id": "a", "text": "one euro", "target": {"total": 1, "currency": "EUR"}},
    {"id": "b", "text": "two pounds", "target": {"total": 2, "currency": "GBP"}},
]
SETTINGS = 'speedqual: {task: extraction, prompt: "Read:\\n{text}", floor: 0.9}\n'

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """``make(settings, rows, head=…, files=…)`` writes a folder named ``set`` and gives its path.

    ``rows`` is a list of objects, or the bytes of test.jsonl; ``settings=None`` leaves the card out.
    """

    def write(
        settings: str | None = SETTINGS,
        rows: list[Any] | bytes = ROWS,
        *,
        head: str = HEAD,
        files: dict[str, str] | None = None,
    ) -> Path:
        folder = tmp_path / "set"
        folder.mkdir(exist_ok=True)
        if settings is not None:
            (folder / "README.md").write_text(f"---\n{head}{settings}---\n\n# A set\n", encoding="utf-8")
        raw = rows if isinstance(rows, bytes) else "".join(json.dumps(row) + "\n" for row in rows).encode()
        (folder / "test.jsonl").write_bytes(raw)
        for name, text in (files or {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write
