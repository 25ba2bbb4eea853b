"""Numbers as people read them; a missing one is a dash, never 0."""

from __future__ import annotations

import math

import pytest

from speedqual.display import numbers


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (numbers.score(0.6549), "65.5 %"),
        (numbers.score(1.0), "100 %"),
        (numbers.points(0.125), "12"),
        (numbers.milliseconds(1234.5), "1,234"),
        (numbers.milliseconds(9.94), "9.9"),
        (numbers.seconds(950.0), "0.95 s"),
        (numbers.seconds(12_345.0), "12.3 s"),
        (numbers.rate(54.14), "54.1"),
        (numbers.rate(1234.0), "1,234"),
        (numbers.usd(0.00123), "$0.00123"),
        (numbers.usd(0.0000567), "$0.0000567"),
        (numbers.usd(12.3), "$12.30"),
        (numbers.count(12345), "12,345"),
    ],
)
def test_numbers(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize("name", ["score", "percent", "points", "milliseconds", "seconds", "rate", "usd", "count"])
@pytest.mark.parametrize("value", [None, math.nan])
def test_missing_is_a_dash(name: str, value: float | None) -> None:
    assert getattr(numbers, name)(value) == "–"


@pytest.mark.parametrize(
    ("value", "n", "said"),
    [(13364.2, 3, "13,364"), (13364.2, 4, "13,364"), (0.00123456, 3, "0.00123"), (1e-7, 3, "0.0000001"), (-2500.4, 3, "-2,500"),
     (2.0, 3, "2"), (987.65, 4, "987.6"), (999.96, 4, "1,000"), (None, 3, "–"), (float("nan"), 3, "–"), (0.0, 3, "0")],
)  # fmt: skip
def test_digits_have_no_exponent(value, n, said):
    assert numbers.digits(value, n) == said
