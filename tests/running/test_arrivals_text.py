"""Arrivals as people write them, and what they are told about each slip."""

from __future__ import annotations

from pathlib import Path

import pytest

from speedqual.errors import UsageError
from speedqual.running.arrivals import (
    EXAMPLES,
    Arrival,
    ClosedLoop,
    Constant,
    Conversations,
    GammaBursts,
    Mixed,
    Poisson,
    Ramp,
    Steps,
    Swarm,
    Trace,
    Traffic,
    arrivals,
    read_trace,
)

WRITTEN = {
    "constant:20": Constant(20.0),
    "poisson:0.5": Poisson(0.5),
    "gamma:20,cv=2": GammaBursts(20.0, 2.0),
    "ramp:1-50": Ramp(1.0, 50.0),
    "ramp:1-50,even": Ramp(1.0, 50.0, "even"),
    "step:5,10,20": Steps((5.0, 10.0, 20.0)),
    "step:5,10,even": Steps((5.0, 10.0), "even"),
    "users:8": ClosedLoop(8),
    "users:8,think=1": ClosedLoop(8, 1.0),
    "users:8,think=1,exponential": ClosedLoop(8, 1.0, "exponential"),
    "conversations:4x6,think=2": Conversations(4, 6, 2.0),
    "swarm:20x5,pause=0.5": Swarm(20, 5, 0.5),
    "interactive=poisson:15 + batch=step:1,2": Mixed(
        (Traffic("interactive", Poisson(15.0)), Traffic("batch", Steps((1.0, 2.0))))
    ),
}


@pytest.mark.parametrize(("text", "made"), WRITTEN.items())
def test_what_is_written_is_made_and_written_back(text: str, made: object) -> None:
    assert arrivals(text) == made
    assert arrivals(text).text == text


def test_spaces_and_tight_mixes_are_read() -> None:
    assert arrivals(" step: 5, 10 ") == Steps((5.0, 10.0))
    assert arrivals("a=poisson:1+b=constant:2").text == "a=poisson:1 + b=constant:2"


SLIPS = {
    "poison:20": "there are no arrivals 'poison'. Did you mean poisson:20?",
    "20": "there are no arrivals '20'. Write one like constant:20",
    "poisson": "what comes after the colon is missing. Write it like poisson:20",
    "poisson:": "what comes after the colon is missing. Write it like poisson:20",
    "poisson:fast": "the rate is 'fast', which is no number. Write it like poisson:20",
    "poisson:0": "the rate is 0.0. Give a number above 0",
    "constant:nan": "the rate is nan. Give a number above 0",
    "gamma:20": "cv is missing, the gaps' coefficient of variation. Write it like gamma:20,cv=2",
    "gamma:20,cv=x": "cv is 'x', which is no number. Write it like gamma:20,cv=2",
    "gamma:20,cv=2,cv=3": "cv stands there twice. Write it like gamma:20,cv=2",
    "poisson:20,cv=2": "poisson takes no 'cv'. Write it like poisson:20",
    "ramp:50": "'50' are not two rates. Write it like ramp:1-50",
    "ramp:0-0": "the ramp goes from 0.0 to 0.0. Give two rates of 0 or more",
    "step:5,x,20": "a rate is 'x', which is no number. Write it like step:5,10,20",
    "step:5,0": "a rate of the steps is 0.0. Give a number above 0",
    "users:2.5": "the number of users is '2.5', which is no whole number. Write it like users:8",
    "users:0": "users is 0. Give at least 1",
    "users:2,think=-1": "think is -1.0. Give seconds, 0 or more",
    "users:8,pause=1": "users takes no 'pause'. Write it like users:8,think=1",
    "conversations:4": "'4' are not users x turns. Write it like conversations:4x6,think=2",
    "swarm:4x0": "rounds is 0. Give at least 1",
    "trace:no such file.csv": "no such file.csv: the trace cannot be read: No such file or directory",
    "a=poisson:1 + a=poisson:2": "the classes of a mix are ['a', 'a']. Give two or more",
    "a=poisson:1": "the classes of a mix are ['a']. Give two or more",
    "a=poisson:1 + poisson:2": "a class of the mix has no name: 'poisson:2'. Write: interactive=poisson:15",
    "a=poisson:1 + b=users:2": "users:2 waits for replies, and a mix does not. Mix open loops",
}


@pytest.mark.parametrize(("text", "said"), SLIPS.items())
def test_each_slip_is_told_with_its_mending(text: str, said: str) -> None:
    with pytest.raises(UsageError) as told:
        arrivals(text)
    assert said in str(told.value)


def test_the_examples_work(tmp_path: Path) -> None:
    file = write(tmp_path, "timestamp", "0")
    for kind, text in EXAMPLES.items():
        made = arrivals(text.replace("FILE.csv", str(file)))
        assert made.text.startswith(kind)


# ---------------------------------------------------------------------------------------------------------- traces


def write(folder: Path, *lines: str) -> Path:
    file = folder / "trace.csv"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


PUBLIC = {
    "seconds": ("arrived_at,num_prefill_tokens,num_decode_tokens", "10.5,374,44", "11,396,109"),
    "dates": (
        "TIMESTAMP,ContextTokens,GeneratedTokens",
        "2023-11-16 18:17:03.5000000,374,44",
        "2023-11-16 18:17:04.0000000,396,109",
    ),
    "capitals": ("Timestamp,Model,Request tokens,Response tokens", "5,m,374,44", "5.5,m,396,109"),
    "milliseconds": ("timestamp_ms,input_length,output_length", "27000,374,44", "27500,396,109"),
}


@pytest.mark.parametrize("lines", PUBLIC.values(), ids=PUBLIC)
def test_columns_of_public_traces_are_known(tmp_path: Path, lines: tuple[str, ...]) -> None:
    trace = read_trace(write(tmp_path, *lines))
    assert trace.rows == (
        Arrival(at_ns=0, input_tokens=374, output_tokens=44),
        Arrival(at_ns=500_000_000, input_tokens=396, output_tokens=109),
    )
    assert trace.rate == 2.0


def test_a_trace_plays_faster_and_no_longer_than_the_level(tmp_path: Path) -> None:
    file = write(tmp_path, "arrival,class", "0,a", "1,b", "", "3,a")
    trace = arrivals(f"trace:{file},speed=2")
    assert isinstance(trace, Trace)
    assert [arrival.at_ns for arrival in trace.schedule(0, 60.0)] == [0, 500_000_000, 1_500_000_000]
    assert [arrival.traffic for arrival in trace.schedule(0, 1.5)] == ["a", "b"]
    assert len(list(trace.schedule(0, trace.span_s))) == 3
    assert arrivals(trace.text) == trace


def test_tokens_may_be_unknown(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, "\ufefftime,input_tokens", "0,", "1,7"))
    assert [row.input_tokens for row in trace.rows] == [None, 7]
    assert [row.output_tokens for row in trace.rows] == [None, None]


FAULTS = {
    ("when,tokens", "0,1"): "trace.csv:1: no column is a time, of ['when', 'tokens']. Name one arrived_at",
    ("time,input_tokens", "0,5", "x,5"): "trace.csv:3, column time: 'x' is no time. Write seconds or a date",
    ("time,input_tokens", "nan,5"): "trace.csv:2, column time: 'nan' is no time",
    ("time,input_tokens", ",5"): "trace.csv:2, column time: '' is no time",
    ("time,input_tokens", "0,-5"): "trace.csv:2, column input_tokens: '-5' is no number of tokens",
    ("time,output_tokens", "0,1.5"): "trace.csv:2, column output_tokens: '1.5' is no number of tokens",
    ("time,output_tokens", "0,inf"): "trace.csv:2, column output_tokens: 'inf' is no number of tokens",
    ("time",): "trace.csv: the trace has no rows. Write one line for each request",
    ("time", "2", "1"): "trace.csv:3: the arrival is before that of the row above. Sort the rows by time",
}


@pytest.mark.parametrize(("lines", "said"), FAULTS.items(), ids=[" | ".join(lines) for lines in FAULTS])
def test_faults_of_a_trace_name_file_line_and_column(tmp_path: Path, lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as told:
        read_trace(write(tmp_path, *lines))
    assert said in str(told.value)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(b"time\n\xff\xfe\n")
    with pytest.raises(UsageError, match="Give a CSV file in UTF-8"):
        read_trace(file)
