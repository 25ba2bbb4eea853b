"""Attempts, waits and budgets."""

import pytest

from speedqual.clock import FakeClock
from speedqual.errors import UsageError
from speedqual.records import Message, Prompt, Trial
from speedqual.running import Limits, Retry
from speedqual.running.asking import ask_until_done, retry_wait_s, tier_flags
from speedqual.running.limits import Budget

from .conftest import FakeClient, candidate, failed, ok

TRIAL = Trial(candidate="a", evalset="toy", item="i1")
PROMPT = Prompt(messages=(Message("user", "Question 1"),))


async def ask(replies, retry=Retry(), may_request=lambda: True, seed=0):  # noqa: B008
    clock = FakeClock()
    client = FakeClient(lambda candidate, prompt, number: replies[number - 1])
    attempts = await ask_until_done(
        client, candidate(), PROMPT, TRIAL, retry=retry, seed=seed, clock=clock, may_request=may_request
    )
    return attempts, [t / 1e9 for t in clock.slept]


async def test_each_attempt_is_kept_on_its_own():
    attempts, slept = await ask([failed(status=429, retry_after_s=2.5), failed("disconnect"), ok()])
    assert [(a.number, a.outcome) for a in attempts] == [(1, "http_error"), (2, "disconnect"), (3, "ok")]
    assert slept[0] == 2.5
    assert 2.5 + 2.0 <= slept[1] <= 2.5 + 3.0


async def test_no_more_attempts_than_asked_for():
    attempts, slept = await ask([failed()] * 9, Retry(attempts=4, jitter=0))
    assert len(attempts) == 4
    assert slept == [1, 3, 7]


async def test_what_is_not_retryable_is_not_retried():
    attempts, _ = await ask([failed(retryable=False), ok()])
    assert len(attempts) == 1


async def test_a_wait_longer_than_allowed_ends_the_trial():
    attempts, slept = await ask([failed(retry_after_s=61.0), ok()])
    assert (len(attempts), slept) == (1, [])


async def test_a_stale_connection_is_replaced_at_once_and_is_no_retry():
    stale = failed("disconnect", flags=("stale_connection",))
    attempts, slept = await ask([stale, stale, ok()], Retry(attempts=1))
    assert ([a.outcome for a in attempts], slept) == (["disconnect", "disconnect", "ok"], [])
    for_ever, _ = await ask([stale] * 9, Retry(attempts=1))
    assert len(for_ever) == 3


def test_jitter_comes_from_the_seed_and_the_trial():
    def wait(seed: int, item: str) -> float | None:
        trial = Trial(candidate="a", evalset="toy", item=item)
        return retry_wait_s(failed(), trial, Retry(), seed, counted=1)

    assert wait(1, "i1") == wait(1, "i1")
    assert len({wait(1, "i1"), wait(2, "i1"), wait(1, "i2")}) == 3


async def test_a_budget_of_requests_counts_retries():
    budget = Budget(Limits(requests=2))
    attempts, _ = await ask([failed()] * 9, may_request=budget.may_request)
    assert (attempts, budget.requests) == ((), 2)  # its retries were cut short: it is not finished
    assert budget.stopped_by == "the limit of 2 requests"
    assert not budget.may_start()


def test_a_budget_of_tokens_counts_what_is_in_flight():
    budget = Budget(Limits(tokens=100))
    assert budget.may_start()
    budget.finish(40, 0.0)
    assert budget.may_start()  # 40 + 40
    assert not budget.may_start()  # 40 + 2 × 40
    assert budget.stopped_by == "the limit of 100 tokens"


def test_a_budget_of_money():
    budget = Budget(Limits(usd=1.0))
    for _ in range(3):
        assert budget.may_start()
        budget.finish(1, 0.3)
    assert not budget.may_start()
    assert budget.stopped_by == "the limit of 1 USD"


def test_limits_must_be_positive():
    with pytest.raises(UsageError, match="usd is 0"):
        Limits(usd=0)


@pytest.mark.parametrize(
    ("asked", "served", "flags"),
    [
        ("", "default", ()),
        ("priority", "priority", ()),
        ("Priority", "priority", ()),
        ("standard_only", "standard", ()),
        ("auto", "flex", ()),
        ("priority", "default", ("other_tier",)),
        ("priority", None, ("tier_unknown",)),
    ],
)
def test_a_reply_from_another_tier_is_flagged(asked, served, flags):
    assert tier_flags(candidate(tier=asked), ok(served_tier=served)) == flags
