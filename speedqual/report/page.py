"""One HTML file out of the sections: no script, no remote part, a content security policy that holds it to that."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from speedqual.display.safe import visible
from speedqual.report.words import Words

__all__ = ["Part", "assemble", "fill"]


@dataclass(frozen=True, slots=True)
class Part:
    """A section as it stands in the page: its anchor, its heading and its finished markup."""

    anchor: str
    heading: str
    body: Markup


def _environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("speedqual.report", "templates")
    made = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    made.filters["visible"] = visible
    return made


def fill(template: str, words: Words, **values: Any) -> Markup:
    """A template of this room with every value escaped; ``{{ text | visible }}`` for whatever a model wrote."""
    return Markup(_environment().get_template(template).render(say=words, **values))


def assemble(parts: Iterable[Part], words: Words, **head: Any) -> str:
    """The whole page. ``head`` fills the title and the line under it."""
    style = files("speedqual.report").joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    page = fill("page.html.j2", words, parts=list(parts), style=Markup(style), policy=policy, lang=words.lang, **head)
    return str(page)
