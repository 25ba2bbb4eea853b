# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A report that travels
#
# You have measured; the people who decide were not there. They get one file by mail, open it on a train, and ask three
# things: which one, how sure, and may I see the answers. A colleague reads Chinese. The legal department asks what is
# in the file. And someone wants the table.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": made-up ones; "auto": real where it is there
ITEMS = 24

# %%
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd

import speedqual as sq
from speedqual.notebook.quickstart import Version, small_models
from speedqual.notebook.tickets import help_desk

# %% [markdown]
# ## A small run
#
# Tickets of a help desk, asked of one small model with two and with eight examples, and of a copy that lacks a layer.

# %%
desk = help_desk(ITEMS)
versions = [
    Version("2 examples", ttft_ms=40, right=0.6),
    Version("8 examples", ttft_ms=55, right=0.85),
    Version("8 examples, 29 layers", ttft_ms=50, right=0.5, without=(22,)),
]
with small_models([desk], versions, ENGINE) as served:
    candidates = [replace(one, shots=2 if one.name.startswith("2") else 8) for one in served]
    run = await sq.evaluate(candidates, [desk], seed=1)
run

# %% [markdown]
# ## One file, two languages
#
# `lang="zh"` says all of it in Chinese, the words in figures too. What the models wrote stays as it is.

# %%
for lang in ("en", "zh"):
    written = sq.write_report(run, f"report-{lang}.html", lang=lang)
    page = written.read_text(encoding="utf-8")
    verdict = re.search(r'<section id="verdict".*?</section>', page, re.S)
    said = re.sub(r"<[^>]+>", " ", verdict[0])
    print(f"{written.name}, {written.stat().st_size / 1000:,.0f} kB:", " ".join(said.split())[:400], end="\n\n")

# %% [markdown]
# ## What is in the file
#
# It must open for ever, without a network, and give away nothing about the machine it was made on. That can be checked
# rather than believed: no address that a browser would fetch, no name of this computer or its user, no path.

# %%
import getpass
import socket

page = Path("report-en.html").read_text(encoding="utf-8")
fetched = re.findall(r"<(?:script|img|link|iframe|source)[^>]+(?:src|href)=[\"'](?!data:|#)[^\"']*", page)
print("addresses that would be fetched:", len(fetched))
for what, word in (
    ("host name", socket.gethostname()),
    ("user", f"/{getpass.getuser()}/"),
    ("folder", str(Path.cwd())),
):
    print(f"{what} in the file:", word in page)

# %% [markdown]
# Prompts and answers are in it, unless you leave them out. `redact=True` does, and the numbers stay.

# %%
hidden = sq.write_report(run, "report-redacted.html", redact=True).read_text(encoding="utf-8")
for name, text in (("report-en.html", page), ("report-redacted.html", hidden)):
    print(f"{name}: the words of {sum(item.row['text'] in text for item in desk.items)} of {len(desk.items)} tickets")

# %% [markdown]
# ## The table
#
# For a pull request Markdown, for a sheet CSV, for a notebook Parquet, for a program JSON: the ending of the name says
# which. Numbers that are missing stay missing.

# %%
for ending in ("md", "csv", "parquet", "json"):
    written = sq.write_report(run, f"report.{ending}", redact=True)
    print(f"{written.name:16} {written.stat().st_size / 1000:6.1f} kB")
print()
print("\n".join(Path("report.md").read_text(encoding="utf-8").splitlines()[:16]))

# %%
pd.read_parquet("report.parquet")[["candidate", "item", "score", "ttft_ms", "e2e_ms"]].head()

# %% [markdown]
# ## What a colleague can do with it
#
# The run folder is all there is to a run. Whoever gets it (or a copy without the answers) needs no endpoint to grade,
# analyse and report it anew, today or in a year.

# %%
opened = sq.Run.open(run.folder)
front = sq.Frontier(floor=desk.floor)(opened)
front

# %%
missed = opened.df[opened.df["score"] == 0].groupby(["candidate", "failure"], observed=True).size()
print(missed.to_string())

# %% [markdown]
# From a shell, on the run folder: `speedqual report RUN --lang zh --redact -o report.html`.
