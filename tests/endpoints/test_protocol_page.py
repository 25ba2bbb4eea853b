"""The docs page of the protocols is what the code says now."""

from __future__ import annotations

from pathlib import Path

from speedqual.endpoints.protocols.catalogue import page
from speedqual.endpoints.registry import endpoint, names

PAGE = Path(__file__).parents[2] / "docs" / "protocols.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == page(), (
        "run: python -m speedqual.endpoints.protocols.catalogue > docs/protocols.md"
    )


def test_every_protocol_is_on_it_and_says_where_it_was_seen() -> None:
    text = page()
    for name in names():
        assert f"`{name}`" in text
        assert endpoint(name).about.seen in ("live", "recordings")  # type: ignore[attr-defined]
    assert text.count("| seen | live |") == 3  # OpenAI chat and completions, llama.cpp's own
