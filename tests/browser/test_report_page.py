"""The report in a real browser, opened from file://: quiet, inert, accessible, readable in both themes and widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from speedqual.report import write
from speedqual.running import Run

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def file(small_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(small_run, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(params=["light", "dark"])
def page(browser: Browser, file: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1100, "height": 900})
    page = context.new_page()
    page.said = []  # type: ignore[attr-defined]
    page.on("request", lambda asked: page.said.append(asked.url))  # type: ignore[attr-defined]
    page.on("console", lambda message: page.said.append(message.text))  # type: ignore[attr-defined]
    page.on("pageerror", lambda fault: page.said.append(str(fault)))  # type: ignore[attr-defined]
    page.on("dialog", lambda dialog: (page.said.append("dialog"), dialog.dismiss()))  # type: ignore[attr-defined]
    page.goto(file.as_uri())
    yield page
    context.close()


def test_it_asks_for_nothing_but_itself_and_says_nothing(page: Page, file: Path) -> None:
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    page.wait_for_timeout(200)
    said = [line for line in page.said if not line.startswith("data:image/svg+xml")]  # type: ignore[attr-defined]
    assert said == [file.as_uri()]


def test_axe_finds_no_violation(page: Page) -> None:
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_both_figures_are_drawn(page: Page) -> None:
    sizes = page.locator("img").evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert len(sizes) == 2 and all(width > 300 and height > 150 for width, height in sizes)


@pytest.mark.parametrize("width", [360, 1100])
def test_nothing_runs_out_of_the_page(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints(page: Page) -> None:
    assert page.pdf().startswith(b"%PDF")
