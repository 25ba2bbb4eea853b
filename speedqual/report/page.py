"""One HTML file out of the sections: no remote part, and a content security policy that holds it to that."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from speedqual.display.safe import visible
from speedqual.report.pack import block, packed
from speedqual.report.words import Words

__all__ = ["Part", "assemble", "fill"]


@dataclass(frozen=True, slots=True)
class Part:
    """A section as it stands in the page: its anchor, its heading and its finished markup."""

    anchor: str
    heading: str
    body: Markup


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("speedqual.report", "templates")
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    made.filters["visible"] = visible
    return made


def fill(template: str, words: Words, **values: Any) -> Markup:
    """A template of this room with every value escaped; ``{{ text | visible }}`` for whatever a model wrote."""
    return Markup(_environment().get_template(template).render(say=words, **values))


def assemble(
    parts: Iterable[Part],
    words: Words,
    *,
    title: str,
    made: str,
    redacted: bool = False,
    streams: Mapping[str, Any] | None = None,
    more: Iterable[Any] = (),
) -> str:
    """The whole page. ``streams``: steps by the anchor of an answer; ``more``: items to pack, for the script alone."""
    style, script = _file("style.css"), _file("report.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    said = {key.removeprefix("script."): text for key, text in words.texts.items() if key.startswith("script.")}
    kinds = {key: text for key, text in words.texts.items() if key.startswith(("kind.", "outcome.", "items.reason_"))}
    more = list(more)
    page = fill(
        "page.html.j2",
        words,
        parts=list(parts),
        style=Markup(style),
        script=Markup(script),
        policy=policy,
        lang=words.lang,
        title=title,
        made=made,
        redacted=redacted,
        data=block({"words": said, "names": kinds, "streams": dict(streams or {})}),
        packed=packed(more) if more else "",
    )
    return str(page)


def _file(name: str) -> str:
    return files("speedqual.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
