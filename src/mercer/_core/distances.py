"""Squared distances from dot products, without losing digits: two sets of points moved to a common centre."""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled


@compiled
def centre_both(A: Array, B: Array, squares_a: Array, squares_b: Array) -> tuple[Array, Array]:
    """A - c and B - c with c the mean of B; their squared norms are added to the last two arguments."""
    centre = np.zeros(B.shape[1], B.dtype)
    for i in range(B.shape[0]):
        centre += B[i]
    centre /= B.dtype.type(B.shape[0])
    return _moved(A, centre, squares_a), _moved(B, centre, squares_b)


@compiled
def _moved(A: Array, centre: Array, squares: Array) -> Array:
    out = np.empty_like(A)
    for i in range(A.shape[0]):
        row, moved = A[i], out[i]
        total = squares[i]
        for k in range(row.size):
            difference = row[k] - centre[k]
            moved[k] = difference
            total += difference * difference
        squares[i] = total
    return out


@compiled
def distances_from_dots(A: Array, B: Array, squares_a: Array, squares_b: Array, G: Array) -> None:
    """G <- |x - z|^2 in place, from G = <x - c, z - c> and |x - c|^2, |z - c|^2.

    Where these nearly cancel, so that few digits would be left, the distance is summed up anew from the points.
    """
    for i in range(G.shape[0]):
        row = G[i]
        for j in range(row.size):
            both = squares_a[i] + squares_b[j]
            row[j] = both - 2.0 * row[j]
            if row[j] < 1e-6 * both:
                total = 0.0
                for k in range(A.shape[1]):
                    total += (A[i, k] - B[j, k]) ** 2
                row[j] = total
