"""The analysis commands on brought tables and on run folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command import Call

from speedqual.cli import main
from speedqual.endpoints.scripted import Script, serve_in_process

BOARD = """# source: a made-up board, licence CC0
model,format,rate,n,sec,usd,size
C# coder,diff,30.0,200,1.0,0,7
small,diff,50.0,200,2.0,0.1,7
large,diff,90.0,200,8.0,1.0,70
large,whole,40.0,200,9.0,1.2,70
"""
COLUMNS = ("--candidate", "model", "--quality", "rate", "--n", "n", "--seconds", "sec", "--cost", "usd")


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "board.csv"
    path.write_text(BOARD, encoding="utf-8")
    return path


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.parquet"
    frame = pd.DataFrame(
        {
            "id": [*range(40)] * 2, "m": ["fast"] * 40 + ["strong"] * 40, "q": [1, 0] * 20 + [1] * 36 + [0] * 4,
            "usd": [0.01] * 40 + [0.1] * 40, "sec": [1.0] * 40 + [5.0] * 40,
        }
    )  # fmt: skip
    frame.to_parquet(path)
    return path


def test_frontier_json_has_points_and_front(call: Call, board: Path) -> None:
    said = call("frontier", board, *COLUMNS, "--floor", 0.8, "--json")
    data: dict[str, Any] = json.loads(said.out)
    assert said.code == 0 and data["front"] == ["C# coder", "small", "large (diff)"]
    by_name = {p["candidate"]: p for p in data["points"]}
    assert by_name["small"]["on_front"] is True and by_name["small"]["p_on_front"] > 0.99
    assert by_name["large (whole)"]["on_front"] is False and data["recommended"] == "large (diff)"


def test_a_line_of_comment_is_skipped_and_a_hash_in_a_name_is_not(call: Call, board: Path) -> None:
    said = call("frontier", board, *COLUMNS)
    assert "C# coder" in said.out and "percent" in said.err and "unknown, not as free" in said.err


def test_zero_cost_can_be_free(call: Call, board: Path) -> None:
    unknown = json.loads(call("frontier", board, *COLUMNS, "--x", "cost", "--json").out)
    free = json.loads(call("frontier", board, *COLUMNS, "--x", "cost", "--zero-cost", "free", "--json").out)
    assert "C# coder" not in unknown["front"] and "C# coder" in free["front"]


def test_frontier_draws_a_file(call: Call, board: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png", "a.pdf"):
        assert call("frontier", board, *COLUMNS, "--plot", tmp_path / name, "--dark").code == 0
        assert (tmp_path / name).stat().st_size > 1000
    assert call("frontier", board, *COLUMNS, "--plot", tmp_path / "a.txt").code == 2


def test_cliffs_json_has_label_and_step(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "ladders.csv"
    path.write_text(
        "model,4k,8k,16k,32k,64k,128k\nfalls,95,94,93,40,39,38\nholds,95,94,93,92,91,90\n", encoding="utf-8"
    )
    rungs = ("--rungs", "4k,8k,16k,32k,64k,128k")
    data = json.loads(call("cliffs", path, "--ladder", "model", *rungs, "--n", 400, "--json").out)
    assert [(one["ladder"], one["label"], one["step"]) for one in data["ladders"]] == [
        ("falls", "cliff", 3),
        ("holds", "none", None),
    ]
    without = json.loads(call("cliffs", path, "--candidate", "model", *rungs, "--json").out)
    assert {one["label"] for one in without["ladders"]} == {"cannot tell"}
    assert call("cliffs", path, "--ladder", "model", *rungs, "--n", 400, "--plot", tmp_path / "c.svg").code == 0


def test_deadlines_route_and_cost(call: Call, items: Path, tmp_path: Path) -> None:
    columns = ("--candidate", "m", "--quality", "q", "--item", "id", "--cost", "usd", "--seconds", "sec")
    switches = json.loads(call("deadlines", items, *columns, "--json").out)["switches"]
    assert [s["candidate"] for s in switches] == ["fast", "strong"]
    routed = call("route", items, *columns, "--json", "--save", tmp_path / "policy.json")
    policies = {p["policy"]: p for p in json.loads(routed.out)["policies"]}
    assert policies["always fast"]["quality"] == 0.5 and policies["always strong"]["quality"] == 0.9
    assert json.loads((tmp_path / "policy.json").read_text())["fast"] == "fast"
    cost = json.loads(call("cost", items, *columns, "--json").out)["candidates"]
    assert cost[0]["cost_per_success"] == pytest.approx(0.4 / 20) and cost[1]["cost_per_success"] == pytest.approx(
        4.0 / 36
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("frontier", "nowhere.csv"), "no such file"),
        (("frontier", "board.csv"), "--candidate"),
        (("frontier", "board.csv", "--candidate", "modle", "--quality", "rate"), "no column 'modle'"),
        (("frontier", "board.csv", *COLUMNS, "--x", "ttft"), "no candidate has a ttft_ms"),
        (("frontier", "board.csv", *COLUMNS, "--floor", "80"), "outside 0 to 1"),
        (("cliffs", "board.csv", *COLUMNS), "no ladder"),
        (("route", "board.csv", *COLUMNS), "needs items"),
        (("frontier", "broken.parquet", *COLUMNS), "cannot be read"),
    ],
)
def test_mistakes_get_one_clear_message_and_code_2(
    call: Call, board: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "broken.parquet").write_text("not parquet")
    said = call(*arguments)
    assert said.code == 2 and words in said.err and "Traceback" not in said.err and said.out == ""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two run folders of the same four questions, from a scripted endpoint."""
    folder = tmp_path_factory.mktemp("runs")
    rows = "".join(f'{{"id": "i{i}", "text": "n is {i}", "target": {{"n": {i}}}}}\n' for i in range(1, 5))
    (folder / "four.jsonl").write_text(rows)
    made = []
    with serve_in_process({"good": Script(ttft_ms=1, tok_s=0, text='{"n": 1}')}) as server:
        for name in ("base", "new"):
            asked = (
                "run",
                "--model",
                "openai/good",
                "--base-url",
                server.base_url,
                "--quiet",
                "--evalset",
                folder / "four.jsonl",
            )
            with pytest.raises(SystemExit) as stop:
                main([str(a) for a in (*asked, "--out", folder / name)])
            assert not stop.value.code
            made.append(folder / name)
    return made[0], made[1]


def test_a_run_folder_goes_through_every_command(call: Call, runs: tuple[Path, Path]) -> None:
    base, _ = runs
    front = json.loads(call("frontier", base, "--json").out)
    assert front["front"] == ["openai/good"] and front["points"][0]["quality"] == 0.25
    assert json.loads(call("deadlines", base, "--json").out)["switches"][0]["candidate"] == "openai/good"
    assert json.loads(call("cost", base, "--json").out)["candidates"][0]["successes"] == 1.0


def test_compare_of_two_small_runs_is_inconclusive_and_writes_its_files(
    call: Call, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    files = ("--markdown", tmp_path / "g.md", "--junit", tmp_path / "g.xml")
    said = call("compare", *runs, *files, "--json")
    data = json.loads(said.out)
    assert said.code == 5 and data["outcome"] == "inconclusive"
    assert "inconclusive" in (tmp_path / "g.md").read_text() and "<testsuite" in (tmp_path / "g.xml").read_text()


def test_compare_with_wide_margins_passes_and_without_sense_is_an_error(
    call: Call, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "m.toml").write_text("[gate]\nquality = 1.0\n")
    assert call("compare", *runs, "--margins", tmp_path / "m.toml").code == 0
    (tmp_path / "m.toml").write_text("[gate]\nquality = 'much'\n")
    said = call("compare", *runs, "--margins", tmp_path / "m.toml")
    assert said.code == 2 and "m.toml: gate.quality" in said.err


def test_compare_refuses_naming_what_differs(call: Call, runs: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs[1], other)
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["machine"]["cpu"] = "another cpu"
    (other / "manifest.json").write_text(json.dumps(manifest))
    said = call("compare", runs[0], other)
    assert said.code == 2 and "another cpu" in said.err
    assert call("compare", runs[0], other, "--allow", "machine").code == 5


def test_history_of_run_folders(call: Call, runs: tuple[Path, Path], tmp_path: Path) -> None:
    third = tmp_path / "third"
    shutil.copytree(runs[1], third)
    said = call("history", *runs, third, "--metric", "quality", "--json", "--plot", tmp_path / "h.svg")
    assert said.code == 0 and len(json.loads(said.out)["points"]) == 3
    assert call("history", *runs).code == 2
