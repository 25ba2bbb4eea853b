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
# # Your own questions, your own endpoint
#
# You have a folder of invoices and someone proposes a small model to read them: total, currency, due date. Is it good
# enough to pay by, and is it quick enough? A public benchmark can't say. Twenty of your own invoices can say a lot.
#
# This notebook goes from a CSV file to a report. Replace three things and it is yours: the CSV, the five lines of the
# grader, the address of the endpoint.

# %% tags=["parameters"]
ENGINE = "auto"  # "local": a real small model, fetched once; "scripted": a made-up one; "auto": real where it is there
ITEMS = 20

# %%
import shutil
from dataclasses import replace
from pathlib import Path

import speedqual as sq
from speedqual.analysis.paired import paired_difference
from speedqual.evalsets import check, scaffold_from_csv
from speedqual.grading.base import grader_for
from speedqual.grading.jsontext import find_json
from speedqual.notebook.quickstart import Version, small_models
from speedqual.records import Answer

# %% [markdown]
# ## 1. The questions
#
# A CSV with a header: the text that goes in, and a column for each field that must come out. An empty cell means that
# the text doesn't say. A column `tier` tells easy from hard.

# %%
CSV = """\
id,tier,text,total,currency,due
example-1,easy,Invoice 1040. Total: 75.20 EUR. Due: 2026-04-12.,75.20,EUR,2026-04-12
example-2,easy,Receipt 4. Total: 12.00 USD. Paid in cash.,12.00,USD,
inv-01,easy,Invoice 1041. Total: 120.50 EUR. Due: 2026-05-03.,120.50,EUR,2026-05-03
inv-02,easy,Invoice 1042. Total: 89.00 USD. Due: 2026-05-10.,89.00,USD,2026-05-10
inv-03,easy,Invoice 1043. Total: 1300.00 GBP. Due: 2026-06-01.,1300.00,GBP,2026-06-01
inv-04,easy,Invoice 1044. Amount: 45.90 EUR. Payable by 2026-04-30.,45.90,EUR,2026-04-30
inv-05,easy,Receipt 5. Total: 8.00 USD. Paid by card.,8.00,USD,
inv-06,easy,Invoice 1046. Total: 64.00 CHF. Due: 2026-07-15.,64.00,CHF,2026-07-15
inv-07,easy,Invoice 1047. Total: 2150.75 EUR. Due: 2026-08-09.,2150.75,EUR,2026-08-09
inv-08,easy,Receipt 6. Total: 31.40 GBP. Paid in cash.,31.40,GBP,
inv-09,easy,Invoice 1049. Total: 540.00 USD. Due: 2026-05-28.,540.00,USD,2026-05-28
inv-10,easy,Invoice 1050. Total: 99.99 EUR. Due: 2026-06-21.,99.99,EUR,2026-06-21
inv-11,hard,"Goods 100.00 EUR, VAT 19.00 EUR, to pay 119.00 EUR by 2026-05-20.",119.00,EUR,2026-05-20
inv-12,hard,"Total 250.00 USD, of which 50.00 USD are paid. Send 200.00 USD by 2026-07-01.",200.00,USD,2026-07-01
inv-13,hard,"Please pay £64 within May, on the 29th of the month at the latest. Dated 2026-05-02.",64.00,GBP,2026-05-29
inv-14,hard,"Reminder: invoice 998 of 2026-01-15 over 310.00 EUR is open. New date: 2026-03-01.",310.00,EUR,2026-03-01
inv-15,hard,"Credit note. We return 42.00 EUR to you. There is nothing to pay.",0.00,EUR,
inv-16,hard,"Three lamps at 20.00 USD each, shipping free. Due: 2026-09-30.",60.00,USD,2026-09-30
inv-17,hard,"Total: 1.250,00 EUR. Due: 2026-10-05.",1250.00,EUR,2026-10-05
inv-18,hard,"Order 5512 of 2026-02-02. Sum 77.70 CHF, payable on receipt.",77.70,CHF,
inv-19,hard,"Fee for May: 15.00 GBP. Fee for June: 15.00 GBP. Both due 2026-06-30.",30.00,GBP,2026-06-30
inv-20,hard,"发票金额 480.00 CNY，请于 2026-06-18 前付清。",480.00,CNY,2026-06-18
"""
Path("invoices.csv").write_text("".join(CSV.splitlines(keepends=True)[: ITEMS + 3]), encoding="utf-8")
shutil.rmtree("invoices", ignore_errors=True)  # so that the cell can be run again
folder = scaffold_from_csv("invoices", "invoices.csv")
print((folder / "README.md").read_text(encoding="utf-8"))

# %% [markdown]
# The card above is the eval set's whole configuration. What the columns were taken for stands in it, and what is wrong
# is mended there by hand. The two rows called example are moved to a file of examples, so that a candidate may be shown
# them and is never asked them.

# %%
rows = (folder / "test.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
(folder / "fewshot.jsonl").write_text("".join(rows[:2]), encoding="utf-8")
(folder / "test.jsonl").write_text("".join(rows[2:]), encoding="utf-8")
card = (folder / "README.md").read_text(encoding="utf-8")
card = card.replace("path: test.jsonl\n", "path: test.jsonl\n  - split: fewshot\n    path: fewshot.jsonl\n")
card = card.replace("  floor: 0.9\n", "  fewshot:\n    split: fewshot\n    n: 0\n  floor: 0.9\n")
(folder / "README.md").write_text(card, encoding="utf-8")
check(folder)  # no problems: an empty list

# %% [markdown]
# ## 2. What counts as right
#
# The grader that the columns chose counts fields. For a payment that is not the point: a wrong amount or currency costs
# money, a wrong due date costs a look. So five lines of your own. A grader returns True, False, a number from 0 to 1 or
# a kind of failure, and a reason that a person can check. (To send it along with the folder, save it as `grader.py`
# beside the card and write `grader: file:grader.py` there.)


# %%
def payable(text, item):
    said, right = find_json(text).value, item.target
    if not isinstance(said, dict) or "total" not in said:
        return "wrong_format", "no JSON with a total"
    if (said["total"], said.get("currency")) != (right["total"], right["currency"]):
        return "wrong_field", f"would pay {said['total']} {said.get('currency')}"
    return (1.0, "payable") if said.get("due") == right["due"] else (0.5, f"due {said.get('due')}")


invoices = sq.with_grader(sq.load_evalset(folder), payable)
invoices

# %% [markdown]
# Before any model is asked: type an answer and see what your grader makes of it. In a shell that is
# `speedqual evalset try invoices --id inv-01 --answer answer.txt`.

# %%
item = invoices.items[0]
typed = ('{"total": 120.5, "currency": "EUR", "due": null}', '{"total": 1205, "currency": "EUR", "due": "2026-05-03"}')
for text in typed:
    grade = grader_for(invoices)(Answer(text=text), item)
    print(f"{grade.score:.1f}  {grade.verdict:8}{grade.why:20}{text}")

# %% [markdown]
# ## 3. Your endpoint
#
# Anything that speaks the OpenAI protocol will do: give its address as `base_url` and, where it wants a key, the name
# of the environment variable that holds it as `api_key_env`. Here a small model on this machine answers. How many
# examples a prompt holds belongs to the candidate: the question is what each example buys and what it costs in time.

# %%
with small_models([invoices], [Version("small model", right=0.8)], ENGINE) as [served]:
    url, model = served.base_url, served.model
    candidates = [
        sq.candidate(f"openai/{model}", base_url=url, name=name, shots=n, params={"temperature": 0})
        for n, name in enumerate(("no example", "one example", "two examples"))
    ]
    candidates = [replace(one, group="this machine") for one in candidates]  # they share a processor: one at a time
    run = await sq.evaluate(candidates, [invoices], seed=1)
run

# %% [markdown]
# ## 4. What it says
#
# Score by score: what would have happened to each invoice.

# %%
scores = run.df.pivot(index="item", columns="candidate", values="score").loc[[one.id for one in invoices.items]]
scores.join(run.df.drop_duplicates("item").set_index("item")["difficulty"])

# %% [markdown]
# The wrong payments, with the words of the grader. They are always worth reading: half of all surprises are in the
# questions.

# %%
best = scores.mean().idxmax()
print(f"Of {best!r}:")
for record in run.records:
    if record.trial.candidate == best and record.grade.score == 0:
        print(f"  {record.trial.item}: {record.grade.why}. It said {record.last.text[:80]!r}")

# %% [markdown]
# What each example buys: the difference on the same invoices, with its 95 % interval.

# %%
wait = run.df.groupby("candidate")["e2e_ms"].median()
for less, more in (("no example", "one example"), ("one example", "two examples")):
    gain = paired_difference(scores[less], scores[more])
    points = f"{100 * gain.value:+.0f} points [{100 * gain.lo:+.0f}, {100 * gain.hi:+.0f}]"
    print(f"{less} → {more}: {points}, median answer {wait[less]:,.0f} → {wait[more]:,.0f} ms")
late = run.df[(run.df["score"] == 0.5)].groupby("candidate").size()
print("Right amounts with a wrong or missing date:", late.to_dict())

# %% [markdown]
# More examples are not always better. The second one here is a receipt without a due date, and it stands last, next to
# the question; a small model copies what it read last. If the dates went missing with it, move it up, and run again.

# %%
judged = sq.Frontier(floor=invoices.floor)(run)
print(judged.verdict)
for row in judged.table.itertuples():
    print(f"{row.candidate}: {row.quality:.0%} [{row.quality_lo:.0%}, {row.quality_hi:.0%}] {row.floor}")

# %% [markdown]
# `passes` and `fails` are sure at 95 %; `cannot tell` means: collect more invoices before you decide. With twenty, a
# floor of 90 % is only shown by a model that makes hardly a mistake.
#
# ## 5. Share it
#
# One file, opened offline. `redact=True` leaves the invoices themselves out.

# %%
print(sq.write_report(run, "invoices.html", redact=True).name)

# %% [markdown]
# The same from a shell:
#
# ```
# speedqual evalset new invoices --from invoices.csv
# speedqual evalset check invoices --self-test
# speedqual run --model openai/NAME --base-url http://127.0.0.1:8000/v1 --evalset invoices \
#     --report invoices.html --redact
# ```
