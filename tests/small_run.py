"""A small real run for the report: scripted models that answer rightly, wrongly, with hostile text, or not at all."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import load
from speedqual.records import Candidate
from speedqual.running import Retry, Run, run_sync

HOSTILE = (
    '</script><script>alert(1)</script><img src=x onerror="alert(2)"> \x1b[31mred \u202eevil\u202c \x00 {{ 7*7 }} '
    "<svg/onload=alert(3)> javascript:alert(4) 中文"
)
CARD = """---
license: cc-by-4.0
speedqual:
  task: extraction
  prompt: "{text}"
  grader: {name: extraction, fields: {n: integer}}
  floor: 0.5
  max_tokens: 50
---
"""


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("report") / "secret-user-folder"
    evalset = folder / "数字"
    evalset.mkdir(parents=True)
    (evalset / "README.md").write_text(CARD, encoding="utf-8")
    rows = [{"id": f"item{i}", "text": f"第 {i} 题: number {i} <b>", "target": {"n": i}} for i in range(1, 9)]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (evalset / "test.jsonl").write_text(lines + "\n", encoding="utf-8")
    rules = tuple(Rule(contains=f"number {i} ", text=json.dumps({"n": i})) for i in range(1, 9))
    scripts = {
        "good": Script(ttft_ms=5, tok_s=0, rules=rules),
        "快": Script(ttft_ms=1, tok_s=0, rules=rules[:4], text=HOSTILE),
        "broken": Script(ttft_ms=1, error="cut", error_after=2),
    }
    with serve_in_process(scripts) as server:
        candidates = [
            Candidate(
                name=name, model=name, base_url=server.base_url, ladder="阶梯" if name != "broken" else "", rung=name
            )
            for name in scripts
        ]
        how = {"folder": folder / "run", "retry": Retry(attempts=1), "preflight": False, "seed": 3}
        with ThreadPoolExecutor(1) as aside:  # a browser test has an event loop in this thread
            return aside.submit(run_sync, candidates, [load(evalset)], **how).result()
