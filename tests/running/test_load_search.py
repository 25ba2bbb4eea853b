"""The search for the knee: doubles, halves, stops; each try is a level that is not run twice."""

from dataclasses import replace

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.errors import UsageError
from speedqual.running.load import LoadPlan, Search
from speedqual.running.load.search import next_x
from speedqual.timing.goodput import parse_slo

from .loading import entries, level, loaded, on_a_quiet_host

SLOS = (parse_slo("ttft_ms < 10000"),)
LOW = replace(level("constant:10", duration_s=0.3), x=10.0)


def course(holds_up_to: float, low: float = 1.0, high: float = 1000.0, within: float = 0.1, whole: bool = False):
    """Every x that is tried when levels hold up to one."""
    tried: dict[float, bool] = {}
    while (x := next_x(tried, low, high, within, whole=whole)) is not None:
        assert x not in tried
        tried[x] = x <= holds_up_to
    return tried


@pytest.mark.parametrize("knee", [1, 3, 7.7, 64, 130, 999])
def test_the_knee_is_enclosed_within_a_tenth(knee):
    tried = course(knee)
    holds = max(x for x, held in tried.items() if held)
    assert holds <= knee and len(tried) <= 15
    fails = [x for x, held in tried.items() if not held]
    assert not fails or min(fails) / holds <= 1.1


def test_users_are_whole_and_neighbours_end_the_search():
    assert list(course(5, high=64, whole=True)) == [1, 2, 4, 8, 6, 5]


def test_nothing_above_the_highest_and_nothing_below_the_lowest_is_tried():
    assert list(course(1e9, low=3, high=20)) == [3, 6, 12, 20]
    assert list(course(1, low=3, high=20)) == [3]


async def test_each_try_is_a_level_and_going_on_repeats_none(tmp_path, monkeypatch):
    on_a_quiet_host(monkeypatch)
    asked: list[int] = []

    def judge(seen, slos):
        asked.append(len(seen))
        return "holds" if len(seen) < 12 else "fails"

    plan = {"slos": SLOS, "search": Search(level=LOW, high=160, least_n=1, within=0.2), "early_stop": False}
    with serve_in_process(Script(ttft_ms=2, tok_s=0, n=2)) as server:
        run = await loaded(server.base_url, tmp_path / "r", plan=plan, judge=judge)
        again = await loaded(server.base_url, tmp_path / "r", plan=plan, judge=judge, resume=True)
    assert [(entry["level"], entry["held"]) for entry in entries(run)] == [
        ("10 req/s", "holds"),
        ("20 req/s", "holds"),
        ("40 req/s", "fails"),
        ("28.28 req/s", "holds"),
        ("33.63 req/s", "holds"),
    ]
    assert asked == [3, 6, 12, 9, 11]
    assert entries(again) == entries(run)


def test_a_slow_rate_lasts_until_there_is_enough_to_judge():
    search = Search(level=replace(LOW, warmup_s=0.1), high=100, least_n=50)
    assert [search.at(x).duration_s for x in (10.0, 50.0, 1000.0)] == [5.1, 1.1, 0.3]
    assert search.at(50.0).arrivals == "constant:50"


def test_the_options_of_the_arrivals_stay():
    users = replace(level("users:2,think=3", n=5), x=2.0)
    assert Search(level=users, high=9).at(4.0).arrivals == "users:4,think=3"
    assert Search(level=users, high=9).at(4.0).name == "4 users"


def test_a_search_that_cannot_be_made_is_refused():
    with pytest.raises(UsageError, match="high is 5"):
        Search(level=LOW, high=5)
    with pytest.raises(UsageError, match="do not name 10 alone"):
        Search(level=replace(LOW, arrivals="ramp:1-19"), high=50)
    with pytest.raises(UsageError, match="needs an SLO"):
        LoadPlan(levels=(), search=Search(level=LOW, high=50))


def test_the_plan_survives_its_manifest():
    plan = LoadPlan(levels=(level(n=3),), slos=SLOS, search=Search(level=LOW, high=50))
    assert LoadPlan.from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"arrivals": "poisson:5"}, "an open loop has no end"),
        ({"arrivals": "users:5"}, "a closed loop has no end"),
        ({"arrivals": "users:5", "n": 0}, "n is 0"),
        ({"arrivals": "poisson:5", "duration_s": 3.0, "warmup_s": 2.0, "cooldown_s": 1.0}, "take 3 s of 3 s"),
        ({"arrivals": "poisson:5", "duration_s": 3.0, "warmup_s": -1.0}, "warmup_s is -1"),
        ({"arrivals": "poison:5", "duration_s": 3.0}, "Did you mean poisson:20"),
    ],
)
def test_a_level_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(UsageError, match=words):
        level(**fields)


def test_levels_need_names_of_their_own():
    with pytest.raises(UsageError, match="2 levels of concurrency are named 'users:1'"):
        LoadPlan(levels=(level(n=3), level(n=4)))
