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
# # What a right answer costs, and who should give it
#
# The help desk of notebook 03 runs its small model on a machine that it pays by the hour. More examples in the prompt
# make better answers and longer prompts, and a cache for the beginning of prompts may pay for them. What does a *right*
# answer cost? And since kinds of tickets differ: can each kind go to the version that does it best?

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": made-up ones; "auto": real where it is there
ITEMS = 24

# %%
from dataclasses import replace

import pandas as pd

import speedqual as sq
from speedqual.analysis.cost import Cost
from speedqual.analysis.paired import paired_difference
from speedqual.analysis.routing import Routing
from speedqual.notebook.quickstart import Version, small_models
from speedqual.notebook.tickets import help_desk
from speedqual.running import Policy
from speedqual.running.route import with_routes

# %% [markdown]
# ## The questions
#
# Made-up tickets, each with one question and one right word. The kind of question is known before the call: that is
# what a router may use. The second set is kept for later.

# %%
today, tomorrow = help_desk(ITEMS, seed=1), help_desk(ITEMS, seed=2)
today

# %% [markdown]
# ## Four ways to use one model
#
# None, two or eight examples, and eight without the prefix cache. The machine costs ten cents an hour: a figure to
# replace by your own. (With an API the prices of tokens are used, dated, and there's nothing to say here.)

# %%
VERSIONS = [
    Version("no example", ttft_ms=20, right=0.3),
    Version("2 examples", ttft_ms=30, right=0.7),
    Version("8 examples", ttft_ms=40, right=0.8),
    Version("8, no cache", ttft_ms=120, right=0.8),
]
USD_PER_HOUR = 0.10


def ways(served):
    """Each has a server of its own: a prompt without cache would empty the slots that the others live by."""
    shots = {"no example": 0, "2 examples": 2, "8 examples": 8, "8, no cache": 8}
    return [
        replace(one, shots=shots[one.name], cache=one.name != "8, no cache", usd_per_hour=USD_PER_HOUR)
        for one in served
    ]


with small_models([today], VERSIONS, ENGINE) as served:
    run = await sq.evaluate(ways(served), [today], seed=1)
run

# %% [markdown]
# ## The cost of a right answer
#
# All that was spent, wrong answers included, over the number of right ones. Cheap requests are not cheap when most of
# them are wrong. Where a redrawing of the tickets may hold no right answer at all, the cost has no upper bound (NaN).

# %%
cost = Cost()(run)
cost

# %%
money = cost.table.set_index("candidate")
per_thousand = 1000 * money[["cost_per_request", "cost_per_success", "cost_per_success_lo", "cost_per_success_hi"]]
per_thousand.join(money[["prompt", "cached"]]).round(4)

# %%
request, success = money["cost_per_request"].idxmin(), money["cost_per_success"].idxmin()
print(f"Cheapest request: {request}. Cheapest right answer: {success}.")
saved = 1 - money.loc["8 examples", "cost_per_request"] / money.loc["8, no cache", "cost_per_request"]
print(f"The prefix cache makes a request with eight examples {saved:.0%} cheaper than the same without it.")

# %% [markdown]
# ## Who should answer what
#
# The replay takes the recorded answers and asks what a policy would have made of them, without a new call: everything
# to one, a random mix (the line to beat), the kinds of tickets sent to whoever does them well enough, a cascade with a
# perfect check, the oracle. Which kind goes where is chosen by cross-fitting: no ticket has a say in its own route.

# %%
routing = Routing(fast="2 examples", strong="8 examples", features=("difficulty",))(run)
routing

# %%
routing.table[["policy", "quality", "quality_lo", "quality_hi", "share_strong", "time_p50", "assumes"]].round(2)

# %% [markdown]
# Who is better at what? Where the two differ by kind, each kind can go to the one that does it better. A policy is a
# small JSON file: read it, edit it, keep it under version control, run it.

# %%
kinds = run.df.pivot_table(index="difficulty", columns="candidate", values="score", aggfunc="mean", observed=True)
kinds[["2 examples", "8 examples"]].round(2)

# %%
to_fewer = tuple(kind for kind, row in kinds.iterrows() if row["2 examples"] >= row["8 examples"])
policy = Policy(fast="2 examples", strong="8 examples", column="difficulty", values=to_fewer, check=False)
policy.save("policy.json")
policy

# %% [markdown]
# ## Does it hold tomorrow?
#
# The policy was made by looking at these tickets, and flatters itself. So it is saved, and run for real on tickets that
# nobody has looked at, its lanes alone beside it. The route gets servers of its own: on those of the lanes it would
# find every prompt in the cache, and its first words would come for nothing.

# %%
with small_models([tomorrow], VERSIONS[1:3], ENGINE) as served:
    alone = await sq.evaluate(ways(served), [tomorrow], seed=1)
with small_models([tomorrow], VERSIONS[1:3], ENGINE) as served:
    route = with_routes([sq.candidate("route:policy.json", name="route")], known=ways(served))
    routed = await sq.evaluate(route, [tomorrow], seed=1)
again = pd.concat([alone.df, routed.df], ignore_index=True)
sq.Frontier()(again)

# %%
by_kind = again.pivot_table(index="candidate", columns="difficulty", values="score", aggfunc="mean", observed=True)
by_kind.round(2)

# %%
scores = again.pivot(index="item", columns="candidate", values="score")
best = scores.drop(columns="route").mean().idxmax()
gain = paired_difference(scores[best], scores["route"])
points = f"{100 * gain.value:+.0f} points [{100 * gain.lo:+.0f}, {100 * gain.hi:+.0f}]"
print(
    f"On the new tickets the route answers {scores['route'].mean():.0%} rightly: {points} on its better lane, {best}."
)
if gain.lo > 0:
    print("The route is better than either lane alone.")
else:
    print("These tickets do not show that it is better than that lane alone: collect more before you ship a router.")

# %% [markdown]
# ## The same on public figures
#
# RouteLLM published, item by item, what a weak model (Mixtral-8x7B) and a strong one (gpt-4-1106-preview) got right on
# MMLU and GSM8K. Typed in below are the counts of twelve subjects (from github.com/lm-sys/RouteLLM, Apache-2.0, commit
# 0b64fda, read on 2026-11-30): both right, only the weak one, only the strong one, neither. The paper (arXiv
# 2406.18665) reckons with 0.24 and 24.70 dollars a million tokens: the strong one costs about a hundred times as much.

# %%
COUNTS = pd.DataFrame(
    [
        ("marketing", 206, 10, 11, 7),
        ("miscellaneous", 665, 14, 71, 33),
        ("high school psychology", 470, 12, 47, 16),
        ("prehistory", 261, 6, 42, 15),
        ("nutrition", 230, 14, 38, 24),
        ("philosophy", 230, 15, 36, 30),
        ("professional medicine", 201, 11, 55, 5),
        ("high school macroeconomics", 252, 17, 82, 39),
        ("gsm8k", 747, 95, 383, 94),
        ("professional law", 670, 106, 405, 353),
        ("moral scenarios", 350, 35, 374, 136),
        ("high school mathematics", 3, 83, 5, 179),
    ],
    columns=["subject", "both", "weak", "strong", "neither"],
)
RIGHT = {"both": (1, 1), "weak": (1, 0), "strong": (0, 1), "neither": (0, 0)}
rows = [
    (who, f"{row.subject}-{kind}-{number}", row.subject, right[place], usd)
    for row in COUNTS.itertuples()
    for kind, right in RIGHT.items()
    for number in range(getattr(row, kind))
    for place, (who, usd) in enumerate((("Mixtral-8x7B", 0.24), ("gpt-4-1106-preview", 24.70)))
]
answers = pd.DataFrame(rows, columns=["model", "item", "subject", "right", "usd_per_mtok"])
table = sq.from_table(answers, candidate="model", item="item", quality="right", task="subject", cost="usd_per_mtok")
public = Routing(fast="Mixtral-8x7B", strong="gpt-4-1106-preview", features=("task",), draws=500)(table)
public

# %%
public.table[
    ["policy", "quality", "quality_lo", "quality_hi", "share_strong", "of_strong_quality", "of_strong_cost"]
].round(3)

# %%
gap = COUNTS.assign(n=COUNTS[["both", "weak", "strong", "neither"]].sum(axis=1))
gap["strong right"] = (gap["both"] + gap["strong"]) / gap["n"]
odd = gap.loc[gap["strong right"].idxmin()]
print(f"A strong model that solves {odd['strong right']:.0%} of {odd['subject']} is a fault in the reading of answers,")
print("not a weakness. A router trained on it would learn the fault: look at such a subject before you trust a route.")
