"""Guess from headers and cells of a table what each column is: id, text, answer or a typed field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["IDS", "Field", "Guess", "guess_columns"]

IDS = {"id", "uid", "uuid", "编号", "序号", "样本编号", "主键"}
"""Headers that can only mean the id of a row; those below are ids where each cell is another."""
_ID = IDS | {"no", "nr", "key", "#", "号码"}
_TEXT = ["text", "content", "input", "document", "body", "message", "email", "ocr", "passage", "context", "source"]
_TEXT += ["原文", "文本", "正文", "内容", "输入", "全文", "材料", "邮件", "描述"]
_QUESTION = ["question", "prompt", "query", "instruction", "问题", "提问", "题目", "指令"]
_ANSWER = ["answer", "expected", "reference", "label", "output", "ideal", "答案", "参考答案", "标签", "回答"]
_TIER = {"tier", "difficulty", "level", "难度", "等级"}

_HEADERS: tuple[tuple[str, str], ...] = (
    ("currency", r"currency|ccy|币种|货币"),
    (
        "money",
        r"total|amount|price|cost|fee|sum|paid|balance|vat|tax(?!.?id)|salary|金额|总额|合计|价|费用|税额|应付",
    ),
    ("date", r"date|due|deadline|birthday|dob|日期|期限|截止|时间|生日|到期"),
    ("phone", r"phone|mobile|tel\b|fax|电话|手机|传真"),
    ("percent", r"percent|rate|%|比例|税率|百分"),
    ("id", r"\bid\b|number|\bno\b|code|iban|vin|sku|ref|号|编码|代码"),
    ("name", r"name|vendor|customer|company|supplier|author|buyer|seller|姓名|名称|公司|客户|供应商|卖方|买方|作者"),
)
_CURRENCY = re.compile(r"[A-Z]{3}|[€$£¥￥]|元|人民币|美元|欧元")
_INTEGER = re.compile(r"[-+]?(0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"[-+]?(0|[1-9]\d{0,14})(\.\d+)?")
_MONEY = re.compile(r"(?=.*\d)(?:[A-Z]{3}|[€$£¥￥]|RM|Rs\.?)?\s*[-+]?[\d.,'  ]+\s*(?:[A-Z]{3}|[€$£¥￥]|元|万元)?")
_DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})"
    r"|\d{1,2}\.?[ -]?[A-Za-z]{3,9}\.?,?[ -]?\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2}, ?\d{4}"
)
_DATETIME = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}[T ]\d{1,2}:\d{2}(:\d{2})?.*")
_PERCENT = re.compile(r"[-+]?\d+([.,]\d+)?\s*[%％]")
_BOOLEAN = {"true", "false", "yes", "no", "是", "否"}
_ODD_SHARE = 0.05  # in a long column a few cells may be written otherwise
_LOCAL_DATE = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}")


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the target and its type in the card."""

    column: str
    type: str


@dataclass(frozen=True, slots=True)
class Guess:
    """What the columns are. ``answer`` is set instead of ``fields`` when the table is questions and answers."""

    text: str
    id: str = ""
    question: str = ""
    answer: str = ""
    answer_type: str = "string"  # or "number"
    tier: str = ""
    fields: tuple[Field, ...] = ()
    date_order: str = ""  # "dmy" or "mdy" where the dates show it


def guess_columns(rows: Sequence[dict[str, str]]) -> Guess:
    """The roles of the columns of ``rows``; the longest column is the text when no header says so."""
    columns = list(rows[0])
    cells = {column: [row[column].strip() for row in rows if row[column].strip()] for column in columns}
    id_column = _id_column(columns, rows)
    tier = next((column for column in columns if column.strip().casefold() in _TIER), "")
    rest = [column for column in columns if column not in {id_column, tier} and cells[column]]
    question = _named(rest, _QUESTION)
    answer = _named([column for column in rest if column != question], _ANSWER)
    text = _named([column for column in rest if column not in {question, answer}], _TEXT)
    if not text and not question:
        text = _longest([column for column in rest if column != answer] or rest, cells)
    others = [column for column in rest if column not in {text, question, answer}]
    if answer and not others:
        kind = "number" if all(map(_NUMBER.fullmatch, cells[answer])) else "string"
        return Guess(text, id_column, question, answer, kind, tier)
    fields = tuple(Field(column, _type(column, cells[column])) for column in others + ([answer] if answer else []))
    dates = [cell for field in fields if field.type == "date" for cell in cells[field.column]]
    return Guess(text, id_column, question, tier=tier, fields=fields, date_order=_date_order(dates))


def value_of(cell: str, kind: str) -> Any:
    """A cell as JSON: empty is null, plain numbers and booleans become such, all else stays text for its type."""
    text = cell.strip()
    if not text:
        return None
    if kind == "boolean":
        return text.casefold() in {"true", "yes", "是"}
    if kind in {"integer", "number", "money"} and _NUMBER.fullmatch(text):
        return int(text) if _INTEGER.fullmatch(text) else float(text)
    return text


def _id_column(columns: list[str], rows: Sequence[dict[str, str]]) -> str:
    for column in columns:
        values = [row[column].strip() for row in rows]
        if column.strip().casefold() in _ID and all(values) and len(set(values)) == len(values):
            return column
    return ""


def _named(columns: Iterable[str], names: list[str]) -> str:
    """The column whose header is, or else contains, one of the names; names first in the list win."""
    heads = {column: column.strip().casefold() for column in columns}
    for fits in (str.__eq__, str.__contains__):
        for name in names:
            for column, head in heads.items():
                if fits(head, name):
                    return column
    return ""


def _longest(columns: list[str], cells: dict[str, list[str]]) -> str:
    return max(columns, key=lambda column: sum(map(len, cells[column])) / len(cells[column]), default="")


def _type(column: str, cells: list[str]) -> str:
    """The type of a field: the cells decide what is possible, the header what is meant."""
    head = next((kind for kind, pattern in _HEADERS if re.search(pattern, column, re.IGNORECASE)), "")
    if all(cell.casefold() in _BOOLEAN for cell in cells):
        return "boolean"
    for kind, fits in _SHAPES:
        if sum(not fits(cell) for cell in cells) <= len(cells) * _ODD_SHARE:
            return _meant(kind, head)
    return "name" if head == "name" else "string"


def _meant(kind: str, head: str) -> str:
    """``kind`` fits every cell; the header may know better, as for an amount without a currency sign."""
    better = {"integer": {"money", "percent", "id", "phone"}, "number": {"money", "percent"}, "code": {"id", "phone"}}
    if head in better.get(kind, set()):
        return head
    if kind == "code":
        return "id" if head != "name" else "name"
    if kind == "money":
        return "money" if head in {"money", ""} else "number"
    return kind


_SHAPES: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("currency", _CURRENCY.fullmatch),
    ("integer", _INTEGER.fullmatch),
    ("number", _NUMBER.fullmatch),
    ("percent", _PERCENT.fullmatch),
    ("datetime", _DATETIME.fullmatch),
    ("date", _DATE.fullmatch),
    ("phone", re.compile(r"\+\d[\d ()-]{6,}|\(?0\d{2,4}\)?[ -]\d[\d -]{4,}|1[3-9]\d{9}").fullmatch),
    ("code", re.compile(r"(?=.*\d)[A-Z0-9][A-Z0-9/_-]{2,}", re.IGNORECASE).fullmatch),
    ("money", _MONEY.fullmatch),
)


def _date_order(dates: list[str]) -> str:
    """Whether day or month comes first in dates such as 13/02/2026; empty when none of them shows it."""
    found = [match for match in map(_LOCAL_DATE.fullmatch, dates) if match]
    if any(int(match[1]) > 12 for match in found):
        return "dmy"
    return "mdy" if any(int(match[2]) > 12 for match in found) else ""
