"""Protocols by name: those registered in this process first, then entry points of ``speedqual.endpoints``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import cast

from speedqual.endpoints.base import Endpoint
from speedqual.errors import ConfigError

__all__ = ["GROUP", "endpoint", "names", "register"]

GROUP = "speedqual.endpoints"
_registered: dict[str, Endpoint] = {}


def register(made: Endpoint) -> Endpoint:
    """Offer a protocol in this process under its ``name``; it goes before an installed one of the same name."""
    _registered[made.name] = made
    return made


def names() -> tuple[str, ...]:
    """Every protocol that can be asked for, sorted."""
    return tuple(sorted({*_registered, *entry_points(group=GROUP).names}))


def endpoint(name: str) -> Endpoint:
    """The protocol of this name. Raises ConfigError with the list of names."""
    if name in _registered:
        return _registered[name]
    found = _installed(name)
    if found is None:
        raise ConfigError(f"no endpoint is called {name!r}", where="candidate", fix=f"Use one of {', '.join(names())}")
    return found


@cache
def _installed(name: str) -> Endpoint | None:
    found = entry_points(group=GROUP, name=name)
    if not found:
        return None
    loaded = next(iter(found)).load()
    return cast(Endpoint, loaded() if isinstance(loaded, type) else loaded)
