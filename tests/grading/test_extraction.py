"""What an extraction must score: one case a kind of answer that public graders judge wrongly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from speedqual.errors import EvalSetError
from speedqual.grading import extraction
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

F = "```"


def grade(text: str, target: Any, *, stop: Any = "stop", row: dict[str, Any] | None = None, **options: Any) -> Grade:
    item = Item(id="1", row=row or {}, target=target)
    spec = GraderSpec(name="extraction", options=options)
    evalset = EvalSet(name="t", task="extraction", items=(item,), grader=spec)
    return extraction.make(evalset)(Answer(text=text, stop=stop), item)


def value(got: Any, want: Any, kind: str, **options: Any) -> Grade:
    return grade(json.dumps({"v": got}, ensure_ascii=False), {"v": want}, fields={"v": kind}, **options)


# ------------------------------------------------------------------------------------------- JSON inside prose

TOTAL = {"total": 12}
IN_PROSE = {
    "prose": 'Here you go: {"total": 12}. Note {this} is fine.',
    "fence": f'{F}json\n{{"total": 12}}\n{F}',
    "bash first": f'{F}bash\ncurl -d \'{{"total": 99}}\' x\n{F}\n{{"total": 12}}',
    "bash last": f'{{"total": 12}}\nTry it:\n{F}bash\ncurl -d \'{{"total": 99}}\' x\n{F}',
    "draft": '{"draft": 1}\nFinal:\n{"total": 12}',
    "draft with the key": '{"total": 1}\nOn second thought:\n{"total": 12}',
    "thinking": '<think>{"total": 99}</think>{"total": 12}',
    "thinking, no opening tag": 'maybe {"total": 99}\n</think>\n{"total": 12}',
    "fence inside": '{"total": 12, "note": "' + f"{F}\\nx\\n{F}" + '"}',
    "denied draft": 'not {"total": 13} but {"total": 12}',
    "denied afterwards": '{"total": 12} (not {"total": 13})',
    "Chinese prose": '结果如下：{"total": 12}。其中{说明}略。',
    "an example after": '{"total": 12}\nFor example, {"total": 5} would be wrong.',
    "empty braces after": '{"total": 12}\nUse {} for nothing.',
}


@pytest.mark.parametrize("name", IN_PROSE)
def test_json_is_found_wherever_it_stands(name: str) -> None:
    target = {**TOTAL, "note": f"{F}\nx\n{F}"} if name == "fence inside" else TOTAL
    got = grade(IN_PROSE[name], target)
    assert (got.score, got.score_lenient, got.verdict, got.failure) == (1.0, 1.0, "pass", "none")
    assert got.how in {"bare", "fence", "prose"}
    assert got.parts["valid_json"] is (name == "fence inside")


def test_a_list_of_one_is_lenient_only() -> None:
    got = grade('[{"total": 12}]', TOTAL)
    assert (got.score, got.score_lenient, got.failure) == (0.0, 1.0, "wrong_format")
    assert got.parts["valid_json"] is True
    assert "unwrapped" in got.flags
    assert grade('[{"total": 12}, {"total": 13}]', TOTAL).score_lenient == 0.0


def test_an_envelope_is_lenient_only() -> None:
    got = grade('{"result": {"total": 12}}', TOTAL)
    assert (got.score, got.score_lenient) == (0.0, 1.0)


def test_unclosed_thinking_is_truncated() -> None:
    assert grade('<think>{"total": 12}', TOTAL).failure == "truncated"


# ------------------------------------------------------------------------------------------------ not quite JSON


@pytest.mark.parametrize(
    "text",
    [
        '{"total": 12,}',
        "{'total': 12}",
        '{"total": 12, "tax": None}',
        '{"total": 12 // note\n}',
        '{"total": 12 /* note */}',
        '{"total": 12, "tax": null, # note\n"note": null}',
        "{total: 12}",
        '{"total"：12}',
    ],
)
def test_what_can_be_mended_is_lenient_and_counted(text: str) -> None:
    got = grade(text, TOTAL)
    assert (got.score, got.score_lenient, got.repairs, got.failure) == (0.0, 1.0, 1, "wrong_format")
    assert got.parts["schema_ok"] is False
    assert "repaired" in got.flags


def test_a_raw_line_break_is_mended() -> None:
    got = grade('{"note": "a\nb"}', {"note": "a\nb"})
    assert (got.score, got.score_lenient, got.repairs) == (0.0, 1.0, 1)


@pytest.mark.parametrize(
    "text", ['{"total": 012}', '{"total": NaN}', '{"total": Infinity}', '{"total": 1_2}', '{"total": }']
)
def test_what_would_be_a_guess_is_never_mended(text: str) -> None:
    got = grade(text, TOTAL)
    assert (got.score, got.score_lenient, got.failure, got.repairs) == (0.0, 0.0, "wrong_format", 0)


@pytest.mark.parametrize("stop", ["stop", "length", None])
def test_a_cut_answer_lists_what_was_there(stop: str | None) -> None:
    got = grade('{"total": 12, "items": [{"sku": "a"}, {"sku": "b', {"total": 12, "items": []}, stop=stop)
    assert (got.score, got.score_lenient, got.failure) == (0.0, 0.0, "truncated")
    assert got.parts["recovered"] == ["items", "total"]


def test_a_finished_answer_at_the_token_limit_counts() -> None:
    assert grade('{"total": 12}', TOTAL, stop="length").score == 1.0
    assert grade("The invoice shows", TOTAL, stop="length").failure == "truncated"


def test_two_values_for_one_key_are_ambiguous() -> None:
    got = grade('{"total": 11, "total": 12}', TOTAL)
    assert (got.score, got.failure) == (0.0, "ambiguous")
    assert "duplicate_key" in got.flags


def test_a_broken_final_answer_is_not_replaced_by_the_draft() -> None:
    assert grade('{"total": 12}\nFinal: {"total": 012}', TOTAL).failure == "wrong_format"
    assert grade('{"meta": {"total": 12}, "x": 012}', TOTAL).score == 0.0


# -------------------------------------------------------------------------------------------------- no answer


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("", "no_answer"),
        (" \n\t", "no_answer"),
        ("null", "no_answer"),
        ("{}", "no_answer"),
        ("I don't know.", "no_answer"),
        ("我不知道。", "no_answer"),
        ("I can't help with that.", "refused"),
        ("抱歉，我无法提供帮助。", "refused"),
        ("The total is 12.", "wrong_format"),
    ],
)
def test_no_answer_is_no_pass(text: str, failure: str) -> None:
    got = grade(text, TOTAL)
    assert (got.score, got.verdict, got.failure) == (0.0, "fail", failure)


def test_both_sides_empty_is_right() -> None:
    assert grade("{}", {}).score == 1.0
    assert grade('{"tags": []}', {"tags": []}).score == 1.0
    assert grade('{"tax": null}', {"tax": None}).score == 1.0
    assert grade("", {}).failure == "no_answer"


# --------------------------------------------------------------------------------- null, missing, extra, lists

REF = {"a": 1, "b": None, "tags": ["x", "y"]}


def dump(**changes: Any) -> str:
    return json.dumps({k: v for k, v in {**REF, **changes}.items() if v != "absent"})


def test_null_on_both_sides_is_right_and_outside_f1() -> None:
    got = grade(dump(), REF)
    assert (got.score, got.verdict) == (1.0, "pass")
    assert (got.parts["tp"], got.parts["abstained"]) == (3, 1)


def test_a_missing_key_equals_null_unless_strict() -> None:
    got = grade(dump(b="absent"), REF)
    assert (got.score, got.verdict, got.parts["schema_ok"]) == (1.0, "pass", False)
    strict = grade(dump(b="absent"), REF, strict_null=True)
    assert strict.verdict == "partial"
    assert strict.parts["omitted"] == ["b"]


@pytest.mark.parametrize("blank", ["", "N/A", "null", "none", "无", "-"])
def test_a_word_for_null_is_wrong_and_flagged(blank: str) -> None:
    got = grade(dump(b=blank), REF)
    assert got.verdict == "partial"
    assert "null_like" in got.flags


def test_a_value_where_gold_is_null_is_invented() -> None:
    got = grade(dump(b=5), REF)
    assert (got.verdict, got.failure, got.parts["fp"]) == ("partial", "invented_field", 1)


def test_an_extra_key_costs_precision_unless_ignored() -> None:
    got = grade(dump(c=9), REF)
    assert got.parts["exact"] is False
    assert (got.parts["precision"], got.parts["recall"]) == (3 / 4, 1.0)
    assert got.score == pytest.approx(6 / 7)
    assert grade(dump(c=9), REF, ignore=["c"]).score == 1.0
    assert grade(dump(c=9), REF, score="exact").score == 0.0


def test_lists_are_multisets_unless_declared_ordered() -> None:
    assert grade(dump(tags=["y", "x"]), REF).score == 1.0
    assert grade(dump(tags=["y", "x"]), REF, lists="sequence").verdict == "partial"
    assert grade(dump(tags=["y", "x"]), REF, ordered=["tags"]).verdict == "partial"
    assert grade(dump(tags=["x", "y"]), REF, lists="sequence").score == 1.0


def test_a_doubled_element_is_wrong_with_partial_credit() -> None:
    got = grade(dump(tags=["x", "x", "y"]), REF)
    assert got.verdict == "partial"
    assert got.parts["fields"]["tags[]"]["f1"] == pytest.approx(0.8)


def test_rows_are_matched_by_best_assignment() -> None:
    want = {"items": [{"sku": "001", "n": 1}, {"sku": "002", "n": 2}, {"sku": "003", "n": 3}]}
    got = grade('{"items": [{"sku": "003", "n": 3}, {"sku": "001", "n": 9}]}', want)
    assert (got.parts["tp"], got.parts["fp"], got.parts["fn"]) == (3, 1, 3)
    assert got.parts["rows"]["items[]"] == {"tp": 1, "fp": 1, "fn": 2, "f1": pytest.approx(0.4)}
    assert got.parts["omitted"] == ["items[1].sku", "items[1].n"]


def test_rows_are_matched_by_their_declared_key_first() -> None:
    want = {"items": [{"sku": "a", "n": 1, "p": 2}, {"sku": "b", "n": 3, "p": 4}]}
    text = json.dumps({"items": [{"sku": "b", "n": 1, "p": 2}, {"sku": "a", "n": 3, "p": 4}]})
    keyed = grade(text, want, keys={"items": "sku"})
    assert (keyed.parts["tp"], keyed.parts["fp"]) == (2, 4)
    free = grade(text, want)
    assert (free.parts["tp"], free.parts["fp"]) == (4, 2)


def test_omitted_wrong_and_invented_are_told_apart() -> None:
    got = grade('{"a": 2, "d": "x"}', {"a": 1, "b": "y", "c": None})
    assert [entry["field"] for entry in got.parts["wrong"]] == ["a"]
    assert got.parts["omitted"] == ["b"]
    assert [entry["field"] for entry in got.parts["invented"]] == ["d"]
    assert got.failure == "wrong_field"
    assert grade('{"a": 1}', {"a": 1, "b": "y"}).failure == "omission"


def test_a_wrong_shape_is_wrong_not_a_crash() -> None:
    assert grade('{"a": {"b": 1}}', {"a": 1}).score == 0.0
    assert grade('{"a": 1}', {"a": {"b": 1}}).score == 0.0
    assert grade('{"a": "x"}', {"a": ["x"]}).score == 0.0
    assert grade('{"a": "x"}', {"a": ["x"]}).score_lenient == 1.0
    assert grade('{"a": ["x"]}', {"a": "x"}).score_lenient == 1.0


def test_a_list_at_the_top() -> None:
    want = [{"n": 1}, {"n": 2}]
    assert grade('[{"n": 2}, {"n": 1}]', want).score == 1.0
    assert grade('Found: [{"n": 1}, {"n": 2}] in [3].', want).score == 1.0
    assert grade('["b", "a"]', ["a", "b"]).score == 1.0
    assert grade("[]", want).failure == "no_answer"


# -------------------------------------------------------------------------------------- types of gold and answer


def test_gold_null_and_a_hallucinated_zero() -> None:
    assert grade('{"tax": null}', {"tax": None}).verdict == "pass"
    assert grade("{}", {"tax": None}).verdict == "pass"
    assert grade("{}", {"tax": None}, strict_null=True).verdict == "fail"
    assert grade('{"tax": "0"}', {"tax": None}).failure == "invented_field"


def test_gold_of_another_json_type_is_read_by_the_declared_type() -> None:
    got = value(2029, "2029", "number")
    assert got.verdict == "pass"


def test_a_gold_key_that_the_schema_lacks_is_an_error_before_the_run() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    with pytest.raises(EvalSetError, match="'b'"):
        grade("{}", {"a": 1, "b": 2}, schema=schema)


def test_unknown_options_and_types_are_errors() -> None:
    with pytest.raises(EvalSetError, match="no option 'strict_nul'"):
        grade("{}", {}, strict_nul=True)
    with pytest.raises(EvalSetError, match="unknown type 'nmber'"):
        grade("{}", {}, fields={"a": "nmber"})
    with pytest.raises(EvalSetError, match="keyword 'propertys'"):
        grade("{}", {}, schema={"propertys": {}})
    with pytest.raises(EvalSetError, match="lists is 'set'"):
        grade("{}", {}, lists="set")


def test_gold_that_its_type_cannot_read_is_compared_as_text() -> None:
    got = value("sometime in May", "Sometime in  May", "date")
    assert got.verdict == "pass"
    assert "gold_as_text" in got.flags


def test_a_number_as_a_string_is_right_but_not_of_its_type() -> None:
    got = value("12", 12, "number")
    assert (got.score, got.parts["type_ok"], got.parts["schema_ok"]) == (1.0, False, False)


def test_ids_keep_leading_zeros() -> None:
    assert value("007", "007", "id").score == 1.0
    assert value(7, "007", "id").score == 0.0
    assert value("7", "007", "id").score == 0.0


def test_ambiguous_numbers_do_not_match_and_are_flagged() -> None:
    for text in ("1.234,50", "1.234"):
        got = value(text, 1234.5, "number")
        assert (got.score, got.failure) == (0.0, "ambiguous")
        assert "ambiguous" in got.flags
    assert value("1.234,50", 1234.5, "number", locale="de").score == 1.0


def test_ambiguous_dates_do_not_match_and_are_flagged() -> None:
    assert value("03/04/2024", "2024-03-04", "date").failure == "ambiguous"
    assert value("03/04/2024", "2024-03-04", "date", date_order="mdy").score == 1.0
    assert value("03/04/2024", "2024-03-04", "date", date_order="dmy").score == 0.0
    assert value("2024-02-30", "2024-03-04", "date").failure == "wrong_format"


def test_large_numbers_lose_no_digit() -> None:
    assert grade('{"n": 12345678901234567890}', {"n": 12345678901234567891}).score == 0.0
    assert grade('{"n": 12345678901234567891}', {"n": 12345678901234567891}).score == 1.0
    assert grade('{"n": 0.12345678901234567891}', {"n": "0.12345678901234567890"}, fields={"n": "number"}).score == 0.0
    assert grade('{"n": 1000002}', {"n": 1000001}).score == 0.0
    assert grade('{"n": 1000002}', {"n": 1000001}, tolerance="1%").score == 1.0


def test_nested_types_are_declared_as_in_the_card() -> None:
    fields = {"total": "number", "due": "date", "currency": "currency", "items": [{"sku": "id", "price": "money"}]}
    want = {"total": 1200, "due": "2024-03-04", "currency": "CNY", "items": [{"sku": "01", "price": "5元"}]}
    text = '{"total": "1,200", "due": "2024年3月4日", "currency": "人民币", "items": [{"sku": "01", "price": "¥5.00"}]}'
    assert grade(text, want, fields=fields).score == 1.0


def test_schema_validity_is_told_raw_and_after_repair() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert grade('{"a": 1}', {"a": 1}, schema=schema).parts["schema_ok"] is True
    mended = grade('{"a": 1,}', {"a": 1}, schema=schema)
    assert (mended.parts["schema_ok"], mended.parts["schema_ok_repaired"]) == (False, True)
    assert grade('{"a": "1"}', {"a": 1}, schema=schema).parts["schema_ok_repaired"] is False


def test_text_that_the_source_does_not_hold_is_flagged() -> None:
    row = {"text": "Sold by ACME  Ltd., Lyon."}
    got = grade('{"seller": "Acme Ltd", "city": "Paris"}', {"seller": "ACME Ltd.", "city": "Lyon"}, row=row)
    assert got.parts["unsupported"] == ["city"]
    assert "unsupported_value" in got.flags


def test_key_spelling_is_lenient_only() -> None:
    got = grade('{"Due Date": "2024-03-04"}', {"due_date": "2024-03-04"})
    assert (got.score, got.score_lenient, got.repairs) == (0.0, 1.0, 1)


def test_grades_can_be_written_as_json() -> None:
    got = grade('{"a": 1.50, "b": [1, {"c": 2}]}', {"a": 1.5, "b": 3})
    assert json.loads(json.dumps(got.to_dict()))["extracted"]["a"] == 1.5
