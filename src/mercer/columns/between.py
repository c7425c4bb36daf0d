"""Sums of kernel values between two sets of points: what predictions are made of. No block is formed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import DTypeLike

from ..kernels import Kernel
from ..kernels.pairwise import require_no_overflow
from ..kernels.points import count
from ..parallel import for_each, thread_count
from ..types import Array, Points
from .choose import way_of
from .columns import SCRATCH, pieces, shared, sizes

_WORTH_A_THREAD = 100_000  # values


def sums_between(kernel: Kernel, X: Points, Z: Points, V: Array, edges: Sequence[int], dtype: DTypeLike) -> Array:
    """sum_j k(x_i, z_j) V_jc in float64 over each part of the z_j, from one edge to the next: (parts, columns c, i).

    Kernel values are of this dtype. Sums over the z_j keep their order, whatever the number of threads.
    """
    way = way_of(kernel, (Z, X), dtype)
    V, held = np.ascontiguousarray(V, np.float64), way.prepared(Z)
    threads = thread_count() if count(X) * len(V) >= _WORTH_A_THREAD and not kernel.serial else 1
    batch, piece = sizes(way, SCRATCH / threads)
    ready = [
        [(way.rows(held, np.arange(rows.start, rows.stop)), V[rows]) for rows in pieces(stop, batch, start)]
        for start, stop in pairwise(edges)
    ]
    out = np.zeros((len(ready), V.shape[1], count(X)))

    def task(piece: slice) -> None:
        columns = way.columns(way.prepared(X[piece]), np.arange(piece.stop - piece.start))
        for part, sums in zip(ready, out, strict=True):
            for rows, weights in part:
                way.add(rows, columns, weights, sums[:, piece])

    for_each(pieces(count(X), shared(piece, count(X), threads)), task, threads)
    if not kernel.bounded:
        require_no_overflow(out)
    return out
