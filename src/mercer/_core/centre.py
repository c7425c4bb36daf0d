"""Two sets of points moved to the mean of the second, and their squared norms there."""

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
