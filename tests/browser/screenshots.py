"""Pictures of what people see, to be looked at: ``make screenshots`` writes them to ``build/screenshots``.

A shot is a function of a browser, a folder for the pictures and a folder to work in; ``SHOTS`` lists them all.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from browser.pages import NARROW, WIDE, opened
from browser.widget_shots import widgets
from chromium import launched
from made_run import make_run
from playwright.sync_api import Browser, Page

from speedqual.report import write
from speedqual.running import Run

OUT = Path(__file__).resolve().parents[2] / "build" / "screenshots"
THEMES = ("light", "dark")
LANGUAGES = ("en", "zh")


def report(browser: Browser, out: Path, work: Path) -> None:
    """The report in both languages, themes and widths; an item and a comparison; the page on paper."""
    run = Run.open(Path(sys.argv[1])) if len(sys.argv) > 1 else make_run(work / "run")
    for lang in LANGUAGES:
        file = write(run, work / f"{lang}.html", lang=lang)
        for theme, width in product(THEMES, (WIDE, NARROW)):
            with opened(browser, file, width, color_scheme=theme) as page:
                name = f"report-{lang}-{theme}-{'wide' if width == WIDE else 'narrow'}"
                page.screenshot(path=out / f"{name}.png", full_page=True)
                _item(page, out / f"{name}-item.png")
                _comparison(page, out / f"{name}-comparison.png")
        with opened(browser, file) as page:
            page.pdf(path=out / f"report-{lang}.pdf", format="A4")


def _item(page: Page, path: Path) -> None:
    """An item with one answer in mid-replay."""
    page.locator(".item > details > summary").first.click()
    answer = page.locator(".answer:not(.how-pass)").first
    answer.locator("summary").click()
    scrub = answer.locator("input[type=range]")
    if scrub.count():
        scrub.fill(str(int(scrub.get_attribute("max") or 0) // 2))
    page.locator(".item").first.screenshot(path=path)


def _comparison(page: Page, path: Path) -> None:
    answers = page.locator(".item").first.locator(".answer:has(.player), .answer:not([open])")
    for i in range(2):
        answer = answers.nth(i)
        if answer.get_attribute("open") is None:
            answer.locator("summary").click()
        answer.locator("button.compare").click()
    page.screenshot(path=path)


Shot = Callable[[Browser, Path, Path], None]
SHOTS: tuple[Shot, ...] = (report, widgets)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, launched() as browser:
        for shot in SHOTS:
            shot(browser, OUT, Path(work))
    print(f"{len(list(OUT.iterdir()))} pictures in {OUT.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
