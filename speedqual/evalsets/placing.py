"""Where in a card stands what a grader says of its options."""

from __future__ import annotations

import re

from speedqual.errors import EvalSetError
from speedqual.evalsets.loading import read
from speedqual.evalsets.problems import Findings
from speedqual.evalsets.sources import find

__all__ = ["placed"]

_OPTION = re.compile(r"eval set (?P<name>.*?), (?P<path>grader\..+)", re.DOTALL)


def placed(fault: EvalSetError, path: str) -> EvalSetError:
    """The same fault with file, line and column in the card of the set at ``path``, where it is one of that card."""
    named = _OPTION.fullmatch(fault.where)
    if named is None:
        return fault
    loaded = read(find(path), Findings())
    if loaded.source.bare or not loaded.card.found or named["name"].partition("@")[0] != loaded.evalset.name:
        return fault
    keys = named["path"].replace("[]", "").split(".")
    where = loaded.card.at(*keys)
    return EvalSetError(f"{'.'.join(keys)}: {fault.what}", where=where, fix=fault.fix)
