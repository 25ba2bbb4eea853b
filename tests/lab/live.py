# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %%
import speedqual as sq
from speedqual.evalsets import minimal_sets
from speedqual.notebook.quickstart import few, small_candidates

evalsets = [few(one, 4) for one in minimal_sets()]

# %%
plane = sq.Plane()
plane

# %%
with small_candidates(evalsets, "scripted") as candidates:
    run = await sq.evaluate(candidates, evalsets, seed=1, observers=[plane, sq.LiveView(lang="zh")])

# %%
race = sq.Race(run, candidates=["quick", "careful"])
race

# %%
with small_candidates(evalsets, "scripted") as candidates:
    now = await sq.Race.now(candidates[:2], evalsets[1])
len(now.lanes)

# %%
with small_candidates(evalsets, "scripted") as candidates:
    long = await sq.evaluate(candidates, evalsets, repeats=40, folder="cut")
