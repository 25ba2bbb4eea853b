"""The report in a real browser, opened from file://: quiet, accessible, readable in both themes and at both widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.pages import NARROW, WIDE, heard, open_all, opened, violations
from playwright.sync_api import Browser, Page

from speedqual.report import write
from speedqual.running import Run

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(small_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    for lang in ("en", "zh"):
        write(small_run, folder / f"{lang}.html", lang=lang, items=2)
    return folder


@pytest.fixture(params=[("en", "light", WIDE), ("en", "dark", WIDE), ("zh", "light", NARROW), ("zh", "dark", NARROW)])
def page(browser: Browser, folder: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    lang, theme, width = request.param
    with opened(browser, folder / f"{lang}.html", width, color_scheme=theme) as page:
        yield page


def test_it_is_quiet_and_accessible_with_everything_open(page: Page) -> None:
    open_all(page)
    page.wait_for_function("document.querySelectorAll('.player').length > 5")
    assert violations(page) == ""
    assert heard(page) == [page.url]


def test_every_figure_is_drawn_and_nothing_runs_out_of_the_page(page: Page) -> None:
    open_all(page)
    sizes = page.locator("img").evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert len(sizes) == 5 and all(width > 300 and height > 100 for width, height in sizes)
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]


def test_the_comparison_is_accessible_too(page: Page) -> None:
    page.locator(".item > details > summary").first.click()
    for i in range(2):
        page.locator(".answer > summary").nth(i).click()
        page.locator(".answer").nth(i).locator("button.compare").click()
    assert page.locator("dialog.comparison").is_visible()
    assert violations(page) == ""


def test_the_drawings_follow_the_theme(browser: Browser, folder: Path) -> None:
    corners = {}
    for theme in ("light", "dark"):
        with opened(browser, folder / "en.html", color_scheme=theme) as page:
            corners[theme] = page.evaluate(
                """async () => {
                  const image = document.querySelector("img"), canvas = document.createElement("canvas");
                  await image.decode();
                  Object.assign(canvas, {width: 8, height: 8});
                  const brush = canvas.getContext("2d");
                  brush.drawImage(image, 0, 0);
                  return brush.getImageData(1, 1, 1, 1).data.slice(0, 3).join();
                }"""
            )
    assert corners == {"light": "255,255,255", "dark": "20,24,29"}


def test_it_prints_with_what_matters_open_and_no_controls(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "en.html") as page:
        plain = page.pdf()
        page.emulate_media(media="print")
        assert page.locator("#items-tools").is_hidden() and page.locator("nav").is_hidden()
        assert page.locator(".twin .scroll").first.evaluate("one => one.getBoundingClientRect().height") > 50
        assert page.locator(".item .answers").first.evaluate("one => one.getBoundingClientRect().height") > 50
    assert plain.startswith(b"%PDF")


def test_without_a_script_everything_can_be_read(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "en.html", java_script_enabled=False) as page:
        assert page.locator("button, input, select").count() == 0
        page.locator(".item > details > summary").first.click()
        page.locator(".answer > summary").first.click()
        body = page.locator(".item").first
        for told in ("asked", "expected", "answer"):
            assert body.get_by_text(told, exact=True).first.is_visible()
        assert body.locator(".answer pre").first.is_visible()
        page.locator(".twin > summary").first.click()
        assert page.locator(".twin table").first.is_visible()
        page.locator('td a[href^="#item-"]').first.click()
        assert heard(page) == [page.url.split("#")[0]]
