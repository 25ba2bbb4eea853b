"""``speedqual load``: levels in a table, SLOs in the exit code, one message for each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from speedqual.running import Run
from speedqual.running.load import health
from speedqual.timing import throughput


@pytest.fixture(autouse=True)
def quiet_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """No busy machine decides what these tests see: the client is never the limit."""
    monkeypatch.setattr(health, "judge", lambda *seen: "")
    monkeypatch.setattr(health.LevelHealth, "_why_late", lambda *seen: "")
    monkeypatch.setattr(throughput, "LAG_LIMIT_MS", float("inf"))
    monkeypatch.setattr(throughput, "RATIO_LIMIT", 0.0)


def _load(endpoint: str, *words: object, model: str = "good") -> tuple[object, ...]:
    who = ("load", "--model", f"openai/{model}", "--base-url", endpoint, "--quiet", "--no-check", "--out", "r")
    return (*who, *words)


def test_users_and_rates_are_levels_of_one_table(call, endpoint: str, bare_set: Path) -> None:
    said = call(*_load(endpoint, "--users", "1,2", "--requests", "4", "--evalset", bare_set))
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0].startswith("candidate, level") and "goodput" not in lines[0]
    assert [line.split("  ")[0] for line in lines[2:4]] == [
        "openai/good, concurrency 1 user",
        "openai/good, concurrency 2 users",
    ]
    run = Run.open("r")
    assert run.df["score"].notna().all() and len(run) == 8
    assert "run: r" in said.err


def test_json_is_strict_and_tells_levels_knee_and_what_was_skipped(call, endpoint: str) -> None:
    words = ("--rate", "40", "--duration", "2", "--slo", "ttft_ms < 60000 @ 50%", "--json")
    said = call(*_load(endpoint, *words))
    assert said.code == 0, said.out + said.err
    found = json.loads(said.out, parse_constant=lambda name: pytest.fail(name))
    assert found["status"] == "finished" and found["skipped"] == []
    (one,) = found["levels"]
    assert (one["level"], one["unit"], one["ended"], one["x"]) == ("40 req/s", "req/s", "completed", 40.0)
    assert found["knee"]["levels"][0]["state"] == "holds"


def test_a_broken_slo_ends_with_1_and_skips_what_is_harder(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "2,4", "--requests", "8", "--evalset", bare_set, "--slo", "ttft_ms < 0.001")
    said = call(*_load(endpoint, *words))
    assert said.code == 1, said.out + said.err
    assert "fails" in said.out
    assert "4 users: not sent, an easier level broke its SLO" in said.err


def test_layers_that_no_slo_judges_stand_in_the_table_too(call, endpoint: str) -> None:
    words = ("--layers", "short_text,long_input", "--quick", "--context", "400", "--slo", "ttft_ms < 60000 @ 10%")
    said = call(*_load(endpoint, *words, "--no-grade"))
    assert said.code == 0, said.out + said.err
    lines = said.out.splitlines()
    assert lines[2].startswith("openai/good, short_text 1 user") and lines[2].endswith("–")
    assert lines[3].startswith("openai/good, long_input 100 tokens") and lines[3].endswith("holds")


def test_too_few_requests_are_inconclusive(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "1", "--requests", "4", "--evalset", bare_set, "--slo", "ttft_ms < 60000 @ 99%")
    assert call(*_load(endpoint, *words)).code == 5


def test_the_knee_is_searched_and_said(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "1,4", "--requests", "70", "--find-knee", "--slo", "ttft_ms < 60000 @ 80%", "--json")
    said = call(*_load(endpoint, *words, "--evalset", bare_set, "--no-grade"))
    assert said.code == 0, said.out + said.err
    (knee,) = json.loads(said.out)["knee"]["knees"]
    assert (knee["knee"], knee["knee_x"]) == ("4 users", 4.0)


def test_classes_of_traffic_share_a_level(call, endpoint: str, bare_set: Path) -> None:
    words = ("--arrivals", "quick=constant:20", "--arrivals", "batch=constant:5", "--duration", "0.5")
    said = call(*_load(endpoint, *words, "--evalset", f"batch={bare_set}"))
    assert said.code == 0, said.err
    frame = Run.open("r").df
    assert frame["level"].unique().tolist() == ["quick=constant:20 + batch=constant:5"]
    assert frame["traffic"].value_counts().to_dict() == {"quick": 10, "batch": 3}
    assert frame.loc[frame["traffic"] == "batch", "evalset"].unique().tolist() == ["four"]


def test_the_layered_plan_is_printed_by_a_dry_run_and_nothing_is_sent(call) -> None:
    who = ("load", "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    said = call(*who, "--layers", "--quick")
    assert said.code == 0, said.err
    for layer in ("short_text", "long_input", "long_output", "concurrency", "prefix", "cold"):
        assert layer in said.out
    some = json.loads(call(*who, "--layers", "long_output", "--json").out)
    assert {one["layer"] for one in some["levels"]} == {"long_output"}
    (cost,) = some["cost"]["rows"]
    assert cost["requests"] == sum(one["requests"] for one in some["levels"])
    assert (cost["output_tokens"], cost["usd"], some["cost"]["bounded"]) == (2000 * cost["requests"], None, True)
    assert not Path("runs").exists()


def test_a_trace_is_sent_to_its_end_and_its_folder_is_not_told(call, endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("arrival_s,input_tokens,output_tokens\n0,60,5\n0.2,120,5\n0.3,60,5\n", encoding="utf-8")
    said = call(*_load(endpoint, "--arrivals", f"trace:{path}", "--no-grade"))
    assert said.code == 0, said.out + said.err
    assert len(Run.open("r")) == 3
    assert str(tmp_path) not in Path("r/manifest.json").read_text(encoding="utf-8")
    assert Run.open("r").df["evalset"].unique().tolist() == ["trace"]


def test_a_dry_run_says_which_levels_have_no_number(call, bare_set: Path) -> None:
    who = ("load", "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "--dry-run", "--evalset", bare_set)
    said = call(*who, "--users", "2", "--rate", "5", "--pattern", "constant", "--duration", "4")
    assert said.code == 0 and "not counted above: 2 users." in said.err and "no max_tokens" in said.err
    assert said.out.splitlines()[-1].split()[:2] == ["openai/x", "20"]


def test_a_limit_stops_and_resume_goes_on(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "1,2", "--requests", "6", "--evalset", bare_set, "--max-requests", "8")
    first = call(*_load(endpoint, *words))
    assert first.code == 4 and "speedqual load --resume r" in first.err
    second = call("load", "--resume", "r", "--quiet")
    assert second.code == 0, second.err
    assert len(Run.open("r")) == 12


def test_a_test_that_had_no_time_to_begin_says_so(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "1", "--requests", "6", "--evalset", bare_set, "--max-seconds", "0.00001")
    said = call(*_load(endpoint, *words))
    assert said.code == 4, said.err
    assert "Stopped: the limit of 1e-05 s. Go on with: speedqual load --resume r" in said.err


def test_failed_requests_make_a_load_test_without_slos_partial(call, endpoint: str, bare_set: Path) -> None:
    words = ("--users", "1", "--requests", "4", "--evalset", bare_set, "--attempts", "1")
    assert call(*_load(endpoint, *words, "--model", "openai/good", model="cut")).code == 4


def test_settings_of_load_stand_in_a_table_of_their_own(call, endpoint: str, bare_set: Path) -> None:
    table = '[load]\nusers = "1,2"\nrequests = 3\nslos = ["ttft_ms < 60000 @ 10%"]\n'
    Path("speedqual.toml").write_text(table + f'[candidates.mine]\nmodel = "good"\nbase_url = "{endpoint}"\n')
    said = call("load", "--evalset", bare_set, "--out", "r", "--quiet", "--no-check", "--users", "2")
    assert said.code == 0, said.out + said.err
    run = Run.open("r")
    assert [entry["level"] for entry in run.manifest["load"]["levels"]] == ["2 users"]
    assert len(run) == 3 and run.manifest["load"]["slos"][0]["share"] == 0.1
    Path("speedqual.toml").write_text(table.replace("users", "usres"))
    assert "usres" in call("load", "--evalset", bare_set, "--quiet").err


def test_progress_says_the_end_of_each_level(call, endpoint: str, bare_set: Path) -> None:
    words = list(_load(endpoint, "--users", "1", "--requests", "3", "--evalset", bare_set))
    words.remove("--quiet")
    assert "openai/good  concurrency, 1 user: 3 sent, 0 failed, done" in call(*words).err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), ("nothing to send", "--users")),
        (("--users", "1,x"), ("--users", "'x'")),
        (("--users", "1.5"), ("--users", "'1.5'")),
        (("--rate", "0"), ("--rate", "'0'")),
        (("--arrivals", "poison:5"), ("poison", "poisson")),
        (("--arrivals", "gamma:5"), ("cv is missing",)),
        (("--arrivals", "trace:none.csv"), ("none.csv",)),
        (("--users", "1", "--slo", "ttft < 3"), ("'ttft'", "ttft_ms")),
        (("--users", "1", "--slo", "ttft_ms 3"), ("no SLO", "ttft_ms 3")),
        (("--users", "1", "--slo", "ttft_ms < 3 @ 0%"), ("share",)),
        (("--rate", "5", "--warm-up", "20", "--duration", "10"), ("warm-up and cool-down take 20 s of 10 s",)),
        (("--rate", "5", "--requests", "10"), ("an open loop has no end", "duration")),
        (("--rate", "5,5"), ("2 levels", "'5 req/s'")),
        (("--rate", "5", "--find-knee", "--slo", "ttft_ms < 3"), ("no span",)),
        (("--rate", "5,9", "--find-knee"), ("needs an SLO",)),
        (("--rate", "5,9", "--users", "1,2", "--find-knee", "--slo", "ttft_ms < 3"), ("not both",)),
        (("--layers", "cald"), ("'cald'", "cold")),
        (("--users", "1", "--slo", "batch: ttft_ms < 3"), ("'batch'", "batch=poisson:5")),
        (("--users", "1", "--evalset", "batch=extraction"), ("'batch'", "batch=poisson:5")),
        (("--users", "1", "--evalset", "extraction", "--evalset", "facts"), ("2 eval sets",)),
        (("--users", "1", "--evalset", "nowhere"), ("nowhere",)),
    ],
)
def test_each_mistake_has_one_message_with_its_place(call, words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    said = call("load", "--model", "openai/x", "--base-url", "http://127.0.0.1:9/v1", *words)
    assert said.code == 2, said.out + said.err
    message = [line for line in said.err.splitlines() if line.startswith(("speedqual:", "Error:"))]
    assert len(message) == 1, said.err
    for part in parts:
        assert part in message[0]
    assert not Path("runs").exists()


def test_a_resumed_load_test_takes_no_other_plan(call, endpoint: str, bare_set: Path) -> None:
    call(*_load(endpoint, "--users", "1", "--requests", "3", "--evalset", bare_set))
    said = call("load", "--resume", "r", "--users", "2")
    assert said.code == 2 and "--users cannot change it" in said.err
    said = call("run", "--resume", "r", "--quiet")
    assert said.code == 2 and "r: this is a load test. Go on with: speedqual load --resume r" in said.err


def test_a_run_is_no_load_test(call, endpoint: str, bare_set: Path) -> None:
    call("run", "--model", "openai/good", "--base-url", endpoint, "--quiet", "--evalset", bare_set, "--out", "r")
    said = call("load", "--resume", "r", "--quiet")
    assert said.code == 2 and "r: this is no load test. Go on with: speedqual run --resume r" in said.err
