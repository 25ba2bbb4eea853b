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
# # 快速上手：有多快，有多好，两者如何取舍
#
# 同一个小语言模型，用六种方式回答同样的短题。流的计时与答案的评分来自同一批请求。最后得到速度与质量的前沿，
# 以及一个可以直接分享的 HTML 文件。
#
# 装好 `[local]` 附加包并取得内置模型后，由本机的真实模型作答；否则由脚本端点作答，它的速度与答案事先已知：
# 步骤相同，模型是虚构的。

# %% tags=["parameters"]
ENGINE = "auto"  # "local" 真实模型，"scripted" 虚构模型，"auto" 有真实模型就用它
ITEMS = 8  # 每类任务的题数

# %%
import speedqual as sq
from speedqual.evalsets import minimal_sets
from speedqual.notebook.quickstart import few, small_candidates
from speedqual.notebook.show import show

# %% [markdown]
# ## 问什么
#
# 三类任务：代码必须能运行，字段必须正确，事实必须出自原文。只取每类中的短题，答案限 64 个 token。

# %%
evalsets = [few(one, ITEMS) for one in minimal_sets()]
show(evalsets[1], "zh")

# %% [markdown]
# ## 问谁
#
# 一个候选 = 端点 + 模型 + 设置；怎样提示也属于候选。这里只有提示方式和去掉的层不同。运行中可以随时中断：
# 已完成的部分保存在运行文件夹里，用 `resume=True` 可以接着跑。

# %%
with small_candidates(evalsets, ENGINE) as candidates:
    run = await sq.evaluate(candidates, evalsets, seed=1, observers=[sq.LiveView(lang="zh")])
show(run, "zh")

# %% [markdown]
# 同一个提示，各候选并排，按实际速度重放。（在 JupyterLab 中可以播放、拖动、放慢。）

# %%
sq.Race(run, lang="zh")

# %% [markdown]
# ## 前沿
#
# 越靠右越快，越靠上越好。两方面都被别人超过的点是灰色。阶梯线上的点越大，越有把握真的在前沿上；题目这么少，
# 常常没有多大把握。

# %%
frontier = sq.Frontier()(run)
show(frontier, "zh")

# %%
for row in frontier.table.sort_values("e2e_ms").itertuples():
    quality = f"{row.quality:.0%} [{row.quality_lo:.0%}, {row.quality_hi:.0%}]"
    print(f"{row.candidate}：{row.e2e_ms / 1000:.2f} 秒，质量 {quality}，在前沿上的概率 {row.p_on_front:.0%}")

# %% [markdown]
# ## 质量在哪里下降
#
# 阶梯上是同一个模型，逐级去掉更多。只有当平滑的趋势解释不了某一级下降时，才称之为断崖；题目这么少，
# 很少能够证实，这时只用较轻的说法，并给出区间。

# %%
show(sq.Cliffs()(run), "zh")

# %% [markdown]
# ## 看看答案
#
# 每个数字都来自可以查看的记录：`run.df` 每次请求一行，`run.events` 每个流的每一片一行，`run.records` 包含全部。
# 下面是一个被判错的答案和判错的理由。

# %%
next(record for record in run.records if record.grade and record.grade.verdict == "fail")

# %%
columns = {"candidate": "候选", "evalset": "评测集", "item": "题目", "verdict": "判定", "ttft_ms": "首 token，毫秒"}
columns |= {"e2e_ms": "完整回答，毫秒", "decode_tok_s": "token/秒"}
run.df[list(columns)].sample(6, random_state=1).round(1).rename(columns=columns)

# %% [markdown]
# ## 分享
#
# 一个文件，不联网也能打开。02 号笔记本用你自己的题目和你自己的端点做同样的事。

# %%
print(sq.write_report(run, "report.html", lang="zh").name)
