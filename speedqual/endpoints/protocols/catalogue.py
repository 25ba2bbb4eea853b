"""The page of the docs that lists every protocol.

``python -m speedqual.endpoints.protocols.catalogue > docs/protocols.md``
"""

from __future__ import annotations

from speedqual.endpoints.naming import ALIASES
from speedqual.endpoints.protocols.adapter import About, Adapter
from speedqual.endpoints.protocols.dialects import DIALECTS
from speedqual.endpoints.protocols.openai_chat import OpenAIChat
from speedqual.endpoints.registry import endpoint, names

__all__ = ["page"]

_HEAD = """\
# Protocols

This page is made from the code: `python -m speedqual.endpoints.protocols.catalogue > docs/protocols.md`.

A candidate is named `ENDPOINT/MODEL`, split at the first slash: `openai/gpt-5-mini`, `openrouter/vendor/model`.
In the settings:

```toml
[candidates.fast]
endpoint = "groq"            # or model = "groq/llama-…"
model = "llama-…"
tier = "flex"                # asked for; what was served is kept beside it
params = {temperature = 0}   # passed through to where the protocol wants it
price = {input = 0.5, output = 1.0, cached = 0.1, as_of = "2026-11-01"}   # USD per million tokens
```

Other keys: `base_url`, `api_key_env`, `headers`, `ladder`, `rung`, `x`, `tags`, `shots`, `system`, `cache`,
`group`, `params_b`, `claimed_tok_s`, `usd_per_hour`. A key never stands in the settings: it is read from the
environment. Base URLs may be written with or without `/v1`, with or without a trailing slash; one that ends in
the whole path is used as it is.

## What all have in common

- An event is dated by the read that completes it. Only text, thinking, tool names and arguments count; roles,
  empty pieces, comments, pings, progress and usage do not.
- Token counts are the server's: `n_prompt` includes cache reads and writes, `n_out` includes reasoning once.
  Running totals are kept with each event, and the last one counts. Without a count there is none; the number of
  events is none.
- A stream without its end marker is `cut_off`; an error after status 200 is `stream_error` or `body_error`; a
  web page is `not_stream`; nothing is `empty`. What came before is kept.
- A body may come compressed although that was not asked for: it is read and flagged. Events may be set apart by
  LF, CRLF or CR; a frame of more than 16 MiB is cut off.
- Images in a prompt (`{"type": "image", "media_type": …, "data": base64}`) are carried where the table says so,
  and refused elsewhere, as are tools and service tiers.
- `<think>` tags in an answer stay in it; `speedqual stream --split-think` shows the other reading.

*Seen live* means that the adapter was run against a real server while it was built; the others were built from
recordings and the providers' documents only.

"""

_RECORDINGS = """
## Recordings

`speedqual stream FILE` plays a recording over a local socket at its recorded times and says what was seen;
`--check` compares that with what the recording expects. `speedqual stream ENDPOINT/MODEL --record FILE` makes
one, without keys. The form is one JSON object:

| key | meaning |
|---|---|
| `api` | the protocol, under the name in the tables above |
| `path, status, headers, head_ms` | the request's path; the head of the reply and when it is sent |
| `chunks` | `[[ms, payload], …]`, one write each: text, `{"b64": …}`, `{"repeat": s, "n": k}` or a list of these |
| `framing` | `chunked` (default), `length` (with `length`), `close` |
| `end`, `end_ms` | `eof` (default), `reset`, `cut`, `length_short`; and when |
| `expect` | what a correct client reports; the keys of `speedqual stream --json` |

## A protocol of your own

One file with an object that has the attributes and the two methods of `speedqual.endpoints.base.Endpoint`
(`request` makes the bytes to send, `decode` reads the stamped bytes that came back), and one entry point in
your package:

```toml
[project.entry-points."speedqual.endpoints"]
mine = "my_package.my_protocol:MINE"
```
"""


def page() -> str:
    """The whole page, in Markdown."""
    loaded: list[object] = [endpoint(name) for name in names()]
    native = [found for found in loaded if isinstance(found, Adapter) and found not in DIALECTS]
    parts = ["## Protocols of their own\n", *(_section(adapter) for adapter in native)]
    parts += ["## Dialects of OpenAI chat\n", _dialects(sorted(DIALECTS, key=lambda dialect: dialect.name))]
    aliases = ", ".join(f"`{other}` = `{ours}`" for other, ours in sorted(ALIASES.items()))
    return _HEAD + "\n".join(parts) + f"\nOther names that are understood: {aliases}.\n" + _RECORDINGS


def _section(adapter: Adapter) -> str:
    about = adapter.about
    carries = [
        word
        for has, word in (
            (adapter.has_images, "images"),
            (adapter.has_tools, "tools"),
            (adapter.has_tier, "service tier"),
        )
        if has
    ]
    rows = [
        ("name", f"`{adapter.name}` (in recordings `{adapter.wire}`)"),
        ("asked", about.sends),
        ("read", about.reads),
        ("end", about.ends),
        ("carries", ", ".join(carries) or "text only"),
        ("key, address", _where(adapter)),
        ("seen", _seen(about)),
        ("note", about.note),
    ]
    table = "\n".join(f"| {name} | {_cell(text)} |" for name, text in rows if text)
    return f"### {about.title}\n\n| | |\n|---|---|\n{table}\n"


def _dialects(adapters: list[OpenAIChat]) -> str:
    rows = [
        f"| `{a.name}` | {a.about.title} | `{a.default_base_url}` | {_names(a.key_envs)} | {_cell(a.about.reads)} "
        f"| {_seen(a.about)} |"
        for a in adapters
    ]
    head = "| name | service | address | key | read besides what OpenAI chat has | seen |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _where(adapter: Adapter) -> str:
    key = _names(adapter.key_envs) + ("" if adapter.needs_key else " (not needed)")
    address = f"`{adapter.default_base_url}`" if adapter.default_base_url else "no default"
    return f"{key}; {_names(adapter.base_url_envs)}, else {address}"


def _names(variables: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in variables)


def _seen(about: About) -> str:
    return "live" if about.seen == "live" else "recordings only"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
