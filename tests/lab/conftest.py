"""One JupyterLab for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jupyter_lab import Lab, serving


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serving(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")) as lab:
        yield lab
