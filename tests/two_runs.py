"""Two runs of one pair of candidates on two sets: the later one loses some items, gains some, and is slower."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from small_run import HOSTILE

from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import load
from speedqual.records import Candidate
from speedqual.running import Run, run_sync

N = 12


def write_set(folder: Path, name: str) -> Path:
    """Items ``number i``, whose answer is ``{"n": i}``."""
    rows = [{"id": f"{name}-{i}", "text": f"第 {i} 题: number {i} <b>", "target": {"n": i}} for i in range(N)]
    (folder / name).mkdir(parents=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / name / "test.jsonl").write_text(lines, encoding="utf-8")
    return folder / name


def script(right: range, wrong: str, ttft_ms: float) -> Script:
    """Right for the items in ``right``, else ``wrong``."""
    rules = tuple(Rule(contains=f"number {i} ", text=json.dumps({"n": i})) for i in right)
    return Script(ttft_ms=ttft_ms, tok_s=0, rules=rules, text=wrong)


def measure(folder: Path, sets: list[Path], scripts: dict[str, Script], seed: int, **params: object) -> Run:
    with serve_in_process(scripts) as server:
        asked = [Candidate(name=name, model=name, base_url=server.base_url, params=params) for name in scripts]
        how = {"folder": folder, "preflight": False, "seed": seed}
        with ThreadPoolExecutor(1) as aside:  # a browser test has an event loop in this thread
            return aside.submit(run_sync, asked, [load(one) for one in sets], **how).result()


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("compare") / "secret-user-folder"
    sets = [write_set(folder, "发票"), write_set(folder, "mail")]
    before = {"fast": script(range(1, 9), '{"n": 77}', 1), "强力档": script(range(N), "", 3)}
    after = {"fast": script(range(5), HOSTILE, 4), "强力档": script(range(N), "", 3)}
    return (
        measure(folder / "base", sets, before, 1, temperature=0),
        measure(folder / "new", sets, after, 2, temperature=0.7),
    )
