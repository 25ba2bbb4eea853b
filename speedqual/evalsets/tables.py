"""A new eval set from a CSV file: read the table, guess its columns, write card and rows."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from speedqual.errors import EvalSetError
from speedqual.evalsets.columns import IDS, Guess, guess_columns, value_of
from speedqual.evalsets.scaffolding import fresh_folder
from speedqual.evalsets.tokens import text_tokens
from speedqual.evalsets.yamltext import dump

__all__ = ["guessed", "is_chinese", "read_table", "rows_of", "scaffold_from_csv", "settings_for"]

_MAX_BYTES = 64 * 1024 * 1024
_ENCODINGS = ("utf-8-sig", "gb18030")


def scaffold_from_csv(name: str, table: str | Path, folder: str | Path = ".") -> Path:
    """Make ``folder/name`` from a CSV file with a header line; the new folder's path.

    Separators , ; tab and | and the encodings UTF-8, UTF-16 and GB18030 are recognised. The card says what each column
    was taken for, so that a wrong guess is mended there.
    """
    numbered = _numbered(Path(table))
    rows = [row for _, row in numbered]
    guess = guessed(rows, Path(table).name)
    if not guess.id:
        _check_ids(numbered, Path(table).name)
    with fresh_folder(name, folder) as path:
        lines = [json.dumps(row, ensure_ascii=False) for row in rows_of(rows, guess)]
        (path / "test.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (path / "README.md").write_text(_card(name, rows, guess, Path(table).name), encoding="utf-8")
    return path


def guessed(rows: list[dict[str, str]], where: str) -> Guess:
    """What the columns are. Raises EvalSetError when none could be the right answer."""
    guess = guess_columns(rows)
    if not guess.fields and not guess.answer:
        what = "the table has no column that could be the right answer"
        raise EvalSetError(what, where=where, fix="Add a column answer, or one column a field to be found")
    return guess


def rows_of(rows: list[dict[str, str]], guess: Guess) -> list[dict[str, Any]]:
    """The lines of test.jsonl."""
    return [_row(number, row, guess) for number, row in enumerate(rows, 1)]


def read_table(table: Path) -> list[dict[str, str]]:
    """The rows of the table as text; short rows are filled up, empty ones left out."""
    return [row for _, row in _numbered(table)]


def _numbered(table: Path) -> list[tuple[int, dict[str, str]]]:
    """Each row with the line on which it begins."""
    text = _decode(table)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text), strict=True)
    lines: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for line in reader:
            if any(line):
                lines.append((begins, line))
            begins = reader.line_num + 1
    except csv.Error as fault:
        raise EvalSetError(f"the table cannot be read: {fault}", where=table.name, fix="Save it as CSV again") from None
    if len(lines) < 2:
        raise EvalSetError("the table has no rows", where=table.name, fix="Write a header line and one row an item")
    header = [head.strip() for head in lines[0][1]]
    _check_header(header, table.name)
    for number, (_, line) in enumerate(lines[1:], 2):
        if len(line) > len(header):
            what = f"row {number} has {len(line)} cells, the header {len(header)}"
            raise EvalSetError(what, where=table.name, fix="Quote cells that contain the separator")
    return [(at, dict(zip(header, line + [""] * (len(header) - len(line)), strict=True))) for at, line in lines[1:]]


def _check_ids(rows: list[tuple[int, dict[str, str]]], table: str) -> None:
    """A column that can only be meant as the id must name every row, each by a name of its own."""
    column = next((column for column in rows[0][1] if column.casefold() in IDS), None)
    seen: dict[str, int] = {}
    for line, row in rows if column else ():
        name = row[column or ""].strip()
        fix = f"Give each row an id of its own, or rename the column {column} if it is part of the answer"
        if not name:
            raise EvalSetError("the id is empty", where=f"{table} line {line}", fix=fix)
        if name in seen:
            what = f"the id {name!r} already stands on line {seen[name]}"
            raise EvalSetError(what, where=f"{table} line {line}", fix=fix)
        seen[name] = line


def _decode(table: Path) -> str:
    try:
        if table.stat().st_size > _MAX_BYTES:
            what = f"the table has more than {_MAX_BYTES // 2**20} MiB"
            raise EvalSetError(what, where=table.name, fix="Take a sample of its rows")
        raw = table.read_bytes()
    except OSError as fault:
        raise EvalSetError(f"the table cannot be read ({fault.strerror})", where=table.name) from None
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise EvalSetError("the file is a workbook, not CSV", where=table.name, fix="Save its sheet as CSV")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    for encoding in _ENCODINGS:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise EvalSetError("the table is neither UTF-8 nor GB18030", where=table.name, fix="Save it as CSV in UTF-8")


def _dialect(text: str) -> type[csv.excel]:
    """Comma, semicolon, tab or bar: whichever the header line has most of."""
    header = text.lstrip().split("\n", 1)[0]

    class Dialect(csv.excel):
        delimiter = max(",;\t|", key=header.count)

    return Dialect


def _check_header(header: list[str], where: str) -> None:
    if "" in header or len(set(header)) != len(header):
        what = "a column has no name" if "" in header else "two columns have the same name"
        raise EvalSetError(what, where=f"{where}:1", fix="Give each column a name of its own in the first line")


def _row(number: int, row: dict[str, str], guess: Guess) -> dict[str, Any]:
    """One line of test.jsonl: ids that a reader would take for dates or numbers get a prefix."""
    written = row[guess.id].strip() if guess.id else str(number)
    one: dict[str, Any] = {"id": written if written[:1].isalpha() else f"row-{written}"}
    if guess.tier:
        one["tier"] = row[guess.tier].strip()
    for column, source in (("text", guess.text), ("question", guess.question)):
        if source:
            one[column] = row[source]
    if guess.answer:
        return one | {"target": {"answer": value_of(row[guess.answer], guess.answer_type)}}
    return one | {"target": {field.column: value_of(row[field.column], field.type) for field in guess.fields}}


def _card(name: str, rows: list[dict[str, str]], guess: Guess, table: str) -> str:
    columns = [
        *(["tier"] if guess.tier else []),
        *(["text"] if guess.text else []),
        *(["question"] if guess.question else []),
    ]
    features = [{"name": column, "dtype": "string"} for column in ("id", *columns)]
    header = {
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "test.jsonl"}]}],
        "dataset_info": {"features": [*features, {"name": "target", "dtype": "json"}]},
        "speedqual": settings_for(rows, guess) | {"max_tokens": _max_tokens(rows, guess)},
    }
    text = dump(header).replace("  max_tokens:", _WHY_MAX + "  max_tokens:")
    roles = [(guess.id, "id"), (guess.text, "text"), (guess.question, "question"), (guess.tier, "tier")]
    roles += [(guess.answer, "answer"), *((field.column, f"target, {field.type}") for field in guess.fields)]
    listed = "\n".join(f"| {_cell(column)} | {role} |" for column, role in roles if column)
    return (
        f"---\nlicense: other\n{text}---\n\n# {name}\n\n{_INTRO.format(table=_cell(table), rows=len(rows))}{listed}\n"
    )


def _max_tokens(rows: list[dict[str, str]], guess: Guess) -> int:
    """Room for 4 times the longest target, and for 64 tokens at least: enough for words around the answer."""
    longest = max(text_tokens(json.dumps(row["target"], ensure_ascii=False)) for row in rows_of(rows, guess))
    return max(_LEAST_TOKENS, _TARGETS_LONG * longest)


_LEAST_TOKENS, _TARGETS_LONG = 64, 4
_WHY_MAX = """\
  # A reply is cut off here: about 4 times the longest target, 64 at least. Raise it for models that think aloud;
  # without it, a small model that rambles takes minutes an item.
"""


_INTRO = """\
{rows} items from {table}. The columns were taken so; mend the card above where that is wrong.

| column | taken for |
|---|---|
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def settings_for(rows: list[dict[str, str]], guess: Guess) -> dict[str, Any]:
    """The keys under ``speedqual:`` for the guess."""
    settings: dict[str, Any] = {"task": "exact" if guess.answer else "extraction", "prompt": _prompt(rows, guess)}
    if guess.answer:
        settings["grader"] = {"name": "exact", "type": guess.answer_type}
    else:
        settings["grader"] = {"name": "extraction", "fields": {field.column: field.type for field in guess.fields}}
        if guess.date_order:
            settings["grader"]["date_order"] = guess.date_order
    if guess.tier:
        settings["tiers"] = {"by": "tier", "order": list(dict.fromkeys(row[guess.tier].strip() for row in rows))}
    return settings | {"floor": 0.9, "version": "0.1"}


def _prompt(rows: list[dict[str, str]], guess: Guess) -> str:
    """Instruction and text, in the language of the table."""
    chinese = is_chinese("".join(row[guess.text or guess.question] for row in rows[:50]))
    parts = [f"{{{column}}}" for column, source in (("text", guess.text), ("question", guess.question)) if source]
    if guess.answer:
        ask = "只回答答案本身。" if chinese else "Reply with the answer alone."
        return "\n\n".join([*parts, ask])
    keys = ", ".join(f'"{field.column}"' for field in guess.fields)
    if chinese:
        ask = f"只返回 JSON，键为 {keys}。文中没有的填 null。"
    else:
        ask = f"Return only JSON with the keys {keys}. Use null for what the text does not say."
    return "\n\n".join([ask, *parts])


def is_chinese(text: str) -> bool:
    """Whether at least a third of the letters are Chinese."""
    letters = [character for character in text if character.isalpha()]
    return sum("\u4e00" <= character <= "\u9fff" for character in letters) * 3 > len(letters)
