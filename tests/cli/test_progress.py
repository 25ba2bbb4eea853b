"""Progress on stderr: time to go from the pace of the last trials, not from the time since the start."""

from __future__ import annotations

import pytest

from speedqual.cli.pace import Pace, clock_text
from speedqual.cli.progress import Progress
from speedqual.records import Trial
from speedqual.running import Started, TrialFinished, TrialStarted


def test_trials_side_by_side_share_the_time_to_go() -> None:
    pace = Pace()
    for lane in range(4):
        pace.start(f"t{lane}", 100.0)
    assert pace.to_go_s(40) is None
    pace.end("t0", 110.0)
    # 10 s a trial, 4 in flight: 39 trials take 97.5 s; time since the start over done would say 390 s
    assert pace.to_go_s(39) == 10.0 * 39 / 4


def test_one_slow_trial_does_not_set_the_pace() -> None:
    pace = Pace()
    now = 0.0
    for number, took in enumerate([1.0, 1.0, 60.0, 1.0, 1.0]):
        pace.start(f"t{number}", now)
        now += took
        pace.end(f"t{number}", now)
    assert pace.to_go_s(10) == 10.0


def test_old_trials_are_forgotten() -> None:
    pace = Pace()
    for number in range(100):
        pace.start(f"t{number}", 0.0)
        pace.end(f"t{number}", 9.0 if number < 50 else 2.0)
    assert pace.to_go_s(3) == 6.0


def test_a_trial_nobody_saw_start_says_nothing() -> None:
    pace = Pace()
    pace.end("late", 5.0)
    assert pace.to_go_s(1) is None


def test_seconds_as_a_clock() -> None:
    assert [clock_text(s) for s in (0.4, 59.6, 3599.0, 7322.0)] == ["0:00", "1:00", "59:59", "2:02:02"]


def test_the_line_says_how_long_to_go(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([float(second) for second in range(0, 2000, 30)])
    monkeypatch.setattr("speedqual.cli.progress.time.monotonic", lambda: next(clock))
    progress = Progress()
    progress(Started(run="r", folder="f", n_trials=4, n_done=0, candidates=("a",), evalsets=("e",)))
    for number in range(2):
        trial = Trial(candidate="a", evalset="e", item=str(number), repeat=0)
        progress(TrialStarted(trial=trial))  # the clock moves on by 30 s each time it is read
        progress(TrialFinished(trial=trial, outcome="ok", metrics={"ttft_ms": 120.0}, flags=()))
    lines = capsys.readouterr().err.splitlines()
    assert "1:30 to go" in lines[0] and "TTFT 120 ms" in lines[0]  # 3 left × 30 s
    assert "1:00 to go" in lines[1]
