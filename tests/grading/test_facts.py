"""Known facts in running text: what agrees, what contradicts, what is not said, and what the rules must not guess."""

from __future__ import annotations

from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.grading import facts
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

S = (
    "Acme, founded in 1998 in Lyon by Ana Ruiz, sold 1,200 machines in 2023, up 8 % on 2022. "
    "It does not operate in Japan."
)
FACTS = {
    "year": "Acme was founded in 1998",
    "city": "Acme was founded in Lyon",
    "who": "Acme was founded by Ana Ruiz",
    "sales": "Acme sold 1,200 machines in 2023",
    "growth": "Sales were up 8 % on 2022",
    "japan": "Acme does not operate in Japan",
}


def grade(reply: str, facts_: list[Any] | None = None, /, *, stop: Any = "stop", **row: Any) -> Grade:
    options = row.pop("options", {})
    item = Item(id="1", row={"text": S, "facts": facts_ or [], **row})
    evalset = EvalSet(name="t", task="facts", items=(item,), grader=GraderSpec(name="facts", options=options))
    return facts.make(evalset)(Answer(text=reply, stop=stop), item)


def status(text: str, statement: str) -> str:
    got = grade(text, [{"id": "f", "text": statement}])
    return str(got.parts["facts"]["f"]) if "facts" in got.parts else got.failure


# ------------------------------------------------------------------------------------------------- statements


@pytest.mark.parametrize("name", FACTS)
def test_a_statement_and_the_source_support_it(name: str) -> None:
    assert status(FACTS[name] + ".", FACTS[name]) == "supported"
    assert status(S, FACTS[name]) == "supported"


CONTRADICTED = [
    ("japan", "Acme operates in Japan"),
    ("japan", "Acme does operate in Japan."),
    ("japan", "It is not true that Acme does not operate in Japan."),
    ("city", "Acme was not founded in Lyon"),
    ("city", "Acme was founded in Paris."),
    ("city", "Acme was founded in 1998 in Paris"),
    ("year", "founded in 1989"),
    ("year", "Acme was founded in 1989."),
    ("sales", "Acme sold 1,020 machines"),
    ("sales", "sold 1,020 machines"),
    ("sales", "sold 1,200 machines in 2022"),
    ("sales", "Acme sold 1,200 machines in 2024."),
    ("sales", "Acme sold 12,000 machines in 2023."),
    ("sales", "Acme did not sell 1,200 machines in 2023."),
    ("sales", "Acme bought 1,200 machines in 2023."),
    ("sales", "Beta sold 1,200 machines in 2023."),
    ("growth", "up 8 percentage points"),
    ("growth", "up 80 %"),
    ("growth", "Sales were down 8 % on 2022."),
    ("growth", "Sales fell 8 % on 2022"),
    ("who", "Ana Ruiz was founded by Acme"),
    ("who", "Acme founded Ana Ruiz."),
    ("who", "Acme was founded by Luis Ruiz."),
    ("who", "Luis Ruiz"),
]


@pytest.mark.parametrize(("name", "text"), CONTRADICTED)
def test_exchanged_denied_or_swapped_is_contradicted(name: str, text: str) -> None:
    assert status(text, FACTS[name]) == "contradicted"
    got = grade(text, [{"id": name, "text": FACTS[name], "must": True}])
    assert (got.score, got.verdict, got.failure) == (0.0, "fail", "contradicted")


@pytest.mark.parametrize(
    "text",
    [
        "Acme was founded in 1989 in Lyon by Ana Ruiz",
        "founded in 1989",
        "Luis Ruiz",
        "Ana Ruiz was founded by Acme",
        "Acme was not founded in Lyon",
    ],
)
def test_one_statement_of_many_parts_is_contradicted_by_one_of_them(text: str) -> None:
    assert status(text, "Acme was founded in 1998 in Lyon by Ana Ruiz") == "contradicted"


SUPPORTED = [
    ("japan", "It is not true that Acme operates in Japan"),
    ("japan", "It is false that Acme operates in Japan."),
    ("japan", "Acme isn't present in Japan"),
    ("japan", "Acme is not active in Japan."),
    ("japan", "Acme has no operations in Japan."),
    ("japan", "Acme operates everywhere except Japan."),
    ("japan", "Acme never operated in Japan"),
    ("who", "Ana Ruiz founded Acme."),
    ("who", "Acme was founded by Ana Ruiz in Lyon in 1998."),
    ("sales", "In 2023, Acme sold 1,200 machines."),
    ("sales", "Acme sold one thousand two hundred machines in 2023."),
    ("sales", "Acme sold 1200 machines in 2023 and 1,111 in 2022."),
    ("growth", "Sales rose 8 percent compared with 2022."),
]


@pytest.mark.parametrize(("name", "text"), SUPPORTED)
def test_other_words_for_the_same_are_supported(name: str, text: str) -> None:
    assert status(text, FACTS[name]) == "supported"


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("city", "Acme was founded in 1998.", "missing"),
        ("year", "Acme was founded in Lyon.", "missing"),
        ("city", "Acme was not founded in Paris.", "missing"),
        ("japan", "Acme has left Japan.", "unverifiable"),
        ("sales", "Acme sold over 1,200 machines in 2023.", "unverifiable"),
        ("sales", "Acme sold 1,200 or 1,300 machines in 2023.", "ambiguous"),
        ("sales", "Did Acme sell 1,200 machines in 2023?", "unverifiable"),
    ],
)
def test_what_is_not_said_is_not_guessed(name: str, text: str, want: str) -> None:
    assert status(text, FACTS[name]) == want
    assert grade(text, [{"id": name, "text": FACTS[name]}]).verdict != "pass"


ZH = "艾克米公司1998年在里昂成立，2023年卖出1200台机器，比2022年增长8%。公司没有在日本开展业务。"


@pytest.mark.parametrize(
    ("statement", "text", "want"),
    [
        ("艾克米公司成立于1998年", "艾克米公司成立于1998年。", "supported"),
        ("艾克米公司成立于1998年", "艾克米公司成立于一九九八年。", "supported"),
        ("艾克米公司成立于1998年", "艾克米公司成立于1989年。", "contradicted"),
        ("艾克米公司在里昂成立", "艾克米公司在巴黎成立。", "contradicted"),
        ("艾克米公司在里昂成立", "艾克米公司不是在里昂成立的。", "contradicted"),
        ("2023年卖出1200台机器", "2023年卖出1020台机器。", "contradicted"),
        ("2023年卖出1200台机器", "2023年卖出一千二百台机器。", "supported"),
        ("增长8%", "增长8个百分点", "contradicted"),
        ("增长8%", "增长百分之八", "supported"),
        ("公司没有在日本开展业务", "公司在日本开展业务。", "contradicted"),
        ("公司没有在日本开展业务", "公司未在日本开展业务。", "supported"),
        ("公司没有在日本开展业务", "今天天气很好。", "missing"),
    ],
)
def test_chinese_statements(statement: str, text: str, want: str) -> None:
    got = grade(text, [{"id": "f", "text": statement}], text=ZH)
    assert got.parts["facts"]["f"] == want


# --------------------------------------------------------------------------------- partly right and unsupported

THREE = [{"id": k, "text": FACTS[k], "must": True} for k in ("year", "city", "sales")]
VALUES = [
    {"id": "year", "value": 1998, "type": "number"},
    {"id": "city", "value": "Lyon", "type": "name"},
    {"id": "sales", "value": 1200, "type": "number"},
]


@pytest.mark.parametrize("wanted", [THREE, VALUES], ids=["statements", "values"])
def test_one_wrong_fact_of_three(wanted: list[Any]) -> None:
    got = grade("Acme, founded in 1998 in Paris, sold 1,200 machines in 2023.", wanted)
    assert got.parts["facts"] == {"year": "supported", "city": "contradicted", "sales": "supported"}
    assert (got.score, got.failure) == (0.0, "contradicted")
    assert got.parts["recall"] == got.score_lenient == pytest.approx(2 / 3)


def test_an_unsupported_claim_costs_precision_alone() -> None:
    text = "Acme, founded in 1998 in Lyon, sold 1,200 machines in 2023"
    plain, more = grade(text + ".", THREE), grade(text + " and won a design prize.", THREE)
    assert plain.parts["recall"] == more.parts["recall"] == 1.0
    assert (plain.parts["precision"], more.parts["precision"]) == (1.0, 0.75)
    assert (more.parts["contradicted"], len(more.parts["unsupported"])) == (0, 1)
    assert "unsupported" in more.flags


def test_an_omitted_fact_is_missing_not_contradicted() -> None:
    got = grade("Acme sold 1,200 machines in 2023.", THREE)
    assert got.failure == "omission"
    assert got.parts["contradicted"] == 0


def test_repeating_gains_nothing() -> None:
    once, often = grade("Acme was founded in 1998.", THREE), grade("Acme was founded in 1998. " * 10, THREE)
    assert once.score == often.score == pytest.approx(1 / 3)
    assert often.parts["supported"] == 1


def test_a_copy_of_the_source_is_flagged_and_capped() -> None:
    got = grade(S, THREE)
    assert "copied" in got.flags
    assert (got.score, got.failure) == (0.5, "copied")
    assert grade(S, THREE, options={"copy_cap": 0.2}).score == pytest.approx(0.2)
    assert grade(S, THREE, options={"copy_cap": 1}).verdict == "pass"
    assert "copied" not in grade("Acme was founded in 1998 in Lyon.", THREE).flags


def test_optional_facts_do_not_hold_back_a_pass() -> None:
    wanted = [THREE[0], {**THREE[1], "must": False}]
    got = grade("Acme was founded in 1998.", wanted)
    assert (got.verdict, got.score, got.score_lenient) == ("pass", 1.0, 1.0)
    assert grade("Acme was founded in 1998 in Paris.", wanted).failure == "contradicted"


def test_forbidden_facts() -> None:
    ban = [{"id": "old", "value": "Boathouse", "type": "string"}]
    wanted = [{"id": "a", "value": "Barn", "type": "string"}]
    assert grade("The Barn.", wanted, forbidden=ban).verdict == "pass"
    assert grade("The Barn, not the Boathouse.", wanted, forbidden=ban).verdict == "pass"
    assert grade("The Barn and the Boathouse.", wanted, forbidden=ban).verdict == "fail"
    assert grade("It is at the Boathouse.", wanted, forbidden=ban).failure == "contradicted"


# -------------------------------------------------------------------------- refusing, hedging, several answers

N = [{"id": "n", "value": 1200, "type": "number"}]
ASKED = "How many machines in 2023?"
RIGHT = [
    "1,200",
    "1200 machines.",
    "Not 1,300 but 1,200",
    "1,200 (not 1,300)",
    "The source says 1,200",
    "It was 1,200, not 1,300.",
    "1,200 rather than 1,300",
    "1,300? No, 1,200.",
    "1,300, no wait, 1,200",
    "The number isn't 1,300; it's 1,200.",
    "I'd say 1,300. The answer is 1,200.",
    "In 2023 Acme sold 1,200 machines, up 8 % on 2022.",
    "I'm sorry, I cannot provide investment advice and I can't help with predictions. The text says 1,200.",
    "**1,200**",
    "\\boxed{1200}",
    "1.2k",
    "twelve hundred",
    "<think>1,300?</think>1,200",
    "一千二百台",
    "１２００台",
    "不是1300台，而是1200台",
    "1200台，不是1300台。",
    "答案是1200。",
]
WRONG = [
    ("1,200 or maybe 1,300", "ambiguous"),
    ("1,300 or maybe 1,200", "ambiguous"),
    ("Either 1,200 or 1,300.", "ambiguous"),
    ("between 1,200 and 1,300", "ambiguous"),
    ("1,200-1,300", "ambiguous"),
    ("1,200 / 1,300", "ambiguous"),
    ("1,200, 1,300", "ambiguous"),
    ("1,200 and 1,300", "ambiguous"),
    ("1200或者1300", "ambiguous"),
    ("可能是1200，也可能是1300", "ambiguous"),
    ("Not 1,200 but 1,300", "contradicted"),
    ("1,300 (not 1,200)", "contradicted"),
    ("not 1,200", "contradicted"),
    ("The answer is not 1,200.", "contradicted"),
    ("It is not true that Acme sold 1,200 machines.", "contradicted"),
    ("并非1200台", "contradicted"),
    ("1,300", "contradicted"),
    ("-1,200", "contradicted"),
    ("1,200. Actually, 1,300.", "contradicted"),
    ("1,200 is wrong; it is 1,300", "contradicted"),
    ("1,200 machines in 2022", "contradicted"),
    ("more than 1,200", "unverifiable"),
    ("at least 1,200", "unverifiable"),
    ("超过1200台", "unverifiable"),
    ("Is it 1,200?", "unverifiable"),
    ("Acme sold many machines.", "omission"),
    ("", "no_answer"),
    (" \n ", "no_answer"),
    ("I don't know.", "no_answer"),
    ("我不知道", "no_answer"),
    ("The text does not say.", "no_answer"),
    ("文中没有提到。", "no_answer"),
    ("I can't help with that.", "refused"),
    ("抱歉，我无法回答", "refused"),
    ("<think>1,200", "truncated"),
]


@pytest.mark.parametrize("text", RIGHT)
def test_the_answer_is_found(text: str) -> None:
    got = grade(text, N, question=ASKED)
    assert (got.score, got.verdict, got.failure) == (1.0, "pass", "none")


@pytest.mark.parametrize(("text", "failure"), WRONG)
def test_what_is_not_the_answer(text: str, failure: str) -> None:
    got = grade(text, N, question=ASKED)
    assert (got.score, got.verdict, got.failure) == (0.0, "fail", failure)


@pytest.mark.parametrize("text", ["About 1,200, I think", "Probably 1,200.", "大约1200台", "maybe 1,200"])
def test_a_hedged_answer_counts_and_is_flagged(text: str) -> None:
    got = grade(text, N, question=ASKED)
    assert got.score == 1.0
    assert "hedged" in got.flags


@pytest.mark.parametrize(
    "text",
    [
        "The text does not say",
        "The text doesn't mention it.",
        "Not stated.",
        "It is not specified in the passage.",
        "No information is given about 2019.",
        "It cannot be determined from the text.",
        "The text does not say; it only gives 1,200 for 2023.",
        "I don't know.",
        "文中没有提到。",
        "文中未提及",
        "没有说明",
        "无法从文中得知",
    ],
)
def test_saying_that_it_is_not_stated_is_right_when_it_is_not(text: str) -> None:
    got = grade(text, question="How many in 2019?", unanswerable=True)
    assert (got.score, got.verdict) == (1.0, "pass")


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("1,200", "unsupported"),
        ("1,111", "unsupported"),
        ("零", "unsupported"),
        ("In 2019, 1,000 machines.", "unsupported"),
        ("The text does not say, but probably about 900.", "unsupported"),
        ("I can't help with that.", "refused"),
        ("抱歉，我无法回答这个问题。", "refused"),
        ("", "no_answer"),
    ],
)
def test_any_value_is_wrong_when_nothing_is_stated(text: str, failure: str) -> None:
    got = grade(text, question="How many in 2019?", unanswerable=True)
    assert (got.score, got.failure) == (0.0, failure)


# --------------------------------------------------------------------------------------------- kinds of values


@pytest.mark.parametrize(
    ("fact", "asked", "right", "wrong"),
    [
        (
            {"value": "8 %"},
            "By how much?",
            ["8%", "by 8 percent", "百分之八"],
            ["80 %", "8 percentage points", "8个百分点", "-8 %"],
        ),
        (
            {"value": "2026-06-05", "type": "date"},
            "When?",
            ["On 5 June 2026.", "June 5th, 2026", "2026年6月5日", "5 June"],
            ["6 June 2026", "not on 5 June 2026", "5 May 2026"],
        ),
        (
            {"value": "12 km", "type": "quantity"},
            "How long?",
            ["12 km", "12,000 m", "12 kilometres", "12公里"],
            ["12 miles", "21 km"],
        ),
        (
            {"value": 9000, "type": "number"},
            "投资股票的部分是多少万元？",
            ["9000万元", "9000", "0.9亿元"],
            ["9亿元", "900万元"],
        ),
        (
            {"value": "Ana Ruiz", "type": "name"},
            "Who?",
            ["Ana Ruiz", "It was Ana  RUIZ.", "Not Luis Ruiz but Ana Ruiz"],
            ["Luis Ruiz", "Ruiz", "Ana Ruiz or Luis Ruiz", "not Ana Ruiz"],
        ),
        (
            {"value": False, "type": "boolean"},
            "Does Lea swim?",
            ["No.", "No, she does not.", "Lea does not swim.", "不", "否"],
            ["Yes.", "Lea swims.", "是的", "Yes or no"],
        ),
        (
            {"value": True, "type": "boolean"},
            "队员都会游泳吗？",
            ["是的，都会。", "会", "Yes"],
            ["不会", "不是", "不都会"],
        ),
        ({"value": "9023", "type": "id"}, "The code?", ["9023", "Your code is 9023."], ["4417", "90231", "not 9023"]),
        (
            {"value": "red", "aliases": ["crimson"]},
            "Which colour?",
            ["Red.", "It is crimson.", "not green, red"],
            ["green", "red or green", "red and green", "reddish"],
        ),
        (
            {"value": "东边", "aliases": ["东侧"]},
            "哪一边？",
            ["东边。", "在东侧", "不在西边，在东边"],
            ["西边", "不在东边", "东边或西边"],
        ),
        ({"value": 3.5, "type": "number", "tolerance": 0.1}, "How much?", ["3.5", "3.45"], ["3.7", "35"]),
        ({"value": "$5", "type": "money"}, "Price?", ["$5", "5 dollars", "USD 5.00"], ["€5", "$50"]),
    ],
)
def test_values_are_read_by_their_kind(fact: dict[str, Any], asked: str, right: list[str], wrong: list[str]) -> None:
    for text in right:
        assert grade(text, [{"id": "f", **fact}], question=asked, text="").verdict == "pass", text
    for text in wrong:
        assert grade(text, [{"id": "f", **fact}], question=asked, text="").verdict == "fail", text


# ----------------------------------------------------------------------------------------------------- memory

TURNS = [
    {"role": "user", "content": "My locker code is 4417."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "The code is 9023 now."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "What is my locker code?"},
]
CODE = [{"id": "a", "value": "9023", "type": "id"}]
OLD = [{"id": "old", "value": "4417", "type": "id"}]


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("9023", "none"),
        ("It was 4417, now it is 9023.", "none"),
        ("4417", "forgot_context"),
        ("I don't know.", "forgot_context"),
        ("1234", "forgot_context"),
        ("4417 or 9023", "ambiguous"),
        ("I can't share codes.", "refused"),
    ],
)
def test_what_was_set_in_an_earlier_turn(text: str, failure: str) -> None:
    got = grade(text, CODE, messages=TURNS, forbidden=OLD, text=None)
    assert got.failure == failure
    assert (got.verdict == "pass") is (failure == "none")


def test_an_unfinished_reply_is_truncated() -> None:
    assert grade("The machines that Acme sold", N, question=ASKED, stop="length").failure == "truncated"
    assert grade("1,200 machines, that is", N, question=ASKED, stop="length").verdict == "pass"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"facts": [{"id": "a", "valu": 1}]}, "unknown key 'valu'"),
        ({"facts": [{"id": "a"}]}, "needs a value or a text"),
        ({"facts": [{"id": "a", "value": 1, "type": "nmber"}]}, "unknown type 'nmber'"),
        ({"facts": {}}, "nothing to judge"),
        ({"facts": "1200"}, "facts is no list"),
        ({"facts": [{"id": "a", "value": 1}], "options": {"copycap": 1}}, "no option 'copycap'"),
    ],
)
def test_a_slip_in_the_row_or_the_card_is_an_error(row: dict[str, Any], message: str) -> None:
    wanted = row.pop("facts")
    with pytest.raises(EvalSetError, match=message):
        grade("x", wanted, **row)
