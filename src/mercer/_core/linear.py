"""Products with X, dense or sparse (CSR), row by row. Values may be float32; sums are float64.

Places in sparse rows are taken as unsigned numbers: signed ones could be negative, and to look twice each time costs as
much as the rest of the loop.
"""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled


@compiled
def dense_dots(X: Array, w: Array, out: Array, start: int, stop: int) -> None:
    """out_i <- <x_i, w>."""
    for i in range(start, stop):
        row, total = X[i], 0.0
        for j in range(w.size):
            total += row[j] * w[j]
        out[i] = total


@compiled
def sparse_dots(begin: Array, column: Array, value: Array, w: Array, out: Array, start: int, stop: int) -> None:
    """out_i <- <x_i, w>."""
    for i in range(start, stop):
        total = 0.0
        for p in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
            total += value[p] * w[np.uint64(column[p])]
        out[i] = total


@compiled
def add_dense_rows(X: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i, four rows at a time: the sums are read and written as often as anything."""
    i, last = start, stop - (stop - start) % 4
    while i < last:
        a, b, c, d = v[i], v[i + 1], v[i + 2], v[i + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            first, second, third, fourth = X[i], X[i + 1], X[i + 2], X[i + 3]
            for j in range(out.size):
                out[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
        i += 4
    for k in range(last, stop):
        row = X[k]
        for j in range(out.size):
            out[j] += v[k] * row[j]


@compiled
def add_sparse_rows(begin: Array, column: Array, value: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i."""
    for i in range(start, stop):
        factor = v[i]
        if factor != 0.0:
            for p in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
                out[np.uint64(column[p])] += factor * value[p]


@compiled
def dense_squares(X: Array, out: Array, start: int, stop: int) -> None:
    """out_i <- |x_i|^2."""
    for i in range(start, stop):
        row, total = X[i], 0.0
        for j in range(row.size):
            total += np.float64(row[j]) * row[j]
        out[i] = total


@compiled
def sparse_squares(begin: Array, column: Array, value: Array, out: Array, start: int, stop: int) -> None:
    """out_i <- |x_i|^2."""
    for i in range(start, stop):
        total = 0.0
        for p in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
            total += np.float64(value[p]) * value[p]
        out[i] = total
