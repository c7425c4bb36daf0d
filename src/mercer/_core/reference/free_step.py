"""One Newton step of the coefficients between their bounds, for where steps of pairs make little headway.

With H = K + r of these coefficients and g the slope of the dual there, the step d solves H d + b = g with sum d = 0
(d alone, where there is no bias). It leads to the best place for them, unless one meets a bound on the way: that one
stays there, and the next step is one of the others.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from .newton import solve_definite

_RIDGE = {4: 1e-6, 8: 1e-11}  # in parts of K_ii: what rounding to so many bytes may make of the least eigenvalue
_LARGER, _RIDGES = 100.0, 3  # times as much, so often, where that does not make H positive definite


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def free_step(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, how: tuple[bool, int]
) -> tuple[int, bool]:
    """How many coefficients are free, and whether the step met a bound, so that there is more to gain.

    `how`: whether there is a bias, and the most free coefficients. No step where fewer than 2 or more are free. Names
    are as in pairs.py, diag is of K + r; beta and F are changed in place.
    """
    bias, most = how
    kinked = (eps > 0.0) & (beta != 0.0)  # |beta| has a kink at 0, which counts as a bound
    low, high = np.where(kinked & (beta > 0.0), 0.0, lo), np.where(kinked & (beta < 0.0), 0.0, hi)
    free = np.flatnonzero((low < beta) & (beta < high) & (kinked | (eps == 0.0)) & (diag > 0.0))
    if not 2 <= free.size <= most:
        return free.size, False
    slope, before, low, high = (F - eps * np.sign(beta))[free], beta[free], low[free], high[free]
    step = _direction(K, diag, slope.astype(np.float64), free, bias)
    gain = float((slope * step).sum())
    if not 0.0 < gain < np.inf:
        return free.size, False
    change = step @ K[free].astype(np.float64)
    change[free] += (diag - K.diagonal())[free] * step
    curvature = float((step * change[free]).sum())
    part = min(1.0, gain / curvature) if curvature > 0.0 else 1.0
    ends = np.where(step > 0.0, high, low)
    room = np.divide(ends - before, step, out=np.full(free.size, np.inf), where=step != 0.0)
    first = int(room.argmin())
    met, part = bool(room[first] <= part), min(part, float(room[first]))
    after = np.clip(before + part * step, low, high)
    lengths = np.sqrt(np.maximum(diag, 0.0))
    rounding = np.finfo(K.dtype).eps * lengths.max() * float((np.abs(after) * lengths[free]).sum())
    if not rounding < float(np.abs(slope).max()):  # of K beta: there is nothing to be seen any more
        return free.size, False
    if met:
        after[first] = ends[first]
    if bias:  # what rounding has done to the sum
        after[np.minimum(after - low, high - after).argmax()] += (before - after).sum()
    beta[free] = after
    F -= (part * change).astype(F.dtype)
    return free.size, met


def _direction(K: Array, diag: Array, g: Array, free: Index, bias: bool) -> Array:
    """The whole step; zeros where there is none."""
    for ridge in _RIDGE[K.itemsize] * _LARGER ** np.arange(_RIDGES):
        H, both = K[np.ix_(free, free)].astype(np.float64), np.column_stack([g, np.ones(free.size)])
        H[np.diag_indices(free.size)] = diag[free] * (1.0 + ridge)
        if solve_definite(H, both):
            break
    else:
        return np.zeros(free.size)
    step, ones = both.T
    if bias:
        step = step - ones * (step.sum() / ones.sum())
        step -= step.mean()  # rounding
    return np.ascontiguousarray(step)
