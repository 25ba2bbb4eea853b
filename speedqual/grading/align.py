"""Which element of the answer's list stands for which of the gold's.

Identical elements first, then rows with the same key, then the assignment that makes the most leaves right
(Hungarian). What is left over is an omission or an invention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Pair", "align", "in_order"]

Pair = tuple[int | None, int | None]
"""Indexes into the answer and the gold; None = no partner."""

MAX_CELLS = 40_000
"""Larger tables of candidates are paired in order: an assignment over them would take seconds."""


def in_order(n_got: int, n_want: int) -> list[Pair]:
    """Pairs by position."""
    return [(i if i < n_got else None, i if i < n_want else None) for i in range(max(n_got, n_want))]


def align(
    got: Sequence[Any],
    want: Sequence[Any],
    likeness: Callable[[Any, Any], float],
    same_key: Callable[[Any, Any], bool] | None = None,
) -> list[Pair]:
    """One-to-one pairs. ``likeness(got, want)`` >= 0; ``same_key`` decides before it, when rows have a key."""
    free_got, free_want = list(range(len(got))), list(range(len(want)))
    pairs = _take(got, want, free_got, free_want, _identical)
    if same_key is not None:
        pairs += _take(got, want, free_got, free_want, same_key)
    pairs += _assign(got, want, free_got, free_want, likeness)
    pairs.sort(key=lambda pair: (pair[1] is None, pair[1] if pair[1] is not None else pair[0]))
    return pairs


def _identical(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def _take(
    got: Sequence[Any], want: Sequence[Any], free_got: list[int], free_want: list[int], same: Callable[[Any, Any], bool]
) -> list[Pair]:
    """Pair what is ``same``, first come first served, and strike it off the free ones."""
    pairs: list[Pair] = []
    if len(free_got) * len(free_want) > MAX_CELLS:
        return pairs
    for j in list(free_want):
        i = next((i for i in free_got if same(got[i], want[j])), None)
        if i is not None:
            pairs.append((i, j))
            free_got.remove(i)
            free_want.remove(j)
    return pairs


def _assign(
    got: Sequence[Any],
    want: Sequence[Any],
    free_got: list[int],
    free_want: list[int],
    likeness: Callable[[Any, Any], float],
) -> list[Pair]:
    """The pairs of greatest total likeness; the rest stays alone."""
    rows, columns = len(free_got), len(free_want)
    if rows == 0 or columns == 0 or rows == columns == 1 or rows * columns > MAX_CELLS:
        chosen = list(zip(range(rows), range(columns), strict=False))
    else:
        chosen = _hungarian([[likeness(got[i], want[j]) for j in free_want] for i in free_got])
    pairs: list[Pair] = [(free_got[r], free_want[c]) for r, c in chosen]
    pairs += [(i, None) for r, i in enumerate(free_got) if r not in {r for r, _ in chosen}]
    pairs += [(None, j) for c, j in enumerate(free_want) if c not in {c for _, c in chosen}]
    return pairs


def _hungarian(table: list[list[float]]) -> list[tuple[int, int]]:
    if not any(map(any, table)):
        return list(zip(range(len(table)), range(len(table[0])), strict=False))
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(table, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True)]
