"""The commands around eval sets: exchange in every form both ways, an answer tried on every task, two minutes to a run."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from speedqual.endpoints.scripted import Rule, Script, serve_in_process
from speedqual.evalsets import builtin_names, load
from speedqual.evalsets.prompts import reference
from speedqual.grading.mutations_tools import right_reply

Call = Callable[..., Any]
FORMS = {
    "hf": ("", "prose of the card"),
    "csv": (".csv", "types of cells"),
    "jsonl": (".jsonl", "few-shot"),
    "parquet": (".parquet", "few-shot"),
    "eval-yaml": ("", "for Inspect: the grader"),
    "inspect": ("", "for Inspect: examples"),
    "lm-eval": ("", "for lm-eval: the grader"),
    "promptfoo": (".yaml", "few-shot"),
}
"""Kind of export → suffix, and a word of what it says is lost."""


@pytest.mark.parametrize("kind", FORMS)
def test_out_and_back_from_the_shell(kind: str, call: Call, tmp_path: Path) -> None:
    suffix, lost = FORMS[kind]
    out = tmp_path / f"out{suffix}"
    told = call("evalset", "export", "facts", "--to", kind, "--out", out, "--json")
    moved = json.loads(told.out)
    assert told.code == 0 and moved["kind"] == kind and moved["items"] == len(load("facts").items)
    assert any(lost in what for what in moved["lost"])
    assert [line for line in call("evalset", "export", "facts", "--to", kind, "--out", f"{out}2{suffix}").err.splitlines()
            if line.startswith("lost: ")] == [f"lost: {what}" for what in moved["lost"]]  # fmt: skip
    source = next(out.glob("*.yaml")) if kind == "lm-eval" else out
    back = call("evalset", "import", source, "--out", tmp_path / "back", *(["--from", kind] if kind == "hf" else []))
    assert back.code == 0 and "── prompt of" in back.out, back.err
    assert len(load(tmp_path / "back").items) == moved["items"]


@pytest.mark.parametrize("name", builtin_names())
def test_an_answer_can_be_tried_on_every_task(name: str, call: Call, tmp_path: Path) -> None:
    evalset = load(name)
    item = evalset.items[0]
    right = right_reply(item, reference(evalset, item)).calls if name == "tools" else ()
    made = [{"name": one.name, "arguments": json.loads(one.arguments)} for one in right]
    file = tmp_path / "answer.txt"
    file.write_text(json.dumps(made) if made else reference(evalset, item), encoding="utf-8")
    options = ["--id", item.id, "--answer", file, "--json", *(["--calls"] if made else [])]
    done = call("evalset", "try", name, *options)
    grade = json.loads(done.out)
    assert (done.code, grade["verdict"], grade["failure"]) == (0, "pass", "none")
    keys = {
        "score",
        "score_lenient",
        "verdict",
        "failure",
        "why",
        "how",
        "extracted",
        "repairs",
        "flags",
        "parts",
        "version",
    }
    assert keys <= grade.keys()
    file.write_text("")
    wrong = call("evalset", "try", name, "--id", item.id, "--answer", file, "--json")
    assert json.loads(wrong.out)["score"] == 0


def test_calls_that_are_none_are_said(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    for text, words in (("no", "no JSON"), ('{"a": 1}', "no list of calls")):
        file.write_text(text)
        done = call("evalset", "try", "tools", "--id", load("tools").items[0].id, "--answer", file, "--calls")
        assert done.code == 2 and words in done.err


def test_from_a_table_to_a_run_in_two_minutes(call: Call, tmp_path: Path) -> None:
    """new, check, three prompts, a run on a scripted endpoint: the machine's part of the two minutes."""
    begun = time.monotonic()
    with (tmp_path / "invoices.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "total", "currency"])
        rows.writerows([f"inv-{i}", f"Invoice {i}. To pay: EUR {i}5.50", f"{i}5.50", "EUR"] for i in range(1, 9))
    new = call("evalset", "new", "invoices", "--from", "invoices.csv")
    assert new.code == 0 and new.out.count("── prompt of") == 3 and "8 items" in new.err
    assert call("evalset", "check", "invoices", "--self-test").code == 0
    evalset = load(tmp_path / "invoices")
    rules = tuple(
        Rule(contains=f"Invoice {i}.", text=reference(evalset, item)) for i, item in enumerate(evalset.items, 1)
    )
    with serve_in_process({"m": Script(ttft_ms=1, tok_s=0, rules=rules)}) as server:
        run = call(
            "run", "--model", "openai/m", "--base-url", server.base_url, "--evalset", "./invoices", "--out", "run"
        )
    assert run.code == 0 and "100 %" in run.out and "8/8" in run.out
    took_s = time.monotonic() - begun
    print(f"from a table to a graded run: {took_s:.1f} s")
    assert took_s < 60
