"""The sections of a load test's report, from a real small load test of every layer against the scripted endpoint."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from loadruns import Made, attempt, entry, record

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.records import Candidate
from speedqual.report.context import Context
from speedqual.report.loads import loads_of
from speedqual.report.sections import layers, load, load_errors, load_quality, tails
from speedqual.report.sections.load import levels_table, sentences
from speedqual.report.sections.tails import named_rows
from speedqual.report.sections.verdict import sentences as verdict
from speedqual.report.words import Words
from speedqual.running import Retry, Run
from speedqual.running.load import load_test
from speedqual.running.load.layers import Scale, layered
from speedqual.timing.goodput import parse_slo

SECTIONS = {"load": load, "loadquality": load_quality, "tails": tails, "layers": layers, "loaderrors": load_errors}
SCALE = Scale(
    langs=("en",), short_n=2, short_tokens=8, input_tokens=(100, 400), output_tokens=(240,), output_n=2, users=(1, 2, 4),
    items=5, prefix_tokens=100, prefix_shares=(0.0, 1.0), prefix_lines=(0.5,), prefix_pairs=2, idle_s=(0.05,), idle_n=2,
)  # fmt: skip
LETTERS = re.compile(r"[A-Za-z]{3,}")
SAME = {"quick", "TTFT", "token", "Wilson", "ttft", "story", "needle"}
"""A candidate, a measure, a unit, a statistician; promises and items are named as they were given."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_in_process({"quick": Script(ttft_ms=2, tok_s=4000, n=240, n_cached=60)}) as served:
        yield served.base_url


@pytest.fixture(scope="module")
def run(server: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = layered(scale=SCALE, slos=(parse_slo("ttft_ms < 2000 @ 50%"),))
    candidates = [Candidate(name="quick <b>", model="quick", base_url=server)]
    folder = tmp_path_factory.mktemp("load") / "run"
    asked: dict[str, Any] = {"evalsets": made.evalsets, "preflight": False, "warm_up": False, "environ": {}}
    return asyncio.run(load_test(candidates, made.plan, folder=folder, retry=Retry(attempts=1), **asked))


def context_of(run: Run, lang: str = "en", *, limited: bool = False) -> Context:
    """The run as if its client had (or had not) been the limit: this machine may be busy with other things."""
    for one in run.manifest["load"]["levels"]:
        one["client"] = {"limited": limited, "why": "the event loop was late" if limited else ""}
    return Context(run, Words.load(lang))


@pytest.fixture(scope="module")
def parts(run: Run) -> dict[str, str]:
    context = context_of(run)
    found = {name: section(context) for name, section in SECTIONS.items()}
    return {name: str(part.body) for name, part in found.items() if part is not None}


def test_every_layer_has_its_section_and_errors_are_absent_where_nothing_failed(parts: dict[str, str]) -> None:
    assert set(parts) == {"load", "loadquality", "tails", "layers"}


def test_the_knee_is_said_with_its_goodput(run: Run) -> None:
    said = list(sentences(context_of(run)))
    assert said[0].startswith("“quick <b>”, input length: every promise is held up to 400 tokens, goodput 100 %")
    assert [line for line in verdict(context_of(run)) if line in said] == [
        line for line in said if "users at once: every" in line
    ]
    # 0.5^5 = 0.031 at 1 user is not enough (its half of alpha is 0.025), 0.5^10 and 0.5^20 are
    held = next(line for line in said if "users at once: every promise" in line)
    assert "held up to 4 users, goodput 100 % [84 %, 100 %] of 20 requests" in held
    assert "exact binomial test" in said[-2] and said[-1].endswith("count the lowest level of each climb alone.")


def test_every_level_stands_in_the_table(run: Run, parts: dict[str, str]) -> None:
    table = parts["load"].split("</table>")[0]
    rows = re.findall(r'<th scope="row">([^<]*)</th>', table)
    untold = {"short_text": "short texts, ", "long_input": "input length, ", "long_output": "output length, "}
    entries = run.manifest["load"]["levels"]
    assert sorted(rows) == sorted(untold.get(one["layer"], "") + one["level"] for one in entries) and len(rows) == 12
    assert "Little" in table and "completed" in table and "holds" in table


def test_each_figure_has_words_and_a_table_of_its_numbers(parts: dict[str, str]) -> None:
    for name, count in {"load": 4, "loadquality": 1, "tails": 2, "layers": 3}.items():
        alts = re.findall(r'<img src="data:image/svg\+xml,[^"]*" alt="([^"]*)"', parts[name])
        assert len(alts) == count and all(len(alt) > 20 for alt in alts), name
        assert parts[name].count('<details class="twin">') == count, name


def test_names_are_escaped(parts: dict[str, str]) -> None:
    assert not any("quick <b>" in body for body in parts.values())
    assert "quick &lt;b&gt;" in parts["load"]


def test_cached_tokens_are_held_against_the_shared_share(parts: dict[str, str]) -> None:
    text = html.unescape(parts["layers"])
    assert "with 100 % of the prompt shared, the first token comes" in text
    assert "What a long input costs" in text and "After a pause" in text


def test_where_the_client_was_the_limit_nothing_is_said_of_the_server(run: Run) -> None:
    context = context_of(run, limited=True)
    said = list(sentences(context))
    assert "no level is shown to hold every promise" in said[0] and "Too few requests" not in said[0]
    assert any(line.startswith("The measuring client was itself the limit at 1 user, 100 tokens") for line in said)
    assert [row.note for row in levels_table(context).rows] == ["the client was the limit"] * 12
    assert {row.note for row in levels_table(context_of(run)).rows} == {""}
    assert str(load(context).body).count("<small>the client was the limit</small>") == 12
    assert len(named_rows(context)) == 0  # no level is left for the tails


def test_classes_of_traffic_have_goodputs_of_their_own() -> None:
    replies = [
        record(
            "2 users", 2, n, attempt(100 * n, first_ms=900 if n % 4 == 0 else 100), traffic="batch" if n % 2 else "chat"
        )
        for n in range(80)
    ]
    made = Made(replies, [entry("2 users", 2, 0.0, 8000.0)], [parse_slo("chat: ttft_ms < 400 @ 95%").to_dict()])
    context: Any = SimpleNamespace(load=loads_of(made), words=Words.load("en"), lang="en")  # type: ignore[arg-type]
    (row,) = levels_table(context).rows
    assert row.cells[1].text == "75 %" and row.cells[1].small[-2:] == ("batch 100 %", "chat 50 %")


def test_in_chinese_no_english_is_left(run: Run) -> None:
    context = context_of(run, "zh")
    for name, section in SECTIONS.items():
        part = section(context)
        if part is None:
            continue
        bare = re.sub(r"<[^>]*>", " ", re.sub(r'src="[^"]*"', "", str(part.body)))
        alts = " ".join(re.findall(r'alt="([^"]*)"', str(part.body)))
        assert set(LETTERS.findall(html.unescape(f"{bare} {alts}"))) - SAME == set(), name


def test_an_ordinary_run_has_none_of_these(small_run: Run) -> None:
    context = Context(small_run, Words.load("en"))
    assert context.load is None
    assert [name for name, section in SECTIONS.items() if section(context) is not None] == []
