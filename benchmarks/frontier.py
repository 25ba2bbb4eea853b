"""How long a frontier with P(on the front) takes, against a plain-numpy loop; and a million records summarised.

    python benchmarks/frontier.py [--records 1000000]

20 candidates × 5,000 items, 4,000 joint draws: under 5 s and 1 GB. The loop resamples the items draw by draw, as a
careful newcomer would write it; it is timed on 40 draws and scaled. A million records are read from Parquet, reduced to
candidate × item and drawn as a frontier: under 20 s.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from speedqual.analysis.frontier import Frontier
from speedqual.analysis.pareto import on_front
from speedqual.analysis.tidy import Table, tidy


def records(candidates: int, items: int, repeats: int = 1, seed: int = 0) -> pd.DataFrame:
    """A run of the given size: right/wrong scores, times, prices."""
    rng = np.random.default_rng(seed)
    n = candidates * items * repeats
    who = np.repeat(np.arange(candidates), items * repeats)
    item = np.tile(np.repeat(np.arange(items), repeats), candidates)
    return pd.DataFrame(
        {
            "candidate": pd.Categorical.from_codes(who, [f"candidate {i}" for i in range(candidates)]).astype(str),
            "evalset": "bench",
            "item": item.astype(str),
            "phase": "main",
            "outcome": "ok",
            "score": (rng.random(n) < 0.4 + 0.5 * who / candidates).astype(float),
            "e2e_ms": 100.0 * 1.2**who * rng.lognormal(0, 0.3, n),
            "ttft_ms": 50.0 * rng.lognormal(0, 0.3, n),
            "cost_usd": 0.001 * (1 + who),
            "started_ms": np.tile(np.arange(items * repeats) * 10.0, candidates),
        }
    )


def plain_loop(table: Table, draws: int, seed: int = 0) -> np.ndarray:
    """P(on the front) by resampling items one draw after the other."""
    rng = np.random.default_rng(seed)
    y = table.matrix().to_numpy(float)
    t = table.matrix("e2e_ms").to_numpy(float)
    count = np.zeros(y.shape[1])
    for _ in range(draws):
        pick = rng.integers(0, len(y), len(y))
        count += on_front(np.median(t[pick], axis=0)[:, None], y[pick].mean(axis=0))
    return count / draws


def timed(what: Callable[[], object]) -> tuple[object, float]:
    start = time.perf_counter()
    out = what()
    return out, time.perf_counter() - start


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print one table."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--records", type=int, default=1_000_000)
    options = ask.parse_args()
    table, reduce_s = timed(lambda: tidy(records(20, 5000)))
    assert isinstance(table, Table)
    result, front_s = timed(lambda: Frontier(draws=4000)(table))
    small_mb = peak_mb()
    loop, loop_s = timed(lambda: plain_loop(table, 40))
    print("| what | seconds | peak MB | |")
    print("|---|---|---|---|")
    print(f"| reduce 100,000 records to 20 × 5,000 | {reduce_s:.2f} | | |")
    ratio = loop_s * 100 / front_s
    print(f"| frontier, 4,000 joint draws | {front_s:.2f} | {small_mb:.0f} | {ratio:.0f} × faster than the loop |")
    print(f"| plain loop, 4,000 draws (40 timed) | {loop_s * 100:.0f} | | |")
    worst = np.abs(result.table["p_on_front"].to_numpy(float) - loop).max()  # type: ignore[attr-defined]
    print(f"| largest difference of P(on the front) to the loop's 40 draws | {worst:.2f} | | |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        records(20, options.records // 40, repeats=2).to_parquet(path)
        _, big_s = timed(lambda: Frontier(draws=4000)(pd.read_parquet(path)))
    print(f"| {options.records:,} records from Parquet to a frontier | {big_s:.1f} | {peak_mb():.0f} | |")


if __name__ == "__main__":
    main()
