"""The probe decides for a whole process, so a busy host must not decide it, and an open door must."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from speedqual.grading.sandbox.probe import Probe

LOST = Probe("landlock", (), "the sandbox worker ended")
HOLDS = Probe("landlock", ())
OPEN = Probe("landlock", ("loopback",))


@pytest.fixture
def module() -> Iterator[object]:
    import sys

    found = sys.modules["speedqual.grading.sandbox.probe"]
    found.probe.cache_clear()
    yield found
    found.probe.cache_clear()


@pytest.mark.parametrize(
    ("answers", "asked", "holds"),
    [
        ([LOST, LOST, HOLDS], 3, True),
        ([LOST, LOST, LOST, HOLDS], 3, False),
        ([OPEN, HOLDS], 1, False),
        ([LOST, OPEN, HOLDS], 2, False),
        ([HOLDS], 1, True),
    ],
)
def test_what_did_not_end_is_tried_again_and_an_open_door_is_not(
    module, monkeypatch: pytest.MonkeyPatch, answers: list[Probe], asked: int, holds: bool
) -> None:
    left = list(answers)
    monkeypatch.setattr(module, "_once", lambda backend, python: left.pop(0))
    assert module.probe("landlock").holds is holds
    assert len(answers) - len(left) == asked
