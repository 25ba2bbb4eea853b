"""What a cell's output holds: always complete HTML and text, woken where a front end takes part, closed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from speedqual.notebook import screens
from speedqual.notebook.screens import Cell
from speedqual.notebook.widgets import open_bridge, script, style


class Handle:
    """Stands in for IPython's display handle: what the front end is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, str]]] = []

    def display(self, bundle: dict[str, str], raw: bool) -> None:
        self.sent.append(("display", bundle))

    def update(self, bundle: dict[str, str], raw: bool) -> None:
        self.sent.append(("update", bundle))


class Bridge:
    key = "k<1>"

    def __init__(self, awake: bool) -> None:
        self.awake = awake
        self.views: list[dict[str, Any]] = []
        self.closed = False

    def send_view(self, view: dict[str, Any]) -> None:
        self.views.append(view)

    def on_choice(self, told: Callable[[Mapping[str, Any]], None]) -> None: ...

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Handle:
    made = Handle()
    monkeypatch.setattr("IPython.display.DisplayHandle", lambda: made)
    return made


def test_a_woken_output_is_replaced_once_at_the_end(handle: Handle) -> None:
    bridge = Bridge(awake=True)
    cell = Cell(bridge)
    for number in range(5):
        cell.show(f"<p>{number}</p>", str(number), {"n": number})
    cell.show("<p>end</p>", "end", {"n": 5}, final=True)
    assert [view["n"] for view in bridge.views] == [0, 1, 2, 3, 4, 5]
    element = '<speedqual-view data-view="k&lt;1&gt;"><p>0</p></speedqual-view>'
    assert handle.sent == [
        ("display", {"text/html": element, "text/plain": "0"}),
        ("update", {"text/html": "<p>end</p>", "text/plain": "end"}),
    ]
    assert bridge.closed


def test_an_output_that_nobody_wakes_is_replaced_now_and_then(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(screens.time, "monotonic", lambda: now[0])
    cell = Cell(Bridge(awake=False))
    for at in (10.0, 10.2, 10.4, 10.6, 10.8, 11.2):
        now[0] = at
        cell.show("", str(at), {})
    assert [bundle["text/plain"] for _, bundle in handle.sent] == ["10.0", "10.6", "11.2"]


def test_a_lasting_output_stays_to_be_woken(handle: Handle) -> None:
    bridge = Bridge(awake=True)
    Cell(bridge, lasting=True).show("<p>twin</p>", "twin", {}, final=True)
    assert not bridge.closed and handle.sent[0][1]["text/html"].startswith("<speedqual-view")


def test_without_anywidget_it_is_html_alone(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "speedqual.notebook.widgets.bridge", raising=False)
    assert open_bridge("status") is None
    Cell(open_bridge("status")).show("<p>1</p>", "1", {})
    assert handle.sent == [("display", {"text/html": "<p>1</p>", "text/plain": "1"})]


def test_outside_a_kernel_it_says_so() -> None:
    assert not screens.in_kernel()


@pytest.mark.parametrize("kind", ["status", "plane", "race"])
def test_scripts_fetch_nothing_and_parse_nothing(kind: str) -> None:
    text = script(kind) + style(kind)
    for word in (
        "import ",
        "import(",
        "fetch(",
        "http:",
        "https:",
        "@import",
        "url(",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "document.write",
    ):
        assert word not in text.replace("http://www.w3.org/2000/svg", ""), word
    assert text.count("export default") == 1


@pytest.mark.parametrize("kind", ["status", "plane", "race"])
def test_a_bridge_carries_views_and_choices(kind: str) -> None:
    bridge = open_bridge(kind)
    assert bridge is not None and not bridge.awake
    heard: list[Mapping[str, Any]] = []
    bridge.on_choice(heard.append)
    bridge.send_view({"n": 1})
    comm: Any = bridge
    comm.choice = {"names": ["a"]}
    comm._handle_custom_msg({"awake": True}, [])
    assert (comm.view, heard, bridge.awake) == ({"n": 1}, [{"names": ["a"]}], True)
    assert len({type(open_bridge(other)) for other in ("status", "plane", "race")}) == 3  # a style for each
