"""A run in other forms: Markdown that nothing can break out of, tables that open anywhere, strict JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import markdown_it
import pandas as pd
import pytest
from command import Call

from speedqual.errors import UsageError
from speedqual.report import write
from speedqual.report.exports import FORMS, export, to_csv
from speedqual.report.exports_markdown import block, code, prose
from speedqual.running import Run

LINK = re.compile(r"<(a|img|script|svg|iframe)\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def made(small_run: Run) -> Callable[..., bytes]:
    """Each form in each way, made once."""
    return cache(partial(export, small_run))


def html_of(markdown: str) -> str:
    """As a page shows it: HTML let through, addresses made into links, as pull requests do."""
    reader = markdown_it.MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table")
    return str(reader.render(markdown))


def test_markdown_has_the_verdict_the_table_and_folds_the_rest(made: Callable[..., bytes]) -> None:
    text = made("md").decode()
    assert text.startswith("### Speed and quality: 3 candidates, 8 items\n")
    page = html_of(text)
    assert page.count("<table>") == 2 and "<code>good</code>" in page and "8/8" in page
    assert page.count("<details>") == page.count("</details>") == 3
    assert text.count("\n") < 120


def test_hostile_answers_stay_text_in_markdown(made: Callable[..., bytes]) -> None:
    text = made("md").decode()
    page = html_of(text)
    assert not LINK.search(page)
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩evil" in text and not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)


@pytest.mark.parametrize(
    "hostile",
    [
        "a|b", "`x`", "``` y", "<b>x</b>", "[x](http://evil.example)", "![x](http://evil.example/p.png)", "# x", "- x",
        "*x* _y_ ~~z~~", "x\ny", "</details>", "\\", "https://evil.example", "&lt;", "a `` b | c",
    ],
)  # fmt: skip
def test_nothing_breaks_out_of_a_cell_a_block_or_a_sentence(hostile: str) -> None:
    table = html_of(f"| a | b |\n|---|---|\n| {code(hostile)} | {code('end')} |\n")
    assert table.count("<td>") == 2 and "<code>end</code>" in table and not LINK.search(table)
    fenced = html_of("\n".join([*block(hostile), "", "after"]))
    assert fenced.count("<pre>") == 1 and "<p>after</p>" in fenced
    said = html_of(f"- {prose(hostile)}")
    assert not re.search(r"<(a|img|b|em|strong|h1|code|del|table|details|ul>\s*<li>\s*<ul)\b", said)
    assert said.count("<li>") == 1


def test_mentions_and_addresses_are_broken_in_sentences() -> None:
    assert prose("ask @team about #12 at https://x.example or www.x.example") == (
        "ask @<!-- -->team about #<!-- -->12 at https:<!-- -->//x.example or www<!-- -->.x.example"
    )
    assert prose("mean@p50 is 3 # 4") == "mean@<!-- -->p50 is 3 # 4"


def test_redacted_markdown_holds_no_prompt_and_no_answer(made: Callable[..., bytes]) -> None:
    text = made("md", redact=True).decode()
    assert "alert(1)" not in text and "第 3 题" not in text and "快" in text and "wrong format: 4" in text


def test_markdown_in_chinese(made: Callable[..., bytes]) -> None:
    text = made("md", lang="zh").decode()
    assert text.startswith("### 速度与质量") and "<summary>如何测得</summary>" in text
    assert "Highest" not in text and "candidate" not in text


def test_csv_opens_with_its_chinese_and_reads_back(small_run: Run) -> None:
    data = export(small_run, "csv")
    assert data.startswith(b"\xef\xbb\xbf")  # without it Excel guesses another code page
    frame = pd.read_csv(io.BytesIO(data))
    assert list(frame.columns) == list(small_run.df.columns)
    assert frame["candidate"].tolist() == small_run.df["candidate"].tolist()
    assert frame["score"].sum() == small_run.df["score"].sum()


def test_no_cell_of_a_csv_is_run_as_a_formula(small_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = small_run.df.head(5).copy()
    rows["item"] = ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx"]
    rows["candidate"] = ["a,b", 'say "x"', "x\ny", "\u202eevil", "plain-1"]
    monkeypatch.setitem(small_run.__dict__, "df", rows)
    read = list(csv.DictReader(io.StringIO(to_csv(small_run))))
    assert [row["item"] for row in read] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "'\tx"]
    assert [row["candidate"] for row in read] == ["a,b", 'say "x"', "x y", "⟨U+202E⟩evil", "plain-1"]


def test_parquet_keeps_the_types(small_run: Run) -> None:
    frame = pd.read_parquet(io.BytesIO(export(small_run, "parquet")))
    pd.testing.assert_frame_equal(frame, small_run.df)


def test_json_is_strict_and_holds_every_analysis(made: Callable[..., bytes]) -> None:
    text = made("json").decode()
    tree = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert [row["candidate"] for row in tree["scoreboard"]] == ["good", "快", "broken"]
    assert tree["frontier"]["kind"] == "frontier" and tree["run"]["seed"] == 3
    assert tree["sentences"][0].startswith("Fast lane: good")
    assert "alert(1)" not in text and "127.0.0.1" not in text and "secret-user-folder" not in text
    chinese = json.loads(made("json", lang="zh"))
    assert re.search("[一-鿿]", chinese["sentences"][0]) and chinese["scoreboard"] == tree["scoreboard"]


@pytest.mark.parametrize("form", FORMS[1:])
def test_the_same_run_gives_the_same_bytes_and_they_do_not_say_who_made_it_or_where(
    small_run: Run, made: Callable[..., bytes], form: str
) -> None:
    data = made(form)
    assert export(Run.open(small_run.folder), form) == data
    for private in (b"secret-user-folder", b"127.0.0.1", str(small_run.folder).encode()):
        assert private not in data


def test_the_ending_says_the_form(small_run: Run, tmp_path: Path) -> None:
    assert write(small_run, tmp_path / "r.md").read_text(encoding="utf-8").startswith("### ")
    assert write(small_run, tmp_path / "r.PARQUET").read_bytes().startswith(b"PAR1")
    assert write(small_run, tmp_path / "r.txt", form="csv").read_bytes().startswith(b"\xef\xbb\xbfrun,")
    with pytest.raises(UsageError, match="written as 'pdf'"):
        export(small_run, "pdf")
    with pytest.raises(UsageError, match=r"a\.xml: no report is written as 'xml'\. Give .*html"):
        write(small_run, tmp_path / "a.xml")


def test_the_command_writes_each_form(call: Call, small_run: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(small_run.folder, tmp_path / "r")
    said = call("report", folder, "--format", "md", "--lang", "zh")
    assert said.code == 0 and said.out.strip().endswith("report.md")
    assert (folder / "report.md").read_text(encoding="utf-8").startswith("### 速度与质量")
    assert call("report", folder, "-o", tmp_path / "a.parquet").code == 0
    assert len(pd.read_parquet(tmp_path / "a.parquet")) == 24
    assert call("report", folder, "--format", "pdf").code == 2
