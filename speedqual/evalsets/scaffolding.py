"""A new eval set to start from: small, commented, and good as it stands."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from speedqual.errors import EvalSetError, StorageError

__all__ = ["fresh_folder", "scaffold"]

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")

_CARD = """\
---
license: cc-by-4.0
configs:
- {config_name: default, data_files: [{split: test, path: test.jsonl}, {split: fewshot, path: fewshot.jsonl}]}
dataset_info:
  features:
  - {name: id, dtype: string}
  - {name: tier, dtype: string}
  - {name: text, dtype: string}
  - {name: target, dtype: json}   # a target is an object or a list
speedqual:
  task: extraction
  # Only {column} is replaced; all other braces stay as they are.
  prompt: |
    Return only JSON with the keys "total" (number), "currency" (ISO code) and "due" (YYYY-MM-DD).
    Use null for what the text does not say.

    {text}
  # Types: string, name, number, integer, money, currency, percent, ratio, quantity, date, datetime, boolean, phone,
  # id, enum; a list in brackets.
  grader: {name: extraction, fields: {total: number, currency: currency, due: date}}
  floor: 0.9          # below this share of success a model is not good enough, however fast
  success_at: 1.0     # an answer is a success from this score on
  tiers: {by: tier, order: [easy, hard]}
  fewshot: {n: 0}     # how many rows of fewshot.jsonl stand in a prompt; a candidate's `shots` wins
  max_tokens: 200
  version: "0.1"
---

# NAME

What the items are, where they come from, what the set measures and what it does not.

- `speedqual evalset check NAME` says what is wrong, with file and line.
- `speedqual evalset show NAME --item a1` shows a prompt as a model gets it.
- `speedqual evalset try NAME --id a1 --answer answer.txt --json` grades an answer that you typed.
- `speedqual run --evalset NAME --model …` runs it.
"""

_TEST = """\
{"id": "a1", "tier": "easy", "text": "Invoice 17: please pay 120.50 EUR by 3 May 2026.", \
"target": {"total": 120.5, "currency": "EUR", "due": "2026-05-03"}}
{"id": "a2", "tier": "easy", "text": "Paid in cash today: 8 dollars.", \
"target": {"total": 8, "currency": "USD", "due": null}}
{"id": "a3", "tier": "hard", "text": "发票金额人民币壹仟贰佰元整，请于2026年6月1日前付清。", \
"target": {"total": 1200, "currency": "CNY", "due": "2026-06-01"}}
"""

_FEWSHOT = """\
{"id": "example1", "tier": "easy", "text": "Amount due: 40 GBP, no later than 12 March 2026.", \
"target": {"total": 40, "currency": "GBP", "due": "2026-03-12"}}
"""


def scaffold(name: str, folder: str | Path = ".") -> Path:
    """Make ``folder/name`` with a card, three items and an example that pass ``check``; the new folder's path."""
    with fresh_folder(name, folder) as path:
        (path / "README.md").write_text(_CARD.replace("NAME", name), encoding="utf-8")
        (path / "test.jsonl").write_text(_TEST, encoding="utf-8")
        (path / "fewshot.jsonl").write_text(_FEWSHOT, encoding="utf-8")
    return path


@contextmanager
def fresh_folder(name: str, folder: str | Path) -> Iterator[Path]:
    """The new empty folder ``folder/name``; it is taken away again when filling it fails."""
    if not _NAME.fullmatch(name):
        fix = "Use letters, digits, - and _, and put the folder into --folder"
        raise EvalSetError(f"{name!r} is no name for an eval set", fix=fix)
    path = Path(folder) / name
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        raise EvalSetError(f"{name} is already there", fix="Take another name, or remove it first") from None
    except OSError as fault:
        raise StorageError(f"the folder {name} cannot be made ({fault.strerror})", fix="Check --folder") from None
    try:
        yield path
    except OSError as fault:
        shutil.rmtree(path, ignore_errors=True)
        raise StorageError(f"{name} cannot be written ({fault.strerror})", fix="Make room, then try again") from None
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
