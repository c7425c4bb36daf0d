"""A problem whose K is held: rounds of pair descent (SMO) on all of its points."""

from __future__ import annotations

import numpy as np

from ...types import Array
from .pairs import pair_descent
from .points import extremes, shares
from .rows import add_rows

_INNER = 0.01  # a round ends when its violation is this part of what it was
_MOST_ROUNDS = 50


def settle(
    K: Array, r: Array, eps: Array, lo: Array, hi: Array, beta: Array, F: Array,
    bias: bool, dual: float, goal: float, most: int,
) -> tuple[bool, int, int, float, float, float, float, float]:  # fmt: skip
    """Descend until the gap is `goal` of the objective: whether it is, steps, how many coefficients are free, the dual
    value (`dual` at the start), the gap, the extremes of the slopes, and the sum of all |beta - old|.

    beta and F are changed in place; K is padded for `pair_descent`, and not all of it used. Not done: more than `most`
    steps, or no headway, because of rounding.
    """
    return settle_to(K, (r, eps, lo, hi), beta, F, bias, dual, goal, most)


def settle_to(
    K: Array, terms: tuple[Array, Array, Array, Array], beta: Array, F: Array,
    bias: bool, dual: float, goal: float, most: int, wanted: float = np.inf,
) -> tuple[bool, int, int, float, float, float, float, float]:  # fmt: skip
    """The same, until the violation is no more than `wanted` as well."""
    r, eps, lo, hi = terms
    n, width, steps, travel = beta.size, len(K), 0, 0.0
    own, low, high, kinks = (np.zeros(width) for _ in range(4))
    own[:n], low[:n], high[:n], kinks[:n] = beta, lo, hi, eps
    if not bias:
        low[n], high[n] = -np.inf, np.inf
    diag = np.zeros(width, K.dtype)
    diag[:n] = r.astype(K.dtype) + K.diagonal()[:n]
    top, bottom, free, gap, done = _measure(F, beta, r, eps, lo, hi, bias, dual, goal)
    done = done and top - bottom <= wanted
    for _ in range(_MOST_ROUNDS):
        if done or steps >= most:
            break
        before, middle = top - bottom, 0.5 * (top + bottom) if bias else 0.0
        small = np.zeros(width, K.dtype)
        small[:n] = F - middle  # near zero where it matters
        taken, violation = pair_descent(K, diag, small, own, low, high, kinks, _INNER * before, most - steps)
        steps += taken
        moved = np.flatnonzero(own[:n] != beta)
        old, slopes, delta = beta[moved], F[moved], own[moved] - beta[moved]
        beta[moved] = own[moved]
        F[moved] -= r[moved] * delta
        add_rows(K, moved, -delta, F)
        # The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
        dual += float((0.5 * delta * (slopes + F[moved]) - eps[moved] * (np.abs(beta[moved]) - np.abs(old))).sum())
        travel += float(np.abs(delta).sum())
        top, bottom, free, gap, done = _measure(F, beta, r, eps, lo, hi, bias, dual, goal)
        done = done and top - bottom <= wanted
        if moved.size == 0 or violation > _INNER * before or top - bottom > 0.5 * before:
            break
    return done, steps, free, dual, gap, top, bottom, travel


def _measure(
    F: Array, beta: Array, r: Array, eps: Array, lo: Array, hi: Array, bias: bool, dual: float, goal: float
) -> tuple[float, float, int, float, bool]:
    """The extremes, how many are free, the gap, and whether it is small."""
    top, bottom, free = extremes(F, beta, eps, lo, hi)
    if not bias:
        top, bottom = max(top, 0.0), min(bottom, 0.0)
    gap = shares(F, beta, r, eps, lo, hi, 0.5 * (top + bottom) if bias else 0.0)
    return top, bottom, free, gap, gap <= goal * max(abs(dual), abs(dual + gap))
