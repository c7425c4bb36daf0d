"""Points packed by coordinates, so that neighbours in memory are different points."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index

VALUES_AT_A_TIME = 2**13
"""So few that temporaries stay in cache."""


def pack(X: Array, index: Index, centre: Array, factor: float, out: Array, levels: Array) -> None:
    """out[i // size, k, i % size] <- X[index[i], k] - centre[k], and levels[i] <- factor |x_i - centre|^2.

    Zeros where there is no point. The size is the last axis of `out`: GROUP for rows, PANEL for columns.
    """
    out[...], levels[...] = 0.0, 0.0
    size, step = out.shape[2], max(VALUES_AT_A_TIME // max(centre.size, 1), 1)
    for start in range(0, index.size, step):
        at = np.arange(start, min(start + step, index.size))
        points = (X[index[at]].astype(np.float64) - centre).astype(out.dtype)
        out[at // size, :, at % size] = points
        if factor:
            levels[at] = factor * (points.astype(np.float64) ** 2).sum(axis=1)
