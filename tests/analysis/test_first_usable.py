"""The first usable part of streams written by hand, to the millisecond, and how early a wrong way shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from speedqual.analysis import FirstUsable, FirstUsableResult
from speedqual.analysis.first_usable_html import first_element
from speedqual.analysis.first_usable_json import scan_json
from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.errors import UsageError
from speedqual.grading.text import blank_thinking
from speedqual.records import (
    Attempt,
    Candidate,
    EvalSet,
    Event,
    Grade,
    GraderSpec,
    Item,
    Record,
    Timeline,
    Trial,
    Usage,
)
from speedqual.running import Run, evaluate

MS = 1_000_000
FENCE = "```"
Pieces = Sequence[tuple[int, str]]


class Streams:
    """A run as analyses see it: eval sets and records."""

    def __init__(self, evalset: EvalSet, records: Sequence[Record]) -> None:
        self.evalsets, self.records = (evalset,), list(records)


def evalset_of(grader: str, item: Item, **options: Any) -> EvalSet:
    return EvalSet(name="set", task=grader, items=(item,), grader=GraderSpec(name=grader, options=options))


def record_of(pieces: Pieces, *, wrong: bool = False, stop: str = "stop", outcome: str = "ok") -> Record:
    """Pieces at so many ms after the send; one that begins with ``~`` is reasoning. One token a piece."""
    events = tuple(
        Event(7 * MS + t * MS, "reasoning" if text[0] == "~" else "answer", text.lstrip("~"), i, i + 1)
        for i, (t, text) in enumerate(pieces)
    )
    end = 7 * MS + pieces[-1][0] * MS if pieces else None
    attempt = Attempt(
        number=1,
        outcome=outcome,
        timeline=Timeline(t_send=7 * MS, events=events, t_end=end),
        stop=stop,
        usage=Usage(n_out=len(pieces)),
    )
    grade = Grade(score=0.0, verdict="fail") if wrong else Grade(score=1.0, verdict="pass")
    metrics = {"e2e_ms": float(pieces[-1][0])} if pieces else {}
    trial = Trial(candidate="a", evalset="set", item="1")
    return Record(trial=trial, attempts=(attempt,), metrics=metrics, grade=grade)


def look(evalset: EvalSet, pieces: Pieces, **how: Any) -> dict[str, Any]:
    got = FirstUsable()(Streams(evalset, [record_of(pieces, **how)]))
    return dict(got.rows.iloc[0])


CODE = evalset_of("code", Item(id="1", row={"tests": {"entry_point": "f", "cases": [{"args": [1], "expect": 1}]}}))
JSON = evalset_of(
    "extraction",
    Item(id="1", row={"text": "t"}, target={"total": 12, "name": "李雷", "more": {"n": 1}, "tags": ["x"]}),
    fields={"total": "number", "name": "string", "more": {"n": "integer"}, "tags": ["string"]},
)

# ------------------------------------------------------------------------------------------------------ JSON

FIELDS: dict[str, tuple[Pieces, float | None]] = {
    "a number is closed by what follows": ([(10, '{"total": 1'), (20, "2"), (30, ","), (40, ' "name": "x"}')], 30.0),
    "a string by its quote": ([(10, '{"name": "李'), (25, '雷"'), (40, "}")], 25.0),
    "an escaped quote does not close": ([(10, '{"name": "a\\'), (20, '"'), (30, '"'), (40, "}")], 30.0),
    "the inner field of an object comes first": ([(10, '{"more": {"n": 1'), (20, "}"), (30, "}")], 20.0),
    "a list closes with its bracket": ([(10, '{"tags": ["x"'), (20, "]"), (30, "}")], 20.0),
    "prose and a fence before it": ([(10, f"Here {{it}} is [1]:\n{FENCE}json\n"), (20, '{"total": 12}')], 20.0),
    "a fence split over events": ([(10, "``"), (20, '`json\n{"total"'), (30, ": null}\n``"), (40, "`")], 30.0),
    "several fields in one event": ([(10, "{"), (20, '"total": 1, "name": "李雷"}')], 20.0),
    "several events at one time": ([(10, "{"), (10, '"total": 1'), (10, "}")], 10.0),
    "reasoning before the answer is no answer": ([(10, '~{"total": 12}'), (20, '{"total":'), (30, " 12}")], 30.0),
    "thinking within the text is none either": ([(10, '<think>{"total": 1}'), (20, '</think>{"total": 12}')], 20.0),
    "a draft without the keys asked for": ([(10, '{"draft": 1}'), (20, '{"total": 12}')], 20.0),
    "Chinese keys and full width": ([(10, '结果如下：{"name"'), (20, ': "李雷"'), (30, "}")], 20.0),
    "cut off within the value": ([(10, '{"total": 12')], None),
    "no JSON": ([(10, "There is none.")], None),
    "broken before any field": ([(10, "{'total': 12}")], None),
}


@pytest.mark.parametrize("name", FIELDS)
def test_the_first_field_is_there_when_its_value_is_closed(name: str) -> None:
    pieces, expected = FIELDS[name]
    row = look(JSON, pieces)
    assert row["part"] == "field"
    if expected is None:
        assert pd.isna(row["first_usable_ms"]) and row["reason"] in ("no complete field", "no JSON")
    else:
        assert row["first_usable_ms"] == expected and row["share"] == expected / pieces[-1][0]


BREAKS = {
    '{"total": 12}': None,
    '{"total": 12,}': 14,
    "{'total': 12}": 2,
    '{"total": 012}': 12,
    '{"total": NaN}': 11,
    '{"total": None}': 11,
    '{"total": 1 // a': 13,
    '{"name": "a\nb"}': 12,
    '{"a": 1, "a"': 12,
    '{"a": 1]': 8,
    '{"a" 1}': 6,
    '[{"a": tru]': 11,
    '{"a": "\\x"}': 8,
    '{"a": 1.}': 9,
    '{"a": "': None,
    '{"a": "\\u12': None,
    '{"a": -': None,
}


@pytest.mark.parametrize("text", BREAKS)
def test_strict_json_breaks_at_the_character_that_it_forbids(text: str) -> None:
    assert scan_json(text).broken == BREAKS[text]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 20_000, '{"a": "' + "x" * 1_000_000, "{x " * 50_000])
def test_a_hostile_text_is_read_once(text: str) -> None:
    assert scan_json(text).fields == ()


# ------------------------------------------------------------------------------------------------------ code

DEF = "def f(x):\n    return x\n"
FUNCTIONS: dict[str, tuple[Pieces, float | None]] = {
    "closed by the fence": ([(10, f"{FENCE}python\n{DEF}"), (20, "``"), (30, "`"), (40, "\nbye")], 30.0),
    "by the next statement at its edge": ([(10, f"{FENCE}python\n{DEF}"), (20, "\n"), (30, "print(f(1))\n")], 30.0),
    "not by a deeper line": ([(10, f"{DEF}    # a\n"), (20, "    x = 1\n"), (30, "y = 1")], 30.0),
    "by the end of the answer": ([(10, "def f(x):\n"), (20, "    return x")], 20.0),
    "a class": ([(10, "class A:\n    def f(self):\n        return 1\n"), (20, "a = A()")], 20.0),
    "the first that compiles": (
        [(10, "def g(x):\n    return (\n"), (20, ")\n\n\n"), (30, f"{DEF}"), (40, "z = 1")],
        30.0,
    ),
    "a first one that does not compile": (
        [(10, f"{FENCE}py\ndef g(x):\n    retrn x\n{FENCE}\n"), (20, f"{FENCE}py\n{DEF}{FENCE}")],
        20.0,
    ),
    "imports and decorators before it": ([(10, "import re\n@re.sub\n"), (20, DEF), (30, "# end")], 30.0),
    "prose around it": ([(10, "Sure! Here you go:\n\n"), (20, DEF), (30, "\nIt"), (40, " works.")], 30.0),
    "set in within a list": (
        [(10, f"1. So:\n   {FENCE}python\n   def f(x):\n       return x\n"), (20, f"   {FENCE}")],
        20.0,
    ),
    "an open string hides the fence": (
        [(10, f'def f():\n    return """\n{FENCE}\n'), (20, '"""\n'), (30, "x = 1")],
        30.0,
    ),
    "reasoning does not count": ([(10, f"~{DEF}"), (20, f"{DEF}"), (30, "x = 1")], 30.0),
    "thinking in the text neither": ([(10, f"<think>\n{DEF}\n</think>\n"), (20, DEF), (30, "x = 1")], 30.0),
    "Chinese prose": ([(10, "好的，代码如下：\n\n"), (20, DEF), (30, "以上。")], 30.0),
    "nothing but prose": ([(10, "I would loop over it.")], None),
    "never compiles": ([(10, "def f(x:\n    return x\n"), (20, "y = 1")], None),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_function_is_there_when_it_is_closed_and_compiles(name: str) -> None:
    pieces, expected = FUNCTIONS[name]
    row = look(CODE, pieces)
    assert row["part"] == "function"
    if expected is None:
        assert row["reason"] in ("no closed function", "no function that compiles")
    else:
        assert (row["first_usable_ms"], row["reason"]) == (expected, None)


def test_a_function_that_a_limit_cut_off_is_not_closed() -> None:
    assert look(CODE, [(10, DEF)], stop="length")["reason"] == "no closed function"


def test_few_functions_of_a_long_answer_are_tried() -> None:
    text = "".join(f"def g{i}(x):\n    retrn x\n\n" for i in range(300))
    assert look(CODE, [(10, text)])["reason"] == "no function that compiles"


BRACED = {
    "javascript": (
        [(10, "const a = {b: '}'};\nfunction f(x) { return {y: `}`"), (20, "}; "), (30, "}"), (40, "\nf(1)")],
        30.0,
    ),
    "c": (
        [(10, "#include <stddef.h>\nstruct p { int x; };\nint f(int x) {"), (20, " return x; /* } */"), (30, "}")],
        30.0,
    ),
    "css": ([(10, "p { color: red"), (20, "}"), (30, " a {}")], 20.0),
}


@pytest.mark.parametrize("language", BRACED)
def test_in_braces_a_function_ends_with_its_last_one(language: str) -> None:
    pieces, expected = BRACED[language]
    one = evalset_of("code", Item(id="1", row={"language": language}))
    row = look(one, [(1, f"{FENCE}{language}\n"), *pieces])
    assert row["first_usable_ms"] == expected


def test_a_json_task_of_code_is_read_as_json() -> None:
    one = evalset_of("code", Item(id="1", row={"language": "json"}))
    assert look(one, [(5, '{"a": 1'), (6, "}")])["first_usable_ms"] == 6.0


@pytest.mark.parametrize(
    ("html", "tag", "until"),
    [
        ("<!doctype html><html><head><title>T</title></head><body><h1>Hi</h1>", "h1", "</h1>"),
        ("<script>var a='<p>x</p>'</script><p>Hi</p>", "p", "Hi</p>"),
        ("<div hidden><p>no</p></div><div><p>yes</p></div>", "p", "yes</p>"),
        ("<ul><li>one<li>two</ul>", "li", "one<li>"),
        ('<body><img src="a.png"><p>x</p>', "img", '.png">'),
        ("<p> </p><p>&nbsp;</p><b>中</b>", "b", "中</b>"),
    ],
)
def test_the_first_element_is_one_that_shows(html: str, tag: str, until: str) -> None:
    assert first_element(f"Here:\n{html}") == (tag, len("Here:\n") + html.index(until) + len(until))


def test_html_without_anything_to_show_has_none() -> None:
    assert first_element("<div><p></p></div>") is None and first_element("no markup < 3") is None
    one = evalset_of("code", Item(id="1", row={"language": "html"}))
    assert look(one, [(5, "<p>a"), (9, "b</p>"), (12, "<p>")])["first_usable_ms"] == 9.0


# -------------------------------------------------------------------------------------------- wrong directions

SIGNS: dict[str, tuple[EvalSet, Pieces, str, float]] = {
    "a field that is wrong": (JSON, [(10, '{"total": 13'), (20, ', "name"'), (40, ': "x"}')], "wrong_field", 20.0),
    "a number written otherwise is not": (
        JSON,
        [(10, '{"total": "12.0", "name": "x"'), (20, "}")],
        "wrong_field",
        10.0,
    ),
    "a field deep in": (JSON, [(10, '{"more": {"n": 2'), (20, "}"), (40, "}")], "wrong_field", 20.0),
    "a grammar break": (JSON, [(10, '{"total": 12'), (20, ",}"), (40, "\nSo.")], "grammar", 20.0),
    "a refusal": (
        JSON,
        [(10, "I'm sorry, but I can't"), (20, " help with that."), (40, " Ask again.")],
        "refusal",
        20.0,
    ),
    "a refusal in Chinese": (CODE, [(10, "抱歉，我无法"), (20, "提供帮助。"), (40, "再见。")], "refusal", 20.0),
    "another name": (CODE, [(10, "def "), (20, "g(x):"), (30, "\n    return x"), (40, "\n")], "wrong_name", 20.0),
    "a function that does not compile": (
        CODE,
        [(10, "def f(x):\n  retrn x"), (20, "\nx = 1"), (40, "\n")],
        "does_not_compile",
        20.0,
    ),
}


@pytest.mark.parametrize("name", SIGNS)
def test_the_first_sign_of_a_wrong_way(name: str) -> None:
    one, pieces, sign, at_ms = SIGNS[name]
    row = look(one, pieces, wrong=True)
    assert (row["sign"], row["sign_ms"], row["sign_share"]) == (sign, at_ms, at_ms / pieces[-1][0])
    left = sum(t > at_ms for t, _ in pieces)
    assert row["tokens_saved"] == left
    assert pd.isna(look(one, pieces)["sign"])


def test_a_helper_before_the_function_is_no_wrong_name() -> None:
    text = f"def g(x):\n    return x\n\n{DEF}"
    row = look(CODE, [(10, text)], wrong=True)
    assert row["sign"] != "wrong_name"


# ------------------------------------------------------------------------------------------------- summaries


def result_of(n: int = 4) -> FirstUsableResult:
    good = [record_of([(10 * i, '{"total": 12'), (20 * i, "}")]) for i in range(1, n + 1)]
    bad = record_of([(10, '{"total": 13}'), (30, " so"), (50, " there")], wrong=True)
    none, lost = record_of([(5, "nothing")], wrong=True), record_of([], outcome="disconnect")
    return FirstUsable()(Streams(JSON, [*good, bad, none, lost, record_of([], outcome="empty")]))


def test_a_candidate_is_summed_up_with_intervals_and_reasons() -> None:
    got = result_of()
    row = got.table.iloc[0]
    assert (row["candidate"], row["part"], row["n"], row["undefined"]) == ("a", "field", 5, 3)
    assert row["first_usable_ms"] == 40.0  # of 10, 20, 40, 60, 80
    assert row["p95_ms"] == pytest.approx(76.0) and pd.isna(row["p95_ms_hi"])
    reasons = dict(zip(got.undefined["reason"], got.undefined["n"], strict=True))
    assert reasons == {"no JSON": 1, "the request failed": 1, "the answer is empty": 1}
    wrong = got.wrong.iloc[0]
    assert (wrong["wrong"], wrong["seen"], wrong["wrong_field"], wrong["grammar"]) == (2, 1, 1, 0)
    assert (wrong["sign_ms"], wrong["sign_share"], wrong["tokens_saved"]) == (10.0, 0.2, 2.0)
    assert "1 of 2 wrong answers could have been told" in got.verdict
    assert json.dumps(got.to_dict(), allow_nan=False)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_drawn_in_both_languages(lang: str) -> None:
    figure = result_of().plot(style="dark", lang=lang)
    assert figure.alt_text and "a" in figure.alt_text


def test_tasks_without_a_usable_part_are_counted_apart() -> None:
    facts = evalset_of("facts", Item(id="1", row={"facts": [{"id": "a", "value": 1}]}))
    got = FirstUsable()(Streams(facts, [record_of([(5, "1")])]))
    assert got.table.empty and got.rows["reason"].tolist() == ["no part of this task is usable alone"]
    assert got.verdict == "No answer has a part that is usable before its end."
    assert got.notes == ("1 replies are to tasks of which no part is usable alone",)
    with pytest.raises(UsageError, match="no finished trial"):
        FirstUsable()(Streams(facts, []))


def test_blanked_thinking_moves_nothing() -> None:
    for text in ("<think>a</think>b", "a[THINK]b[/THINK]c", "<think>open", "plain", "a</think> b"):
        blank = blank_thinking(text)
        assert len(blank) == len(text)
        assert all(one in ("\n", other) for one, other in zip(blank, text, strict=True))


async def test_a_real_run_gives_the_time_of_the_event(tmp_path: Any) -> None:
    script = Script(ttft_ms=5, tok_s=200, text=f"Here:\n\n{DEF}\nprint(f(1))\n")
    with serve_in_process({"m": script}) as server:
        who = [Candidate(name="m", model="m", base_url=server.base_url)]
        run: Run = await evaluate(who, [CODE], folder=tmp_path / "run", preflight=False)
    got = FirstUsable()(run).rows.iloc[0]
    events = [e for e in next(run.records).last.timeline.events if e.channel == "answer"]
    text, number = "", -1
    while "\np" not in text:
        number += 1
        text += events[number].text
    start = next(run.records).last.timeline.t_send
    assert got["first_usable_ms"] == (events[number].t_ns - start) / MS
