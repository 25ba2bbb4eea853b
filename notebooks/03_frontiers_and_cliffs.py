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
# # How small may it get? Frontiers and cliffs
#
# A help desk lets a small model read its tickets: from which city, how urgent. It runs on the machine under the desk,
# and every layer that can be left out makes it quicker. How many can go? Two questions that no mean score answers:
# which versions are worth having at all (the frontier), and is there a step after which it breaks (the cliff)?
#
# The second half asks the same of big models, from public figures typed in as a table.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": made-up ones; "auto": real where it is there
ITEMS = 90

# %%
from dataclasses import replace

import pandas as pd

import speedqual as sq
from speedqual.analysis.deadlines import Deadlines
from speedqual.analysis.paired import n_needed
from speedqual.notebook.quickstart import Version, small_models
from speedqual.notebook.tickets import help_desk

# %% [markdown]
# ## The questions
#
# Tickets made from a seed, so that no model can have learnt them, each with one question and one right word. Four
# examples stand at the beginning of every prompt, where a server's cache keeps them. Open one to see how it reads.

# %%
desk = help_desk(ITEMS)
desk

# %% [markdown]
# ## Who is asked
#
# One model, SmolLM2-135M with its thirty layers, and copies of it with one to four of them left out: the mildest ones
# first, as single removals had shown. In place of the real ones the scripted endpoint plays made-up models.

# %%
LEFT_OUT = (), (22,), (10, 22), (6, 10, 22), (4, 6, 10, 22)
RIGHT = 0.95, 0.92, 0.4, 0.35, 0.3  # what the scripted ones play
versions = [
    Version(f"{30 - len(out)} layers", ttft_ms=60 - 4 * k, tok_s=400, right=RIGHT[k], without=out)
    for k, out in enumerate(LEFT_OUT)
]
with small_models([desk], versions, ENGINE) as served:
    candidates = [
        replace(one, shots=4, ladder="layers left out", rung=one.name, x=float(k)) for k, one in enumerate(served)
    ]
    run = await sq.evaluate(candidates, [desk], seed=1)
run

# %% [markdown]
# ## Which versions are worth having
#
# A version is on the front when no other is at least as quick and at least as good. The front is drawn from these
# tickets, and other tickets would give another one: `p_on_front` is how often each version is on it when tickets and
# timings are drawn anew. What lies below the front at its own speed is `regret`.

# %%
front = sq.Frontier()(run)
front

# %%
shown = front.table.set_index("candidate")[["e2e_ms", "quality", "quality_lo", "quality_hi", "p_on_front", "regret"]]
shown.round(2)

# %%
for name, row in front.table.set_index("candidate").iterrows():
    if row["p_on_front"] < 0.05:
        print(f"{name}: leave it. Another version is nearly surely as quick and better.")
    elif row["p_on_front"] > 0.95:
        print(f"{name}: on the front; the floor of {desk.floor:.0%}: {row['floor']}.")
    else:
        print(f"{name}: {row['p_on_front']:.0%} likely to be on the front; more tickets would tell.")

# %% [markdown]
# ## Is there a cliff?
#
# Every step down may cost something. A cliff is more: a large drop that no smooth decline explains, neither a straight
# nor a logistic one, and that is no fault of the server, the grader or the token limit. The rule has five parts and
# says which of them a step fails. It is built to err on the side of silence: steep is not a cliff.

# %%
cliffs = sq.Cliffs()(run)
cliffs

# %%
steps = cliffs.table[["from", "to", "drop", "drop_lo", "drop_hi", "p_drop", "ratio", "p_jump", "p_logit", "label"]]
steps.round(3)

# %%
judged = cliffs.ladders.iloc[0]
print(f"Label: {judged['label']}. {judged['why']}")
if judged["label"] == "cliff":
    print(f"Leave out up to the step before {judged['to']}, and no more.")
else:
    print(f"By these {judged['n']:.0f} tickets no step is shown to be a cliff.")

# %% [markdown]
# ## What if the answer must come in time?
#
# An answer after the deadline is worth nothing. Quality at a deadline is the share of right answers that had come by
# then, and the envelope names the best version for each deadline.

# %%
Deadlines()(run)

# %% [markdown]
# ## The same for public figures: length of the input
#
# RULER asks 13 kinds of synthetic questions, 500 of each, at input lengths from 4 to 128 thousand tokens. The means
# below (percent, from the README of github.com/NVIDIA/RULER, Apache-2.0, read on 2026-11-30) are of 6,500 answers each.
# All these models claim to take 128 thousand tokens or more, but for the last two (64 and 32 thousand).

# %%
RULER = pd.DataFrame(
    [
        ("Jamba-1.5-large", 96.7, 96.6, 96.4, 96.0, 95.4, 95.1),
        ("GPT-4-1106-preview", 96.6, 96.3, 95.2, 93.2, 87.0, 81.2),
        ("Qwen3-14B", 98.0, 97.8, 96.4, 96.1, 94.0, 85.1),
        ("Llama3.1 70B", 96.5, 95.8, 95.4, 94.8, 88.4, 66.6),
        ("Mistral-Large-2411", 96.4, 96.3, 95.3, 94.0, 85.9, 48.1),
        ("Mixtral-8x22B", 95.6, 94.9, 93.4, 90.9, 84.7, 31.7),
        ("DBRX", 95.1, 93.8, 83.6, 63.1, 2.4, 0.0),
    ],
    columns=["model", "4k", "8k", "16k", "32k", "64k", "128k"],
)
lengths = sq.from_table(RULER, candidate="model", rungs=["4k", "8k", "16k", "32k", "64k", "128k"], n=6500)
by_length = sq.Cliffs()(lengths)
by_length

# %%
by_length.ladders.dropna(subset="drop")[["ladder", "label", "from", "to", "drop", "drop_lo", "drop_hi"]].round(2)

# %% [markdown]
# A claimed length is no promise: a drop of tens of points can sit inside it. Steps at the end of a ladder need more
# evidence than steps inside it, since nothing is seen beyond them. And a table of means can't tell a model that has
# lost the thread from a server that cut the input: that needs the answers themselves.
#
# ## The same for public figures: who is on the front
#
# Aider's polyglot board: 225 programming exercises, share solved in two tries, seconds and dollars a case (selected
# rows, from github.com/Aider-AI/aider, Apache-2.0, commit 5dc9490 as read on 2026-11-30; each run's date is in the
# table). Old prices and old servers: the question is what such a table can say at all.

# %%
AIDER = pd.DataFrame(
    [
        ("gpt-5 (high)", "2025-08-23", 198, 194.0, 29.0829),
        ("gpt-5 (low)", "2025-08-25", 183, 62.4, 10.3713),
        ("o3-pro (high)", "2025-06-28", 191, 449.0, 146.3249),
        ("gemini-2.5-pro 06-05 (32k think)", "2025-06-06", 187, 200.3, 49.8822),
        ("o3 (high)", "2025-06-25", 183, 197.3, 21.2259),
        ("DeepSeek-V3.2-Exp (Reasoner)", "2025-10-03", 167, 291.2, 1.3045),
        ("DeepSeek-V3.2-Exp (Chat)", "2025-10-03", 158, 104.0, 0.8756),
        ("claude-opus-4 (no think)", "2025-05-25", 159, 42.5, 68.6253),
        ("claude-3-7-sonnet (no thinking)", "2025-02-24", 136, 28.3, 17.7191),
        ("claude-sonnet-4 (no thinking)", "2025-05-24", 127, 29.8, 15.8155),
        ("Kimi K2", "2025-07-17", 133, 67.6, 1.2357),
        ("Grok 3 Beta", "2025-04-10", 120, 15.3, 11.0338),
        ("gpt-4.1", "2025-04-14", 118, 20.5, 9.8556),
        ("chatgpt-4o-latest (2025-03-29)", "2025-03-29", 102, 10.3, 19.7416),
        ("gemini-2.5-flash 05-20 (no think)", "2025-05-26", 99, 12.2, 1.1354),
        ("Codestral 25.01", "2025-01-13", 25, 9.3, 1.9834),
    ],
    columns=["model", "date", "solved", "seconds", "usd"],
)
AIDER = AIDER.assign(n=225, usd_per_case=AIDER["usd"] / 225)
board = sq.from_table(AIDER, candidate="model", quality="solved/n", n="n", seconds="seconds", cost="usd_per_case")
by_time = sq.Frontier(x="seconds", floor=0.7)(board)
by_time

# %%
by_time.drops[["slower", "faster", "drop", "drop_lo", "per_doubling", "p_both_on_front"]].round(3)

# %%
by_cost = sq.Frontier(x="cost", floor=0.7)(board)
print(by_cost.verdict)
pair = by_time.table.set_index("candidate")["quality"].nlargest(2)
apart = pair.iloc[0] - pair.iloc[1]
print(f"The best two, {pair.index[0]} and {pair.index[1]}, are {100 * apart:.1f} points apart.")
spread = (pair.iloc[0] * (1 - pair.iloc[0]) + pair.iloc[1] * (1 - pair.iloc[1])) ** 0.5
print(f"To tell them apart by 80 % of such boards takes some {n_needed(apart, spread):,} exercises; there are 225.")

# %% [markdown]
# Each model has one figure for its time here, so the front is certain along that axis only because nothing says how
# uncertain it is. That's the difference to a run of your own, where every request is on record.
