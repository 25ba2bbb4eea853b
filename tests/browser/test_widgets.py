"""Each widget in a real browser beside its static twin: inert, quiet, accessible, usable by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from small_run import HOSTILE
from widget_page import THEMES, open_widget

import speedqual as sq
from speedqual.notebook.live.picture import picture
from speedqual.notebook.live.tally import Tally
from speedqual.notebook.words import notebook_words
from speedqual.records import Trial
from speedqual.running import Started, TrialFinished

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KINDS = ("status", "plane", "race")


@cache
def shown(kind: str, run: sq.Run, lang: str = "en") -> tuple[dict[str, Any], str]:
    """The view and the static twin of a kind, of a run with hostile names and replies."""
    if kind == "status":
        tally = Tally()
        tally.take(Started(run="r", folder="r", n_trials=9, n_done=0, candidates=(HOSTILE, "b"), evalsets=("s",)), 0)
        trial = Trial(candidate=HOSTILE, evalset="s", item="i")
        tally.take(TrialFinished(trial=trial, outcome="timeout", metrics={}, flags=()), 1)
        drawn = picture(tally.standing(2), notebook_words(lang))
        return drawn.state(), drawn.html()
    made: Any = sq.Plane(run, lang=lang) if kind == "plane" else sq.Race(run, "item6", lang=lang)
    return made._picture().view(), made._picture().html()


@pytest.fixture(params=[(kind, theme) for kind in KINDS for theme in THEMES], ids="-".join)
def page(browser: Browser, small_run: sq.Run, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    kind, theme = request.param
    view, twin = shown(kind, small_run, "zh" if theme == "dark" else "en")
    opened = open_widget(browser, tmp_path, kind, view, twin, theme)
    yield opened
    opened.context.close()


@pytest.fixture
def plane(browser: Browser, small_run: sq.Run, tmp_path: Path) -> Iterator[Page]:
    opened = open_widget(browser, tmp_path, "plane", *shown("plane", small_run))
    yield opened
    opened.context.close()


@pytest.fixture
def race(browser: Browser, small_run: sq.Run, tmp_path: Path) -> Iterator[Page]:
    opened = open_widget(browser, tmp_path, "race", *shown("race", small_run))
    yield opened
    opened.context.close()


def test_it_is_inert_quiet_and_accessible(page: Page) -> None:
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    if page.locator("input[type=range]").count():
        to(page, 1e9)
    page.wait_for_timeout(200)
    said = page.said  # type: ignore[attr-defined]
    assert [line for line in said if not line.startswith(("file:", "blob:"))] == []
    assert page.locator("speedqual-view :is(script, img, iframe, [onload], [onerror])").count() == 0
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_it_says_that_it_is_awake_and_goes_when_its_element_goes(page: Page) -> None:
    assert page.evaluate("model.sent") == [{"awake": True}]
    heard = "Object.values(model.heard).flat().length"
    assert page.evaluate(heard) > 0
    page.evaluate("document.querySelector('speedqual-view').remove()")
    assert page.evaluate(heard) == 0


def test_an_element_that_comes_later_is_woken_too(page: Page) -> None:
    page.evaluate("""() => {
      const copy = document.createElement("speedqual-view");
      copy.dataset.view = "k";
      document.querySelector("main").append(copy);
      const other = document.createElement("speedqual-view");
      other.dataset.view = "unknown";
      other.textContent = "asleep";
      document.querySelector("main").append(other);
    }""")
    copies = page.locator("speedqual-view[data-view=k]")
    assert copies.nth(1).inner_text() == copies.nth(0).inner_text() != ""
    assert page.locator("speedqual-view[data-view=unknown]").inner_text() == "asleep"


@pytest.mark.parametrize("kind", KINDS)
def test_the_static_twin_alone_says_as_much(browser: Browser, small_run: sq.Run, tmp_path: Path, kind: str) -> None:
    _, twin = shown(kind, small_run)
    page = browser.new_page(java_script_enabled=False)
    page.set_content(f"<speedqual-view data-view='k'>{twin}</speedqual-view>")
    text = page.locator("speedqual-view").inner_text()
    assert ("9 trials" if kind == "status" else "good") in text
    assert page.locator("speedqual-view :is(script, [onerror], [onload])").count() == 0
    page.close()


def chosen(page: Page) -> list[str]:
    names: list[str] = page.evaluate("model.get('choice').names ?? []")
    return names


def test_points_are_chosen_with_the_keyboard_and_told_to_python(plane: Page) -> None:
    """Two of the three candidates ever ended a reply: 快 is the faster, so it stands on the right."""
    assert plane.locator("[role=option]").count() == 2
    plane.locator("[role=listbox]").focus()
    plane.keyboard.press("End")
    plane.keyboard.press(" ")
    assert chosen(plane) == ["快"] and plane.evaluate("model.saved.length") == 1
    assert "快: " in plane.locator("[role=status]").inner_text()
    plane.keyboard.press("Shift+ArrowLeft")
    assert set(chosen(plane)) == {"快", "good"}
    plane.keyboard.press("Enter")
    assert chosen(plane) == ["快"]
    assert plane.locator("[aria-selected=true]").get_attribute("aria-label").startswith("快")  # type: ignore[union-attr]
    plane.keyboard.press("Escape")
    assert chosen(plane) == [] and "All 3 candidates" in plane.locator("[role=status]").inner_text()


def test_points_are_chosen_by_dragging_and_clicking(plane: Page) -> None:
    box = plane.locator(".sq-field").bounding_box()
    assert box is not None
    corners = ((box["x"] + 3, box["y"] + 3), (box["x"] + box["width"] - 3, box["y"] + box["height"] - 3))
    plane.mouse.move(*corners[0])
    plane.mouse.down()
    plane.mouse.move(*corners[1], steps=3)
    plane.mouse.up()
    assert set(chosen(plane)) == {"快", "good"}
    plane.locator("[role=option] path").first.click()  # takes it out again
    assert chosen(plane) == ["快"]
    plane.mouse.click(*corners[0])
    assert chosen(plane) == []


def test_points_move_in_place_and_intervals_with_them(plane: Page) -> None:
    before = plane.locator("[role=option]").first.evaluate("node => (window.kept = node).style.transform")
    plane.evaluate("""() => {
      const view = model.get("view");
      Object.assign(view.points[0], { y: 0.5, y_lo: 0.4, y_hi: 0.6 });
      model.set("view", view);
    }""")
    assert plane.evaluate("window.kept.style.transform") != before
    whisker = "(() => { const l = window.kept.querySelector('.sq-y'); return l.getAttribute('y1') - l.getAttribute('y2'); })()"
    scale = plane.evaluate("document.querySelectorAll('.sq-grid').length")
    assert plane.evaluate(whisker) > 20 and scale > 4


def test_names_and_labels_stay_inside(plane: Page) -> None:
    frame = plane.locator(".sq-field").bounding_box()
    assert frame is not None
    for text in plane.locator("svg text").all():
        box = text.bounding_box()
        assert box is not None and box["x"] >= frame["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]


def to(page: Page, ms: float) -> None:
    """Scrub to a time."""
    page.locator("input[type=range]").evaluate(
        "(input, ms) => { input.value = ms; input.dispatchEvent(new Event('input')); }", ms
    )


def test_what_had_come_is_shown_at_each_time_and_verdicts_at_the_end(race: Page, small_run: sq.Run) -> None:
    lane = sq.Race(small_run, "item6").lanes[0]
    text, verdicts = race.locator(".sq-lane pre").first, race.locator(".sq-verdict")
    assert (text.inner_text(), race.locator("output").inner_text()[:6]) == ("", "0.00 s")
    assert lane.ttft_ms is not None and lane.end_ms is not None
    to(race, int(lane.ttft_ms))
    begun = [piece for ms, _, piece in lane.pieces if ms <= int(lane.ttft_ms)]
    assert text.inner_text() == "".join(begun) and verdicts.all_inner_texts() == ["", "", ""]
    to(race, 1e9)
    assert text.inner_text() == lane.text
    assert [bool(verdict) for verdict in verdicts.all_inner_texts()] == [True, True, True]
    assert "failed" in verdicts.nth(2).inner_text()
    to(race, 0)
    assert verdicts.all_inner_texts() == ["", "", ""]  # nothing is given away twice


def test_it_plays_pauses_and_plays_again(race: Page) -> None:
    race.evaluate("""() => {
      const view = model.get("view");
      view.total_ms = 4000;
      view.lanes[0].pieces = Array.from({ length: 40 }, (_, i) => [100 * i, false, `${i} `]);
      view.lanes[0].end_ms = 4000;
      model.set("view", view);
    }""")
    play, speed = race.locator("button"), race.get_by_label("Speed")
    assert speed.locator("option").all_inner_texts() == ["0.1×", "0.25×", "0.5×", "1×", "2×", "5×", "10×"]
    speed.select_option("0.1")
    play.focus()
    race.keyboard.press("Enter")
    assert play.inner_text() == "Pause"
    expect(race.locator("output")).not_to_have_text("0.00 s of 4.00 s")
    race.keyboard.press("Enter")
    paused = float(race.locator("input").input_value())
    race.wait_for_timeout(150)
    assert play.inner_text() == "Play" and float(race.locator("input").input_value()) == paused < 4000
    speed.select_option("10")
    play.click()
    expect(race.locator("output")).to_have_text("4.00 s of 4.00 s")
    assert race.locator(".sq-lane pre").first.inner_text().endswith("39 ")
    play.click()
    assert float(race.locator("input").input_value()) < 4000  # from the beginning


def test_a_race_that_is_held_now_follows_what_comes(race: Page) -> None:
    race.evaluate("""() => {
      const view = { ...model.get("view"), live: true, total_ms: 100 };
      Object.assign(view.lanes[0], { pieces: [[100, false, "so far"]], end_ms: null, verdict: "pass" });
      model.set("view", view);
    }""")
    assert race.locator(".sq-lane pre").first.inner_text() == "so far"
    assert race.locator(".sq-verdict").first.inner_text() == "" and race.locator("button").is_disabled()


def test_with_reduced_motion_the_end_is_shown_at_once(browser: Browser, small_run: sq.Run, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "race", *shown("race", small_run), reduced_motion="reduce")
    assert all(page.locator(".sq-verdict").all_inner_texts())
    page.context.close()


def test_the_live_view_touches_only_what_changes(browser: Browser, small_run: sq.Run, tmp_path: Path) -> None:
    page = open_widget(browser, tmp_path, "status", *shown("status", small_run))
    page.evaluate("""() => {
      window.cell = document.querySelector("td");
      const view = model.get("view");
      view.rows[0][1] = "7";
      view.share = null;
      model.set("view", view);
    }""")
    assert page.evaluate("window.cell.isConnected") and page.locator("td").nth(1).inner_text() == "7"
    assert page.locator("progress").is_hidden()
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_runs_out_of_a_narrow_page(browser: Browser, small_run: sq.Run, tmp_path: Path, kind: str) -> None:
    page = open_widget(browser, tmp_path, kind, *shown(kind, small_run))
    page.set_viewport_size({"width": 360, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.context.close()
