"""Labels beside points without overlap: each takes the freest place around its point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from speedqual.plots.axes import shorten
from speedqual.plots.style import Style

__all__ = ["place_labels"]

Array = NDArray[np.float64]
_TURNS = [(1.0, 0.6), (-1.0, 0.6), (0.0, 1.0), (1.0, -0.6), (-1.0, -0.6), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
_REACH = (9.0, 18.0, 30.0, 44.0, 60.0)  # points away from the marker
_NEAR = 18.0  # beyond this a thin line ties the label to its point


def place_labels(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    texts: Sequence[str],
    avoid: Array,
    look: Style,
    size: float = 8.5,
    *,
    quiet: Sequence[bool] = (),
) -> None:
    """Write ``texts`` near the points (x, y) in data coordinates, clear of each other and of ``avoid`` [n, 2].

    ``quiet`` says which are written in grey. Call it last: it needs the final limits.
    """
    figure = ax.get_figure(root=True)
    if figure is None or not len(texts):
        return
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    points = ax.transData.transform(np.column_stack([x, y]))
    others = ax.transData.transform(avoid) if len(avoid) else np.empty((0, 2))
    taken: list[Bbox] = []
    for i in np.argsort(-points[:, 1], kind="stable"):
        text = shorten(str(texts[i]))
        box = _extent(ax, text, size)
        dx, dy, reach = _best_place(points[i], box, taken, others, ax.bbox, scale)
        ink = look.quiet if len(quiet) and quiet[i] else look.ink
        at, offset = (float(x[i]), float(y[i])), (dx / scale, dy / scale)
        _write(ax, text, at, offset, look, size, ink=ink, tied=reach > _NEAR)
        taken.append(Bbox.from_bounds(points[i][0] + dx, points[i][1] + dy, box.width, box.height))


def _extent(ax: Axes, text: str, size: float) -> Bbox:
    trial = ax.text(0.5, 0.5, text, fontsize=size, transform=ax.transAxes)
    box = trial.get_window_extent()
    trial.remove()
    return box


def _write(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    offset: tuple[float, float],
    look: Style,
    size: float,
    *,
    ink: str,
    tied: bool,
) -> None:
    line: dict[str, Any] = {"arrowstyle": "-", "color": look.quiet, "linewidth": 0.7, "shrinkB": 4}
    note = ax.annotate(
        text,
        at,
        xytext=offset,
        textcoords="offset points",
        fontsize=size,
        color=ink,
        arrowprops=line if tied else None,
        zorder=6,
    )
    note.set_path_effects([withStroke(linewidth=2.4, foreground=look.paper, alpha=0.85)])
    note.set_in_layout(False)


def _best_place(
    point: Array, box: Bbox, taken: list[Bbox], others: Array, frame: Bbox, scale: float
) -> tuple[float, float, float]:
    """Offset (pixels) of the label's lower left corner from its point, and how far it moved (typographic points)."""
    best, found = np.inf, (0.0, 0.0, 0.0)
    for reach in _REACH:
        for turn, (ux, uy) in enumerate(_TURNS):
            dx = ux * (reach * scale + box.width / 2) - box.width / 2
            dy = uy * (reach * scale + (box.height / 2 if uy else 0.0)) - box.height / 2
            place = Bbox.from_bounds(point[0] + dx, point[1] + dy, box.width, box.height)
            cost = _crowding(place, taken, others, frame) + reach * 0.4 + turn * 0.3
            if cost < best:
                best, found = cost, (dx, dy, reach)
    return found


def _crowding(place: Bbox, taken: list[Bbox], others: Array, frame: Bbox) -> float:
    """Overlap with labels (dear), with points (cheaper) and with the edge of the axes (dearest)."""
    wide = place.padded(3)
    overlap = sum(1.0 + _shared(wide, other) / 50.0 for other in taken if wide.overlaps(other))
    hit = (others[:, 0] > wide.x0) & (others[:, 0] < wide.x1) & (others[:, 1] > wide.y0) & (others[:, 1] < wide.y1)
    beyond = max(0.0, frame.x0 - place.x0) + max(0.0, place.x1 - frame.x1)
    beyond += max(0.0, frame.y0 - place.y0) + max(0.0, place.y1 - frame.y1)
    return float(60.0 * overlap + 14.0 * hit.sum() + 20.0 * beyond)


def _shared(a: Bbox, b: Bbox) -> float:
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    high = min(a.y1, b.y1) - max(a.y0, b.y0)
    return float(max(0.0, wide) * max(0.0, high))
