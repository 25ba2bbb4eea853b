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
# # Quickstart: how fast, how good, and what each costs the other
#
# Six ways to use one small language model are asked the same short questions. Their token streams are timed and their
# answers graded on the same requests. At the end stands the speed-quality frontier, and one HTML file to share.
#
# With the extra `[local]` and the embedded model in place, a real model on this machine answers. Otherwise a scripted
# endpoint does, whose speed and answers are known beforehand: the same steps, made-up models.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": the real model, fetched once; "scripted": made-up ones; "auto": real where it is there
ITEMS = 8  # of each task

# %%
import speedqual as sq
from speedqual.evalsets import minimal_sets
from speedqual.notebook.quickstart import few, small_candidates

# %% [markdown]
# ## What is asked
#
# Three tasks: code that must run, fields that must be right, facts that must follow from the text. Only the short items
# of each, answers cut at 64 tokens.

# %%
evalsets = [few(one, ITEMS) for one in minimal_sets()]
evalsets[1]

# %% [markdown]
# ## Who is asked
#
# A candidate is an endpoint, a model and its settings; how it is prompted belongs to it. Here only that differs, and
# which layers of the model are left out. Interrupt the cell if you like: what was finished is kept in the run's folder,
# and `resume=True` goes on from there.

# %%
with small_candidates(evalsets, ENGINE) as candidates:
    run = await sq.evaluate(candidates, evalsets, seed=1)
run

# %% [markdown]
# The same prompt to all of them, as fast as it went. (In JupyterLab: play, scrub, slow down.)

# %%
sq.Race(run)

# %% [markdown]
# ## The frontier
#
# Faster is to the right, better is up. A point that another one beats on both is grey. The size of a point on the step
# line says how likely it is to be there at all: with so few items, often not very.

# %%
frontier = sq.Frontier()(run)
frontier

# %%
for row in frontier.table.sort_values("e2e_ms").itertuples():
    quality = f"{row.quality:.0%} [{row.quality_lo:.0%}, {row.quality_hi:.0%}]"
    print(f"{row.candidate}: {row.e2e_ms / 1000:.2f} s, {quality}, on the front with P = {row.p_on_front:.0%}")

# %% [markdown]
# ## Where quality falls
#
# The ladder is the same model with more and more of it left out. A step is called a cliff only when no smooth trend
# explains it. With this few items that is seldom shown; then the step has a milder name, and its interval says why.

# %%
sq.Cliffs()(run)

# %% [markdown]
# ## Look at the answers
#
# Every number comes from records that can be looked at: `run.df` has a row for each request, `run.events` one for each
# piece of each stream, `run.records` all of it. Here is one answer that was judged wrong, with the reason.

# %%
next(record for record in run.records if record.grade and record.grade.verdict == "fail")

# %%
columns = ["candidate", "evalset", "item", "verdict", "failure", "ttft_ms", "e2e_ms", "decode_tok_s"]
run.df[columns].sample(6, random_state=1).round(1)

# %% [markdown]
# ## Share it
#
# One file, no network needed to open it. Notebook 02 does all this with your own questions and your own endpoint.

# %%
print(sq.write_report(run, "report.html").name)
