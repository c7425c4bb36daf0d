"""The Gaussian of points with few coordinates: distance and exponential in one pass, while the values are in cache.

Distances are sums of squared differences, two coordinates and two rows at a time: no digit is lost to cancellation, and
for a few coordinates this is faster than a matrix product, whose result would have to be read and written again.
"""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled, exactly_compiled
from .exponential import _LOG2E, _LOWEST_32, _LOWEST_64, exp2_row_32, exp_row_64

_COLUMNS = 1024


@exactly_compiled
def squared_distances_of_two(a: Array, b: Array, BT: Array, start: int, stop: int, p: Array, q: Array) -> None:
    """p <- |a - z_j|^2, q <- |b - z_j|^2 for the points z_start ... z_stop, which are columns of BT."""
    d = BT.shape[0]
    for j in range(stop - start):
        p[j] = q[j] = 0
    k = 0
    while k + 2 <= d:
        a0, a1, b0, b1 = a[k], a[k + 1], b[k], b[k + 1]
        z0, z1 = BT[k][start:stop], BT[k + 1][start:stop]
        for j in range(stop - start):
            s, t = a0 - z0[j], a1 - z1[j]
            u, v = b0 - z0[j], b1 - z1[j]
            p[j] += s * s + t * t
            q[j] += u * u + v * v
        k += 2
    if k < d:
        a0, b0, z0 = a[k], b[k], BT[k][start:stop]
        for j in range(stop - start):
            s, u = a0 - z0[j], b0 - z0[j]
            p[j] += s * s
            q[j] += u * u


@exactly_compiled
def exp_of_scaled_32(row: Array, c: float) -> None:
    """row <- 2^max(c row, -126)."""
    factor = np.float32(c)
    for j in range(row.size):
        row[j] = max(factor * row[j], _LOWEST_32)
    exp2_row_32(row)


@exactly_compiled
def exp_of_scaled_64(row: Array, c: float, work: Array) -> None:
    """row <- exp(max(c row, -708))."""
    for j in range(row.size):
        row[j] = max(c * row[j], _LOWEST_64)
    exp_row_64(row, work)


@exactly_compiled
def add_weighted(x: Array, y: Array, a: float, b: float, total: Array) -> None:
    """total += a x + b y in float64."""
    for j in range(total.size):
        total[j] += a * x[j] + b * y[j]


@exactly_compiled
def gaussian_rows_32(A: Array, BT: Array, out: Array, at: Array, start: int, stop: int, gamma: float) -> None:
    """out[at[i], j] <- exp(-gamma |a_i - z_j|^2) for j from start to stop, in float32."""
    c = -gamma * _LOG2E
    rows = A.shape[0]
    spare = np.empty(_COLUMNS, np.float32)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        for i in range(0, rows, 2):
            second = min(i + 1, rows - 1)
            p = out[at[i]][left:right]
            q = out[at[second]][left:right] if second > i else spare[: right - left]
            squared_distances_of_two(A[i], A[second], BT, left, right, p, q)
            exp_of_scaled_32(p, c)
            exp_of_scaled_32(q, c)


@exactly_compiled
def gaussian_rows_64(A: Array, BT: Array, out: Array, at: Array, start: int, stop: int, gamma: float) -> None:
    """The same in float64."""
    rows = A.shape[0]
    spare, work = np.empty(_COLUMNS), np.empty(_COLUMNS)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        for i in range(0, rows, 2):
            second = min(i + 1, rows - 1)
            p = out[at[i]][left:right]
            q = out[at[second]][left:right] if second > i else spare[: right - left]
            squared_distances_of_two(A[i], A[second], BT, left, right, p, q)
            exp_of_scaled_64(p, -gamma, work)
            exp_of_scaled_64(q, -gamma, work)


@exactly_compiled
def gaussian_sums_32(AT: Array, v: Array, ZT: Array, out: Array, start: int, stop: int, gamma: float) -> None:
    """out[j] <- sum_i v_i exp(-gamma |a_i - z_j|^2) for j from start to stop: values in float32, sums in float64.

    Points are columns.
    """
    c = -gamma * _LOG2E
    d, n = AT.shape
    p, q = np.empty(_COLUMNS, np.float32), np.empty(_COLUMNS, np.float32)
    first, second = np.empty(d, np.float32), np.empty(d, np.float32)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        x, y, total = p[: right - left], q[: right - left], out[left:right]
        total[:] = 0.0
        for i in range(0, n, 2):
            other = min(i + 1, n - 1)
            for k in range(d):
                first[k], second[k] = AT[k, i], AT[k, other]
            squared_distances_of_two(first, second, ZT, left, right, x, y)
            exp_of_scaled_32(x, c)
            exp_of_scaled_32(y, c)
            add_weighted(x, y, v[i], v[other] if other > i else 0.0, total)


@exactly_compiled
def gaussian_sums_64(AT: Array, v: Array, ZT: Array, out: Array, start: int, stop: int, gamma: float) -> None:
    """The same in float64."""
    d, n = AT.shape
    p, q, work = np.empty(_COLUMNS), np.empty(_COLUMNS), np.empty(_COLUMNS)
    first, second = np.empty(d), np.empty(d)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        x, y, total = p[: right - left], q[: right - left], out[left:right]
        total[:] = 0.0
        for i in range(0, n, 2):
            other = min(i + 1, n - 1)
            for k in range(d):
                first[k], second[k] = AT[k, i], AT[k, other]
            squared_distances_of_two(first, second, ZT, left, right, x, y)
            exp_of_scaled_64(x, -gamma, work)
            exp_of_scaled_64(y, -gamma, work)
            add_weighted(x, y, v[i], v[other] if other > i else 0.0, total)


@compiled
def dots_of_two(x: Array, y: Array, v: Array) -> tuple[float, float]:
    """<x, v> and <y, v> in float64."""
    s, t = 0.0, 0.0
    for j in range(v.size):
        s += x[j] * v[j]
        t += y[j] * v[j]
    return s, t


@exactly_compiled
def gaussian_both_ways_64(
    AT: Array, ZT: Array, v: Array, w: Array, above: Array, below: Array, gamma: float, same: bool
) -> None:
    """above[i] += sum_j k(a_i, z_j) v_j and, unless the points are the same, below[j] += sum_i k(a_i, z_j) w_i.

    Points are columns. Values and sums are float64.
    """
    d, n = AT.shape
    p, q, work, sums = np.empty(_COLUMNS), np.empty(_COLUMNS), np.empty(_COLUMNS), np.empty(_COLUMNS)
    first, second = np.empty(d), np.empty(d)
    for left in range(0, ZT.shape[1], _COLUMNS):
        right = min(ZT.shape[1], left + _COLUMNS)
        x, y, total = p[: right - left], q[: right - left], sums[: right - left]
        total[:] = 0.0
        for i in range(0, n, 2):
            other = min(i + 1, n - 1)
            for k in range(d):
                first[k], second[k] = AT[k, i], AT[k, other]
            squared_distances_of_two(first, second, ZT, left, right, x, y)
            exp_of_scaled_64(x, -gamma, work)
            exp_of_scaled_64(y, -gamma, work)
            s, t = dots_of_two(x, y, v[left:right])
            above[i] += s
            if other > i:
                above[other] += t
            if not same:
                add_weighted(x, y, w[i], w[other] if other > i else 0.0, total)
        if not same:
            below[left:right] += total
