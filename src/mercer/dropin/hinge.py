"""The hinge loss in explicit features, whatever leads to the answer: what is proved, and the last step.

min 1/2 |w|^2 - sum y_i beta_i,    w = Z'beta,    0 <= y_i beta_i <= C_i,    with K = Z Z' + c
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..amounts import A_DIGIT
from ..arithmetic import inner
from ..columns import padded_square
from ..gram import Design
from ..kernels import Linear
from ..solution import Certificate, Status, relative
from ..solvers.triangular import factor_work
from ..types import Array, Index

core = CHOICE.functions
# So many coefficients must be free before a step; so many times as many as there are columns, or so few, may be.
_LEAST, _MORE, _FEW = 2, 2.0, 40
_NEARER, _NEAR = 0.05, 0.3  # of a residual: where conjugate gradients end, and what is near enough
_PARTS = (1.0, 0.5, 0.25, 0.125)  # of a step that leads too far


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
    (design, y, _), free = posed, _free(posed, beta)
    size = free.size
    if not _LEAST <= size <= max(_MORE * design.width, _FEW):
        return beta
    steps = min((work - 0.5 * size**2 * design.entries / design.n) / factor_work(size), size)
    if steps < 1.0:
        return beta
    K = padded_square(Linear(), design.Z[free], exact=True)[:size, :size] + design.constant
    own, slope, diag, eps = beta[free], (y - f)[free], K.diagonal().copy(), np.zeros(size)
    lo, hi = _bounds(posed, free)
    for _ in range(int(steps)):
        _, met = core.free_step(K, diag, slope, own, lo, hi, eps, (False, size))
        if not met:
            break
    return _with(beta, free, own)


def nearly_best_free(posed: HingeProblem, beta: Array, f: Array, most: float) -> Array:
    """Nearly the same by conjugate gradients, with so many visits of points at most; nobody crosses a bound.

    beta itself, where that is not enough.
    """
    design, free = posed.design, _free(posed, beta)
    if free.size < _LEAST:
        return beta
    some, slope, own = Design(design.Z[free], design.constant), (posed.y - f)[free], beta[free]
    step = _conjugate(some, slope, 1.0 / design.squared_norms[free], int(most / free.size))
    if step is None:
        return beta
    lo, hi = _bounds(posed, free)
    for part in _PARTS:
        to = np.clip(own + part * step, lo, hi)
        change = to - own
        u, total, first = some.combination(change), float(change.sum()), inner(slope, change)
        if 0.5 * (inner(u, u) + design.constant * total * total) < (1.0 - A_DIGIT) * first:
            return _with(beta, free, to)
    return beta


def roomy(posed: HingeProblem, beta: Array) -> bool:
    """Whether many coefficients are between their bounds, but far fewer than columns."""
    return _FEW < _free(posed, beta).size <= posed.design.width / _MORE


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


def _conjugate(design: Design, right: Array, scale: Array, most: int) -> Array | None:
    """v with K v = right, nearly, by so many steps at most; None where they do not come near. The preconditioner
    multiplies by `scale`. With solvers/conjugate_gradients.py, which takes several columns, a fit of short texts takes
    a fifth longer.
    """
    v, rest, along, size = np.zeros(right.size), right, np.zeros(right.size), np.inf
    largest = float(np.abs(right).max())
    for _ in range(most):
        towards = scale * rest
        before, size = size, inner(rest, towards)
        along = towards + (size / before) * along
        image = _image(design, along)
        curvature = inner(along, image)
        if not curvature > 0.0:
            break
        v, rest = v + (size / curvature) * along, rest - (size / curvature) * image
        if float(np.abs(rest).max()) <= _NEARER * largest:
            break
    return v if float(np.abs(rest).max()) <= _NEAR * largest else None


def _image(design: Design, v: Array) -> Array:
    """K v by one thread: there are few points."""
    w, image = np.zeros(design.width), np.empty(v.size)
    core.combine(design.arrays, v, w, 0, v.size)
    core.dots(design.arrays, w, image, 0, v.size)
    return image + design.constant * float(v.sum())
