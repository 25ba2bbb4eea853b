"""The report of a small real run: complete, offline, inert, and silent about who made it."""

from __future__ import annotations

import base64
import getpass
import hashlib
import html
import re
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest

from speedqual.errors import StorageError, UsageError
from speedqual.report import render, write
from speedqual.running import Run


class Tags(HTMLParser):
    """Every start tag with its attributes, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(small_run: Run) -> str:
    return render(small_run)


def test_sections_stand_in_order(page: str) -> None:
    anchors = re.findall(r'<section id="([a-z]+)"', page)
    assert anchors == ["verdict", "frontier", "ladders", "candidates", "failures", "provenance"]


def test_nothing_is_fetched_and_nothing_runs(page: str) -> None:
    for tag, attributes in Tags(page).found:
        assert tag not in {"script", "link", "iframe", "object", "embed", "form", "base"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("src", "srcset"):
            assert str(attributes.get(name, "data:")).startswith("data:image/svg+xml;base64,") or name not in attributes
        assert "href" not in attributes


def test_the_policy_allows_the_style_by_its_hash_and_nothing_remote(page: str) -> None:
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert style and policy
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    assert f"'sha256-{digest}'" in html.unescape(policy.group(1))
    assert "default-src 'none'" in html.unescape(policy.group(1))


def test_hostile_answers_are_text(page: str) -> None:
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩evil" in page and "⟨U+001B⟩[31mred" in page and "⟨U+0000⟩" in page
    assert "{{ 7*7 }}" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)


def test_figures_say_what_they_show(page: str) -> None:
    pictures = [attributes for tag, attributes in Tags(page).found if tag == "img"]
    assert len(pictures) == 2
    assert all(len(str(picture["alt"])) > 20 for picture in pictures)


def test_failures_are_counted_apart_and_shown_once_a_kind(page: str) -> None:
    assert "endpoint: " in page and "8 of 24 trials ended without a usable reply" in page
    assert page.count("<summary><strong>") == 2


def test_it_does_not_say_who_made_it_or_where(page: str, small_run: Run) -> None:
    assert str(small_run.folder) not in page and "secret-user-folder" not in page
    assert socket.gethostname() not in re.sub(r"base64,[^\"]+", "", page).split()
    assert f"/{getpass.getuser()}/" not in page
    assert "127.0.0.1" not in page


def test_redacted_it_holds_no_prompt_and_no_answer(small_run: Run) -> None:
    page = render(small_run, redact=True)
    assert "Prompts and answers are left out" in page
    assert "alert(1)" not in page and "第 3 题" not in page
    assert "快" in page


def test_in_chinese_every_heading_is(small_run: Run) -> None:
    page = render(small_run, lang="zh")
    assert '<html lang="zh">' in page
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    assert len(headings) == 6 and all(re.search("[一-鿿]", heading) for heading in headings)


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
