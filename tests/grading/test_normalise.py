"""One canonical form for each kind of value: what must match, and what must not, in many scripts and locales."""

from __future__ import annotations

import pytest

from speedqual.grading.normalise import Settings, compare, kind_of, native, read
from speedqual.grading.normalise.numbers import ExactFloat

CASES = [
    (
        "number",
        1234.5,
        [
            1234.5,
            "1234.5",
            "1,234.50",
            "1\u202f234,50",
            "１２３４．５",
            "1.2345e3",
            "$1,234.50",
            "1,234.5元",
            "+1234.5",
            "１，２３４．５０",
            "1'234.50",
            "一千二百三十四点五",
            "EUR 1,234.50",
            "1 234.50",
        ],
        [
            "1.234,50",
            1234.49,
            12345,
            "-1234.5",
            "1234.5%",
            "~1234.5",
            "1234.5 or 1235",
            True,
            "1_234.5",
            "nan",
            "infinity",
            "",
            "abc",
            "1234.5 machines",
            "(1,234.50)",
        ],
    ),
    ("number", 1234.5, ["1.234,50"], [], Settings(locale="de")),
    ("number", 1234567, ["12,34,567", "1,234,567", "一百二十三万四千五百六十七", "123.4567万"], ["12,34", "1.234.567"]),
    ("number", 1234, [1234, "1,234"], ["1.234"]),
    ("number", 12345678901234567891, [12345678901234567891, "12345678901234567891"], [12345678901234567890]),
    ("number", 1000001, [], [1000002]),
    ("number", 123456.7, [], [123456.8]),
    (
        "number",
        35000,
        ["三万五千", "三万五", "3万5千", "3.5万", "35k", "thirty-five thousand", "叁万伍仟"],
        ["三万", "三万零五"],
    ),
    ("number", 120000000, ["1.2亿", "一亿二千万", "1亿2000万", "120 million"], ["12亿"]),
    ("number", -3, ["-3", "\u22123", "负三", "minus three", "－3", "(3)"], ["3", "2-3"]),
    ("number", 2024, ["二〇二四", "二零二四", "两千零二十四", "2024"], []),
    (
        "date",
        "2024-03-04",
        [
            "2024-03-04",
            "2024/3/4",
            "4 March 2024",
            "March 4th, 2024",
            "2024年3月4日",
            "二〇二四年三月四日",
            "2024-03-04T00:00:00",
            "2024.03.04",
            "Mar. 4, 2024",
            "4-Mar-2024",
            "Monday, 4 March 2024",
            "4th of March 2024",
            "20240304",
            "２０２４年３月４日",
            "2024年3月4号",
            "二零二四年三月四日",
            "4. März 2024",
            "2024-03-04 10:30 PM",
            "2024 年 3 月 4 日",
        ],
        [
            "03/04/2024",
            "04/03/2024",
            "2024-03-05T00:30+09:00",
            "2024-02-30",
            "2024-03",
            "2024",
            "4 March",
            "3/4/24",
            "二〇二四年三月十四日",
        ],
    ),
    ("date", "2024-03-04", ["03/04/2024", "3/4/24"], ["04/03/2024"], Settings(date_order="mdy")),
    ("date", "2018-12-25", ["25/12/2018", "25/12/2018 8:13:39 PM"], []),
    (
        "datetime",
        "2024-03-04T10:30:00Z",
        ["2024-03-04T18:30:00+08:00", "2024-03-04 10:30", "2024年3月4日10时30分", "March 4, 2024 10:30 AM"],
        ["2024-03-04T10:30:00+08:00", "2024-03-04"],
    ),
    (
        "money",
        "$1,234.50",
        ["1234.5 USD", "US$1,234.50", 1234.5, "USD 1234.50", "1,234.50 dollars"],
        ["€1,234.50", "1234.5元", "£1,234.50"],
    ),
    (
        "money",
        "1200元",
        [
            "1,200 CNY",
            "¥1200",
            "人民币1200元",
            "RMB 1,200",
            "1.2k元",
            "一千二百元",
            "壹仟贰佰元整",
            "1200元人民币",
            "￥1,200.00",
        ],
        ["1200美元", "$1200", "-1200元"],
    ),
    ("money", "RM 9.00", ["9.00", 9, "RM9", "9 MYR"], ["90"]),
    ("currency", "USD", ["$", "US dollars", "usd", "美元"], ["EUR", "€", "元"]),
    (
        "percent",
        "8 %",
        ["8%", "８％", "百分之八", "8 percent", 8, "8.0 pct", "8 per cent"],
        ["8 percentage points", "80%", 0.08, "8个百分点", "8pp", "800 bps", "-8%"],
    ),
    ("ratio", "3:2", ["3/2", "6:4", "3 to 2", "3比2", 1.5, "3：2"], ["2:3"]),
    ("ratio", 0.6, ["60%", "3:5", "五分之三", "3/5"], []),
    ("quantity", "1.5 kg", ["1500 g", "1.5kg", "1.5 kilograms", "3斤", "1.5公斤"], ["1.5 lb", "1.5", "15 kg"]),
    ("quantity", "5 km", ["5000 m", "5 kilometres", "5公里", "5km"], ["5 miles"]),
    ("quantity", "1,200 machines", ["1200 machine", "1,200 machines"], ["1200 cars"]),
    ("boolean", True, [True, "yes", "true", "是", "Yes", 1], [False, "no", "否", "maybe"]),
    (
        "phone",
        "+1 (555) 123-4567",
        ["+15551234567", "555-123-4567", "001 555 123 4567", "(555) 123 4567"],
        ["555-123-4568", "+44 555 123 4567"],
    ),
    ("name", "Ana Ruiz", ["ana ruiz", "ＡＮＡ　ＲＵＩＺ", " Ana  Ruiz ", "Ana Ruiz."], ["Luis Ruiz", "Ana"]),
    ("name", "张三", ["张 三", "张三。"], ["李四"]),
    ("id", "007", ["007", "００７"], [7, "7", "0007"]),
    ("integer", 3, ["3", 3, 3.0, "三"], [3.1, "3.5"]),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_values_of_a_kind(case: tuple) -> None:
    kind, want, same, other, *rest = case
    settings = rest[0] if rest else Settings()
    for text in same:
        assert compare(kind, text, want, settings).equal, f"{text!r} is {want!r}"
    for text in other:
        assert not compare(kind, text, want, settings).equal, f"{text!r} is not {want!r}"


@pytest.mark.parametrize(
    ("kind", "text", "fault"),
    [
        ("number", "1.234", "ambiguous"),
        ("number", "1.234,50", "ambiguous"),
        ("number", "1.234.567", "ambiguous"),
        ("number", "12,34", "bad_format"),
        ("number", "1_000", "bad_format"),
        ("number", "nan", "bad_format"),
        ("number", "1e99999", "bad_format"),
        ("number", "9" * 500, "bad_format"),
        ("date", "03/04/2024", "ambiguous"),
        ("date", "3/4/24", "ambiguous"),
        ("date", "2024-02-30", "bad_format"),
        ("date", "tomorrow", "bad_format"),
        ("boolean", "maybe", "bad_format"),
        ("phone", "call me", "bad_format"),
        ("currency", "bananas", "bad_format"),
        ("ratio", "3:0", "bad_format"),
        ("datetime", "2024-03-04T25:00", "bad_format"),
    ],
)
def test_what_cannot_be_read_says_why(kind: str, text: str, fault: str) -> None:
    assert read(kind, text).fault == fault


def test_a_json_fraction_keeps_its_digits() -> None:
    assert not compare("number", ExactFloat("0.12345678901234567891"), "0.12345678901234567890").equal
    assert compare("number", ExactFloat("1234.50"), 1234.5).equal
    assert compare("number", 0.1 + 0.2, 0.30000000000000004).equal


def test_kinds_of_undeclared_values_and_native_types() -> None:
    assert [kind_of(v) for v in (True, 1, 1.5, "x")] == ["boolean", "number", "number", "string"]
    assert native("number", 1)
    assert not native("number", "1")
    assert not native("number", True)
    assert native("money", "$1")
    assert not native("date", 20240304)


def test_gold_that_is_not_of_its_kind_is_compared_as_text() -> None:
    assert compare("date", "Early  May", "early May") == (True, "", True)
    assert compare("date", "2024-05-01", "early May") == (False, "", True)
