"""Coordinate descent: one coefficient at a time, what is best for it, and passes over points in a given order.

    minimise  1/2 beta'K beta + sum h_i(beta_i),     f = K beta + shift

`points` holds the terms of h, `numbers` where the descent stands (both laid out in ../descent.py). Passes are the same
for rows of features and for rows of K.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from ..descent import CONSTANT, EPS, HI, LO, LOGISTIC, MARGIN, SHIFT, SUM, A, Q, R
from .features import KernelRows, Rows, sigmoid

_STEPS = 50  # of Newton's method for one coefficient of the logistic loss,
_NEAR = 1e-8  # until one is so small that its square is nothing


def _best(p: Array, beta: float, F: float) -> float:
    """The s in [lo, hi] with the least  a/2 (s - beta)^2 - F (s - beta) + eps |s|."""
    a, eps = p[A], p[EPS]
    if a <= 0.0:
        return float(p[HI] if eps < F else p[LO] if -eps > F else beta)
    g = F + a * beta
    s = (g - eps) / a if g > eps else (g + eps) / a if g < -eps else 0.0
    return float(min(max(s, p[LO]), p[HI]))


def _best_logistic(p: Array, beta: float, f: float) -> float:
    """The s with the least  a/2 (s - beta)^2 + f (s - beta) + C (p log p + (1 - p) log(1 - p)),  p = y s / C.

    With p = 1 / (1 + exp(-z)) it is where  z + a C (p - p_0) + y f = 0:  by Newton's method, halving where it strays.
    """
    y, C = p[Q], p[HI] - p[LO]
    old, slope = y * beta / C, p[A] * C
    low, high = -y * f - slope * (1.0 - old), -y * f + slope * old
    z = min(max(-y * f, low), high)
    for _ in range(_STEPS):
        part = sigmoid(z)
        value = z + slope * (part - old) + y * f
        low, high = (low, z) if value > 0.0 else (z, high)
        following = z - value / (1.0 + slope * part * (1.0 - part))
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - z) <= max(_NEAR, 1e-14 * abs(z)):
            return float(y * C * part * (1.0 + (1.0 - part) * (following - z)))  # the last step needs no other exp
        z = following
    return float(y * C * sigmoid(z))


def _gain(p: Array, beta: float, f: float) -> float:
    """What a move of the coefficient can gain, per unit, with the score f; below zero, by how much any would lose."""
    if p[R] == LOGISTIC:
        C = p[HI] - p[LO]
        return float(abs(p[Q] * C * sigmoid(-p[Q] * f) - beta) / C)
    F, eps = p[Q] - p[R] * beta - f, p[EPS]
    up = F - eps if beta >= 0.0 else F + eps
    down = F - eps if beta > 0.0 else F + eps
    return float(max(up if beta < p[HI] else -np.inf, -down if beta > p[LO] else -np.inf))


def _word(word: Array) -> int:
    """The next of a row of random words (xorshift: Marsaglia 2003)."""
    x, most = int(word[0]), 2**64 - 1
    x ^= (x << 13) & most
    x ^= x >> 7
    x ^= (x << 17) & most
    word[0] = x
    return x >> 11


def shuffle(order: Index, word: Array) -> None:
    """The numbers in random order."""
    for k in range(order.size - 1, 0, -1):
        j = _word(word) % (k + 1)
        order[k], order[j] = order[j], order[k]


def draw(order: Index, word: Array) -> None:
    """Any numbers below the length of the order, each as likely as the others."""
    for k in range(order.size):
        order[k] = _word(word) % order.size


def in_play(f: Array, points: Array, beta: Array, order: Index, margin: float) -> tuple[int, float]:
    """Put the points that are not optimal by more than `margin` first in the order: their number, the largest gain."""
    gains = np.array([_gain(p, own, score) for p, own, score in zip(points, beta, f, strict=True)])
    left = gains < -margin
    order[:] = np.concatenate([np.flatnonzero(~left), np.flatnonzero(left)[::-1]])
    return int(np.count_nonzero(~left)), float(gains[~left].max(initial=0.0))


def _pass(
    rows: Rows | KernelRows, points: Array, beta: Array, image: Array, order: Index, numbers: Array
) -> tuple[int, float]:
    size, worst, k = order.size, 0.0, 0
    while k < size:
        i = int(order[k])
        f = rows.score(k, i, image) + (numbers[SHIFT] + numbers[CONSTANT] * numbers[SUM])
        p, old = points[i], float(beta[i])
        gain = _gain(p, old, f)
        if gain < -numbers[MARGIN]:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        if gain > 0.0:
            worst = max(worst, gain)
            beta[i] = _best_logistic(p, old, f) if p[R] == LOGISTIC else _best(p, old, p[Q] - p[R] * old - f)
            step = float(beta[i]) - old
            numbers[SUM] += step
            rows.change(k, i, step, image)
        k += 1
    return size, worst


def descend(
    rows: tuple[Array, ...], points: Array, beta: Array, image: Array, order: Index, numbers: Array
) -> tuple[int, float]:
    """One coefficient after the other to its best value, for the points of the order; image = sum beta_i x_i.

    Points that are optimal by more than the margin go to the end of the order. How many are left, the largest gain.
    """
    return _pass(Rows(rows), points, beta, image, order, numbers)


def descend_passes(
    rows: tuple[Array, ...], points: Array, beta: Array, image: Array, order: Index, numbers: Array, word: Array,
    limits: tuple[float, float, float, float],
) -> tuple[int, float]:  # fmt: skip
    """Passes in random orders, until `most` points were visited or the largest gain is `enough` of the first.

    limits: most, least, enough, part. A pass counts as `least` visits or more. `part` of its largest gain is the margin
    of the next. How many points are left, and the visits.
    """
    most, least, enough, part = limits
    size, visits, first = order.size, 0.0, 0.0
    while visits < most:
        visits += max(float(size), least)
        shuffle(order[:size], word)
        size, worst = descend(rows, points, beta, image, order[:size], numbers)
        numbers[MARGIN] = part * worst
        first = first or worst
        if worst <= enough * first:
            break
    return size, visits


def descend_kernel(K: Array, points: Array, beta: Array, scores: Array, order: Index, numbers: Array) -> float:
    """As `descend`, with K[k] the row of the point order[k] and scores = K beta; nobody leaves. The largest gain."""
    held = numbers.copy()
    held[MARGIN] = np.inf
    _, worst = _pass(KernelRows(K), points, beta, scores, order, held)
    numbers[SUM] = held[SUM]
    return worst
