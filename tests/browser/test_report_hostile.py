"""Hostile answers in the markup, in the data block and in the packed items: all of them inert, all of them readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser.pages import heard, open_all, opened
from made_run import KINDS, make_run
from playwright.sync_api import Browser

from speedqual.report import write

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MARK = "window.fooled = true"
HOSTILE = (
    f"</script><script>{MARK}</script>",
    f"</pre></details></main><img src=x onerror='{MARK}'>",
    f"<!-- <svg/onload={MARK}> --!> <iframe srcdoc='<script>parent.{MARK}</script>'>",
    f"\u202eevil\u202c \x1b[31mred\x1b[0m \x00 \x07 {{{{ 7*7 }}}} ${{{MARK}}} javascript:{MARK}",
    f"line\u2028{MARK}\u2029end <template><b>",
    "broken \ud800 and \udc00 halves \ud83d",
    "<style>body{display:none}</style><link rel=stylesheet href=//remote.example/x.css><base href=//remote.example>",
    "x" * 1_000_000,
    "\n\n  leading lines\r\nand returns\r",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    run = make_run(folder / "run", KINDS[:2], n_items=36, texts=HOSTILE, tasks=("extraction",))
    return write(run, folder / "report.html", items=None)


def test_hostile_answers_are_inert_wherever_they_stand(browser: Browser, file: Path) -> None:
    with opened(browser, file) as page:
        page.wait_for_function("document.querySelector('#items-tools [role=status]').textContent.includes('36 of 36')")
        open_all(page)
        page.wait_for_timeout(300)
        assert page.evaluate("window.fooled") is None
        assert page.locator("main img[src=x], iframe, main script, main link, main style, base").count() == 0
        assert page.evaluate("document.body.checkVisibility()")
        assert heard(page) == [file.as_uri()]
        shown = page.locator(".track pre").all_text_contents()
        for text in (
            "</script><script>",
            "<img src=x",
            "⟨U+202E⟩evil",
            "⟨U+001B⟩[31mred",
            "line⟨U+2028⟩",
            "⟨U+D800⟩",
            "{{ 7*7 }}",
        ):
            assert any(text in one for one in shown), text
        assert any(one.endswith("… [+996,000]") for one in shown)
        assert any(one.startswith("\n\n  leading lines\nand returns⟨U+000D⟩") for one in shown)
        why = page.locator(".why").all_text_contents()
        assert any("⟨U+202E⟩evil" in one for one in why)


def test_hostile_answers_are_inert_without_a_script_and_in_the_comparison(browser: Browser, file: Path) -> None:
    with opened(browser, file, java_script_enabled=False) as page:
        assert page.locator("main img[src=x], iframe, main link, base").count() == 0
        assert page.locator("section#provenance").is_visible()
    with opened(browser, file) as page:
        page.locator(".item > details > summary").first.click()
        for i in range(2):
            page.locator(".answer > summary").nth(i).click()
            page.locator(".answer").nth(i).locator("button.compare").click()
        page.locator("dialog .player button").click()
        page.wait_for_timeout(200)
        assert page.evaluate("window.fooled") is None
        assert page.locator("dialog img, dialog script, dialog iframe").count() == 0
