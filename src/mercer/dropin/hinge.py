"""The hinge loss in explicit features, whatever leads to the answer: what is proved, and the last step.

min 1/2 |w|^2 - sum y_i beta_i,    w = Z'beta,    0 <= y_i beta_i <= C_i,    with K = Z Z' + c
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..arithmetic import inner
from ..gram import Design
from ..solution import Certificate, Status, relative
from ..solvers.triangular import factor_work
from ..types import Array

core = CHOICE.functions
_MORE, _FEW = 2.0, 40  # times as many coefficients as there are columns, or so many, may be free before a step


class HingeProblem(NamedTuple):
    """One problem: features, labels, weights of the points."""

    design: Design
    y: Array
    C: Array

    def scores(self, w: Array, total: float) -> Array:
        """f of w, and of the sum of beta, which is what the constant weighs."""
        f = self.design.dots(w)
        return f + self.design.constant * total if self.design.constant else f


def certified(posed: HingeProblem, beta: Array, tol: float, near: float) -> tuple[Array, Certificate]:
    """w of the coefficients, a constant as one column more, and what is proved of it; the status is "converged" where
    the relative gap is at most `tol` and the KKT violation at most `near`.
    """
    (design, y, C), a = posed, posed.y * beta
    w, total = design.combination(beta), float(beta.sum())
    f = y * posed.scores(w, total) - 1.0
    square = 0.5 * (inner(w, w) + design.constant * total * total)
    primal, dual = square + inner(C, np.maximum(-f, 0.0)), float(a.sum()) - square
    dual = min(primal, dual)
    violation = max(float(np.max(-f, where=a < C, initial=0.0)), float(np.max(f, where=a > 0.0, initial=0.0)))
    good = relative(primal - dual, primal, dual) <= tol and violation <= near
    status = Status.CONVERGED if good else Status.STALLED
    column = [np.sqrt(design.constant) * total] if design.constant else []
    return np.append(w, column), Certificate(primal, dual, kkt_violation=violation, status=status)


def best_free(posed: HingeProblem, beta: Array, f: Array, work: float = np.inf) -> Array:
    """The coefficients between their bounds at their best values, as long as the others stay where they are; those that
    meet a bound on the way, there. f are the scores of beta.

    beta itself, where more are free than can be at the answer, or it takes more multiplications than `work`.
    """
    (design, y, C), size = posed, np.abs(beta)
    free = np.flatnonzero((size > 0.0) & (size < C))
    if not 1 < free.size <= max(_MORE * design.width, _FEW):
        return beta
    steps = min((work - 0.5 * free.size**2 * design.entries / design.n) / factor_work(free.size), free.size)
    if steps < 1.0:
        return beta
    some, own, edge = design.Z[free], beta[free], y[free] * C[free]
    K = np.ascontiguousarray((some @ some.T).toarray() if design.sparse else some @ some.T, np.float64)
    K += design.constant
    slope, diag, eps = (y - f)[free], K.diagonal().copy(), np.zeros(free.size)
    lo, hi = np.minimum(edge, 0.0), np.maximum(edge, 0.0)
    for _ in range(int(steps)):
        _, met = core.free_step(K, diag, slope, own, lo, hi, eps, (False, free.size))
        if not met:
            break
    beta = beta.copy()
    beta[free] = own
    return beta
