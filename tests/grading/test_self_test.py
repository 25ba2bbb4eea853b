"""The graders of all built-in sets tell their references from replies made wrong; one that praises everything does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from speedqual.evalsets import builtin_names, load
from speedqual.evalsets.prompts import reference
from speedqual.grading.base import grader_for
from speedqual.grading.selftest import SelfTest, self_test
from speedqual.records import Answer, Grade, Item


def outcome_of(name: str) -> SelfTest:
    evalset = load(name)
    if name == "code":  # programs made wrong may never end: a short limit tells it as well
        options = {**evalset.grader.options, "cpu_s": 0.3}
        evalset = replace(evalset, grader=replace(evalset.grader, options=options))
    return self_test(evalset, grader_for(evalset), lambda item: reference(evalset, item))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "code" else name for name in builtin_names()]
)
def test_no_reply_of_a_built_in_set_is_misjudged(name: str) -> None:
    got = outcome_of(name)
    assert got.slips == () and got.n_undecided == 0 and got.without_reference == ()
    assert got.n_right >= 60 and got.n_wrong >= 3 * got.n_items - 3


def test_calls_are_made_and_not_written() -> None:
    got = outcome_of("tools")
    assert got.n_wrong > 500


@pytest.mark.parametrize("name", ["tools", "facts", "extraction"])
def test_a_grader_that_praises_or_blames_everything_is_found(name: str) -> None:
    evalset = load(name)

    def praise(answer: Answer, item: Item) -> Grade:
        return Grade(score=1.0, verdict="pass")

    def blame(answer: Answer, item: Item) -> Grade:
        return Grade(score=0.0, verdict="fail", failure="wrong_result")

    got = self_test(evalset, praise, lambda item: reference(evalset, item))
    assert {slip.item for slip in got.slips} == {item.id for item in evalset.items}
    assert all(slip.what.startswith("passed") for slip in got.slips)
    blamed = self_test(evalset, blame, lambda item: reference(evalset, item))
    assert len(blamed.slips) == blamed.n_right
