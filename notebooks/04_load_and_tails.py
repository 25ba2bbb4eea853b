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
# # Eight o'clock on Monday: load, tails, and what a cache is worth
#
# A single request shows a model's best day. The help desk's model answers at once when one person tries it. On Monday
# morning eight people ask, requests come when they come, and the server has four slots. Which wait do they feel, up to
# how many users does the machine keep its promise, and do the answers get worse?
#
# A load test is a run like any other: the same records, the same grading, only on a schedule. It asks the engine on
# this machine, and so tells of this machine. Where the measuring client was itself the limit, the result says so and
# leaves that level out.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": a made-up one; "auto": real where it is there
ITEMS = 24  # requests at each number of users

# %%
import speedqual as sq
from speedqual.analysis.load.knee import Knee
from speedqual.analysis.load.latency import LatencyByLoad
from speedqual.analysis.load.levels import Levels
from speedqual.analysis.load.prefix import Prefix
from speedqual.analysis.load.quality import QualityUnderLoad
from speedqual.analysis.streams import Streams
from speedqual.analysis.tails import Tails
from speedqual.notebook.quickstart import Version, small_models
from speedqual.notebook.tickets import help_desk
from speedqual.running.load import Level, LoadPlan
from speedqual.running.load.layers import Scale, layered
from speedqual.timing.goodput import parse_slo

# %% [markdown]
# ## The plan
#
# Four layers. *Users*: one, two, four and eight who ask again as soon as they have their answer, the same tickets at
# each level. *Arrivals*: requests that come at random, whether or not the last one is answered, as in a real queue.
# *Prefix*: pairs of prompts that begin alike, cold and warm. *Long output*: is the end of a long answer as quick as its
# beginning?
#
# The promise: nine of ten first words within a second.

# %%
PROMISE = "ttft_ms < 1000 @ 90%"
desk = help_desk(ITEMS)
users = [
    Level(
        layer="concurrency", name=f"{n} users" if n > 1 else "1 user", x=n, unit="users", arrivals=f"users:{n}",
        evalset=desk.name, n=max(ITEMS, 2 * n), unique=False,
    )
    for n in (1, 2, 4, 8)
]  # fmt: skip
arrivals = [
    Level(
        layer="arrivals", name=f"{rate} requests/s", x=rate, unit="req/s", arrivals=f"poisson:{rate}",
        evalset=desk.name, duration_s=ITEMS / 2, unique=False,
    )
    for rate in (1, 3)
]  # fmt: skip
small = Scale(
    context=2048, langs=("en",), output_tokens=(400,), output_n=2,
    prefix_tokens=500, prefix_shares=(0.0, 0.5, 1.0), prefix_lines=(), prefix_pairs=3,
)  # fmt: skip
alone = layered(["prefix", "long_output"], scale=small)
plan = LoadPlan(levels=(*users, *arrivals, *alone.plan.levels), slos=(parse_slo(PROMISE),), early_stop=False)

# %%
STAND_IN = Version("help desk", ttft_ms=120, tok_s=200, right=0.8, text="and so on " * 100)
with small_models([desk], [STAND_IN], ENGINE, slots=4) as served:
    run = await sq.load_test(served, plan, evalsets=[desk, *alone.evalsets])
run

# %% [markdown]
# ## What the users feel
#
# The median is what a demonstration shows. The other lines are the unlucky ones, and a day has many of them. Bands are
# order-statistic intervals; where there are too few requests to bound a percentile, there is no band.

# %%
LatencyByLoad(layers=("concurrency", "arrivals"))(run)

# %%
levels = Levels()(run)
columns = ["level", "n", "ok", "in_flight", "little", "done_s", "tok_s", "ttft_ms_p50", "ttft_ms_p95", "client_limited"]
levels.table.loc[levels.table["layer"].isin(["concurrency", "arrivals"]), columns].round(2)

# %% [markdown]
# `in_flight` is the mean number of requests in the system. `little` is a check by Little's law, arrivals times time in
# system over that number: far from 1 means that the window was not steady, and its figures are those of a moment.

# %%
table = levels.table.set_index("level")
one, eight = table.loc["1 user"], table.loc["8 users"]
more, longer = eight["done_s"] / one["done_s"], eight["ttft_ms_p50"] / one["ttft_ms_p50"]
print(f"From one user to eight: {more:.1f} times the answers a second, {longer:.1f} times the wait for a first word.")

# %% [markdown]
# ## Up to where the promise holds
#
# Goodput counts the requests that met the promise. *Holds* and *fails* are shown at 95 % over all levels together; what
# lies between is not told by so few requests.

# %%
knee = Knee(layers=("concurrency", "arrivals"))(run)
knee

# %%
knee.levels[["layer", "level", "goodput", "lo", "hi", "state"]].round(2)

# %% [markdown]
# ## Do the answers get worse?
#
# The same tickets at every level, graded. Time-outs and cut answers are counted apart from wrong ones: a server in
# trouble is not a model that has lost its wits.

# %%
QualityUnderLoad()(run)

# %% [markdown]
# ## What the prefix cache is worth
#
# Each pair of prompts shares its beginning: nothing, half or all of it. The first one finds the cache cold. What the
# server says of cached tokens is held against what was shared.

# %%
prefix = Prefix()(run)
prefix

# %%
for row in prefix.table.itertuples():
    if row.saved_ms == row.saved_ms and row.cold_ms:
        print(f"{row.x:.0%} shared: first word {row.cold_ms:,.0f} ms cold, {row.warm_ms:,.0f} ms warm ({row.n} pairs)")

# %% [markdown]
# Put what is the same in every prompt first. That's all a prefix cache asks for.
#
# ## Does a long answer tire?
#
# Tokens against time in the long answers. A straight line keeps its pace.

# %%
long = [record for record in run.records if record.trial.load.layer == "long_output"]
Streams()([record.last for record in long], [record.trial.item for record in long])

# %%
decay = run.df.loc[run.df["layer"] == "long_output", "decay_ratio"].dropna()
if len(decay):
    print(f"The last third of the tokens came at {decay.median():.0%} of the speed of the first third.")
else:
    print("No answer was long enough to compare its thirds.")

# %% [markdown]
# ## The whole distribution
#
# Percentiles of the arrivals, where requests come unasked.

# %%
Tails(metric="ttft_ms")(run.df[run.df["layer"] == "arrivals"])

# %% [markdown]
# The same from a shell, with a report: `speedqual load --model … --base-url … --users 1,2,4,8 --evalset … --slo
# "ttft_ms < 1000 @ 90%" --report load.html`.

# %%
print(sq.write_report(run, "load.html").name)
