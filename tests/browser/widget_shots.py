"""Pictures of the widgets, in mid-run and at the end, in both languages and themes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from heard import events_of
from made_run import make_run
from playwright.sync_api import Browser
from widget_page import THEMES, open_widget

import speedqual as sq
from speedqual.display.words import LANGUAGES
from speedqual.notebook.live.picture import picture
from speedqual.notebook.live.tally import Tally
from speedqual.notebook.words import notebook_words

__all__ = ["widgets"]


def widgets(browser: Browser, out: Path, work: Path) -> None:
    """Live view, plane and race: each as a page of its own."""
    run = make_run(work / "watched")
    for lang, theme in product(LANGUAGES, THEMES):
        for name, kind, view, twin in _views(run, lang):
            page = open_widget(browser, work, kind, view, twin, theme)
            if kind == "race":
                share = 0.5 if name == "race-half" else 1.0
                page.locator("input").evaluate(
                    "(it, share) => { it.value = share * it.max; it.dispatchEvent(new Event('input')); }", share
                )
            page.wait_for_timeout(400)  # points have moved to their places
            page.locator("speedqual-view").screenshot(path=out / f"widget-{name}-{lang}-{theme}.png")
            page.context.close()


def _views(run: sq.Run, lang: str) -> list[tuple[str, str, dict[str, Any], str]]:
    events = events_of(run)
    asking = sum(type(event).__name__ != "Graded" for event in events)
    tally = Tally()
    for now_s, event in enumerate(events[: asking // 2]):
        tally.take(event, now_s)
    standing = picture(tally.standing(asking // 2), notebook_words(lang))
    found = [("live", "status", standing.state(), standing.html())]
    for name, until in (("speeds", asking), ("grading", (asking + len(events)) // 2), ("end", len(events))):
        plane = sq.Plane(run if name == "end" else None, lang=lang)
        for event in events[:until] if name != "end" else ():
            plane(event)
        found.append((f"plane-{name}", "plane", plane._picture().view(), ""))
    race = sq.Race(run, candidates=[one.name for one in run.candidates][:4], lang=lang)._picture()
    return [*found, ("race-half", "race", race.view(), ""), ("race-end", "race", race.view(), "")]
