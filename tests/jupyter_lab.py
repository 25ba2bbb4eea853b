"""A real JupyterLab of its own: config, data, runtime and workspaces in a temporary place, nothing fetched, ended surely."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

SETTINGS = {
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # cells out of sight are in the page too
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
        "doNotDisturbMode": True,
    },
}
PLACES = ("CONFIG", "DATA", "RUNTIME")
READY_S = 60.0


@dataclass(frozen=True)
class Lab:
    """A running server: its address, its token, the folder that it serves."""

    url: str
    token: str
    root: Path

    def ask(self, path: str, method: str = "GET") -> bytes:
        """Call the server's own interface."""
        headers = {"Authorization": f"token {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers, method=method)) as reply:
            return bytes(reply.read())

    def end_kernels(self) -> None:
        """As when the machine was restarted: notebooks keep what was saved, and nothing else."""
        for session in json.loads(self.ask("api/sessions")):
            self.ask(f"api/sessions/{session['id']}", "DELETE")


@contextmanager
def serving(home: Path, root: Path) -> Iterator[Lab]:
    """A server for the notebooks in ``root`` that keeps all else in ``home``."""
    places = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in PLACES}
    labconfig = home / "config" / "labconfig"
    labconfig.mkdir(parents=True)
    (labconfig / "default_setting_overrides.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    token = secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={token}"),
        *("--LabApp.extension_manager=readonly", "--LabApp.news_url=None"),
        *(f"--LabApp.user_settings_dir={home / 'settings'}", f"--LabApp.workspaces_dir={home / 'workspaces'}"),
    ]
    env = os.environ | places | {"IPYTHONDIR": str(home / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}
    with (home / "log.txt").open("wb") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        url = _address(home / "runtime", server, home / "log.txt")
        yield Lab(url, token, root)
        Lab(url, token, root).end_kernels()
    finally:
        _end(server)


def _address(runtime: Path, server: subprocess.Popen[bytes], log: Path) -> str:
    """Where it listens, as it writes down once it does."""
    until = time.monotonic() + READY_S
    while time.monotonic() < until and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            text = file.read_text(encoding="utf-8")
            if text.endswith("}"):
                return str(json.loads(text)["url"])
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {log.read_text(errors='replace')[-2000:]}")


def _end(server: subprocess.Popen[bytes]) -> None:
    """The whole group: the server, and any kernel that it left behind."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            server.wait(timeout=10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
        if sign == signal.SIGKILL:
            return


@dataclass(frozen=True)
class Opened:
    """A notebook in a tab of the browser."""

    page: Page
    file: Path

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def wait_until_run(self, timeout_s: float = 180) -> None:
        """Every prompt has a number, or a cell has failed."""
        numbered = r"[...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')].every(e => /\[\d+\]/.test(e.textContent))"
        failed = "document.querySelector('[data-mime-type=\"application/vnd.jupyter.error\"], .jp-RenderedText[data-mime-type*=error]')"
        self.page.wait_for_function(f"{numbered} || {failed}", timeout=1000 * timeout_s)

    def save(self) -> None:
        """Save, and wait until the file is whole."""
        before = self.file.stat().st_mtime_ns
        self.page.keyboard.press("Control+s")
        until = time.monotonic() + 30
        while time.monotonic() < until:
            if self.file.stat().st_mtime_ns != before and self.file.read_text(encoding="utf-8").rstrip().endswith("}"):
                return
            self.page.wait_for_timeout(100)
        pytest.fail("not saved")

    def answer(self, code: str) -> str:
        """What a new cell at the end says."""
        self.page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").last.click()
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        self.page.keyboard.press("Enter")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Shift+Enter")
        cell = self.page.locator(".jp-CodeCell", has_text=code)
        result = cell.locator(".jp-OutputArea-output").last
        result.wait_for(timeout=20_000)
        return result.inner_text().strip()

    def picture(self, name: str) -> None:
        """Keep a picture of the page where somebody asked for pictures."""
        folder = os.environ.get("SPEEDQUAL_SCREENSHOTS")
        if folder:
            for at, view in enumerate(self.page.locator("speedqual-view").all()):
                view.screenshot(path=Path(folder) / f"lab-{name}-{at}.png")
            self.page.screenshot(path=Path(folder) / f"lab-{name}.png")

    def dark(self, dark: bool) -> None:
        """By the command palette, as a person would."""
        self.page.keyboard.press("Control+Shift+c")
        palette = self.page.locator(".jp-ModalCommandPalette input")
        palette.fill(f"Use Theme: JupyterLab {'Dark' if dark else 'Light'}")
        palette.press("Enter")
        self.page.locator(f"body[data-jp-theme-light='{str(not dark).lower()}']").wait_for(state="attached")


def open_notebook(browser: Browser, lab: Lab, name: str) -> Opened:
    """Open it alone (a workspace brings back the tabs it was left with) and wait until its kernel is idle: the status
    bar says so last."""
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.said = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda fault: page.said.append(str(fault)))  # type: ignore[attr-defined]
    page.on("dialog", lambda dialog: (page.said.append("dialog"), dialog.dismiss()))  # type: ignore[attr-defined]
    page.on("request", lambda asked: page.said.append(asked.url) if _elsewhere(asked.url, lab) else None)  # type: ignore[attr-defined]
    page.goto(f"{lab.url}lab/workspaces/{Path(name).stem}/tree/{name}?token={lab.token}")
    page.locator("#jp-main-statusbar").get_by_text(re.compile(r"\| Idle")).wait_for(timeout=60_000)
    return Opened(page, lab.root / name)


def _elsewhere(url: str, lab: Lab) -> bool:
    return not url.startswith((lab.url, "blob:", "data:"))
