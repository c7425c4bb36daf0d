"""K V for all points and several columns of V: each value is computed once, and meets columns of both its points."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from ..limits import look
from ..memory import DOUBLE
from ..parallel import for_each
from ..types import Array
from .columns import BLOCK, SCRATCH, SIDE, Columns, pieces

_STRIPS = 8  # Strips of rows, whatever the number of threads: each has sums of its own,
_SUMS = 4.0 * SCRATCH  # of so many bytes, at most.


def multiply(columns: Columns, V: Array, dtype: DTypeLike) -> Array:
    """K V in float64 from values of this precision; with float32 ones, sums within a tile are float32 too."""
    n, many = V.shape
    if many == 1 or columns.matrix is not None or not _worth(columns, many):
        return columns.product(np.arange(n), V, np.arange(n), dtype)
    way = columns.way if np.dtype(dtype) == columns.dtype else columns.precise
    X, V = way.prepared(columns.X), np.ascontiguousarray(V, way.dtype)
    side = max(BLOCK, min(SIDE, int(columns.scratch / columns.threads / max(3.0 * way.bytes_a_point, 1.0))))
    strips = pieces(n, side)
    sums = np.zeros((_STRIPS, n, many))

    def task(own: int) -> None:
        total, tile = sums[own], np.empty((side, side), way.dtype)
        turns = (own, 2 * _STRIPS - 1 - own)  # long strips and short ones: as much work for everybody
        for number in [i for i in range(len(strips)) if i % (2 * _STRIPS) in turns]:
            look()
            top = strips[number]
            rows, every = way.rows(X, columns.at[top]), np.arange(top.stop - top.start)
            for left in strips[number:]:
                values = tile[: every.size, : left.stop - left.start]
                way.fill(rows, way.columns(X, columns.at[left]), every, values)
                total[top] += values @ V[left]
                if left != top:
                    total[left] += values.T @ V[top]

    for_each(range(_STRIPS), task, columns.threads)
    columns.counted.values += n * (n + side) // 2
    return np.asarray(sums.sum(axis=0))


def _worth(columns: Columns, many: int) -> bool:
    """Whether there are enough points, and room for the sums; symmetric to the last digit is only what we computed."""
    roomy = DOUBLE * _STRIPS * many * columns.n <= min(_SUMS, _SUMS * columns.scratch / SCRATCH)
    return columns.n > SIDE and roomy and columns.kernel.symmetric
