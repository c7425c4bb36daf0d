"""Newton steps of the coefficients between their bounds, for where steps of pairs make little headway.

With H = K + r of these coefficients and g the slope of the dual there, the step d solves H d + b = g with sum d = 0
(d alone, where there is no bias). It leads to the best place for them, unless one meets a bound on the way: that one
stays there, and the next step is one of the others.
"""

from __future__ import annotations

import numpy as np

from ..._core.core import CHOICE
from ...types import Array, Index
from ..triangular import NotDefiniteError, larger, with_larger_diagonal

core = CHOICE.functions

_RIDGE = {"float32": 1e-6, "float64": 1e-11}  # in parts of K_ii: what rounding may make of the least eigenvalue
_LARGER, _TRIES = 100.0, 3  # times as much, so often, where that does not make H positive definite
_MOST = 6  # steps in a row


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def newton_steps(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, bias: bool, most: int, work: float
) -> float:
    """Some steps, where no more than `most` coefficients are free, and while there is work left (in cubes of their
    number); how much work is left is returned. Names are as in _core/pairs.py; beta and F are changed in place.
    """
    lengths = np.sqrt(np.maximum(diag, 0.0))
    for _ in range(_MOST):
        kinked = (eps > 0.0) & (beta != 0.0)  # |beta| has a kink at 0, which counts as a bound
        low, high = np.where(kinked & (beta > 0.0), 0.0, lo), np.where(kinked & (beta < 0.0), 0.0, hi)
        free = np.flatnonzero((low < beta) & (beta < high) & (kinked | (eps == 0.0)) & (diag > 0.0))
        work -= float(free.size) ** 3
        if not 2 <= free.size <= most or work < 0.0:
            break
        slope = F - eps * np.sign(beta)
        step, gain = _direction(K, diag, slope, free, bias)
        if not gain > 0.0:
            break
        change = np.zeros(len(K))
        core.add_rows(K, free, step, change)
        change[free] += (diag - K.diagonal())[free] * step
        curvature = float((step * change[free]).sum())
        part = min(1.0, gain / curvature) if curvature > 0.0 else 1.0
        ends = np.where(step > 0.0, high[free], low[free])
        room = np.divide(ends - beta[free], step, out=np.full(free.size, np.inf), where=step != 0.0)
        first = int(room.argmin())
        met, part, before = room[first] <= part, min(part, float(room[first])), beta[free]
        after = np.clip(before + part * step, low[free], high[free])
        rounding = np.finfo(K.dtype).eps * lengths.max() * float((np.abs(after) * lengths[free]).sum())
        if not rounding < float(np.abs(slope[free]).max()):  # of K beta: there is nothing to be seen any more
            break
        if met:
            after[first] = ends[first]
        if bias:  # what rounding has done to the sum
            after[np.minimum(after - low[free], high[free] - after).argmax()] += (before - after).sum()
        beta[free] = after
        F -= (part * change).astype(F.dtype)
        if not met:
            break
    return work


def _direction(K: Array, diag: Array, slope: Array, free: Index, bias: bool) -> tuple[Array, float]:
    """The whole step, and the slope along it (0 where there is none)."""
    g = slope[free].astype(np.float64)

    def solved(ridge: float) -> Array:
        H, both = K[np.ix_(free, free)].astype(np.float64), np.column_stack([g, np.ones(free.size)])
        H[np.diag_indices(free.size)] = diag[free] * (1.0 + ridge)
        if not core.solve_definite(H, both):
            raise NotDefiniteError
        return both

    try:
        step, ones = with_larger_diagonal(solved, larger(_RIDGE[K.dtype.name], _TRIES, _LARGER)).T
    except NotDefiniteError:
        return g, 0.0
    if bias:
        step = step - ones * (step.sum() / ones.sum())
        step -= step.mean()  # rounding
    return (np.ascontiguousarray(step), float((g * step).sum())) if np.isfinite(step).all() else (g, 0.0)
