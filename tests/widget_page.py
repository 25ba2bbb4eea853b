"""A page with one widget, as a notebook would show it: its static twin, then its module with a model that answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from speedqual.notebook.screens import element
from speedqual.notebook.widgets import script, style

THEMES = ("light", "dark")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>widget</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:">
<style>html {{ color-scheme: light dark; background: light-dark(#fff, #14181d); color: light-dark(#111, #eee); }} {style}</style>
<body><main><h1>Widget</h1>{twin}</main>
<script type="module">
class Model {{
  constructor(values) {{ this.values = values; this.heard = {{}}; this.sent = []; this.saved = []; }}
  get(name) {{ return structuredClone(this.values[name]); }}
  set(name, value) {{ this.values[name] = value; (this.heard[`change:${{name}}`] ?? []).forEach((told) => told()); }}
  save_changes() {{ this.saved.push(structuredClone(this.values)); }}
  on(name, told) {{ (this.heard[name] ??= []).push(told); }}
  off(name, told) {{ this.heard[name] = (this.heard[name] ?? []).filter((other) => other !== told); }}
  send(message) {{ this.sent.push(message); }}
}}
const text = {module};
const widget = (await import(URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }})))).default;
window.model = new Model({{ key: "k", choice: {{}}, view: {view} }});
window.stop = widget.initialize({{ model: window.model }});
document.documentElement.dataset.ready = "";
</script>"""


def in_script(value: Any) -> str:
    return json.dumps(value).replace("</", "<\\/").replace("<!--", "<\\!--")


def open_widget(
    browser: Browser,
    folder: Path,
    kind: str,
    view: dict[str, Any],
    twin: str = "",
    theme: str = "light",
    **context: Any,
) -> Page:
    """The page of one widget; what it asks for and says is kept in ``page.said``."""
    html = PAGE.format(style=style(kind), twin=element("k", twin), module=in_script(script(kind)), view=in_script(view))
    file = folder / f"{kind}.html"
    file.write_text(html, encoding="utf-8", errors="surrogatepass")
    page = browser.new_context(color_scheme=theme, viewport={"width": 860, "height": 700}, **context).new_page()  # type: ignore[arg-type]
    page.said = []  # type: ignore[attr-defined]
    page.on("request", lambda asked: page.said.append(asked.url))  # type: ignore[attr-defined]
    page.on("console", lambda message: page.said.append(message.text))  # type: ignore[attr-defined]
    page.on("pageerror", lambda fault: page.said.append(str(fault)))  # type: ignore[attr-defined]
    page.on("dialog", lambda dialog: (page.said.append("dialog"), dialog.dismiss()))  # type: ignore[attr-defined]
    page.goto(file.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    return page
