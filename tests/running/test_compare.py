"""A run compared with another one: the gate of the analysis room, found by name."""

import pytest

from speedqual.analysis.gate import Gate, GateResult
from speedqual.errors import MissingDependencyError, RefusedError
from speedqual.running import evaluate
from speedqual.running.analyses import analysis

from .conftest import FakeClient, candidate, echo, ok, toy_evalset


async def test_a_run_is_gated_against_a_base(tmp_path):
    async def run(name, reply, n=40):
        return await evaluate([candidate()], [toy_evalset(n)], folder=tmp_path / name, client=FakeClient(reply))

    base, same = await run("base", echo), await run("same", echo)
    worse = await run("worse", lambda *_: ok("wrong"))
    assert isinstance(base.compare(same), GateResult)
    assert base.compare(same).table.equals(Gate()(base, same).table)
    assert base.compare(same, alpha=0.2).outcome != "fail"
    assert base.compare(worse).outcome == "fail"
    with pytest.raises(RefusedError, match="the content of eval set toy"):
        base.compare(await run("other", echo, n=10))


def test_an_analysis_that_nobody_offers_is_named():
    with pytest.raises(MissingDependencyError, match="the analysis 'astrology'"):
        analysis("astrology")
