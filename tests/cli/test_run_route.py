"""``speedqual run`` with a route: named on the command line or in the settings, resumed, exported by ``route``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from speedqual.endpoints.scripted import Script, serve_in_process
from speedqual.running import Policy, Run

SETTINGS = """
[candidates.small]
model = "weak"
base_url = "{url}"
price = {{input = 1, output = 1}}

[candidates.large]
model = "able"
base_url = "{url}"
price = {{input = 9, output = 9}}

[candidates.cascade]
route = "policy.json"
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    scripts = {"weak": Script(ttft_ms=1, tok_s=0, text="no idea"), "able": Script(ttft_ms=1, tok_s=0, text='{"n": 1}')}
    with serve_in_process(scripts) as server:
        yield server.base_url


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return Policy("small", "large", deadline_ms=5000.0).save(tmp_path / "policy.json")


def test_a_route_in_the_settings_is_run_beside_its_lanes(call, url: str, bare_set: Path, policy: Path) -> None:
    Path("s.toml").write_text(SETTINGS.format(url=url))
    said = call("run", "--config", "s.toml", "--evalset", bare_set, "--out", "r", "--json", "-q")
    assert said.code == 0, said.err
    found = {row["candidate"]: row for row in json.loads(said.out)["candidates"]}
    assert [found[name]["quality"] for name in ("small", "large", "cascade")] == [0.0, 0.25, 0.25]
    rows = Run.open("r").df.set_index("candidate")
    assert rows.loc["cascade", "attempts"].tolist() == [2.0] * 4
    assert all("fell_back_check" in flags for flags in rows.loc["cascade", "flags"])
    lanes = rows.loc["small", "cost_usd"].mean() + rows.loc["large", "cost_usd"].mean()
    assert rows.loc["cascade", "cost_usd"].mean() == pytest.approx(lanes)


def test_a_route_named_as_model_finds_its_lanes_and_resumes(call, url: str, bare_set: Path, policy: Path) -> None:
    Path("s.toml").write_text(SETTINGS.format(url=url))
    words = ("--config", "s.toml", "--model", "route:policy.json", "--evalset", bare_set, "--out", "r", "-q")
    said = call("run", *words, "--max-requests", 3)
    assert said.code == 4
    policy.unlink()  # the run folder keeps the policy
    again = call("run", "--resume", "r", "-q")
    assert again.code == 0, again.err
    df = Run.open("r").df
    assert list(df["candidate"]) == ["route:policy.json"] * 4 and df["item"].nunique() == 4


def test_lanes_may_be_named_on_the_command_line(call, url: str, bare_set: Path) -> None:
    Policy("openai/weak", "openai/able").save("policy.json")
    models = ("--model", "openai/weak", "--model", "openai/able", "--model", "route:policy.json", "--base-url", url)
    said = call("run", *models, "--evalset", bare_set, "--dry-run", "--json")
    assert [row["requests"] for row in json.loads(said.out)["rows"]] == [4, 4, 8]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ('[candidates.r]\nroute = "policy.json"\n', "policy.json: the policy needs a candidate 'small'"),
        ('[candidates.r]\nroute = "none.json"\n', "none.json: cannot be read"),
        ('[candidates.r]\nroute = ""\n', "candidates.r.route: no policy file is named"),
        ("[candidates.r]\nroute = 3\n", "candidates.r.route: 3 is not a string"),
        ('[candidates.r]\nroute = "policy.json"\nmodel = "m"\n', "candidates.r.model: a route has no model"),
    ],
)
def test_a_slip_is_named(call, bare_set: Path, policy: Path, rows: str, words: str) -> None:
    Path("s.toml").write_text(rows)
    said = call("run", "--config", "s.toml", "--evalset", bare_set)
    assert said.code == 2 and words in said.err and "Traceback" not in said.err


def test_what_route_exports_runs(call, url: str, bare_set: Path) -> None:
    Path("s.toml").write_text(SETTINGS.format(url=url).partition("[candidates.cascade]")[0])
    call("run", "--config", "s.toml", "--evalset", bare_set, "--out", "r", "-q")
    said = call("route", "r", "--fast", "small", "--strong", "large", "--save", "mine.json")
    assert said.code == 0 and "policy: mine.json" in said.err
    words = ("--config", "s.toml", "--model", "route:mine.json", "--evalset", bare_set, "--out", "r2", "-q")
    assert call("run", *words).code == 0
    assert set(Run.open("r2").df["candidate"]) == {"route:mine.json"}
