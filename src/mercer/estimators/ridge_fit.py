"""From data and a solver to an answer: on the Gram matrix, in explicit features, or through landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..columns import Columns, sums_between, value_seconds
from ..gram import DenseGram, Gram, PointsGram, unformed
from ..kernels import Kernel, Linear, Precomputed
from ..kernels.points import Domain, count, take
from ..limits import NEVER, OutOfTimeError, deadline, flop_seconds, looking, now, require, until
from ..memory import BudgetError, format_bytes
from ..parallel import one_blas_thread, thread_count
from ..shards.afar import SpreadGram, SpreadPoints
from ..solution import Solution, Status
from ..solvers import Cholesky, ConjugateGradient, NormalEquations, NystromCG
from ..solvers.base import Work
from ..solvers.cholesky import PRECISE
from ..solvers.conjugate import norms
from ..solvers.landmarks import FIRST, growing
from ..solvers.linear import RidgeSolver, System
from ..solvers.normal_equations import width_of_features
from ..solvers.nystrom_cg import root
from ..solvers.ridge_auto import landmarks_within
from ..solvers.streams import Features, Piece
from ..solvers.weights import FeatureProblem, Weights, measured
from ..types import Array, Points
from .ridge_certificate import RidgeCertificate, of_weights
from .ridge_data import Data, of_arrays
from .ridge_interval import MOST
from .ridge_path import (
    RidgePath,
    exact_path,
    low_rank_path,
    residuals_from_factor,
    residuals_from_weights,
)
from .ridge_run import STOPPED, Limits, solve_features, solve_system
from .ridge_spread import WeightsSpread

_LOOK = 256  # rows on which the equations of the full problem are looked at,
_LOOK_SHARE = 0.05  # if that takes no more than this part of the time that is left
_LEAST = 2  # landmarks that there must be, however short the time
_EIGEN = 20.0  # times n^3 multiplications are an eigendecomposition: it cannot be broken off
_PATH = 6000  # points, up to which all of K is decomposed
_LANDMARKS = 1000  # of a path, where nobody names a number
_IN_TIME = 0.3  # of the time that is left may go into normal equations, and into a pass over all rows
_ROWS = 2  # times as many as there are features make normal equations that are of use
_PASSES = 2  # in that time are enough to go without a factor
_SQUARES = 4  # matrices of the normal equations that are held at a time


@dataclass(frozen=True, eq=False)
class Answer:
    """The solution of each target, and what else the fit has found."""

    solutions: list[Solution]
    gram: Any = None
    points: Points = None
    """What f is a sum over, where these are landmarks."""
    weights: Array | None = None
    """w in explicit features."""
    spread: Any = None
    loo_residuals: Array | None = None
    """None where nobody asked, or where the fit was stopped before they were found."""
    left_out: Any = None
    """With landmarks and all rows in the normal equations: points, weights and errors of some rows."""


def fit_system(
    kernel: Kernel,
    solver: RidgeSolver,
    data: Data,
    penalty: float,
    bias: bool,
    loo: bool,
    limits: Limits,
) -> Answer:
    """Solve (K + lambda diag(1/w)) beta + b = t."""
    assert data.arrays is not None
    X, T, weight = data.arrays
    if loo and isinstance(solver, Cholesky):
        solver = replace(solver, precision="float64")
    residuals = None
    with limits.heeded():
        gram = _gram(kernel, X, solver, data.budget)
        _ = gram.doubt  # now, since after Ctrl-C there is no time for it
        system = System(gram, T, penalty / weight, bias, data.budget)
        solutions, last = solve_system(system, solver, penalty, limits)
        if loo and last.factor is not None:
            with suppress(*STOPPED):
                residuals = residuals_from_factor(last.factor, last.beta, bias, limits.look)
    return Answer(solutions, gram, loo_residuals=residuals)


def _gram(kernel: Kernel, points: Points, solver: RidgeSolver, budget: int) -> Gram:
    """K, of which the solvers form what they need; all of it where its values are given or slow to compute."""
    if isinstance(points, SpreadPoints):
        return SpreadGram(kernel, points)
    if kernel.domain is Domain.VALUES or kernel.serial or not kernel.symmetric:
        return DenseGram.compute(kernel, points, dtype=np.float64)
    gram = unformed(kernel, points, budget)
    if isinstance(gram, PointsGram) and gram.n <= PRECISE:  # where lambda is small, every digit counts
        gram.exact = True
    if isinstance(solver, ConjugateGradient) and 8 * gram.n**2 <= budget:
        cheap = Columns(kernel, points[0:1], np.float32).cheap
        return gram if cheap else DenseGram.compute(kernel, points, dtype=np.float32)
    return gram


def feature_problem(
    kernel: Kernel, solver: NormalEquations | NystromCG, data: Data, penalty: float, bias: bool,
    generator: np.random.Generator, tol: float,
) -> tuple[FeatureProblem, Iterator[Weights], Piece | None]:  # fmt: skip
    """The problem, its answers, and rows drawn at random."""
    if isinstance(solver, NormalEquations):
        assert data.arrays is not None
        width = width_of_features(kernel, data.arrays.X)
        if width is None:
            raise ValueError(f"KernelRidge: {solver!r} needs explicit features, which {kernel!r} does not have.")
        if solver.sample != 0:
            _require_bytes(_SQUARES * 8 * width**2, f"The normal equations of {width} features", data)
        some = None if solver.sample is None else data.drawn(solver.drawn(), generator)
        return (*solver.weights(kernel, data.stream, width, penalty, bias, data.centre, tol, some), None)
    if kernel.domain is Domain.VALUES:
        raise ValueError("KernelRidge: landmarks need points, not precomputed values; use 'conjugategradient'.")
    wanted = min(solver.landmarks, data.stream.n)
    _require_bytes(_SQUARES * 8 * wanted**2, f"The normal equations of {wanted} landmarks", data)
    drawn = data.drawn(solver.drawn(data.stream.n), generator)

    def over(chosen: Any) -> tuple[FeatureProblem, Iterator[Weights]]:
        given = data.stream, drawn, penalty, bias, data.centre, data.mass, tol
        return solver.weights(kernel, take(drawn.X, chosen), *given)

    try:
        problem, answers = over(solver.chosen(kernel, data.stream, drawn, penalty, bias, data.mass, generator))
    except STOPPED:
        with looking(None), until(NEVER):
            problem, answers = over(np.arange(1))  # f = b, over a landmark without a coefficient
    return problem, answers, drawn


def _require_bytes(size: int, what: str, data: Data) -> None:
    """Raise where something is larger than all that a fit may take."""
    if size > data.budget:
        allowed = f"memory={format_bytes(data.budget)}"
        raise BudgetError(f"{what} take {format_bytes(size)}, more than {allowed}: allow more, or take fewer.")


def fit_features(
    kernel: Kernel, solver: Any, data: Data, penalty: float, bias: bool, loo: bool,
    generator: np.random.Generator, limits: Limits,
) -> Answer:  # fmt: skip
    """Solve the normal equations."""
    if loo and isinstance(solver, NystromCG):
        solver = replace(solver, sample=data.stream.n)
    data = replace(data, stream=replace(data.stream, look=limits.look))
    residuals = left_out = None
    with limits.heeded():
        problem, answers, drawn = feature_problem(kernel, solver, data, penalty, bias, generator, limits.tol)
        best, certificates = solve_features(problem, answers, limits)
        with suppress(*STOPPED):
            if drawn is not None and certificates[0].converged and _time_to_look(problem, limits):
                known = _full_residuals(problem, best, drawn)
                certificates = [replace(c, full_residual=float(r)) for c, r in zip(certificates, known, strict=True)]
            if loo and best.exact:
                residuals = residuals_from_weights(problem, best)
            if drawn is not None and best.exact:
                limits.look()
                left_out = _left_out(problem, best, drawn)
    landmarks = problem.features.landmarks
    if landmarks is not None:
        coefficients = problem.coefficients(best.w)
    elif best.measured is not None:
        coefficients = data.weight[:, None] * best.measured.errors / penalty
        if bias:  # far from the origin, rounding of b is large beside what is to sum up to 0
            coefficients -= np.outer(data.weight, coefficients.sum(axis=0) / data.mass)
    else:  # f = b, for nothing is known of beta
        best, coefficients = Weights.unmeasured(problem, np.zeros(problem.size)), np.zeros((data.stream.n, len(best.b)))
    seconds = now() - limits.began
    solutions = [
        Solution(coefficients[:, j], float(best.b[j]), certificate, tuple(limits.history), seconds, solver)
        for j, certificate in enumerate(certificates)
    ]
    spread = WeightsSpread.of(problem, best) if best.inverse is not None else None
    weights = best.w if landmarks is None else None
    return Answer(solutions, None, landmarks, weights, spread, residuals, left_out)


def _left_out(problem: FeatureProblem, best: Weights, drawn: Piece) -> tuple[Points, Array, Array]:
    """Some rows, with their errors."""
    n = count(drawn.X)
    some = drawn.rows(np.arange(max(0, n - MOST), n))  # landmarks are among the first, and fit too well
    c, landmarks = problem.coefficients(best.w), problem.features.landmarks
    scores = _sums(problem.features.kernel, some.X, landmarks, c)
    return some.X, some.weight, some.T - scores - best.b


def fit_in_time(
    kernel: Kernel, solver: RidgeSolver, data: Data, penalty: float, bias: bool, loo: bool,
    generator: np.random.Generator, limits: Limits,
) -> Answer:  # fmt: skip
    """The answer where time is too short for the solver: through few landmarks, then through as many as it allows; or
    in explicit features, from some of the rows.
    """
    if isinstance(solver, NormalEquations):
        rows = _rows_in_time(kernel, data, limits)
        if rows is not None:
            few = replace(solver, sample=rows)
            return fit_features(kernel, few, data, penalty, bias, loo, generator, limits)
    asked = solver.landmarks if isinstance(solver, NystromCG) else landmarks_within(data.budget)
    most = min(asked, data.stream.n)

    def through(size: int) -> Answer:
        return fit_features(kernel, _landmarks(kernel, solver, size), data, penalty, bias, loo, generator, limits)

    with limits.unhurried(), limits.once():
        best = through(min(_LEAST, most))
    with suppress(*STOPPED), until(limits.deadline):
        for size in growing(FIRST, most):
            limits.look()
            with limits.once() if size < most else nullcontext():  # more landmarks are worth more than more rounds
                found = through(size)
            best = min(found, best, key=_total)
            if isinstance(solver, NystromCG) and size == most and best is found:
                return best
    status = limits.why_stop() or Status.OUT_OF_TIME
    # The bound is one for these landmarks; of the problem that was asked for, only J >= 0 is known.
    solutions = [replace(s, certificate=replace(s.certificate, status=status, dual=0.0)) for s in best.solutions]
    return replace(best, solutions=solutions)


def _rows_in_time(kernel: Kernel, data: Data, limits: Limits) -> int | None:
    """From how many rows to make normal equations; 0 where time is too short for a factor; None where it is even too
    short for some passes over the features, and landmarks cost less.
    """
    assert data.arrays is not None
    some = data.arrays.rows(slice(0, _LOOK))
    seconds = np.inf
    with one_blas_thread():
        for _ in range(2):  # the second time, nothing has to be set up
            began = now()
            Z = kernel.features(some.X)
            Z.T @ (Z @ np.ones(Z.shape[1]))
            seconds = min(seconds, now() - began)
        one_pass = seconds * data.stream.n / count(some.X) / thread_count()
    width, share = int(Z.shape[1]), _IN_TIME * limits.deadline.left()
    rows = int(share / (flop_seconds() * width**2)) - width  # what the factor takes, in rows
    if rows >= _ROWS * width and one_pass <= share:
        return min(rows, data.stream.n)
    return 0 if _PASSES * one_pass <= share or isinstance(kernel, Linear) else None


def _landmarks(kernel: Kernel, solver: RidgeSolver, size: int) -> NystromCG:
    """The solver with so many landmarks; those of slow kernels are drawn without a look at errors."""
    if isinstance(solver, NystromCG):
        return replace(solver, landmarks=size)
    return NystromCG(size, selection="uniform" if kernel.serial else "errors")


def _total(answer: Answer) -> float:
    """The objective, over all targets."""
    return sum(solution.certificate.primal for solution in answer.solutions)


def _time_to_look(problem: FeatureProblem, limits: Limits) -> bool:
    """Whether the equations of the full problem can be looked at in a small part of the time that is left."""
    if not limits.hurried or not limits.deadline.limited:
        return not limits.hurried
    seconds = _LOOK * problem.stream.n * value_seconds(problem.features.kernel, problem.features.landmarks)
    return seconds <= _LOOK_SHARE * limits.deadline.left()


def _full_residuals(problem: FeatureProblem, best: Weights, drawn: Any) -> Array:
    """How far beta = w e / lambda is from solving the full problem's equations, on some rows: f(x) - (K beta)(x)."""
    assert best.measured is not None
    sample = drawn.rows(slice(max(0, count(drawn.X) - _LOOK), None))  # landmarks are among the first, and fit too well
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


def certified_landmarks(estimator: Any, data: Data) -> list[RidgeCertificate]:
    """The certificates of a fitted KernelRidge with landmarks on its data."""
    kernel, landmarks, bias = estimator.kernel_, estimator.X_fit_, bool(estimator.bias)
    c = np.asarray(estimator.dual_coef_, np.float64).reshape(count(landmarks), -1)
    L = root(kernel, landmarks, 0.0)
    features = Features(kernel, landmarks, len(L))
    problem = FeatureProblem(data.stream, features, L, estimator.alpha_, bias, data.centre)
    start = norms(measured(problem, np.zeros(c.shape)).residual)
    now = measured(problem, L.T @ c)
    relative = norms(now.residual) / np.where(start > 0.0, start, 1.0)
    answer, astray = Weights.of(problem, now, relative), np.atleast_1d(estimator.intercept_) - now.b
    if not bias and astray.any():
        raise ValueError(f"The estimator has bias=False, so intercept_ must be 0, not {estimator.intercept_!r}.")
    cost = 0.5 * now.mass * astray**2  # of another b than the best one, which was measured
    answer = replace(answer, primal=answer.primal + cost, gap=answer.gap + cost)
    return of_weights(problem, answer, None, -1.0)


def path_of(
    kernel: Kernel, solver: RidgeSolver, data: Data, alphas: Array, bias: bool, generator: np.random.Generator
) -> RidgePath:
    """Leave-one-out errors for each alpha, by the way that suits the solver, the size and the time."""
    n = data.stream.n
    with suppress(OutOfTimeError):
        if isinstance(solver, NormalEquations):
            problem, _, _ = feature_problem(kernel, solver, data, 1.0, bias, generator, 1.0)
            m = problem.features.size
            _require_time(Work(flops=n * m * m + _EIGEN * m**3), kernel, data)
            return low_rank_path(problem, alphas, f"one eigendecomposition of Z'Z, {m} features")
        small = n <= _PATH and 32 * n * n <= data.budget
        if data.arrays is not None and not isinstance(solver, NystromCG) and (small or kernel.domain is Domain.VALUES):
            X, T, weight = data.arrays
            _require_time(Work(n * n, _EIGEN * n**3), kernel, data)
            K = np.array(DenseGram.compute(kernel, X, dtype=np.float64).matrix, np.float64)
            return exact_path(K, T, weight, alphas, bias)
    if kernel.domain is Domain.VALUES:  # of values, points are the row numbers
        assert data.arrays is not None
        X, T, weight = data.arrays
        kernel, data = Precomputed(X), of_arrays(np.arange(n), T, weight, bias, data.budget)
    _require_bytes(8 * alphas.size * n * data.stream.targets, f"Residuals of {n} rows for {alphas.size} alphas", data)
    asked = solver.landmarks if isinstance(solver, NystromCG) else min(_LANDMARKS, landmarks_within(data.budget))
    if not deadline().limited:
        return _landmark_path(kernel, solver, data, alphas, bias, generator, asked)
    return _landmark_path_in_time(kernel, solver, data, alphas, bias, generator, min(asked, n))


def _require_time(work: Work, kernel: Kernel, data: Data) -> None:
    """Raise where there is no time for so much work."""
    if deadline().limited:
        require(seconds_of(work, kernel, data))


def seconds_of(work: Work, kernel: Kernel, data: Data) -> float:
    """How long so much work takes, from a small piece of it."""
    some = data.arrays or data.pool
    assert some is not None
    return work.flops * flop_seconds() + (work.values * value_seconds(kernel, some.X) if work.values else 0.0)


def _landmark_path_in_time(
    kernel: Kernel, solver: RidgeSolver, data: Data, alphas: Array, bias: bool, generator: np.random.Generator,
    most: int,
) -> RidgePath:  # fmt: skip
    """Through few landmarks, whatever the time, then through as many as there is time for."""
    with until(NEVER):
        path = _landmark_path(kernel, solver, data, alphas, bias, generator, min(_LEAST, most))
    with suppress(OutOfTimeError):
        for size in growing(FIRST, most):
            path = _landmark_path(kernel, solver, data, alphas, bias, generator, size)
    return path


def _landmark_path(
    kernel: Kernel, solver: RidgeSolver, data: Data, alphas: Array, bias: bool, generator: np.random.Generator,
    landmarks: int,
) -> RidgePath:  # fmt: skip
    few = _landmarks(kernel, solver, landmarks)
    problem, _, _ = feature_problem(kernel, few, data, float(alphas.min()), bias, generator, 1.0)
    m, n = problem.features.size, data.stream.n
    return low_rank_path(problem, alphas, f"approximate: one eigendecomposition of Z'Z, {m} landmarks for {n} points")
