"""Small blocks of kernel values, in NumPy.

To load compiled code takes half a second, and to compile it, on a new machine, half a minute: more than a few hundred
points need in all. So blocks of at most _SMALL values are left to NumPy. Nothing here imports Numba.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..types import Array

_SMALL = 65_536  # values of a block
CANCELLED = 1e-4  # a distance of which so little is left is computed anew: 12 digits stay
_COORDINATES = 100_000  # of pairs of points at a time


def is_small(values: float) -> bool:
    """Whether a block of so many values is left to NumPy."""
    return values <= _SMALL


class _Here(threading.local):
    """What is said in this thread about the block of which a tile is computed."""

    small = False


_here = _Here()


@contextmanager
def part_of(values: float) -> Iterator[None]:
    """A context in which tiles are computed, in this thread, of a block of so many values."""
    before, _here.small = _here.small, is_small(values)
    try:
        yield
    finally:
        _here.small = before


def by_numpy() -> bool:
    """Whether the block of which a tile is computed here is small (see `part_of`); if nobody said so, it is not."""
    return _here.small


def fill_squared_distances(A: Array, B: Array, out: Array) -> None:
    """out <- |x - z|^2 for each pair of dense points, in float64: see _core/distances.py."""
    centre = B.mean(axis=0, dtype=np.float64)
    a, b = A - centre, B - centre
    both = np.add.outer(np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b))
    np.matmul(a, b.T, out=out)
    out *= -2.0
    out += both
    rows, columns = np.nonzero(out < CANCELLED * both)
    some = max(1, _COORDINATES // max(1, A.shape[1]))
    for start in range(0, rows.size, some):
        i, j = rows[start : start + some], columns[start : start + some]
        difference = np.subtract(A[i], B[j], dtype=np.float64)
        out[i, j] = np.einsum("ij,ij->i", difference, difference)
