"""What the notebooks ask and whom: tickets from a seed, and scripted models in the place of the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import speedqual as sq
from speedqual.errors import UsageError
from speedqual.notebook.quickstart import Version, few, real_model, small_models
from speedqual.notebook.tickets import EXAMPLES, help_desk


def test_the_same_seed_gives_the_same_tickets_and_another_gives_others() -> None:
    desk = help_desk(20, seed=3)
    assert desk == help_desk(20, seed=3)
    assert not {item.row["text"] for item in desk.items} & {item.row["text"] for item in help_desk(20, seed=4).items}
    assert not {item.row["text"] for item in desk.items} & {item.row["text"] for item in desk.fewshot}
    assert len(desk.fewshot) == EXAMPLES
    assert [item.difficulty for item in desk.items].count("city") == 10
    assert all(item.target["answer"] in item.row["text"] for item in desk.items)


def test_few_items_are_a_set_of_their_own() -> None:
    desk = help_desk(20)
    assert few(desk, 5).items == desk.items[:5] and few(desk, 5).hash not in ("", desk.hash)
    assert few(desk, 20).hash == desk.hash


def test_an_unknown_engine_is_refused() -> None:
    engine: Any = "remote"
    with pytest.raises(UsageError, match="Use auto, local or scripted"):
        real_model(engine)
    assert real_model("scripted") is None


async def test_scripted_versions_answer_a_known_share_rightly(tmp_path: Path) -> None:
    desk = help_desk(6)
    versions = [
        Version("all", ttft_ms=5, tok_s=0, right=1.0),
        Version("none", ttft_ms=5, tok_s=0, right=0.0, text="no"),
    ]
    with small_models([desk], versions, "scripted", slots=2) as candidates:
        run = await sq.evaluate(candidates, [desk], folder=tmp_path / "run", preflight=False, warm_up=False)
    assert run.df.groupby("candidate")["score"].mean().to_dict() == {"all": 1.0, "none": 0.0}
    assert {record.last.text for record in run.records if record.trial.candidate == "none"} == {"no"}
