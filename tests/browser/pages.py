"""How the browser tests open a page: quiet, and with ears for whatever it asks for or says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

WIDE, NARROW = 1100, 360


@contextmanager
def opened(browser: Browser, file: Path, width: int = WIDE, anchor: str = "", **context: Any) -> Iterator[Page]:
    """``file`` from file://; ``page.said`` holds every request, message, error and dialog."""
    made = browser.new_context(viewport={"width": width, "height": 900}, **context)
    page = made.new_page()
    said: list[str] = []
    page.said = said  # type: ignore[attr-defined]
    page.on("request", lambda asked: said.append(asked.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda fault: said.append(str(fault)))
    page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
    page.goto(file.as_uri() + anchor)
    yield page
    made.close()


def heard(page: Page) -> list[str]:
    """What the page asked for and said, but for the drawings inside it."""
    return [line for line in page.said if not line.startswith("data:image/svg+xml")]  # type: ignore[attr-defined]


def violations(page: Page) -> str:
    """What axe-core finds; empty for nothing."""
    found = Axe().run(page)
    return str(found.generate_report()) if found.violations_count else ""


def open_all(page: Page) -> None:
    """Unfold everything."""
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
