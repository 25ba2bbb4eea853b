"""Every number in a docstring example of the analysis and the plots is executed."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import speedqual.analysis
import speedqual.plots

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (speedqual.analysis, speedqual.plots)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    outcome = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0


def test_there_are_examples_at_all() -> None:
    counts = [doctest.testmod(import_module(name)).attempted for name in MODULES]
    assert sum(counts) >= 30
