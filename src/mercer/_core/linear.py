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
def _add_eight_rows(X: Array, v: Array, rows: Array, out: Array) -> None:
    """out += sum v_i x_i over these rows."""
    r0, r1, r2, r3, r4, r5, r6, r7 = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
    a, b, c, d, e, f, g, h = v[r0], v[r1], v[r2], v[r3], v[r4], v[r5], v[r6], v[r7]
    A, B, C, D, E, F, G, H = X[r0], X[r1], X[r2], X[r3], X[r4], X[r5], X[r6], X[r7]
    for j in range(out.size):
        low = (a * A[j] + b * B[j]) + (c * C[j] + d * D[j])
        out[j] += low + ((e * E[j] + f * F[j]) + (g * G[j] + h * H[j]))


@compiled
def add_dense_rows(X: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i, eight rows at a time: the sums are read and written as often as anything."""
    rows, size = np.empty(8, np.intp), 0
    for i in range(start, stop):
        rows[size] = i
        size += v[i] != 0.0
        if size == 8:
            _add_eight_rows(X, v, rows, out)
            size = 0
    for i in rows[:size]:
        row = X[i]
        for j in range(out.size):
            out[j] += v[i] * row[j]


@compiled
def add_sparse_rows(begin: Array, column: Array, value: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i."""
    for i in range(start, stop):
        factor = v[i]
        if factor != 0.0:
            for p in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
                out[np.uint64(column[p])] += factor * value[p]


@compiled
def dense_weighted(X: Array, w: Array, shift: float, rate: Array, s: Array, out: Array, start: int, stop: int) -> None:
    """s_i <- <x_i, w> + shift, and out += sum_i rate_i s_i x_i: rows are read once for both."""
    v, rows, size = np.empty(8), np.arange(8), 0
    for i in range(start, stop):
        row, total = X[i], shift
        for j in range(w.size):
            total += row[j] * w[j]
        s[i] = total
        v[size] = rate[i] * total
        size += 1
        if size == 8:
            _add_eight_rows(X[i - 7 : i + 1], v, rows, out)
            size = 0
    for k in range(size):
        row = X[stop - size + k]
        for j in range(out.size):
            out[j] += v[k] * row[j]


@compiled
def sparse_weighted(
    begin: Array, column: Array, value: Array,
    w: Array, shift: float, rate: Array, s: Array, out: Array, start: int, stop: int,
) -> None:  # fmt: skip
    """The same."""
    for i in range(start, stop):
        total = shift
        for p in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
            total += value[p] * w[np.uint64(column[p])]
        s[i] = total
        factor = rate[i] * total
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
