"""exp and log of whole arrays, in place, and the Gaussian's last step.

exp(t) = 2^k 2^f with k the integer nearest to t log2(e): a polynomial for 2^f, and k added to the exponent's bits. No
branch and no call, so that the loops vectorise. Arguments are at most 0; results below the least normal number are 0.

log(2^k m) = k log(2) + 2 atanh((m - 1) / (m + 1)), with m near 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import exactly_compiled, inlined

_LOG2E = 1.4426950408889634
# log(2) in two parts, the first with zeros at its end, so that k times it is exact.
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LOWEST_64 = -708.0
_ROOT_OF_HALF = int(np.sqrt(np.array(0.5)).view(np.int64))  # as bits
_MAGIC = 6755399441055744.0  # 1.5 * 2^52: added to a number, it leaves the nearest integer in the lowest bits

_f = np.float32
_ZERO, _ONE, _HALF, _LOWEST_32 = _f(0), _f(1), _f(0.5), _f(-126)
_S1, _S2, _S3, _S4, _S5, _S6 = (  # of 2^f = 1 + f (S1 + f (S2 + ...)), best on |f| <= 1/2: relative error 2e-9 at most
    _f(0.6931471824645996), _f(0.24022647738456726), _f(0.055503323674201965),
    _f(0.00961843691766262), _f(0.0013398873852565885), _f(0.00015353361959569156)
)  # fmt: skip


@exactly_compiled
def exp2_row_32(row: Array) -> None:
    """row <- 2^row for a float32 row with entries in [-126, 0]; -126 itself gives 0."""
    bits = row.view(np.int32)
    for j in range(row.size):
        t = row[j]
        k = np.floor(t + _HALF)
        f = t - k
        p = _ONE + f * (_S1 + f * (_S2 + f * (_S3 + f * (_S4 + f * (_S5 + f * _S6)))))
        row[j] = p if t > _LOWEST_32 else _ZERO
        k = k if t > _LOWEST_32 else _ZERO
        bits[j] += np.int32(k) << np.int32(23)


@exactly_compiled
def exp_row_64(row: Array, work: Array) -> None:
    """row <- exp(row) for a float64 row with entries in [-708, 0]; -708 itself gives 0. `work` is a row of scratch."""
    bits, work_bits = row.view(np.int64), work.view(np.int64)
    for j in range(row.size):
        t = row[j]
        work[j] = (t * _LOG2E if t > LOWEST_64 else 0.0) + _MAGIC
        k = work[j] - _MAGIC
        f = (t - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * f + 1.0 / 479001600.0
        p = p * f + 1.0 / 39916800.0
        p = p * f + 1.0 / 3628800.0
        p = p * f + 1.0 / 362880.0
        p = p * f + 1.0 / 40320.0
        p = p * f + 1.0 / 5040.0
        p = p * f + 1.0 / 720.0
        p = p * f + 1.0 / 120.0
        p = p * f + 1.0 / 24.0
        p = p * f + 1.0 / 6.0
        p = p * f + 0.5
        p = p * f + 1.0
        row[j] = p * f + 1.0 if t > LOWEST_64 else 0.0
    for j in range(row.size):
        bits[j] += work_bits[j] << np.int64(52)


@inlined
def atanh(s: float) -> Any:
    """For |s| <= 1/3: s + s^3/3 + s^5/5 + ..."""
    t = s * s
    p = 1.0 / 31.0
    p = p * t + 1.0 / 29.0
    p = p * t + 1.0 / 27.0
    p = p * t + 1.0 / 25.0
    p = p * t + 1.0 / 23.0
    p = p * t + 1.0 / 21.0
    p = p * t + 1.0 / 19.0
    p = p * t + 1.0 / 17.0
    p = p * t + 1.0 / 15.0
    p = p * t + 1.0 / 13.0
    p = p * t + 1.0 / 11.0
    p = p * t + 1.0 / 9.0
    p = p * t + 1.0 / 7.0
    p = p * t + 1.0 / 5.0
    p = p * t + 1.0 / 3.0
    return s + s * t * p


@exactly_compiled
def log_row_64(row: Array, work: Array) -> None:
    """row <- log(row) for a float64 row of positive numbers that are not too small to be normal ones."""
    bits = row.view(np.int64)
    for j in range(row.size):
        k = (bits[j] - _ROOT_OF_HALF) >> np.int64(52)
        bits[j] -= k << np.int64(52)
        work[j] = k
    for j in range(row.size):
        m = row[j]
        row[j] = work[j] * _LN2_HIGH + (2.0 * atanh((m - 1.0) / (m + 1.0)) + work[j] * _LN2_LOW)


@exactly_compiled
def gaussian_32(G: Array, squares_rows: Array, squares_columns: Array, gamma: float) -> float:
    """G <- exp(-gamma max(|x|^2 + |z|^2 - 2 G, 0)) in place; G, float32, holds the dot products.

    Gives the largest gamma |x|^2 of the rows, infinite if any square has overflowed: a measure of the digits lost.
    """
    c = _f(-gamma * _LOG2E)
    twice = _f(2.0 * gamma * _LOG2E)
    largest = 0.0
    for j in range(squares_columns.size):
        if not np.isfinite(squares_columns[j]):
            largest = np.inf
    for i in range(G.shape[0]):
        row = G[i]
        s = c * squares_rows[i]
        for j in range(row.size):
            row[j] = max(min(s + c * squares_columns[j] + twice * row[j], _ZERO), _LOWEST_32)
        exp2_row_32(row)
        largest = max(largest, gamma * squares_rows[i])
    return largest


@exactly_compiled
def exp_32(D: Array, gamma: float) -> None:
    """D <- exp(-gamma D) in place for a float32 matrix D >= 0."""
    c = _f(-gamma * _LOG2E)
    for i in range(D.shape[0]):
        row = D[i]
        for j in range(row.size):
            row[j] = max(c * row[j], _LOWEST_32)
        exp2_row_32(row)


@exactly_compiled
def exp_64(D: Array, gamma: float) -> None:
    """The same in float64."""
    work = np.empty(D.shape[1])
    for i in range(D.shape[0]):
        row = D[i]
        for j in range(row.size):
            row[j] = max(-gamma * row[j], LOWEST_64)
        exp_row_64(row, work)
