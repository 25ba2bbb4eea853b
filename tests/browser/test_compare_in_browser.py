"""The page of two runs in a real browser: quiet, accessible, readable in both themes, both languages, both widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.pages import NARROW, WIDE, heard, open_all, opened, violations
from playwright.sync_api import Browser, Page

from speedqual.report.compare import write_comparison
from speedqual.running import Run

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(two_runs: tuple[Run, Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    for lang in ("en", "zh"):
        write_comparison(*two_runs, folder / f"{lang}.html", lang=lang, items=2)
    return folder


@pytest.fixture(params=[("en", "dark", WIDE), ("zh", "light", NARROW)])
def page(browser: Browser, folder: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    lang, theme, width = request.param
    with opened(browser, folder / f"{lang}.html", width, color_scheme=theme) as page:
        yield page


def test_it_is_quiet_accessible_and_keeps_to_its_width_with_everything_open(page: Page) -> None:
    open_all(page)
    page.wait_for_function("document.querySelectorAll('.player').length > 3")
    assert violations(page) == ""
    assert heard(page) == [page.url]
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]


def test_flips_can_be_chosen_and_laid_side_by_side(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "en.html") as page:
        page.locator("#items-tools select").first.select_option("gained")
        shown = page.locator(".item:visible")
        assert shown.count() == 2 and "right" in shown.first.inner_text()
        shown.first.locator("summary").first.click()
        for i in range(2):
            shown.first.locator(".answer > summary").nth(i).click()
            shown.first.locator(".answer").nth(i).locator("button.compare").click()
        assert page.locator("dialog.comparison").is_visible()
