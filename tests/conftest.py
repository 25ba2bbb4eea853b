"""Rules for the whole suite: which skips are allowed, and property tests that give the same examples each time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["small_run", "two_runs", "command", "chromium"]

SHARED = Path(__file__).parents[2] / "shared"
ABSENT = "../shared is absent"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a suite started in the background ignores Ctrl-C, and so would the children that tests interrupt
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "speedqual", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("speedqual")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public result sets beside the checkout; the test is skipped, saying so, when it is not there."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI a skip means that something was not tested: it fails, unless it is the one allowed reason."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("SPEEDQUAL_CI") or reporter is None or exitstatus:
        return
    skipped = [report for report in reporter.stats.get("skipped", []) if ABSENT not in str(report.longrepr)]
    if skipped:
        reporter.write_line(f"{len(skipped)} skipped tests are not allowed in CI:", red=True)
        for report in skipped:
            reporter.write_line(f"  {report.nodeid}: {report.longrepr}", red=True)
        session.exitstatus = 1
