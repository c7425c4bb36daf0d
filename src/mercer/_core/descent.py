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
from .compile import compiled, piece

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


@piece
def _best(beta: float, F: float, a: float, eps: float, lo: float, hi: float) -> float:
    """The s in [lo, hi] with the least  a/2 (s - beta)^2 - F (s - beta) + eps |s|."""
    if a <= 0.0:
        return hi if eps < F else lo if -eps > F else beta
    g = F + a * beta
    s = (g - eps) / a if g > eps else (g + eps) / a if g < -eps else 0.0
    return min(max(s, lo), hi)


@piece
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


@piece
def _gain(beta: float, F: float, eps: float, lo: float, hi: float) -> float:
    """The gain of raising a coefficient, or that of lowering it, as far as its bounds allow."""
    up = F - eps if beta >= 0.0 else F + eps
    down = F - eps if beta > 0.0 else F + eps
    return max(up if beta < hi else -np.inf, -down if beta > lo else -np.inf)


@piece
def _logistic_gain(beta: float, f: float, y: float, C: float) -> Any:
    return abs(y * C / (1.0 + np.exp(y * f)) - beta) / C


@piece
def _gain_of(points: Array, i: int, beta: float, f: float) -> Any:
    """What a move of the coefficient can gain, per unit; below zero, by how much any move would lose."""
    q, r, eps, lo, hi = points[i, Q], points[i, R], points[i, EPS], points[i, LO], points[i, HI]
    return _logistic_gain(beta, f, q, hi - lo) if r == LOGISTIC else _gain(beta, q - r * beta - f, eps, lo, hi)


@piece
def _move_of(points: Array, i: int, beta: float, f: float) -> tuple[Any, Any]:
    """That gain, and the best value of the coefficient, with the score f as it is now."""
    q, r, eps, lo, hi = points[i, Q], points[i, R], points[i, EPS], points[i, LO], points[i, HI]
    if r == LOGISTIC:
        return _logistic_gain(beta, f, q, hi - lo), _best_logistic(beta, f, points[i, A], q, hi - lo)
    F = q - r * beta - f
    return _gain(beta, F, eps, lo, hi), _best(beta, F, points[i, A], eps, lo, hi)


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
        gain = _gain_of(points, i, beta[i], f[i])
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
        dot = 0.0
        for j in range(w.size):
            dot += X[i, j] * w[j]
        f = dot + (shift + constant * total)
        gain, best = _move_of(points, i, beta[i], f)
        if gain < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if gain > 0.0:
            worst = max(worst, gain)
            step = best - beta[i]
            beta[i] = best
            total += step
            for j in range(w.size):
                w[j] += step * X[i, j]
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
        gain, best = _move_of(points, i, beta[i], f)
        if gain < -margin:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if gain > 0.0:
            worst = max(worst, gain)
            step = best - beta[i]
            beta[i] = best
            total += step
            for e in range(first, last):
                w[np.uint64(column[e])] += step * value[e]
    bias[1], bias[2] = total, ahead
    return size, worst


@compiled
def dense_passes(
    X: Array, points: Array, beta: Array, w: Array, order: Array, size: int, bias: Array, shift: float, margin: float,
    state: Array, most: float, least: float, enough: float, part: float,
) -> tuple[int, float, float]:  # fmt: skip
    """Passes in random orders, until `most` points were visited or the largest gain is `enough` of the first.

    A pass counts as `least` visits or more. `part` of its largest gain is the margin of the next. The new size, the
    margin, the visits.
    """
    visits, began = 0.0, 0.0
    while visits < most:
        visits += max(float(size), least)
        shuffle(order, size, state)
        size, worst = dense_pass(X, points, beta, w, order, size, bias, shift, margin)
        margin = part * worst
        began = began or worst
        if worst <= enough * began:
            break
    return size, margin, visits


@compiled
def sparse_passes(
    begin: Array, column: Array, value: Array, points: Array, beta: Array, w: Array, order: Array, size: int,
    bias: Array, shift: float, margin: float,
    state: Array, most: float, least: float, enough: float, part: float,
) -> tuple[int, float, float]:  # fmt: skip
    """As `dense_passes`."""
    visits, began = 0.0, 0.0
    while visits < most:
        visits += max(float(size), least)
        shuffle(order, size, state)
        size, worst = sparse_pass(begin, column, value, points, beta, w, order, size, bias, shift, margin)
        margin = part * worst
        began = began or worst
        if worst <= enough * began:
            break
    return size, margin, visits


@compiled
def kernel_pass(
    rows: Array, points: Array, beta: Array, scores: Array, order: Array, bias: Array, shift: float
) -> float:
    """As `dense_pass`, with rows[k] = K of the point order[k] and scores = K beta; nobody leaves."""
    constant, total, worst = bias[0], bias[1], 0.0
    for k in range(order.size):
        i = order[k]
        f = scores[i] + (shift + constant * total)
        gain, best = _move_of(points, i, beta[i], f)
        if gain > 0.0:
            worst = max(worst, gain)
            step = best - beta[i]
            beta[i] = best
            total += step
            row = rows[k]
            for j in range(scores.size):
                scores[j] += step * row[j]
    bias[1] = total
    return worst
