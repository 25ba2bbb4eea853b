"""How an object is shown, looked up by name at call time; how numbers and hostile text are written stands beside it.

Analysis objects, records and runs sit below the rooms that draw. They ask here for a renderer; ``plots``, ``report``
and ``notebook`` offer theirs as entry points of the group ``speedqual.renderers``, named ``kind:ClassName``
(``plot:Frontier``, ``html:Run``), so no import ever points upward.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from speedqual.errors import MissingDependencyError

__all__ = ["GROUP", "find", "register", "render"]

GROUP = "speedqual.renderers"
_registered: dict[str, Callable[..., Any]] = {}


def register(kind: str, class_name: str, renderer: Callable[..., Any]) -> None:
    """Offer ``renderer`` for objects of the named class; it wins over an entry point."""
    _registered[f"{kind}:{class_name}"] = renderer


@cache
def _load(name: str) -> Callable[..., Any] | None:
    from importlib.metadata import entry_points  # 20 ms that a command line without a display need not pay

    found = list(entry_points(group=GROUP, name=name))
    return found[0].load() if found else None


def find(kind: str, obj: object) -> Callable[..., Any] | None:
    """The renderer of ``kind`` for ``obj`` or for one of its base classes; None when nobody offers one."""
    for cls in type(obj).__mro__:
        name = f"{kind}:{cls.__name__}"
        renderer = _registered.get(name) or _load(name)
        if renderer is not None:
            return renderer
    return None


def render(kind: str, obj: object, **options: Any) -> Any:
    """Call the renderer of ``kind`` (``plot``, ``html``, ``text``) on ``obj``.

    Raises MissingDependencyError when no installed package offers one.
    """
    renderer = find(kind, obj)
    if renderer is None:
        raise MissingDependencyError(
            f"nothing installed can show a {type(obj).__name__} as {kind}", fix="Reinstall speedqual"
        )
    return renderer(obj, **options)
