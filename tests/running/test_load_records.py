"""The place of a trial in a load test: in its key, its line on disk and its row; ordinary runs do not change."""

import math

from speedqual.records import Attempt, Candidate, EvalSet, GraderSpec, Item, Place, Record, Timeline, Trial
from speedqual.running.codec import decode_record, encode_record, key_of
from speedqual.running.table import Rows, frame_of

PLACE = Place(layer="arrivals", level="20 req/s", x=20.0, number=7, traffic="batch", session="s1", turn=2, note="warm")


def record_of(**trial):
    asked = Trial(candidate="c", evalset="e", item="i", **trial)
    return Record(trial=asked, attempts=(Attempt(number=1, outcome="ok", timeline=Timeline(t_send=5_000_000)),))


def row_of(record):
    evalset = EvalSet(name="e", task="t", items=(Item(id="i", row={}),), grader=GraderSpec(name="exact"))
    return frame_of([Rows("r", [Candidate(name="c")], [evalset], {0: 0}).row(record, 0)]).iloc[0]


def test_the_key_of_a_load_trial_holds_its_place():
    assert record_of(load=PLACE).trial.key == '["c", "e", "i", 0, "arrivals", "20 req/s", 7]'


def test_ordinary_trials_keep_their_key_and_their_line():
    record = record_of()
    assert record.trial.key == '["c", "e", "i", 0]'
    assert "load" not in encode_record(record, 0, None)["trial"]


def test_a_line_brings_the_place_back():
    record = record_of(load=PLACE, t_sched_ns=1_500_000)
    line = encode_record(record, 0, None)
    assert decode_record(line).trial == record.trial
    assert key_of(line) == record.trial.key


def test_the_row_tells_the_place_and_the_intended_start():
    row = row_of(record_of(load=PLACE, t_sched_ns=1_500_000))
    assert (row.layer, row.level, row.load_x, row.load_number) == ("arrivals", "20 req/s", 20.0, 7)
    assert (row.traffic, row.session, row.turn, row.load_note) == ("batch", "s1", 2, "warm")
    assert (row.sched_ms, row.started_ms) == (1.5, 5.0)


def test_the_row_of_an_ordinary_trial_names_no_layer():
    row = row_of(record_of())
    assert (row.layer, row.level, row.traffic, row.session, row.load_note, row.turn) == ("", "", "", "", "", 0)
    assert all(math.isnan(row[name]) for name in ("load_x", "load_number", "sched_ms"))
