"""One coefficient at a time: what is best for it, and passes over points in a given order.

    minimise  1/2 beta'K beta + sum h_i(beta_i),     f = K beta + shift

The twins for dense rows, sparse rows and rows of K differ in nothing but how a score is read and changed. Points come
in random order, so that most of the time would go into waiting for memory: the passes read a number of a point some
places ahead (`ahead`), and when its turn comes it is in cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled

Q, R, EPS, LO, HI, A = range(6)
"""Columns of `points`: the terms of h_i, and K_ii + r. A logistic loss has r = LOGISTIC and its label as q."""
COLUMNS = 8  # one line of cache for each point
LOGISTIC = -1.0
AHEAD = 8
_STEPS = 50  # of Newton's method for one coefficient,
_NEAR = 1e-8  # until one is so small that its square is nothing


@compiled
def fill(points: Array, q: Array, r: Array, eps: Array, lo: Array, hi: Array, diag: Array) -> None:
    """The rows of `points`."""
    for i in range(q.size):
        p = points[i]
        p[Q], p[R], p[EPS], p[LO], p[HI] = q[i], r[i], eps[i], lo[i], hi[i]
        p[A] = diag[i] if r[i] == LOGISTIC else diag[i] + r[i]
        p[A + 1 :] = 0.0


@compiled
def _best(beta: float, F: float, a: float, eps: float, lo: float, hi: float) -> float:
    """The s in [lo, hi] with the least  a/2 (s - beta)^2 - F (s - beta) + eps |s|."""
    if a <= 0.0:
        return hi if eps < F else lo if -eps > F else beta
    g = F + a * beta
    s = (g - eps) / a if g > eps else (g + eps) / a if g < -eps else 0.0
    return min(max(s, lo), hi)


@compiled
def _best_logistic(beta: float, f: float, a: float, y: float, C: float) -> Any:
    """The s with the least  a/2 (s - beta)^2 + f (s - beta) + C (p log p + (1 - p) log(1 - p)),  p = y s / C.

    With p = 1 / (1 + exp(-z)) it is where  z + a C (p - p_0) + y f = 0:  by Newton's method, halving where it strays.
    """
    old, slope = y * beta / C, a * C
    low, high = -y * f - slope * (1.0 - old), -y * f + slope * old
    z = min(max(-y * f, low), high)
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-z))
        value = z + slope * (p - old) + y * f
        if value > 0.0:
            high = z
        else:
            low = z
        following = z - value / (1.0 + slope * p * (1.0 - p))
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - z) <= max(_NEAR, 1e-14 * abs(z)):
            return y * C * p * (1.0 + (1.0 - p) * (following - z))  # the last step needs no other exp
        z = following
    return y * C / (1.0 + np.exp(-z))


@compiled
def _gains(beta: float, F: float, eps: float, lo: float, hi: float) -> tuple[float, float]:
    """The gain of raising a coefficient, and of lowering it; -inf at a bound."""
    up = F - eps if beta >= 0.0 else F + eps
    down = F - eps if beta > 0.0 else F + eps
    return (up if beta < hi else -np.inf), (-down if beta > lo else -np.inf)


@compiled
def gain_of(p: Array, beta: float, f: float) -> Any:
    """What a move of the coefficient can gain, per unit; below zero, by how much any move would lose."""
    if p[R] == LOGISTIC:
        C = p[HI] - p[LO]
        return abs(p[Q] * C / (1.0 + np.exp(p[Q] * f)) - beta) / C
    up, down = _gains(beta, p[Q] - p[R] * beta - f, p[EPS], p[LO], p[HI])
    return max(up, down)


@compiled
def best_of(p: Array, beta: float, f: float) -> Any:
    """The best value of the coefficient, with the score f as it is now."""
    if p[R] == LOGISTIC:
        return _best_logistic(beta, f, p[A], p[Q], p[HI] - p[LO])
    return _best(beta, p[Q] - p[R] * beta - f, p[A], p[EPS], p[LO], p[HI])


@compiled
def random_word(state: Array) -> Any:
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
        j = int((random_word(state) >> np.uint64(11)) % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]


@compiled
def draw(order: Array, state: Array) -> None:
    """Any numbers below the length of the order, each as likely as the others."""
    for k in range(order.size):
        order[k] = int((random_word(state) >> np.uint64(11)) % np.uint64(order.size))


@compiled
def in_play(f: Array, points: Array, beta: Array, order: Array, margin: float) -> tuple[int, float]:
    """Put the points that are not optimal by more than `margin` first in the order: their number, the largest gain."""
    size, worst = 0, 0.0
    last = order.size - 1
    for i in range(order.size):
        gain = gain_of(points[i], beta[i], f[i])
        if gain < -margin:
            order[last] = i
            last -= 1
        else:
            order[size] = i
            size += 1
            worst = max(worst, gain)
    return size, worst


@compiled
def dense_pass(
    X: Array, points: Array, beta: Array, w: Array, order: Array, size: int, bias: Array, shift: float, margin: float
) -> tuple[int, float]:
    """One coefficient after the other to its best value, for the first `size` points of the order.

    w = sum beta_i x_i; bias holds the constant c of K = X X' + c, the sum of beta, and room for one number. Points that
    are optimal by more than `margin` go to the end of the order. The new size, and the largest gain seen.
    """
    constant, total, worst, ahead, k = bias[0], bias[1], 0.0, 0.0, 0
    while k < size:
        i = order[k]
        if k + AHEAD < size:
            later = order[k + AHEAD]
            ahead += points[later, Q] + X[later, 0]
        row = X[i]
        dot = 0.0
        for j in range(w.size):
            dot += row[j] * w[j]
        f = dot + (shift + constant * total)
        gain = gain_of(points[i], beta[i], f)
        if gain < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if gain > 0.0:
            worst = max(worst, gain)
            step = best_of(points[i], beta[i], f) - beta[i]
            beta[i] += step
            total += step
            for j in range(w.size):
                w[j] += step * row[j]
    bias[1], bias[2] = total, ahead
    return size, worst


@compiled
def sparse_pass(
    begin: Array, column: Array, value: Array, points: Array, beta: Array, w: Array, order: Array, size: int,
    bias: Array, shift: float, margin: float,
) -> tuple[int, float]:  # fmt: skip
    """As `dense_pass`."""
    constant, total, worst, ahead, k = bias[0], bias[1], 0.0, 0.0, 0
    while k < size:
        i = order[k]
        if k + AHEAD < size and begin[order[k + AHEAD]] < value.size:
            later = order[k + AHEAD]
            ahead += points[later, Q] + value[begin[later]] + column[begin[later]]
        first, last = np.uint64(begin[i]), np.uint64(begin[i + 1])
        dot = 0.0
        for e in range(first, last):
            dot += value[e] * w[np.uint64(column[e])]
        f = dot + (shift + constant * total)
        gain = gain_of(points[i], beta[i], f)
        if gain < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if gain > 0.0:
            worst = max(worst, gain)
            step = best_of(points[i], beta[i], f) - beta[i]
            beta[i] += step
            total += step
            for e in range(first, last):
                w[np.uint64(column[e])] += step * value[e]
    bias[1], bias[2] = total, ahead
    return size, worst


@compiled
def kernel_pass(
    rows: Array, points: Array, beta: Array, scores: Array, order: Array, bias: Array, shift: float
) -> float:
    """As `dense_pass`, with rows[k] = K of the point order[k] and scores = K beta; nobody leaves."""
    constant, total, worst = bias[0], bias[1], 0.0
    for k in range(order.size):
        i = order[k]
        f = scores[i] + (shift + constant * total)
        gain = gain_of(points[i], beta[i], f)
        if gain > 0.0:
            worst = max(worst, gain)
            step = best_of(points[i], beta[i], f) - beta[i]
            beta[i] += step
            total += step
            row = rows[k]
            for j in range(scores.size):
                scores[j] += step * row[j]
    bias[1] = total
    return worst
