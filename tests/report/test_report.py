"""The report of a small real run: complete, offline, inert, and silent about who made it."""

from __future__ import annotations

import base64
import getpass
import hashlib
import html
import json
import re
import socket
from pathlib import Path

import pytest
from page_tags import Tags

from speedqual.errors import StorageError, UsageError
from speedqual.report import render, write
from speedqual.running import Run

ORDER = [
    "verdict",
    "frontier",
    "deadlines",
    "ladders",
    "routing",
    "candidates",
    "failures",
    "items",
    "validity",
    "provenance",
]


@pytest.fixture(scope="module")
def page(small_run: Run) -> str:
    return render(small_run)


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    loaded: dict[str, object] = json.loads(found[1])
    return loaded


def policy_of(page: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert found
    return html.unescape(found[1])


def test_sections_stand_in_order(page: str) -> None:
    assert re.findall(r'<section id="([a-z]+)"', page) == ORDER


def test_nothing_is_fetched_and_no_attribute_runs(page: str) -> None:
    for tag, attributes in Tags(page).found:
        assert tag not in {"link", "iframe", "object", "embed", "form", "base", "source"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes or (tag == "img" and str(attributes["src"]).startswith("data:image/svg+xml,"))
        assert "href" not in attributes or str(attributes["href"]).startswith("#")


def test_the_policy_names_style_and_script_by_their_hash_and_nothing_remote(page: str) -> None:
    style, script = (
        re.search(r"<style>(.*?)</style>", page, re.DOTALL),
        re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL),
    )
    assert style and script
    for name, text in (("style-src", style[1]), ("script-src", script[1])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy_of(page)
    assert policy_of(page).startswith("default-src 'none'; img-src data:;") and "unsafe" not in policy_of(page)


def test_the_script_is_one_and_uses_text_alone(page: str) -> None:
    scripts = [attributes for tag, attributes in Tags(page).found if tag == "script"]
    assert [one.get("type") for one in scripts] == ["application/json", "module"]
    code = page.split('<script type="module">')[1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|import |fetch\(", code)


def test_hostile_answers_are_text(page: str) -> None:
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩evil" in page and "⟨U+001B⟩[31mred" in page and "⟨U+0000⟩" in page
    assert "{{ 7*7 }}" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u2028\u2029\u202a-\u202e]", page)


def test_streams_hold_numbers_alone(page: str) -> None:
    streams = data_of(page)["streams"]
    assert isinstance(streams, dict) and streams
    for tracks in streams.values():
        for waits, lengths in tracks:
            assert len(waits) == len(lengths) > 0
            assert all(isinstance(number, int) and number >= 0 for number in (*waits, *lengths))


def test_figures_say_what_they_show_and_have_their_numbers_beside_them(page: str) -> None:
    pictures = [attributes for tag, attributes in Tags(page).found if tag == "img"]
    assert len(pictures) == 5
    assert all(len(str(picture["alt"])) > 20 for picture in pictures)
    assert page.count('<details class="twin">') == 4  # the ladder's stands with its evidence


def test_failures_are_counted_apart_and_lead_to_an_answer(page: str) -> None:
    assert "endpoint: " in page and "8 of 24 trials ended without a usable reply" in page
    targets = re.findall(r'<td data-order="[\d.]+"><a href="#(item-\d+-\d+)">', page)
    assert targets and all(f'id="{target}"' in page for target in targets)


def test_items_say_why_they_are_shown(page: str) -> None:
    reasons = re.findall(r'data-reasons="([a-z ]+)"', page)
    assert {word for one in reasons for word in one.split()} == {"flipped", "worst", "slowest"}


def test_it_does_not_say_who_made_it_or_where(page: str, small_run: Run) -> None:
    assert str(small_run.folder) not in page and "secret-user-folder" not in page
    assert socket.gethostname() not in re.sub(r'src="[^"]+"', "", page).split()
    assert f"/{getpass.getuser()}/" not in page
    assert "127.0.0.1" not in page and "http://" not in re.sub(
        r'src="[^"]+"|<script type="module">.*', "", page, flags=re.DOTALL
    )


def test_redacted_it_holds_no_prompt_no_answer_and_nothing_that_quotes_them(small_run: Run) -> None:
    page = render(small_run, redact=True)
    assert "Prompts and answers are left out" in page
    for told in ("alert(1)", "第 3 题", "number 3", "7*7", "is not valid"):
        assert told not in page
    assert data_of(page)["streams"] == {}
    assert "快" in page and "item3" in page


def test_in_chinese_every_heading_is(small_run: Run) -> None:
    page = render(small_run, lang="zh")
    assert '<html lang="zh">' in page
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    assert len(headings) == len(ORDER) and all(re.search("[一-鿿]", heading) for heading in headings)


def test_the_same_run_gives_the_same_bytes(page: str, small_run: Run) -> None:
    assert render(Run.open(small_run.folder)) == page


def test_it_is_written_whole_or_not_at_all(small_run: Run, tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.html"
    assert write(small_run, target) == target
    assert target.read_text(encoding="utf-8").endswith("</html>")
    assert oct(target.stat().st_mode)[-3:] == "644"
    assert [path.name for path in target.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="report cannot be written"):
        write(small_run, tmp_path / "file" / "report.html")
    with pytest.raises(UsageError, match="en, zh"):
        write(small_run, target, lang="de")


def test_it_is_small(page: str) -> None:
    assert len(page.encode()) < 600_000
