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
# Three tasks: code that must run, fields that must be right, facts that must follow from the text. Only the
# short items of each, answers cut at 64 tokens.

# %%
evalsets = [few(one, ITEMS) for one in minimal_sets()]
evalsets[1]

# %% [markdown]
# ## Who is asked
#
# A candidate is an endpoint, a model and its settings; how it is prompted belongs to it. Here only that differs, and
# which layers of the model are left out.

# %%
with small_candidates(evalsets, ENGINE) as candidates:
    run = await sq.evaluate(candidates, evalsets, seed=1)
run

# %% [markdown]
# ## The frontier
#
# Faster is to the right, better is up. A point that another one beats on both is grey. The size of a point on the step
# line says how likely it is to be there at all: with so few items, often not very.

# %%
frontier = sq.Frontier()(run)
frontier

# %%
frontier.table[["candidate", "e2e_ms", "quality", "quality_lo", "quality_hi", "p_on_front"]].round(2)

# %% [markdown]
# ## Where quality falls
#
# The ladder is the same model with more and more layers left out. The tool calls a step a cliff only when no smooth
# trend explains it; with this few items it says that it cannot tell, and gives the drop with its interval.

# %%
sq.Cliffs()(run)

# %% [markdown]
# ## Share it

# %%
print(sq.write_report(run, "report.html").name)
