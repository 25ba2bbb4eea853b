"""Reading what lies on disk: whole, cut off, damaged, stale, foreign."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from speedqual.errors import RunFolderError, StorageError
from speedqual.grading import base
from speedqual.records import Grade, GraderSpec
from speedqual.running import Run, evaluate, regrade
from speedqual.running.columns import COLUMNS, page
from speedqual.running.layout import Layout

from .conftest import FakeClient, candidate, echo, ok, toy_evalset


@pytest.fixture
async def folder(tmp_path):
    await evaluate([candidate()], [toy_evalset(4)], folder=tmp_path / "run", client=FakeClient(echo))
    return tmp_path / "run"


def test_a_cut_last_line_is_left_out(folder):
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    run = Run.open(folder)
    assert len(run) == len(list(run.records)) == len(run.df) == 3


def test_a_damaged_line_is_named(folder):
    path = folder / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{not json\n" + lines[2])
    with pytest.raises(RunFolderError, match=r"run/records\.jsonl:2: the line is damaged"):
        list(Run.open(folder).records)


def test_damaged_events_are_named(folder):
    path = folder / "events" / "0000.jsonl.gz"
    path.write_bytes(b"\0" * path.stat().st_size)
    with pytest.raises(RunFolderError, match=r"run/events/0000\.jsonl\.gz: the token events at byte 0"):
        list(Run.open(folder).records)
    assert len(Run.open(folder).df) == 4


async def test_records_whose_events_never_reached_the_disk_are_asked_again(folder):
    path = folder / "events" / "0000.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-5])
    client = FakeClient(echo)
    run = await evaluate([candidate()], [toy_evalset(4)], folder=folder, client=client, resume=True)
    assert len(client.asked) == 1
    assert sorted(record.trial.item for record in run.records) == ["i0", "i1", "i2", "i3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no manifest"),
        (b"{", r"manifest\.json: the file is damaged"),
        (b"[]", "no manifest of a run"),
        (b'{"format": 99, "run": "x"}', "format 99"),
    ],
)
def test_what_is_no_run_says_so(folder, content, message):
    path = folder / "manifest.json"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(RunFolderError, match=message):
        Run.open(folder)


def test_no_folder_says_so(tmp_path):
    with pytest.raises(RunFolderError, match="no such folder"):
        Run.open(tmp_path / "absent")


def test_a_missing_or_damaged_eval_set_is_named(folder):
    (path,) = (folder / "evalsets").iterdir()
    path.write_text('{"name": "toy"}')
    with pytest.raises(RunFolderError, match=f"run/evalsets/{path.name}"):
        _ = Run.open(folder).evalsets


def test_the_table_is_made_again_when_it_is_stale(folder):
    parquet = folder / "records.parquet"
    assert parquet.exists()
    before = Run.open(folder).df
    parquet.write_bytes(b"rubbish")
    assert Run.open(folder).df.equals(before)
    records = folder / "records.jsonl"
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:2]))
    assert len(Run.open(folder).df) == 2


def test_the_table_reads_the_same_from_parquet_and_from_records(folder):
    kept = Run.open(folder).df
    (folder / "records.parquet").unlink()
    made = Run.open(folder).df
    assert made.equals(kept)
    assert dict(made.dtypes) == dict(kept.dtypes)


def test_a_folder_can_be_moved(folder, tmp_path):
    before = Run.open(folder).df
    moved = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, moved)
    assert Run.open(moved).df.equals(before)


def test_every_column_is_documented_once():
    names = [column.name for column in COLUMNS]
    assert len(names) == len(set(names))
    assert all(column.doc for column in COLUMNS)


def test_code_of_an_eval_set_does_not_run_from_a_folder_unasked(folder):
    (path,) = (folder / "evalsets").iterdir()
    data = json.loads(path.read_bytes())
    data["grader"]["options"] = {"_source": "x = 1", "_file": "grader.py", "_allow_code": True}
    path.write_text(json.dumps(data))
    seen = []

    def make(evalset):
        seen.append(evalset.grader.options.get("_allow_code"))
        return lambda answer, item: Grade(score=1.0, verdict="pass")

    base.register("toy", make)
    run = Run.open(folder)
    assert run.evalsets[0].grader == GraderSpec(name="toy", options={"_source": "x = 1", "_file": "grader.py"})
    regrade(run)
    regrade(run, allow_code=True)
    assert seen == [False, True]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        Layout(tmp_path / "file" / "run").create()


def test_the_page_of_columns_is_fresh():
    path = Path(__file__).parents[2] / "docs" / "columns.md"
    assert path.read_text(encoding="utf-8") == page(), "run: python -m speedqual.running.columns > docs/columns.md"


async def test_sets_that_differ_in_name_and_floor_alone_keep_their_own(tmp_path):
    sets = [replace(toy_evalset(2, name), floor=floor, hash="") for name, floor in (("a", 0.5), ("b", 0.9))]
    run = await evaluate([candidate("m")], sets, folder=tmp_path / "run", client=FakeClient(lambda *_: ok("0")))
    assert [(kept.name, kept.floor) for kept in run.evalsets] == [("a", 0.5), ("b", 0.9)]
    assert run.evalsets[0].hash == run.evalsets[1].hash != ""
    assert run.df.groupby("evalset")["floor"].first().to_dict() == {"a": 0.5, "b": 0.9}
