"""Points packed by coordinates, so that neighbours in memory are different points."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index

PACKS = 8  # so few at a time that temporaries stay small


def pack(X: Array, index: Index, centre: Array, factor: float, out: Array, levels: Array) -> None:
    """out[i // size, k, i % size] <- X[index[i], k] - centre[k], and levels[i] <- factor |x_i - centre|^2.

    Zeros where there is no point. The size is the last axis of `out`: GROUP for rows, PANEL for columns.
    """
    packs, d, size = out.shape
    for first in range(0, packs, PACKS):
        part, strip = index[first * size : (first + PACKS) * size], out[first : first + PACKS]
        points = np.zeros((len(strip) * size, d), out.dtype)
        points[: part.size] = X[part].astype(np.float64) - centre
        strip[...] = points.reshape(-1, size, d).transpose(0, 2, 1)
        own = factor * (points.astype(np.float64) ** 2).sum(axis=1) if factor else 0.0
        levels[first * size : (first + PACKS) * size] = own


def unpacked(packed: Array, count: int) -> Array:
    """The points again, as rows."""
    packs, d, size = packed.shape
    return packed.transpose(0, 2, 1).reshape(packs * size, d)[:count]
