"""Which two candidates a route is made of when nobody says."""

from __future__ import annotations

import pandas as pd

from speedqual.analysis import from_table
from speedqual.analysis.routing import Routing


def test_of_equally_good_candidates_the_quickest_is_the_strong_one() -> None:
    scores = {"slow": 1.0, "twin": 1.0, "quick": 0.5}
    seconds = {"slow": 4.0, "twin": 2.0, "quick": 1.0}
    rows = [
        {"who": name, "item": i, "right": float(i % 2 == 0 or score == 1.0), "s": seconds[name]}
        for name, score in scores.items()
        for i in range(20)
    ]
    table = from_table(pd.DataFrame(rows), candidate="who", quality="right", seconds="s", item="item")
    result = Routing()(table)
    assert (result.fast, result.strong) == ("quick", "twin")
