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
# # May it ship? A gate, a canary, a history
#
# The help desk's model is to be replaced by a build that lacks one layer of thirty: a little quicker, and "nobody will
# notice". There are two such builds, and they lack different layers. A release gate answers with one of three words.
# *Pass*: shown to be no worse than the margins allow. *Fail*: shown to be worse. *Inconclusive*: these tickets can't
# tell, with the number that could. The third is the honest one, and the one that most gates leave out.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": made-up ones; "auto": real where it is there
ITEMS = 40

# %%
from dataclasses import replace

from IPython.display import Markdown

import speedqual as sq
from speedqual.analysis.canary import Canary
from speedqual.analysis.gate import margins_from
from speedqual.analysis.gate_files import to_markdown
from speedqual.analysis.history import History
from speedqual.notebook.quickstart import Version, small_models
from speedqual.notebook.tickets import help_desk

desk = help_desk(ITEMS)

# %% [markdown]
# ## The base, twice
#
# Before a gate judges a release it has to be known what it says of no release at all. So the build in use is run twice.
# What differs between the two is the noise of this machine: a margin narrower than that fails on nothing.
#
# The candidate has the same name in every run. The model behind it may change; questions, prompts, settings, grader and
# machine may not.

# %%
IN_USE = Version("reader", ttft_ms=60, tok_s=400, right=0.9)
WITHOUT_22 = Version("reader", ttft_ms=54, tok_s=420, right=0.85, without=(22,))
WITHOUT_20 = Version("reader", ttft_ms=54, tok_s=420, right=0.2, without=(20,))


async def run_of(version):
    with small_models([desk], [version], ENGINE) as [candidate]:
        return await sq.evaluate([replace(candidate, shots=4)], [desk], seed=1)


base, again = await run_of(IN_USE), await run_of(IN_USE)
base

# %%
same = base.compare(again)
same

# %%
noise = same.table.set_index("check")["change"]
print(f"Of no release at all the gate says: {same.outcome}.")
print(f"Between two runs of the same build the median answer took {noise['e2e_ms p50']:.2f} times as long.")

# %% [markdown]
# ## The new builds
#
# The margins are agreed on before the run. These allow five points of quality, two of failures, and a tail that is at
# most half as slow again: this machine has other work to do. In a project they stand in the settings file, `[gate]`.

# %%
margins = margins_from({"quality": 0.05, "failed": 0.02, "e2e_ms": {"p50": 1.25, "p95": 1.5}})
first, second = await run_of(WITHOUT_22), await run_of(WITHOUT_20)
gates = {
    "without layer 22": base.compare(first, margins=margins),
    "without layer 20": base.compare(second, margins=margins),
}
for name, gate in gates.items():
    quality = gate.table.set_index("check").loc["quality mean"]
    change = f"{100 * quality['change']:+.0f} points [{100 * quality['lo']:+.0f}, {100 * quality['hi']:+.0f}]"
    print(f"Build {name}: {gate.outcome} (exit code {gate.exit_code}).")
    print(f"    Quality {quality['base']:.0%} → {quality['new']:.0%}: {change} on {quality['n']:.0f} tickets.")
    if quality["result"] == "inconclusive" and quality["n_needed"] == quality["n_needed"]:
        print(f"    About {quality['n_needed']:,.0f} tickets would settle it.")

# %%
gates["without layer 20"]

# %% [markdown]
# The same as a comment for a pull request. From a shell: `speedqual compare BASE NEW`, with `--junit` for a CI server.

# %%
Markdown(to_markdown(gates["without layer 22"], "build without layer 22"))

# %% [markdown]
# ## What it refuses
#
# Comparing runs of different questions gives a number and no meaning. The gate says what differs and stops.

# %%
other = help_desk(4, seed=2)
with small_models([other], [IN_USE], ENGINE) as [candidate]:
    elsewhere = await sq.evaluate([replace(candidate, shots=4)], [other], seed=1)
try:
    base.compare(elsewhere)
except sq.SpeedqualError as refusal:
    print(refusal)

# %% [markdown]
# ## A canary, watched as it runs
#
# In production answers come one by one, and someone looks after each. Looking at an ordinary 5 % test every ten items
# raises 27 % false alarms. The canary's evidence may be looked at every time: however long it runs, it cries wolf in at
# most 5 % of all canaries. Here it watches each of the three runs against the base.


# %%
def scores(run):
    return run.df.set_index("item")["score"].reindex([item.id for item in desk.items]).to_numpy(float)


for name, run in (("the same build", again), ("without layer 22", first), ("without layer 20", second)):
    watched = Canary(margin=0.05)(scores(base), scores(run))
    print(f"{name:18}{watched.verdict}")

# %% [markdown]
# ## Many releases
#
# A slow drift passes every single gate. A history of all runs looks for jumps and for slopes; with four points it sees
# jumps only, and keeps its chance of a false one over all series at 5 %.

# %%
history = History(metrics=("quality", "e2e_ms"))([base, again, first, second], names=["1.0", "1.0 again", "1.1", "1.2"])
history

# %%
for row in history.trends.itertuples():
    old, new = (f"{value:.0%}" if row.metric == "quality" else f"{value:,.0f} ms" for value in (row.first, row.last))
    print(f"{row.metric}: {old} → {new}; a new level begins at: {', '.join(row.changes) or 'nowhere'}")
