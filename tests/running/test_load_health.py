"""When the client is the limit of a level: by its pace, its core and its clock."""

import pytest

from speedqual.records import Record, Trial
from speedqual.running.load import health
from speedqual.running.load.health import LevelHealth

from .conftest import MS, ok
from .conftest import Timeline as Line


def record(t_sched_ms: float | None = None, late_ms: float | None = None, e2e_ms: float = 10.0, **line) -> Record:
    t_sched = None if t_sched_ms is None else round(t_sched_ms * MS)
    given = {"t_send": 0, "t_sched": t_sched, "stamp": "kernel", "connection": "reused", **line}
    attempt = ok(timeline=Line(**given))
    metrics = {"sched_lag_ms": late_ms, "e2e_user_ms": e2e_ms}
    return Record(trial=Trial(candidate="a", evalset="e", item="i"), attempts=(attempt,), metrics=metrics)


async def said(records: list[Record], loop_ms: float = 0.0, cpu_share: float = 0.1) -> str:
    watched = LevelHealth()
    watched.stop()
    for one in records:
        watched.note(one)
    watched._ticker.histogram.add(round(loop_ms * MS))
    watched._cpu_share = cpu_share
    found = watched.to_dict()
    assert found["limited"] is bool(found["why"])
    return str(found["why"])


@pytest.mark.parametrize(
    ("gap_ms", "late_ms", "is_limit"),
    [(5, 4, False), (5, 6, True), (1, 4, False), (40, 30, False), (40, 45, True), (1000, 45, False), (1000, 60, True)],
)
async def test_an_open_loop_is_bent_by_sends_late_by_a_gap(gap_ms, late_ms, is_limit):
    why = await said([record(k * gap_ms, late_ms) for k in range(100)])
    assert bool(why) is is_limit
    assert not why or f"left {late_ms}.0 ms late" in why


async def test_connecting_is_no_lateness_of_the_client():
    assert await said([record(k, 200, connection="new") for k in range(100)]) == ""


@pytest.mark.parametrize(
    ("e2e_ms", "loop_ms", "is_limit"), [(10, 4, False), (10, 8, True), (400, 15, False), (400, 25, True)]
)
async def test_a_closed_loop_is_bent_by_a_lag_that_its_replies_feel(e2e_ms, loop_ms, is_limit):
    assert bool(await said([record(e2e_ms=e2e_ms)] * 10, loop_ms=loop_ms)) is is_limit


async def test_where_the_kernel_dates_no_reply_a_late_loop_falsifies_them():
    assert await said([record(e2e_ms=400, stamp="data_received")] * 10, loop_ms=6) != ""


async def test_a_busy_core_is_the_limit_whatever_else():
    assert await said([record()] * 10, cpu_share=0.95) == "the client used 95% of a core"


async def test_nothing_seen_is_no_limit():
    assert await said([]) == ""
    assert health.LATE_MS == 5.0
