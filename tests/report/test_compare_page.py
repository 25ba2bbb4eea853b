"""The page of two runs compared: verdict, differences, flips with both answers, what differs; offline and inert."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import Call
from page_tags import Tags

from speedqual.analysis.gate import Gate, Margin
from speedqual.analysis.sameness import KINDS
from speedqual.report.compare import Pair, render_comparison, sentences
from speedqual.report.compare_flips import flips
from speedqual.report.compare_manifest import unlike
from speedqual.report.compare_tables import factor, signed
from speedqual.report.words import Words
from speedqual.running import Run

Two = tuple[Run, Run]


@pytest.fixture(scope="module")
def page(two_runs: Two) -> str:
    return render_comparison(*two_runs)


def plain(page: str) -> str:
    """What a reader sees, tags gone."""
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_sections_stand_in_order(page: str) -> None:
    anchors = re.findall(r'<section id="([a-z]+)"', page)
    assert anchors == ["verdict", "checks", "sets", "speeds", "items", "manifest"]


def test_flips_are_those_that_changed_sides(two_runs: Two) -> None:
    found = flips(two_runs[0].df, two_runs[1].df, [("fast", "fast"), ("强力档", "强力档")])
    # right before: 1…8, now: 0…4, on both sets; the strong one is right throughout
    lost = {f.item for f in found if f.kind == "lost"}
    gained = {f.item for f in found if f.kind == "gained"}
    assert lost == {f"{name}-{i}" for name in ("发票", "mail") for i in (5, 6, 7, 8)}
    assert gained == {"发票-0", "mail-0"}
    assert [f.kind for f in found] == ["lost"] * 8 + ["gained"] * 2


def test_a_flip_shows_both_answers_and_what_changed(page: str) -> None:
    said = plain(page)
    assert "8 items went from right to wrong, 2 from wrong to right." in said
    assert "base · fast" in said and "new · fast" in said
    gained = page[page.index('data-key="mail/mail-0"') :].partition("new · fast")[2]
    overlay = re.search(r"What changed from the base.*?<pre[^>]*>(.*?)</pre>", gained, re.DOTALL)
    assert overlay and overlay[1] == "{&#34;n&#34;: <del>77</del><ins>0</ins>}"


def test_the_numbers_are_those_of_the_gate(two_runs: Two, page: str) -> None:
    said = plain(page)
    result = Gate(allow=KINDS)(*two_runs)
    row = next(r for r in result.to_dict()["checks"] if r["candidate"] == "fast" and r["check"] == "quality mean")
    # 16 of 24 right before, 10 of 24 now
    assert (row["base"], row["new"]) == (16 / 24, 10 / 24)
    assert f"66.7 % 41.7 % {signed(row['change'])} [{signed(row['lo'])}, {signed(row['hi'])}]" in said


def test_what_differs_is_named_and_what_is_private_is_not(two_runs: Two, page: str) -> None:
    found = {where: (a, b) for where, a, b in unlike(two_runs[0].manifest, two_runs[1].manifest)}
    assert found["candidates.fast.params.temperature"] == ("0", "0.7") and found["seed"] == ("1", "2")
    assert not [where for where in found if "base_url" in where]
    said = plain(page)
    assert "The parameters differ" in said and "candidates.fast.params.temperature 0 0.7" in said
    for private in ("127.0.0.1", "secret-user-folder", str(two_runs[0].folder)):
        assert private not in page


def test_hostile_answers_are_text_and_nothing_is_fetched(page: str) -> None:
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page and "⟨U+202E⟩evil" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    for tag, attributes in Tags(page).found:
        assert tag not in {"link", "iframe", "object", "embed", "form", "base"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes or str(attributes["src"]).startswith("data:")
        assert "href" not in attributes or str(attributes["href"]).startswith("#")
    assert "default-src &#39;none&#39;" in page


def test_redacted_it_holds_no_prompt_and_no_answer(two_runs: Two) -> None:
    page = render_comparison(*two_runs, redact=True)
    assert "alert(1)" not in page and "第 3 题" not in page and "<del>77</del>" not in page
    assert "mail/mail-5" in page and "Prompts and answers are left out" in page


def test_in_chinese_every_word_is(two_runs: Two) -> None:
    page = render_comparison(*two_runs, lang="zh")
    assert '<html lang="zh">' in page and "8 道题由对变错，2 道题由错变对。" in page
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    assert len(headings) == 6 and all(re.search("[一-鿿]", heading) for heading in headings)
    said = plain(page)
    assert "base" not in said.replace("basename", "") and "right → wrong" not in said and "inconclusive" not in said


def said_of(two: Two, *margins: Margin) -> list[str]:
    result = Gate(margins=margins, allow=KINDS)(*two)
    return list(sentences(Pair(*two, result, Words.load("en"))))


def test_the_verdict_says_what_the_gate_says(two_runs: Two) -> None:
    assert said_of(two_runs, Margin("quality", "mean", 0.9))[0].startswith("No worse: each of the 2 checks")
    assert said_of(two_runs, Margin("quality", "mean", 0.0001))[0].startswith("Cannot be told")
    same = said_of((two_runs[0], two_runs[0]), Margin("quality", "mean", 0.9))
    assert same[1] == "0 items went from right to wrong, 0 from wrong to right."


def test_a_failed_check_is_named_in_the_verdict(two_runs: Two) -> None:
    said = said_of(two_runs, Margin("ttft_ms", "p50", 0.01))
    assert said[0] == "Worse: 2 of 2 checks are beyond their margin."
    assert said[1].startswith("fast, time to first token p50: × ")


def test_runs_that_do_not_differ_have_neither_flips_nor_a_table_of_differences(two_runs: Two) -> None:
    page = render_comparison(two_runs[0], two_runs[0])
    assert re.findall(r'<section id="([a-z]+)"', page) == ["verdict", "checks", "sets", "speeds"]


def test_the_same_runs_give_the_same_bytes(two_runs: Two, page: str) -> None:
    assert render_comparison(*(Run.open(run.folder) for run in two_runs)) == page


def test_changes_as_people_read_them() -> None:
    assert [signed(v) for v in (-0.0417, 0.25, 0.0, -0.0001, None)] == ["−4.2", "+25", "0", "0", "–"]
    assert [factor(v) for v in (1.0823, 0.5, None)] == ["× 1.08", "× 0.5", "–"]


def test_the_command_writes_it_and_keeps_the_exit_code(call: Call, two_runs: Two, tmp_path: Path) -> None:
    base, new = (run.folder for run in two_runs)
    said = call("compare", base, new, "--report", tmp_path / "d.html", "--lang", "zh")
    assert said.code == 2 and "cannot be compared" in said.err and not (tmp_path / "d.html").exists()
    said = call("compare", base, new, "--allow", "params", "--report", tmp_path / "d.html", "--lang", "zh")
    assert said.code in (1, 5) and "由对变错" in (tmp_path / "d.html").read_text(encoding="utf-8")
    assert (tmp_path / "d.html").read_text(encoding="utf-8").endswith("</html>")
