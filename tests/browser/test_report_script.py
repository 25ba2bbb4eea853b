"""What the script adds to a report: sorting, search, filters, links, comparison, and the stream replayed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.pages import heard, opened
from made_run import KINDS, make_run
from playwright.sync_api import Browser, Locator, Page, expect

from speedqual.report.context import gather
from speedqual.report.page import assemble
from speedqual.report.sections.candidates import section as candidates
from speedqual.report.sections.failures import section as failures
from speedqual.report.sections.items import section as items
from speedqual.report.words import Words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

N_ITEMS = 40


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("script")
    run = make_run(folder / "run", KINDS[:3], n_items=N_ITEMS, tokens=30)
    words = Words.load("en")
    context = gather(run, words, items=None)
    parts = [part for section in (candidates, failures, items) if (part := section(context))]  # few drawings: quick
    shown = context.shown
    page = assemble(parts, words, title="Three sections", made="", streams=shown.streams, more=shown.packed)
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder / "report.html"


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    with opened(browser, file) as page:
        page.wait_for_function(
            f"document.querySelector('#items-tools [role=status]').textContent.includes('{3 * N_ITEMS} of')"
        )
        yield page
        assert heard(page) == [page.url.split("#")[0]]


def choice(page: Page, label: str) -> Locator:
    return page.locator("#items-tools label", has_text=re.compile(f"^{label}")).locator("select")


def column(page: Page, index: int) -> list[float]:
    cells = page.locator(f"#candidates tr[data-candidate] > :nth-child({index})")
    return [float(value) for value in cells.evaluate_all("all => all.map(one => one.dataset.order)")]


def test_a_table_sorts_by_click_and_by_key(page: Page) -> None:
    table = page.locator("#candidates table.sortable").last
    head = table.locator("th").nth(4)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 5) == sorted(column(page, 5), reverse=True)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 5) == sorted(column(page, 5))
    assert "ascending" in page.locator("p.unseen").inner_text()
    table.locator("th button").first.click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == sorted(names, key=lambda name: name.strip("● "))
    assert head.get_attribute("aria-sort") is None


def test_search_goes_over_packed_items_as_well(page: Page) -> None:
    page.get_by_label("Search the items").fill("Invoice 38:")
    expect(page.locator("#items-tools [role=status]")).to_have_text("3 of 120 items")
    assert sorted(page.locator(".item").evaluate_all("all => all.map(one => one.dataset.key)")) == [
        "facts/facts-0038",
        "invoices/extraction-0038",
        "发票-代码/code-0038",
    ]
    page.get_by_label("Search the items").fill("no such words")
    expect(page.locator("#items-tools [role=status]")).to_have_text("No item matches.")


def test_filters_narrow_the_list_and_more_comes_on_demand(page: Page) -> None:
    assert page.locator(".item").count() == 50
    page.get_by_role("button", name="Show 50 more").click()
    assert page.locator(".item").count() == 100
    choice(page, "eval set").select_option("facts")
    assert page.locator(".item").count() == N_ITEMS
    choice(page, "candidate").select_option("steady-70b")
    choice(page, "kind of failure").select_option("contradicted")
    shown = page.locator(".item").count()
    assert 0 < shown < N_ITEMS
    page.locator(".item > details > summary").first.click()
    assert page.locator(".item").first.locator(".answer:visible strong").all_inner_texts() == ["steady-70b"]
    choice(page, "shown because").select_option("flipped")
    assert page.locator(".item").count() <= shown


def test_a_link_opens_an_item_on_load_and_back_and_forward(browser: Browser, file: Path) -> None:
    with opened(browser, file, anchor="#item=facts%2Ffacts-0038&candidate=deep-reasoner") as page:
        answer = page.locator('.item[data-key="facts/facts-0038"] .answer[data-candidate="deep-reasoner"]')
        expect(answer.locator("summary")).to_be_focused()
        assert answer.locator(".body").is_visible()
        page.evaluate("location.hash = 'candidate=swift-8b'")
        expect(page.locator("tr.target")).to_have_attribute("data-candidate", "swift-8b")
        page.go_back()
        expect(answer.locator("summary")).to_be_focused()
        assert page.locator("tr.target").count() == 0
        page.go_forward()
        expect(page.locator("tr.target")).to_be_in_viewport()
        page.evaluate("location.hash = 'item=there%20is%20none'")
        assert heard(page) == [file.as_uri()]


def test_a_count_of_failures_leads_to_an_answer_that_a_filter_hides(page: Page) -> None:
    link = page.locator('#failures td a[href^="#item-"]').first
    wanted = str(link.get_attribute("href"))
    page.get_by_label("Search the items").fill("no such words")
    assert page.locator(wanted).count() == 0
    link.click()
    expect(page.locator(wanted)).to_be_in_viewport()
    assert page.locator(wanted).evaluate("one => one.open")


def test_an_answer_links_to_itself(page: Page) -> None:
    page.locator(".item > details > summary").nth(1).click()
    answer = page.locator(".item").nth(1).locator(".answer").first
    answer.locator("summary").click()
    answer.get_by_role("link", name="Link").click()
    key = page.locator(".item").nth(1).get_attribute("data-key")
    assert page.evaluate("new URLSearchParams(location.hash.slice(1)).get('item')") == key


def test_two_answers_stand_side_by_side_and_escape_closes_them(page: Page) -> None:
    page.locator(".item > details > summary").first.click()
    answers = page.locator(".item").first.locator(".answer")
    for i in (0, 2):
        answers.nth(i).locator("summary").click()
        answers.nth(i).locator("button.compare").click()
        if i == 0:
            assert answers.nth(0).locator("button.compare").get_attribute("aria-pressed") == "true"
    dialog = page.get_by_role("dialog", name="Side by side")
    names = [answers.nth(i).get_attribute("data-candidate") for i in (0, 2)]
    assert all(str(name) in head for name, head in zip(names, dialog.locator("h3").all_inner_texts(), strict=True))
    dialog.locator("summary", has_text="Asked and expected").first.click()
    assert dialog.locator("pre", has_text="Invoice").first.is_visible()
    boxes = [dialog.locator("section").nth(i).bounding_box() for i in (0, 1)]
    assert boxes[0] and boxes[1] and boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(answers.nth(2).locator("button.compare")).to_be_focused()
    assert answers.nth(0).locator("button.compare").get_attribute("aria-pressed") == "false"


REPLAY = """async () => {
  const answer = [...document.querySelectorAll(".answer")].find((one) => one.dataset.kind !== "http_error");
  answer.closest("details").open = true;
  answer.closest(".item").querySelector("details").open = true;
  answer.scrollIntoView();
  return answer.id;
}"""


def test_the_stream_comes_at_its_recorded_times(browser: Browser, file: Path) -> None:
    made = browser.new_context(viewport={"width": 1100, "height": 900})
    page = made.new_page()
    page.clock.install()
    page.goto(file.as_uri())
    page.clock.run_for(200)
    name = page.evaluate(REPLAY)
    answer = page.locator(f"#{name}")
    steps = page.evaluate("name => JSON.parse(document.getElementById('data').textContent).streams[name]", name)
    waits, lengths = steps[-1]
    expect(answer.locator(".player")).to_be_visible()
    text, pre = answer.locator(".track pre").last.inner_text(), answer.locator(".track pre").last
    end = max(sum(waits) for waits, _ in steps)

    def come(ms: float) -> int:
        """Characters by then, from the recorded steps."""
        at = length = 0
        for wait, more in zip(waits, lengths, strict=True):
            at += wait
            length += more if at <= ms else 0
        return length

    play = answer.locator(".player button")
    assert play.inner_text() == "Replay"
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    play.click()
    assert play.inner_text() == "Pause" and pre.text_content() == ""
    page.clock.run_for(round(end * 0.6))
    now = float(answer.locator(".player output").inner_text().split()[0]) * 1000
    assert abs(now - end * 0.6) < 60
    seen = len(str(pre.text_content()))
    assert come(now - 6) <= seen <= come(now + 6) and 0 < seen < len(text)
    page.clock.run_for(round(end * 0.6))
    assert pre.text_content() == text and play.inner_text() == "Replay"

    answer.locator(".player select").select_option("0.1")
    play.click()
    page.clock.run_for(round(end))
    slow = float(answer.locator(".player output").inner_text().split()[0]) * 1000
    assert abs(slow - end * 0.1) < 60
    answer.locator("input[type=range]").fill(str(round(end * 0.5)))
    assert play.inner_text() == "Play"
    assert len(str(pre.text_content())) == come(round(end * 0.5))
    answer.locator("input[type=range]").focus()
    page.keyboard.press("End")
    assert pre.text_content() == text
    made.close()


def test_with_reduced_motion_the_text_comes_four_times_a_second(browser: Browser, file: Path) -> None:
    with opened(browser, file, reduced_motion="reduce") as page:
        name = page.evaluate(REPLAY)
        changes = page.evaluate(
            """async (name) => {
              const answer = document.getElementById(name), pre = [...answer.querySelectorAll(".track pre")].at(-1);
              await new Promise((done) => setTimeout(done, 100));
              let changes = 0;
              new MutationObserver((all) => (changes += all.length)).observe(pre, {childList: true});
              answer.querySelector(".player select").value = "0.1";
              answer.querySelector(".player select").dispatchEvent(new Event("change"));
              answer.querySelector(".player button").click();
              await new Promise((done) => setTimeout(done, 1200));
              return changes;
            }""",
            name,
        )
        assert changes <= 6
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_all_can_be_reached_by_keyboard(page: Page) -> None:
    page.locator(".item > details > summary").first.focus()
    page.keyboard.press("Enter")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        where = str(page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className"))
        reached.add(where)
        if where == "SUMMARY." and page.evaluate("document.activeElement.parentElement.matches('.answer')"):
            page.keyboard.press("Enter")
            page.wait_for_timeout(50)  # what opens is equipped on the next turn
    assert {"SUMMARY.", "PRE.", "BUTTON.", "BUTTON.compare", "INPUT.", "SELECT.", "A."} <= reached
