"""What a trial costs the client beyond a bare aiohttp reader, with slack for a busy machine."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "evaluator.py"


@pytest.mark.slow
@pytest.mark.timing
def test_a_trial_costs_little_beyond_a_bare_reader():
    spec = importlib.util.spec_from_file_location("benchmark_evaluator", BENCHMARK)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    found = benchmark.measured(300, 20)
    assert found["bare"] > 0.05
    assert found["run"] - found["bare"] < 6.0  # goal 2 ms, three times as much allowed
