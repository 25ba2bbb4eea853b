"""The card format in the documentation is the one that is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from speedqual.evalsets import check
from speedqual.evalsets.settings import KEYS

DOCS = Path(__file__).parents[2] / "docs" / "evalsets.md"


def test_every_key_is_documented_and_no_other() -> None:
    table = DOCS.read_text(encoding="utf-8").split("| key |")[1].split("\n\n")[0]
    named = {key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert named == set(KEYS)


def test_the_card_that_is_shown_works(tmp_path: Path) -> None:
    (card,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "README.md").write_text(card + "\n# Invoices\n", encoding="utf-8")
    row = '{"id": "a", "text": "5 EUR", "target": {"total": 5, "currency": "EUR"}}\n'
    (tmp_path / "test.jsonl").write_text(row, encoding="utf-8")
    assert check(tmp_path) == []


@pytest.mark.parametrize("word", ["new", "check", "show", "try", "list"])
def test_the_commands_that_are_shown_exist(word: str) -> None:
    from speedqual.cli.evalset import command

    assert f"speedqual evalset {word}" in DOCS.read_text(encoding="utf-8") and word in command.commands
