"""What follows from the answer of ridge regression: leave-one-out residuals, deviations, how far it is from the full
problem.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..amounts import A_DIGIT, AT_A_TIME
from ..columns import sums_between, value_seconds
from ..kernels import Kernel
from ..kernels.points import count
from ..limits import STOPPED, check_limits, deadline
from ..solution import Joint, Solution
from ..solvers.conjugate_gradients import norms
from ..solvers.ridge import Ridge
from ..solvers.ridge.in_features import FeatureProblem, Weights, measured
from ..solvers.ridge.linear_system import AllTargets
from ..solvers.ridge.nystrom_cg import root
from ..solvers.ridge.posed import RidgeCertificate
from ..solvers.ridge.row_sums import DataPiece, RowsOfFeatures
from ..types import Array, Points
from .ridge_interval import MOST
from .ridge_path import residuals_from_factor, residuals_from_weights
from .ridge_spread import WeightsSpread

_SAMPLE_SHARE = A_DIGIT  # Equations of the full problem are sampled, if that takes no more of the time that is left.


@dataclass(frozen=True, eq=False)
class RidgeAnswer:
    """The solution of each target, and what else the fit has found."""

    solutions: list[Solution]
    points: Points = None
    """What f is a sum over, where these are landmarks."""
    weights: Array | None = None
    """w in explicit features."""
    spread: Any = None
    loo_residuals: Array | None = None
    """None where nobody asked, or where the fit was stopped before they were found."""
    left_out: Any = None
    """With landmarks and all rows in the normal equations: points, weights and errors of some rows."""


def answered(ridge: Ridge, solutions: Joint) -> RidgeAnswer:
    """The answer, and what follows from it, as far as there is time."""
    found = solutions.found
    if isinstance(found, AllTargets):
        residuals = None
        if ridge.loo and found.factor is not None:
            with suppress(*STOPPED):
                residuals = residuals_from_factor(found.factor, found.beta, ridge.bias)
        return RidgeAnswer(list(solutions), loo_residuals=residuals)
    return _of_weights(ridge, found, list(solutions))


def _of_weights(ridge: Ridge, best: Weights, solutions: list[Solution]) -> RidgeAnswer:
    problem, landmarks = best.problem, best.problem.features.landmarks
    residuals = left_out = None
    with suppress(*STOPPED):
        if landmarks is not None and solutions[0].certificate.converged and _time_for_a_sample(problem):
            known = _full_residuals(problem, best)
            both: Any = zip(solutions, known.tolist(), strict=True)
            solutions = [replace(s, certificate=replace(s.certificate, full_residual=r)) for s, r in both]
        if ridge.loo and best.exact:
            residuals = residuals_from_weights(problem, best)
        if landmarks is not None and best.exact:
            check_limits()
            left_out = _left_out(problem, best)
    spread = WeightsSpread.of(problem, best) if best.inverse is not None else None
    return RidgeAnswer(solutions, landmarks, best.w if landmarks is None else None, spread, residuals, left_out)


def _left_out(problem: FeatureProblem, best: Weights) -> tuple[Points, Array, Array]:
    """Some rows, with their errors."""
    some = _last(problem, MOST)
    c, landmarks = problem.coefficients(best.w), problem.features.landmarks
    scores = _sums(problem.features.kernel, some.X, landmarks, c)
    return some.X, some.weight, some.T - scores - best.b


def _last(problem: FeatureProblem, size: int) -> DataPiece:
    """Rows drawn at random: the last, since landmarks are among the first, and fit too well."""
    assert problem.drawn is not None
    n = count(problem.drawn.X)
    return problem.drawn.rows(np.arange(max(0, n - size), n))


def _time_for_a_sample(problem: FeatureProblem) -> bool:
    """Whether the equations of the full problem can be looked at in a small part of the time that is left."""
    if not deadline().limited:
        return True
    seconds = (
        AT_A_TIME.sampled_rows * problem.stream.n * value_seconds(problem.features.kernel, problem.features.landmarks)
    )
    return seconds <= _SAMPLE_SHARE * deadline().left()


def _full_residuals(problem: FeatureProblem, best: Weights) -> Array:
    """How far beta = w e / lambda is from solving the full problem's equations, on some rows: f(x) - (K beta)(x)."""
    assert best.measured is not None
    sample = _last(problem, AT_A_TIME.sampled_rows)
    kernel, errors = problem.features.kernel, best.measured.errors
    total, seen = np.zeros((count(sample.X), errors.shape[1])), 0
    if problem.stream.afar is not None:
        total = problem.stream.afar.scores(kernel, sample.X, errors / problem.penalty)
    for piece in problem.stream.pieces() if problem.stream.afar is None else ():
        n = count(piece.X)
        beta = piece.weight[:, None] * errors[seen : seen + n] / problem.penalty
        total += _sums(kernel, sample.X, piece.X, beta)
        seen += n
    scores = _sums(kernel, sample.X, problem.features.landmarks, problem.coefficients(best.w))
    sizes = np.linalg.norm(sample.T - problem.centre, axis=0)
    return np.asarray(np.linalg.norm(scores - total, axis=0) / np.where(sizes > 0.0, sizes, 1.0))


def _sums(kernel: Kernel, X: Points, Z: Points, V: Array) -> Array:
    """sum_j k(x_i, z_j) V_j, a row for each x."""
    return np.asarray(sums_between(kernel, X, Z, V, [0, count(Z)], np.float64)[0].T)


def certified_landmarks(estimator: Any, ridge: Ridge) -> list[RidgeCertificate]:
    """The certificates of a fitted KernelRidge with landmarks on its data."""
    kernel, landmarks, bias = estimator.kernel_, estimator.X_fit_, bool(estimator.bias)
    c = np.asarray(estimator.dual_coef_, np.float64).reshape(count(landmarks), -1)
    L = root(kernel, landmarks, 0.0)
    features = RowsOfFeatures(kernel, landmarks, len(L))
    problem = FeatureProblem(ridge.stream, features, L, estimator.alpha_, bias, ridge.centre)
    start = norms(measured(problem, np.zeros(c.shape)).residual)
    now = measured(problem, L.T @ c)
    relative = norms(now.residual) / np.where(start > 0.0, start, 1.0)
    answer, astray = Weights.of(problem, now, relative), np.atleast_1d(estimator.intercept_) - now.b
    if not bias and astray.any():
        raise ValueError(f"The estimator has bias=False, so intercept_ must be 0, not {estimator.intercept_!r}.")
    cost = 0.5 * now.mass * astray**2  # of another b than the best one, which was measured
    answer = replace(answer, primal=answer.primal + cost, gap=answer.gap + cost)
    return answer.certificates


def moved_back(
    problem: Ridge, centre: Array | None, answer: RidgeAnswer, solutions: list[Any]
) -> tuple[RidgeAnswer, list[Any]]:
    """f(x) = <w, x - centre> + b as <w, x> + (b - <w, centre>): by w, since sums over <x_i, x> would lose digits."""
    w = answer.weights
    if w is None:
        w = np.asarray(problem.arrays.X.T @ np.column_stack([solution.beta for solution in solutions]))
    astray = np.asarray(centre, np.float64) @ w
    moved = [replace(s, b=s.b - float(a)) for s, a in zip(solutions, astray, strict=True)]
    return replace(answer, weights=w), moved
