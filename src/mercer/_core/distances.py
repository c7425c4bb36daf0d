"""Squared distances from dot products, without losing digits: two sets of points moved to a common centre."""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled
from .small import CANCELLED


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
    """G <- |x - z|^2 in place, from G = <x - c, z - c> and |x - c|^2, |z - c|^2, all float64.

    Where these nearly cancel, so that few digits would be left, the distance is summed up anew from the points.
    """
    for i in range(G.shape[0]):
        row = G[i]
        if _cancels(row, squares_a[i], squares_b):
            for j in range(row.size):
                if row[j] < CANCELLED * (squares_a[i] + squares_b[j]):
                    total = 0.0
                    for k in range(A.shape[1]):
                        total += (A[i, k] - B[j, k]) ** 2
                    row[j] = total


@compiled
def sparse_distances_from_dots(
    a_start: Array, a_column: Array, a_value: Array, b_start: Array, b_column: Array, b_value: Array,
    squares_a: Array, squares_b: Array, G: Array,
) -> None:  # fmt: skip
    """The same for sparse points by rows, the columns of each in ascending order."""
    for i in range(G.shape[0]):
        row = G[i]
        if _cancels(row, squares_a[i], squares_b):
            for j in range(row.size):
                if row[j] < CANCELLED * (squares_a[i] + squares_b[j]):
                    p, q = a_start[i], b_start[j]
                    total = 0.0
                    while p < a_start[i + 1] or q < b_start[j + 1]:
                        if q == b_start[j + 1] or (p < a_start[i + 1] and a_column[p] < b_column[q]):
                            total += a_value[p] ** 2
                            p += 1
                        elif p == a_start[i + 1] or b_column[q] < a_column[p]:
                            total += b_value[q] ** 2
                            q += 1
                        else:
                            total += (a_value[p] - b_value[q]) ** 2
                            p += 1
                            q += 1
                    row[j] = total


@compiled
def _cancels(row: Array, square: float, squares: Array) -> bool:
    """row <- square + squares - 2 row in place; whether that loses many digits anywhere."""
    least = np.inf
    for j in range(row.size):
        both = square + squares[j]
        row[j] = both - 2.0 * row[j]
        least = min(least, row[j] - CANCELLED * both)
    return least < 0.0
