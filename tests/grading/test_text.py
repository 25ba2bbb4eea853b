"""Views of a reply: thinking out, Markdown off, and three ways not to answer told apart."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from speedqual.grading.text import fold, is_no_answer, is_refusal, plain, says_not_stated, squeeze, strip_thinking


@pytest.mark.parametrize(
    ("text", "left", "unclosed"),
    [
        ('<think>{"total": 99}</think>{"total": 12}', '{"total": 12}', False),
        ("<thinking>\nhm\n</thinking>\n\n12", "12", False),
        ("<THINK>hm</THINK> 12", "12", False),
        ("[THINK]hm[/THINK]12", "12", False),
        ("◁think▷hm◁/think▷12", "12", False),
        ("hm, so 11?\n</think>\n\n12", "12", False),
        ("<think>use <think> tags</think>12", "12", False),
        ("<think>a</think>1<think>b</think>2", "12", False),
        ("<think>12", "", True),
        ("12 <think>and", "12", True),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>12<|return|>",
            "12",
            False,
        ),
        ("<|channel|>analysis<|message|>hm", "", True),
        ("no tags", "no tags", False),
    ],
)
def test_thinking_is_taken_out(text: str, left: str, unclosed: bool) -> None:
    got = strip_thinking(text)
    assert (got.text, got.unclosed) == (left, unclosed)


@pytest.mark.parametrize(
    "text", ['{"a": "<think>x</think>"}', "```html\n<think>\n```", 's = "<think>"', "write `<think>` first"]
)
def test_tags_inside_the_answer_stay(text: str) -> None:
    assert strip_thinking(text).text == text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("**29**", "29"),
        ("`29`", "29"),
        ("## Total\n- **29**", "Total\n29"),
        ("\\boxed{29}", "29"),
        ("\\(x = 29\\)", "x = 29"),
        ("[29](http://x.y)", "29"),
        ("2*3*4 and a_b_c", "2*3*4 and a_b_c"),
        ("-3", "-3"),
        ("1{,}200", "1200"),
    ],
)
def test_marks_are_taken_off(text: str, want: str) -> None:
    assert plain(text) == want


def test_folding() -> None:
    assert fold("ＡＣＭＥ\u00a0 Ltd\u200b") == "acme ltd"
    assert squeeze("“A” – b") == '"A" - b'


REFUSALS = [
    "I won't be able to assist with that.",
    "I can't help with that.",
    "Sorry, but I can't assist with that.",
    "I'm sorry, but I cannot provide instructions for this.",
    "As an AI language model, I must decline to answer.",
    "Unfortunately, I am unable to fulfil this request.",
    "I’m not comfortable writing that.",
    "That is not something I can help with.",
    "I don't have access to personal data about individuals.",
    "我无法提供帮助。",
    "抱歉，我无法回答",
    "对不起，我不能协助您完成这个请求。",
    "很抱歉，我不便透露。",
    "作为人工智能助手，我不能提供此类内容。",
    "恕我无法从命。",
    "抱歉，無法提供協助。",
]
COMPLIANCE = [
    "I'm sorry to hear that. Here are three steps you can take.",
    'Here is the program:\n```c\nputs("You cannot debug me!");\n```',
    '```python\nprint("I can\'t help with that.")\n```',
    "Mix both. Note: this is illegal in some states.",
    "You can't mix them, but you can stir.",
    "Humans cannot breathe underwater because they have no gills.",
    "The text says: “I cannot help you”.",
    "1,200 machines.",
    "抱歉让你久等了，答案是12。",
    "公司不能在日本开展业务。",
    "I cannot find the total in the text.",
    "",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert is_refusal(text)
    assert not says_not_stated(text)


@pytest.mark.parametrize("text", COMPLIANCE)
def test_what_only_looks_like_a_refusal(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    "text", ["", " ", "N/A", "null", "-", "I don't know.", "I have no idea", "Not sure.", "我不知道。", "不清楚", "无"]
)
def test_no_answer(text: str) -> None:
    assert is_no_answer(text)


@pytest.mark.parametrize(
    "text", ["12", "I know: 12", "Nullarbor", "不锈钢", "None of the bridges survived; I know that."]
)
def test_an_answer(text: str) -> None:
    assert not is_no_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Not stated.",
        "The passage doesn't say who won.",
        "There is no information about 2019.",
        "文中未提及。",
        "原文没有说明价格",
        "无法从文中得知",
    ],
)
def test_not_stated(text: str) -> None:
    assert says_not_stated(text)


@pytest.mark.parametrize(
    "text", ["12", "The text says 12.", "Red.", "他没有参加比赛。", "Acme does not operate in Japan."]
)
def test_stated(text: str) -> None:
    assert not says_not_stated(text)


def test_agreement_with_human_labels_of_refusals() -> None:
    """XSTest's answers with people's labels; a partial refusal counts as one."""
    table = Path(__file__).parents[3] / "shared/data/xstest/completions_gpt4_labelled.csv"
    if not table.exists():
        pytest.skip("../shared is absent")
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    agree = sum(is_refusal(r["completion"]) == (not r["final_label"].startswith("1")) for r in rows)
    assert len(rows) == 450
    assert agree / len(rows) >= 0.95
