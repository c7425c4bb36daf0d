"""The hinge loss in explicit features, whatever leads to the answer: what is proved, and the last step.

min 1/2 |w|^2 - sum y_i beta_i,    w = Z'beta,    0 <= y_i beta_i <= C_i,    with K = Z Z' + c
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..arithmetic import inner
from ..columns import padded_square
from ..gram import Design
from ..kernels import Linear
from ..losses import Hinge, Loss
from ..solution import Certificate, Status, relative
from ..types import Array, Index

core = CHOICE.functions
# So many coefficients must be free before a step; so many times as many as there are columns, or so few, may be.
_LEAST, _MORE, _FEW = 2, 2.0, 40
_HINGE = Hinge()


class HingeProblem(NamedTuple):
    """One problem: features, labels, weights of the points; with the hinge loss, or another one for `passes`."""

    design: Design
    y: Array
    C: Array
    loss: Loss = _HINGE

    def scores(self, w: Array, total: float) -> Array:
        """f of w, and of the sum of beta, which is what the constant weighs."""
        f = self.design.dots(w)
        return f + self.design.constant * total if self.design.constant else f


def certified(posed: HingeProblem, beta: Array, tol: float, near: float) -> tuple[Array, Certificate]:
    """w of the coefficients, a constant as one column more, and what is proved of it; the status is "converged" where
    the relative gap is at most `tol` and the KKT violation at most `near`.
    """
    (design, y, C, _), a = posed, posed.y * beta
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


def best_free(posed: HingeProblem, beta: Array, f: Array) -> Array:
    """The coefficients between their bounds at their best values, as long as the others stay where they are; those that
    meet a bound on the way, there. f are the scores of beta.

    beta itself, where more are free than can be at the answer.
    """
    design, y, free = posed.design, posed.y, _free(posed, beta)
    size = free.size
    if not _LEAST <= size <= max(_MORE * design.width, _FEW):
        return beta
    K = padded_square(Linear(), design.Z[free], exact=True)[:size, :size] + design.constant
    own, slope, diag, eps = beta[free], (y - f)[free], K.diagonal().copy(), np.zeros(size)
    lo, hi = _bounds(posed, free)
    for _ in range(size):
        _, met = core.free_step(K, diag, slope, own, lo, hi, eps, (False, size))
        if not met:
            break
    return _with(beta, free, own)


def _free(posed: HingeProblem, beta: Array) -> Index:
    size = np.abs(beta)
    return np.flatnonzero((size > 0.0) & (size < posed.C))


def _bounds(posed: HingeProblem, at: Index) -> tuple[Array, Array]:
    edge = posed.y[at] * posed.C[at]
    return np.minimum(edge, 0.0), np.maximum(edge, 0.0)


def _with(beta: Array, at: Index, values: Array) -> Array:
    beta = beta.copy()
    beta[at] = values
    return beta
