"""Loops over the rows of X, dense or sparse (CSR): products with X, and passes of coordinate descent.

Values may be float32; sums are float64. The twins for dense and sparse rows differ in nothing but how a row is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled

Q, R, EPS, LO, HI, A = range(6)  # the columns of `points` below: the terms of the dual, and K_ii + r
COLUMNS = 8  # one line of cache for each point


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
        for p in range(begin[i], begin[i + 1]):
            total += value[p] * w[column[p]]
        out[i] = total


@compiled
def add_dense_rows(X: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i."""
    for i in range(start, stop):
        factor = v[i]
        if factor != 0.0:
            row = X[i]
            for j in range(out.size):
                out[j] += factor * row[j]


@compiled
def add_sparse_rows(begin: Array, column: Array, value: Array, v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i."""
    for i in range(start, stop):
        factor = v[i]
        if factor != 0.0:
            for p in range(begin[i], begin[i + 1]):
                out[column[p]] += factor * value[p]


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
        for p in range(begin[i], begin[i + 1]):
            total += np.float64(value[p]) * value[p]
        out[i] = total


@compiled
def _best(beta: float, F: float, a: float, eps: float, lo: float, hi: float) -> float:
    """The s in [lo, hi] with the least  a/2 (s - beta)^2 - F (s - beta) + eps |s|."""
    if a <= 0.0:
        return hi if eps < F else lo if -eps > F else beta
    g = F + a * beta
    s = (g - eps) / a if g > eps else (g + eps) / a if g < -eps else 0.0
    return min(max(s, lo), hi)


@compiled
def _gains(beta: float, F: float, eps: float, lo: float, hi: float) -> tuple[float, float]:
    """The gain of raising a coefficient, and of lowering it; -inf at a bound."""
    up = F - eps if beta >= 0.0 else F + eps
    down = F - eps if beta > 0.0 else F + eps
    return (up if beta < hi else -np.inf), (-down if beta > lo else -np.inf)


@compiled
def _random(state: Array) -> Any:
    """The next of a row of random words (xorshift)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@compiled
def shuffle(order: Array, size: int, state: Array) -> None:
    """The first `size` numbers in random order."""
    for k in range(size - 1, 0, -1):
        j = int((_random(state) >> np.uint64(11)) % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]


@compiled
def in_play(f: Array, points: Array, beta: Array, order: Array, margin: float) -> tuple[int, float]:
    """Put the points that are not optimal by more than `margin` first in the order: their number, the largest gain."""
    size, worst = 0, 0.0
    last = order.size - 1
    for i in range(order.size):
        p = points[i]
        up, down = _gains(beta[i], p[Q] - p[R] * beta[i] - f[i], p[EPS], p[LO], p[HI])
        if up < -margin and down < -margin:
            order[last] = i
            last -= 1
        else:
            order[size] = i
            size += 1
            worst = max(worst, up, down)
    return size, worst


@compiled
def dense_pass(
    X: Array, points: Array, beta: Array, w: Array, order: Array, size: int, bias: Array, shift: float, margin: float
) -> tuple[int, float]:
    """One coordinate after the other to its best value, for the first `size` points of the order.

    w = sum beta_i x_i; bias holds the constant c of K = X X' + c and the sum of beta. Points that are optimal by more
    than `margin`, and by more than any gain, go to the end of the order. The new size and the largest gain seen.
    """
    constant, total, worst, k = bias[0], bias[1], 0.0, 0
    while k < size:
        i = order[k]
        row, p = X[i], points[i]
        f = shift + constant * total
        dot = 0.0
        for j in range(w.size):
            dot += row[j] * w[j]
        F = p[Q] - p[R] * beta[i] - (f + dot)
        up, down = _gains(beta[i], F, p[EPS], p[LO], p[HI])
        if up < -margin and down < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        worst = max(worst, up, down)
        if up > 0.0 or down > 0.0:
            step = _best(beta[i], F, p[A], p[EPS], p[LO], p[HI]) - beta[i]
            if step != 0.0:
                beta[i] += step
                total += step
                for j in range(w.size):
                    w[j] += step * row[j]
        k += 1
    bias[1] = total
    return size, worst


@compiled
def sparse_pass(
    begin: Array, column: Array, value: Array, points: Array, beta: Array, w: Array, order: Array, size: int,
    bias: Array, shift: float, margin: float,
) -> tuple[int, float]:  # fmt: skip
    """As `dense_pass`."""
    constant, total, worst, k = bias[0], bias[1], 0.0, 0
    while k < size:
        i = order[k]
        first, last, p = begin[i], begin[i + 1], points[i]
        f = shift + constant * total
        dot = 0.0
        for e in range(first, last):
            dot += value[e] * w[column[e]]
        F = p[Q] - p[R] * beta[i] - (f + dot)
        up, down = _gains(beta[i], F, p[EPS], p[LO], p[HI])
        if up < -margin and down < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        worst = max(worst, up, down)
        if up > 0.0 or down > 0.0:
            step = _best(beta[i], F, p[A], p[EPS], p[LO], p[HI]) - beta[i]
            if step != 0.0:
                beta[i] += step
                total += step
                for e in range(first, last):
                    w[column[e]] += step * value[e]
        k += 1
    bias[1] = total
    return size, worst
