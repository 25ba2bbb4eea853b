"""A page as its tags, for tests of what a browser would fetch or run."""

from __future__ import annotations

from html.parser import HTMLParser


class Tags(HTMLParser):
    """Every start tag with its attributes, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
