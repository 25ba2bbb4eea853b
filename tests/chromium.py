"""A real Chromium. Skipped, saying so, where none is installed; CI installs one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

PATHS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window. Raises LookupError where none is installed."""
    found = next((path for path in map(shutil.which, PATHS) if path), None)
    if found is None:
        raise LookupError("no Chromium is installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")  # while it is open this thread has a running event loop
def browser() -> Iterator[Browser]:
    try:
        with launched() as chromium:
            yield chromium
    except LookupError as lack:
        pytest.skip(str(lack))
