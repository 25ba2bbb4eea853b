"""What holds for every reply: no grader raises, none passes an empty reply, and nothing but the reply decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speedqual.grading import exact, extraction, facts
from speedqual.grading.base import Grader, grade_all
from speedqual.grading.jsontext import find_json, is_bare_json, loads
from speedqual.grading.lenientjson import CutOff, NotJson, mend
from speedqual.grading.mentions import dates_in, numbers_in, prepare
from speedqual.grading.normalise import KINDS, Settings, compare, read
from speedqual.grading.text import is_no_answer, is_refusal, plain, says_not_stated, strip_thinking
from speedqual.records import Answer, EvalSet, GraderSpec, Item

SOURCE = "Acme, founded in 1998 in Lyon by Ana Ruiz, sold 1,200 machines in 2023, up 8 % on 2022."
ITEMS: dict[str, list[Item]] = {
    "extraction": [
        Item(id="e1", row={"text": SOURCE}, target={"a": 1, "b": None, "tags": ["x", "y"], "rows": [{"k": "1", "v": 2.5}]}),
        Item(id="e2", row={}, target=[1, 2, 3]),
        Item(id="e3", row={}, target={"d": "2024-03-04", "m": "$5", "n": "1,234.50"}),
    ],
    "facts": [
        Item(id="f1", row={"text": SOURCE, "question": "How many?", "facts": [{"id": "n", "value": 1200}]}),
        Item(id="f2", row={"text": SOURCE, "facts": [{"id": "s", "text": "Acme was founded in Lyon"}], "forbidden": ["Acme operates in Japan"]}),
        Item(id="f3", row={"text": SOURCE, "question": "How many in 2019?", "unanswerable": True}),
        Item(id="f4", row={"question": "Does it?", "facts": [{"id": "b", "value": False}]}),
        Item(id="f5", row={"facts": [{"id": "zh", "text": "公司没有在日本开展业务"}], "context": "公司没有在日本开展业务。"}),
        Item(id="f6", row={"facts": [{"id": "d", "value": "2026-06-05", "type": "date"}, {"id": "q", "value": "5 km", "type": "quantity"}]}),
    ],
    "exact": [
        Item(id="x1", row={}, target={"answer": 29}),
        Item(id="x2", row={"choices": ["a", "b"]}, target={"answer": "B"}),
        Item(id="x3", row={}, target={"answer": "Paris"}),
        Item(id="x4", row={}, target={"answer": [0.1, 0.2]}),
    ],
}  # fmt: skip
MAKERS = {"extraction": extraction.make, "facts": facts.make, "exact": exact.make}


def grader(name: str) -> Grader:
    spec = GraderSpec(name=name, options={})
    return MAKERS[name](EvalSet(name=name, task=name, items=tuple(ITEMS[name]), grader=spec))


GRADERS = {name: grader(name) for name in MAKERS}

pieces = st.sampled_from(
    [
        "{", "}", "[", "]", '"a"', ":", ",", "1", "1,200", "null", "NaN", "'", "```json\n", "```", "<think>", "</think>", "not ", "n't", "or ", "No, ", "1.234",
        "不是", "一千二百", "2024年3月4日", "03/04/2024", "%", "$", "\\boxed{", "**", "Lyon", "Ana Ruiz", "I can't help", "The text does not say", "\x00", "\ud800", "½", "²",
        "\u202f", "百分之", "点", "亿", "-", "–", "e9", "https://", "[x](y)", "\n", "  ", "B", "(A)", "answer is ", "答案是", "is wrong", "between ", "and ", "５", "٣", "𝟗",
    ]
)  # fmt: skip
replies = st.one_of(st.text(max_size=300), st.lists(pieces, max_size=40).map("".join))
json_replies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["a", "b", "tags", "rows", "k", "v", "d"]) | st.text(max_size=5), inner, max_size=4
        )
    ),
    max_leaves=12,
).map(lambda value: json.dumps(value, ensure_ascii=False))
stops = st.sampled_from([None, "stop", "length", "filter"])


@settings(max_examples=300, deadline=None)
@given(text=replies | json_replies, stop=stops)
@pytest.mark.parametrize("name", MAKERS)
def test_no_grader_raises_and_grades_are_sound(name: str, text: str, stop: Any) -> None:
    for item in ITEMS[name]:
        got = GRADERS[name](Answer(text=text, stop=stop), item)
        assert got.score is not None
        assert 0 <= got.score <= (got.score_lenient or 0) <= 1
        assert (got.verdict == "pass") == (got.failure == "none")
        assert (got.verdict == "partial") == (got.score > 0 and got.failure != "none")
        assert got.why
        json.dumps(got.to_dict())


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=" \t\n\r\u00a0\u3000\u200b", max_size=20), stop=stops)
@pytest.mark.parametrize("name", MAKERS)
def test_an_empty_reply_never_passes(name: str, text: str, stop: Any) -> None:
    for item in ITEMS[name]:
        assert GRADERS[name](Answer(text=text, stop=stop), item).verdict == "fail"


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(replies, min_size=2, max_size=6), seed=st.randoms())
@pytest.mark.parametrize("name", MAKERS)
def test_the_order_of_items_and_replies_does_not_matter(name: str, texts: list[str], seed: Any) -> None:
    pairs = [(Answer(text=t), item) for t in texts for item in ITEMS[name]]
    order = list(range(len(pairs)))
    seed.shuffle(order)
    straight = grade_all(GRADERS[name], pairs)
    shuffled = grade_all(grader(name), [pairs[i] for i in order])
    assert [straight[i] for i in order] == shuffled


@settings(max_examples=200, deadline=None)
@given(text=replies)
def test_views_of_a_text_never_raise(text: str) -> None:
    for view in (strip_thinking, plain, is_refusal, is_no_answer, says_not_stated, is_bare_json, find_json):
        view(text)
    for part in prepare(text):
        numbers_in(part, Settings())
        dates_in(part, Settings())


@settings(max_examples=200, deadline=None)
@given(
    value=replies | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(st.integers()),
    kind=st.sampled_from(KINDS),
)
def test_reading_a_value_never_raises_and_a_value_equals_itself(value: Any, kind: str) -> None:
    reading = read(kind, value)
    assert bool(reading.fault) == (reading.value is None)
    if not reading.fault:
        assert compare(kind, value, value).equal


@settings(max_examples=200, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda i: st.lists(i, max_size=4) | st.dictionaries(st.text(max_size=5), i, max_size=4),
        max_leaves=12,
    )
)
def test_the_lenient_reader_agrees_with_json_on_json(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert loads(text) == value
    if isinstance(value, (dict, list)):
        mended = mend(text)
        assert (mended.value, mended.repairs, mended.end) == (value, {}, len(text))
        for cut in range(1, len(text), 7):
            with pytest.raises((CutOff, NotJson)):
                mend(text[:cut])


@settings(max_examples=150, deadline=None)
@given(number=st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**12), max_value=10**12))
def test_one_number_in_many_scripts(number: Any) -> None:
    grouped = f"{number:,.2f}"
    full_width = grouped.translate({ord(c): ord(c) + 0xFEE0 for c in "0123456789.,-"})
    german = grouped.translate(str.maketrans(",.", ".,"))
    for text in (grouped, full_width, f"{number}", grouped.replace(",", "\u202f"), grouped.replace("-", "\u2212")):
        assert compare("number", text, str(number)).equal, text
    assert read("number", german, Settings(locale="de")).value == number


@settings(max_examples=150, deadline=None)
@given(day=st.dates())
def test_one_date_in_many_forms(day: Any) -> None:
    y, m, d = day.year, day.month, day.day
    digits = str.maketrans("0123456789", "〇一二三四五六七八九")
    months = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    forms = [
        f"{y:04}-{m:02}-{d:02}",
        f"{y:04}/{m}/{d}",
        f"{d} {months[m - 1]} {y:04}",
        f"{months[m - 1]} {d}, {y:04}",
        f"{y:04}年{m}月{d}日",
        f"{y:04}".translate(digits) + f"年{m}月{d}日",
    ]
    for form in forms:
        assert compare("date", form, day.isoformat()).equal, form


HOSTILE = [
    "1 " * 200_000,
    "`" * 300_000,
    "or 1,200 " * 20_000,
    "Ana Ruiz " * 30_000,
    "</think>" * 50_000,
    "[" * 100_000,
    "March 4 " * 40_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_hostile_reply_is_graded_in_seconds(name: str) -> None:
    start = time.process_time()
    for text in HOSTILE:
        for item in ITEMS[name]:
            assert GRADERS[name](Answer(text=text), item).score is not None
    assert time.process_time() - start < 60


GRADE_ALL = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_properties_of_graders import GRADERS, ITEMS
from speedqual.records import Answer
texts = ['{"a": 1, "tags": ["y", "x"], "z": 3}', "1,200 or 1,300", "Acme, founded in Paris", "29", "B", "Not stated.", '{"rows": [{"v": 2.5}, {"k": "1"}]}']
print(json.dumps([g(Answer(text=t), i).to_dict() for n, g in GRADERS.items() for i in ITEMS[n] for t in texts]))
"""


@pytest.mark.slow
def test_equal_inputs_give_equal_grades_in_every_process() -> None:
    outputs = set()
    for seed, zone, locale in (
        ("0", "UTC", "C.UTF-8"),
        ("1", "Asia/Shanghai", "POSIX"),
        ("4242", "America/New_York", "C.UTF-8"),
    ):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", GRADE_ALL, os.path.dirname(__file__)]  # noqa: PTH120
        outputs.add(subprocess.run(command, env=env, capture_output=True, check=True, text=True).stdout)
    assert len(outputs) == 1
    assert len(next(iter(outputs))) > 5000
