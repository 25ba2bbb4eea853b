"""Servers that refuse, break off, stall or say nothing: each attempt kept, no run hangs, the breaker says why."""

import time

import pytest

from speedqual.analysis.load.timeline import RunTimeline
from speedqual.endpoints.deadlines import Deadlines
from speedqual.endpoints.scripted import Script, Stall, serve_in_process
from speedqual.errors import UsageError
from speedqual.records import Attempt, Timeline
from speedqual.running import LevelFinished, LevelStarted, Limits, Retry
from speedqual.running.load import BreakerRule, Seen, health
from speedqual.running.load.breaker import Breaker, is_fault
from speedqual.running.load.tally import Tally, at_a_glance, broken
from speedqual.timing.goodput import parse_slo

from .conftest import failed, ok
from .loading import entries, level, loaded, on_a_quiet_host

GOOD = Script(ttft_ms=2, tok_s=0, n=3)
NEVER = BreakerRule(in_a_row=10_000, window=10_000)


async def test_retry_after_is_honoured_and_holds_no_other_request_up(tmp_path):
    """Every fifth request is turned away for 300 ms while the schedule goes on, 10 ms apart."""
    turned_away = Script(error="http", status=429, retry_after_s=0.3, ttft_ms=1)
    with serve_in_process({"m": [turned_away, GOOD, GOOD, GOOD, GOOD]}) as server:
        one = level("constant:100", duration_s=0.5)
        run = await loaded(server.base_url, tmp_path / "r", one, retry=Retry(attempts=5), plan={"breaker": NEVER})
    records = list(run)
    assert len(records) == 50 and {record.last.outcome for record in records} == {"ok"}
    again = [record for record in records if len(record.attempts) > 1]
    assert len(again) >= 5
    for record in again:
        first, second = (attempt.timeline.t_send for attempt in record.attempts[:2])
        assert record.attempts[0].status == 429 and second - first >= 300_000_000
        assert "rate_limited" in record.flags
        assert record.metrics["ttft_user_ms"] > 300 > record.metrics["ttft_ms"]
    assert run.df.sort_values("load_number")["sched_ms"].diff().dropna().round(6).eq(10.0).all()


async def test_each_fault_is_counted_and_each_attempt_kept(tmp_path):
    scripts = {
        "m": [
            GOOD,
            Script(error="http", status=503),
            Script(error="reset", error_after=1, ttft_ms=1),
            Script(error="cut", error_after=1, ttft_ms=1),
            Script(error="refuse"),
            Script(error="stream", error_after=1, ttft_ms=1),
        ]
    }
    with serve_in_process(scripts) as server:
        one = level("users:1", n=12)
        retry = Retry(attempts=2, base_s=0.001, jitter=0)
        run = await loaded(server.base_url, tmp_path / "r", one, retry=retry, plan={"breaker": NEVER})
        n_asked = len(server.log())
    outcomes = [attempt.outcome for record in run for attempt in record.attempts]
    assert len(run) == 12
    assert len(outcomes) == n_asked
    assert {"ok", "http_error", "disconnect", "stream_error"} <= set(outcomes)


async def test_a_server_that_never_answers_holds_nobody_up(tmp_path):
    """The drain is over 300 ms after the arrivals, whatever the deadlines of a single reply."""
    begun = time.monotonic()
    with serve_in_process(Script(error="silent")) as server:
        one = level("constant:50", duration_s=0.2)
        run = await loaded(server.base_url, tmp_path / "r", one, plan={"drain_s": 0.3, "breaker": NEVER})
    assert time.monotonic() - begun < 30
    assert len(run) == 10
    assert run.df["outcome"].unique().tolist() == ["timeout"]
    (entry,) = entries(run)
    assert 250 < entry["drained_ms"] - entry["end_ms"] < 5000


@pytest.mark.parametrize("processes", [1, 2])
async def test_when_the_breaker_ends_a_level_open_replies_have_the_time_of_the_drain_and_no_more(tmp_path, processes):
    """Half of the requests hang; the others fail at once, five of them end a level that was to last 100 s."""
    begun = time.monotonic()
    with serve_in_process({"m": [Script(error="silent"), Script(error="http", status=503, ttft_ms=1)]}) as server:
        rule = BreakerRule(in_a_row=5, probes=0)
        one = level("constant:50", duration_s=100.0)
        how = {"plan": {"drain_s": 0.4, "breaker": rule}, "processes": processes}
        run = await loaded(server.base_url, tmp_path / "r", one, **how)
    assert time.monotonic() - begun < 40
    (entry,) = entries(run)
    assert entry["ended"] == "breaker"
    n_failed = (run.df["outcome"] == "http_error").sum()
    assert n_failed == 5 or (n_failed > 5 and processes == 2)  # the other one sends until it is told
    assert (run.df["outcome"] == "timeout").sum() == len(run) - n_failed >= 4
    assert 350 < entry["drained_ms"] - entry["end_ms"] < 5000


async def test_a_retry_that_would_come_after_the_drain_is_not_waited_for(tmp_path):
    """The first replies ask for 50 s of patience; the later ones end the level."""
    patient = Script(error="http", status=429, retry_after_s=50.0)
    begun = time.monotonic()
    with serve_in_process({"m": [patient, Script(error="http", status=401, ttft_ms=1)]}) as server:
        one = level("constant:50", duration_s=100.0)
        how = {"retry": Retry(attempts=3, longest_s=60), "limits": Limits(requests=20)}
        run = await loaded(server.base_url, tmp_path / "r", one, plan={"drain_s": 0.2, "breaker": NEVER}, **how)
    assert time.monotonic() - begun < 30
    assert entries(run)[0]["ended"] == "budget"
    assert {record.last.status for record in run} == {401, 429}


@pytest.mark.parametrize(
    ("script", "deadlines", "outcome"),
    [
        (Script(ttft_ms=1, tok_s=100, n=9, stalls=(Stall(after=2, ms=60_000),)), Deadlines(silence_s=0.2), "timeout"),
        (Script(ttft_ms=60_000), Deadlines(first_token_s=0.2), "timeout"),
        (Script(ttft_ms=300, tok_s=0, n=2), Deadlines(), "ok"),
    ],
    ids=["stall", "late start", "slow start"],
)
async def test_stalls_and_slow_starts_end_by_their_deadlines(tmp_path, script, deadlines, outcome):
    with serve_in_process(script) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("users:3", n=6), deadlines=deadlines)
    assert run.df["outcome"].tolist() == [outcome] * 6
    if outcome == "ok":
        assert (run.df["ttft_ms"] >= 300).all()


async def test_a_storm_of_503_opens_the_breaker_which_says_why(tmp_path):
    told: list[object] = []
    with serve_in_process(Script(error="http", status=503)) as server:
        rule = BreakerRule(in_a_row=5, probes=1, wait_s=0.01)
        levels = [level("constant:200", duration_s=2.0), level("users:2", n=4)]
        run = await loaded(server.base_url, tmp_path / "r", *levels, plan={"breaker": rule}, observers=[told.append])
        n_probes = sum(entry["n_out"] == 0 for entry in server.log()) - len(run)
    (entry,) = entries(run)
    assert entry["ended"] == "breaker" and "5 requests in a row failed" in entry["why"] and "503" in entry["why"]
    assert 5 <= entry["n_sent"] < entry["n_planned"] == 400
    assert len(run) == entry["n_sent"]
    (skipped,) = run.manifest["load"]["skipped"]
    assert skipped["level"] == "users:2" and "breaker is open" in skipped["why"]
    assert n_probes == 1
    assert run.status == "finished"
    ends = [one for one in told if isinstance(one, LevelFinished)]
    assert [one.ended for one in ends] == ["breaker", "skipped"]
    assert [one.level for one in told if isinstance(one, LevelStarted)] == ["constant:200"]


async def test_a_probe_that_is_answered_closes_the_breaker(tmp_path):
    storm = [Script(error="http", status=503)] * 3 + [GOOD] * 9
    with serve_in_process({"m": storm}) as server:
        rule = BreakerRule(in_a_row=3, probes=2, wait_s=0.01)
        levels = [level("users:1", n=6), level("users:2", n=6)]
        run = await loaded(server.base_url, tmp_path / "r", *levels, plan={"breaker": rule})
    first, second = entries(run)
    assert (first["ended"], first["n_sent"]) == ("breaker", 3)
    assert (second["ended"], second["n_sent"]) == ("completed", 6)


async def test_nobody_there_is_an_outcome_and_opens_the_breaker(tmp_path):
    rule = BreakerRule(in_a_row=4, probes=0)
    run = await loaded("http://127.0.0.1:9/v1", tmp_path / "r", level("users:1", n=50), plan={"breaker": rule})
    assert run.df["outcome"].tolist() == ["unreachable"] * 4
    assert run.df["started_ms"].isna().all()
    assert entries(run)[0]["ended"] == "breaker"


@pytest.mark.parametrize(
    ("attempt", "fault"),
    [
        (ok(), False),
        (failed("empty"), False),
        (failed(status=500), True),
        (failed(status=429), True),
        (failed(status=408), True),
        (failed(status=400), False),
        (failed(status=413), False),
        (failed("timeout"), True),
        (failed("unreachable"), True),
        (failed("cut_off"), True),
        (failed("cancelled"), False),
    ],
)
def test_what_counts_as_a_fault_of_the_endpoint(attempt, fault):
    assert is_fault(attempt) is fault


def test_the_breaker_opens_by_share_as_well():
    breaker = Breaker(BreakerRule(in_a_row=100, window=10, share=0.5))
    bad, good = failed(status=503), Attempt(number=1, outcome="ok", timeline=Timeline())
    for attempt in [good, bad] * 4 + [good]:
        breaker.note(attempt)
    assert breaker.opened == ""
    breaker.note(bad)
    assert breaker.opened == "5 of the last 10 requests failed, the last one with http_error 503"
    breaker.close()
    assert breaker.opened == ""


@pytest.mark.parametrize(("field", "value"), [("in_a_row", 0), ("share", 1.5), ("window", 0), ("wait_s", -1)])
def test_a_breaker_that_makes_no_sense_is_refused(field, value):
    with pytest.raises(UsageError, match=field):
        BreakerRule(**{field: value})


@pytest.mark.parametrize(
    ("limits", "words", "n"),
    [(Limits(requests=7), "7 requests", 7), (Limits(tokens=40), "40 tokens", None)],
)
async def test_a_limit_ends_the_level_and_all_after_it(tmp_path, limits, words, n):
    with serve_in_process(GOOD) as server:
        levels = [level("users:1", n=20), level("users:2", n=20)]
        run = await loaded(server.base_url, tmp_path / "r", *levels, limits=limits)
    (entry,) = entries(run)
    assert entry["ended"] == "budget" and words in entry["why"]
    assert (run.status, len(run)) == ("stopped", entry["n_sent"])
    assert n is None or len(run) == n
    assert words in run.manifest["why"]


async def test_the_limit_of_time_cuts_a_level_off(tmp_path):
    with serve_in_process(Script(ttft_ms=60_000)) as server:
        run = await loaded(server.base_url, tmp_path / "r", level("users:1", n=5), limits=Limits(wall_s=0.4))
    (entry,) = entries(run)
    assert (entry["ended"], entry["why"], entry["n_sent"]) == ("budget", "the limit of 0.4 s", 1)
    assert (run.status, len(run)) == ("stopped", 0)


CLIMB = [*(level(f"users:{n}", x=n, n=24) for n in (1, 8, 16)), level("constant:5", duration_s=0.4)]
SLOW = (parse_slo("ttft_ms < 100 @ 90%"),)


async def test_a_broken_slo_ends_the_climb_of_its_layer(tmp_path, monkeypatch):
    """One slot, 30 ms a reply: 8 users wait 240 ms."""
    on_a_quiet_host(monkeypatch)
    with serve_in_process(Script(ttft_ms=30, tok_s=0, n=2), slots=1) as server:
        run = await loaded(server.base_url, tmp_path / "r", *CLIMB, plan={"slos": SLOW})
    assert [(one["level"], one["ended"]) for one in entries(run)] == [
        ("users:1", "completed"),
        ("users:8", "slo"),
        ("constant:5", "completed"),
    ]
    assert "ttft_ms < 100 @ 90%: " in entries(run)[1]["why"] and "of 24 requests kept it" in entries(run)[1]["why"]
    (skipped,) = run.manifest["load"]["skipped"]
    assert skipped["level"] == "users:16" and "easier level broke its SLO (users:8" in skipped["why"]
    assert [one["held"] for one in entries(run)] == ["holds", "fails", "holds"]


async def test_what_the_client_cannot_do_is_not_held_against_the_server(tmp_path, monkeypatch):
    monkeypatch.setattr(health, "judge", lambda *seen: "the client used 99% of a core")
    told: list[object] = []
    with serve_in_process(Script(ttft_ms=30, tok_s=0, n=2), slots=1) as server:
        run = await loaded(server.base_url, tmp_path / "r", *CLIMB[1:], plan={"slos": SLOW}, observers=[told.append])
    assert [(one["ended"], one["held"], one["client"]["limited"]) for one in entries(run)] == [
        ("completed", None, True)
    ] * 3
    assert run.manifest["load"]["skipped"] == []
    ends = [one.client_limit for one in told if isinstance(one, LevelFinished)]
    assert ends == ["the client used 99% of a core"] * 3


async def test_without_early_stop_all_levels_are_climbed(tmp_path):
    with serve_in_process(Script(ttft_ms=30, tok_s=0, n=2), slots=1) as server:
        run = await loaded(server.base_url, tmp_path / "r", *CLIMB, plan={"slos": SLOW, "early_stop": False})
    assert {one["ended"] for one in entries(run)} == {"completed"} and len(entries(run)) == 4


def seen(n_good: int, n_bad: int, traffic: str = "") -> list[Seen]:
    return [Seen(0.0, traffic, "ok", {"ttft_ms": 1.0})] * n_good + [
        Seen(0.0, traffic, "ok", {"ttft_ms": 900.0})
    ] * n_bad


@pytest.mark.parametrize(
    ("share", "good", "bad", "is_broken"),
    [
        (100, 99, 1, True),  # one is enough to refute all
        (100, 5, 0, False),
        (95, 89, 11, False),  # P(X <= 89 | n = 100, p = 0.95) = 0.0115
        (95, 88, 12, True),  # P(X <= 88) = 0.0043
    ],
)
def test_only_what_is_beyond_doubt_ends_a_climb(share, good, bad, is_broken):
    slo = parse_slo(f"ttft_ms < 100 @ {share}%")
    assert bool(broken([slo], seen(good, bad))) is is_broken


def test_an_slo_of_one_class_is_judged_by_that_class():
    slo = parse_slo("batch: ttft_ms < 100")
    assert broken([slo], seen(0, 9, "quick")) == ""
    assert broken([slo], seen(0, 9, "batch")) == "batch: ttft_ms < 100 @ 100%: 0 of 9 requests kept it"
    assert at_a_glance(seen(0, 9, "quick"), [slo]) == "open"
    assert at_a_glance(seen(9, 1, "batch"), [slo]) == "fails"


def test_warm_up_and_cool_down_are_left_out_of_the_judgement():
    one = level("constant:1", duration_s=10.0, warmup_s=2.0, cooldown_s=3.0)
    tally = Tally(SLOW)
    tally.seen = [Seen(t, "", "ok", {}) for t in (0.0, 1.9, 2.0, 6.9, 7.0, 9.9)]
    assert [one.at_s for one in tally.window(one)] == [2.0, 6.9]


async def test_requests_that_reach_no_socket_are_errors_of_the_timeline(tmp_path):
    one = level("constant:50", duration_s=0.4)
    run = await loaded("http://127.0.0.1:9/v1", tmp_path / "r", one, plan={"breaker": NEVER})
    found = RunTimeline(bin_s=0.1)(run).table
    assert (found["errors"].sum(), found["arrivals"].sum(), found["done"].sum()) == (20, 0, 0)
    assert found["t_s"].min() >= 0 and found["t_s"].max() < 30


async def test_a_timeline_of_nothing_says_so(tmp_path):
    run = await loaded("http://127.0.0.1:9/v1", tmp_path / "r", level("users:1", n=2))
    with pytest.raises(UsageError, match="no request of this load test was tried"):
        RunTimeline()(run)


@pytest.mark.parametrize("processes", [1, 2])
async def test_users_whose_requests_are_refused_at_once_do_not_hammer_on(tmp_path, processes):
    with serve_in_process(Script(error="http", status=400, ttft_ms=0)) as server:
        one = level("users:2", duration_s=60.0)
        run = await loaded(server.base_url, tmp_path / "r", one, processes=processes)
    (entry,) = entries(run)
    assert entry["ended"] == "breaker" and entry["end_ms"] - entry["start_ms"] < 10_000
    assert entry["why"] == "20 requests in a row were refused, the last one with http_error 400: mend what is asked"
    assert 20 <= len(run) < 60


def test_refusals_in_a_row_open_the_breaker_and_any_other_reply_begins_the_row_anew():
    breaker = Breaker(BreakerRule())
    for attempt in [failed(status=400)] * 19 + [ok()] + [failed(status=404)] * 19:
        breaker.note(attempt)
    assert not breaker.opened
    breaker.note(failed(status=404))
    assert breaker.opened.startswith("20 requests in a row were refused, the last one with http_error 404")
    breaker.close()
    breaker.note(failed(status=404))
    assert not breaker.opened
