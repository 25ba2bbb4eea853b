"""The documentation as a site: built without a warning, offline, and in step with the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Browser

pytestmark = pytest.mark.timeout(300)  # whoever comes first builds the site

ROOT = Path(__file__).parents[2]
# what a page fetches when it is opened: a link to click on is none
FETCHES = {
    ("script", "src"), ("link", "href"), ("img", "src"), ("img", "srcset"), ("source", "src"), ("source", "srcset"),
    ("iframe", "src"), ("video", "src"), ("object", "data"), ("embed", "src"), ("use", "href"), ("image", "href"),
}  # fmt: skip
REMOTE = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)


class Fetched(HTMLParser):
    """Every address that a browser would fetch, and the classes that make the theme fetch more."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in FETCHES and value:
                self.addresses.append(value)
            if name == "class" and value:
                self.classes.update(value.split())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once, whichever worker comes first."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with FileLock(root / "site.lock"):
        if not (root / "site" / "index.html").exists():
            build(root / "site")
    return root / "site"


def build(folder: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr  # the configuration is strict: a warning is an error


@pytest.mark.slow
def test_no_page_fetches_anything_remote(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 10
    for found in pages:
        fetched = Fetched(found.read_text(encoding="utf-8"))
        assert not [address for address in fetched.addresses if REMOTE.match(address)], found.name
        assert "mermaid" not in fetched.classes, "the theme would fetch a library to draw it"


@pytest.mark.slow
def test_no_style_fetches_anything_remote(site: Path) -> None:
    for found in site.rglob("*.css"):
        text = found.read_text(encoding="utf-8")
        assert not re.findall(r"url\(\s*['\"]?(?:https?:)?//[^)]*|@import[^;]*//[^;]*", text), found.name


@pytest.mark.slow
def test_every_public_name_and_every_notebook_has_its_place(site: Path) -> None:
    import speedqual

    reference = (site / "api" / "python.html").read_text(encoding="utf-8")
    for name in speedqual.__all__:
        assert name == "__version__" or f"sq.{name}" in reference, name
    names = {source.stem for source in (ROOT / "notebooks").glob("[0-9]*.py")}
    assert names and names <= {found.stem for found in (site / "notebooks").glob("*.html")}


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_asks_for_nothing_but_files_of_the_site(site: Path, browser: Browser) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index.html", "api/python.html", "evalsets.html"):
        page.goto((site / name).as_uri())
        page.wait_for_load_state("networkidle")
    page.close()
    assert len(asked) > 5
    assert [url for url in asked if not url.startswith((site.as_uri(), "data:", "blob:"))] == []


def test_the_page_of_the_command_line_is_what_help_says() -> None:
    path = ROOT / "docs" / "cli.md"
    # in a process of its own: a command that was once asked without its parent remembers other names for --help
    command = [sys.executable, "-m", "speedqual.cli.page"]
    page = subprocess.run(command, capture_output=True, check=True, cwd=ROOT, timeout=60).stdout.decode()
    assert path.read_text(encoding="utf-8") == page, "run: python -m speedqual.cli.page > docs/cli.md"
