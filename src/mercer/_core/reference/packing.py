"""Points packed by coordinates, so that neighbours in memory are different points."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index


def pack(X: Array, index: Index, centre: Array, factor: float, out: Array, levels: Array) -> None:
    """out[i // size, k, i % size] <- X[index[i], k] - centre[k], and levels[i] <- factor |x_i - centre|^2.

    Zeros where there is no point. The size is the last axis of `out`: GROUP for rows, PANEL for columns.
    """
    packs, d, size = out.shape
    points = np.zeros((packs * size, d), out.dtype)
    points[: index.size] = X[index].astype(np.float64) - centre
    out[...] = points.reshape(packs, size, d).transpose(0, 2, 1)
    levels[...] = factor * (points.astype(np.float64) ** 2).sum(axis=1) if factor else 0.0


def unpacked(packed: Array, count: int) -> Array:
    """The points again, as rows."""
    packs, d, size = packed.shape
    return packed.transpose(0, 2, 1).reshape(packs * size, d)[:count]
