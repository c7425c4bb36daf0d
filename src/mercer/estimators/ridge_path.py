"""Leave-one-out errors of ridge regression in closed form, for one lambda or a whole grid.

With A = K + lambda diag(1/w): the residual of point i, had it not been in the training set, is beta_i / (A^-1)_ii. In
features it is e_i / (1 - h_i), where h_i = w_i z_i'(Z'WZ + lambda I)^-1 z_i is the leverage. With a bias, A^-1 and z
are those of the bordered system and of centred features. One eigendecomposition serves every lambda.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..amounts import AT_A_TIME, LARGEST
from ..columns import BLOCK, pieces
from ..gram import DenseGram
from ..kernels import Precomputed
from ..kernels.points import Domain, count
from ..limits import NEVER, OutOfTimeError, check_limits, deadline, require, until
from ..memory import DOUBLE, BudgetError, format_bytes
from ..parallel import apart
from ..shown import table
from ..solvers.base import LANDMARK_BYTES, LANDMARKS, Work
from ..solvers.landmarks import FIRST, growing
from ..solvers.ridge import NormalEquations, NystromCG, Ridge
from ..solvers.ridge.in_features import FeatureProblem, Weights, normal_equations
from ..solvers.ridge.linear_system import RidgeSolver
from ..solvers.ridge.posed import of_arrays
from ..solvers.ridge.ridge_auto import LEAST, landmarks_within, seconds_of
from ..solvers.ridge.row_sums import DataPiece
from ..solvers.triangular import Factor, factor_work, forward
from ..ties import first_largest
from ..types import Array

_EIGEN_FACTORS = 60  # Factors that an eigendecomposition takes as long as; it cannot be broken off.
_AROUND = 3  # Alphas that a notebook shows on either side of the best one.


@dataclass(frozen=True, eq=False, repr=False)
class RidgePath:
    """Leave-one-out errors for a grid of lambda.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The grid.
    errors : ndarray of shape (n_alphas, n_targets)
        The (weighted) mean squared leave-one-out residual of each target.
    best : float
        The alpha with the least sum over the targets, each in parts of its variance.
    method : str
        How they were found.
    residuals : ndarray of shape (n, n_targets)
        The leave-one-out residuals with the best alpha; of the rows with a weight.
    """

    alphas: Array
    errors: Array
    best: float
    method: str
    residuals: Array

    @property
    def _place(self) -> int:
        """Of the best alpha in the grid."""
        return int(np.argmin(np.abs(self.alphas - self.best)))

    def _error(self, number: int) -> str:
        return ", ".join(f"{value:.4g}" for value in self.errors[number])

    def _words(self) -> str:
        number = self._place
        ends = " (the first of the grid)" if number == 0 else ""
        ends = " (the last of the grid)" if number == len(self.alphas) - 1 else ends
        return f"best alpha {self.best:.4g}{ends}, leave-one-out mean squared error {self._error(number)}"

    def __str__(self) -> str:
        return f"{self.method}\n  {self._words()}"

    def __repr__(self) -> str:
        return f"<RidgePath of {len(self.alphas)} alphas: {self._words()}>"

    def _repr_html_(self) -> str:
        """The best alpha, those around it, and both ends."""
        number, last = self._place, len(self.alphas) - 1
        shown = sorted({0, last, *range(max(0, number - _AROUND), min(last, number + _AROUND) + 1)})
        rows = [(f"{self.alphas[i]:.4g}", self._error(i), "best" if i == number else "") for i in shown]
        return table(f"{len(self.alphas)} alphas, by {self.method}", ("alpha", "leave-one-out error", ""), rows)


def path_of(ridge: Ridge, solver: RidgeSolver, alphas: Array) -> RidgePath:
    """Leave-one-out errors for each alpha, by the way that suits the solver, the size and the time."""
    n, kernel = ridge.stream.n, ridge.kernel
    solver.check(ridge)
    with suppress(OutOfTimeError):
        if isinstance(solver, NormalEquations):
            problem = solver.posed(ridge)
            m = problem.features.size
            _require_time(Work(flops=n * m * m + _EIGEN_FACTORS * factor_work(m)), ridge)
            return low_rank_path(problem, alphas, f"one eigendecomposition of Z'Z, {m} features")
        small = n <= LARGEST.points_held and LANDMARK_BYTES * n * n <= ridge.budget
        if ridge.arrays is not None and not isinstance(solver, NystromCG) and (small or kernel.domain is Domain.VALUES):
            X, T, weight = ridge.arrays
            _require_time(Work(n * n, _EIGEN_FACTORS * factor_work(n)), ridge)
            K = DenseGram.compute(kernel, X, dtype=np.float64).matrix
            given = kernel.domain is Domain.VALUES or kernel.serial  # by somebody else, who may hold it too
            return exact_path(np.array(K, np.float64) if given else K, T, weight, alphas, ridge.bias)
    if kernel.domain is Domain.VALUES:  # of values, points are the row numbers
        X, T, weight = ridge.arrays
        kernel, generator = Precomputed(X), ridge.generator
        ridge = of_arrays(np.arange(n), T, weight, ridge.bias, ridge.budget, kernel=kernel, generator=generator)
    needed = DOUBLE * alphas.size * n * ridge.stream.targets
    if needed > ridge.budget:
        raise BudgetError(
            f"Residuals of {n} rows for {alphas.size} alphas take {format_bytes(needed)}, more than "
            f"memory={format_bytes(ridge.budget)}: allow more, or take fewer."
        )
    return _landmark_path(replace(ridge, penalty=float(alphas.min())), solver, alphas)


def _require_time(work: Work, ridge: Ridge) -> None:
    """Raise where there is no time for so much work."""
    if deadline().limited:
        require(seconds_of(work, ridge))


def _landmark_path(ridge: Ridge, solver: RidgeSolver, alphas: Array) -> RidgePath:
    """As landmarks see it; where time is limited, few of them, whatever the time, then as many as it allows."""
    if not isinstance(solver, NystromCG):  # of slow kernels, they are drawn without a look at errors
        selection = "uniform" if ridge.kernel.serial else "errors"
        solver = NystromCG(min(LANDMARKS, landmarks_within(ridge.budget)), selection)
    n = ridge.stream.n

    def through(size: int) -> RidgePath:
        problem = replace(solver, landmarks=size).posed(ridge)
        m = problem.features.size
        how = f"approximate: one eigendecomposition of Z'Z, {m} landmarks for {n} points"
        return low_rank_path(problem, alphas, how)

    if not deadline().limited:
        return through(solver.landmarks)
    most = min(solver.landmarks, n)
    with until(NEVER):
        path = through(min(LEAST, most))
    with suppress(OutOfTimeError):
        for size in growing(FIRST, most):
            path = through(size)
    return path


def exact_path(K: Array, T: Array, weight: Array, alphas: Array, bias: bool) -> RidgePath:
    """From the eigenvalues of sqrt(w) K sqrt(w); K is overwritten."""
    n, root = len(K), np.sqrt(weight)[:, None]
    if (weight != 1.0).any():
        K *= root
        K *= root.T
    s, Q = apart(partial(np.linalg.eigh, K))  # by all threads of BLAS, as factors are: 1.7 times as fast by two
    s = np.maximum(s, 0.0)
    turned, ones = Q.T @ (root * T), Q.T @ root
    inverse = 1.0 / (s[:, None] + alphas)  # of each eigenvalue, for each alpha
    diagonal = np.empty((n, alphas.size))
    squares = np.empty((BLOCK, n))
    for part in pieces(n, BLOCK):
        rows = Q[part]
        diagonal[part] = np.square(rows, out=squares[: len(rows)]) @ inverse
    diagonal *= weight[:, None]
    u = root * (Q @ (inverse * ones)) if bias else np.zeros((n, alphas.size))
    if bias:
        diagonal -= u**2 / u.sum(axis=0)
    residuals = np.empty((alphas.size, n, T.shape[1]))
    for j in range(T.shape[1]):
        v = root * (Q @ (inverse * turned[:, j : j + 1]))
        beta = v - u * (v.sum(axis=0) / u.sum(axis=0)) if bias else v
        residuals[:, :, j] = (beta / diagonal).T
    return _path(alphas, residuals, T, weight, f"one eigendecomposition of K, {n} x {n}")


def low_rank_path(problem: FeatureProblem, alphas: Array, method: str) -> RidgePath:
    """From the eigenvalues of Z'WZ; two passes over the rows."""
    *_, found = normal_equations(problem, problem.stream, precise=True)  # for alphas of any size
    assert found is not None
    s, V = apart(partial(np.linalg.eigh, found.matrix))
    inverse = 1.0 / (np.maximum(s, 0.0)[:, None] + alphas)
    turned = V.T @ found.right
    n, k = problem.stream.n, problem.stream.targets
    residuals, T, weights = np.empty((alphas.size, n, k)), np.empty((n, k)), np.empty(n)
    mass = sum(float(piece.weight.sum()) for piece in problem.stream.pieces())
    for rows, piece, Z in _rows_of_features(problem, found.mean):
        Y, c = Z @ V, piece.weight[:, None]
        leverage = c * (Y**2 @ inverse) + (c / mass if problem.bias else 0.0)
        T[rows], weights[rows] = piece.T - problem.centre, piece.weight
        for j in range(k):
            e = T[rows, j : j + 1] - Y @ (inverse * turned[:, j : j + 1])
            residuals[:, rows, j] = (e / (1.0 - leverage)).T
    return _path(alphas, residuals, T, weights, method)


def _path(alphas: Array, residuals: Array, T: Array, weight: Array, method: str) -> RidgePath:
    mass = weight.sum()
    errors = np.einsum("aij,aij,i->aj", residuals, residuals, weight) / mass
    spread = weight @ (T - weight @ T / mass) ** 2 / mass
    best = first_largest(-(errors / np.where(spread > 0.0, spread, 1.0)).sum(axis=1))
    return RidgePath(alphas, errors, float(alphas[best]), method, residuals[best])


def _rows_of_features(problem: FeatureProblem, mean: Array) -> Iterator[tuple[slice, DataPiece, Array]]:
    """z(x) less its mean, of some rows at a time."""
    seen, step = 0, max(BLOCK, problem.stream.values // 2 // problem.features.size)
    for whole in problem.stream.pieces():
        for part in pieces(count(whole.X), step):
            check_limits()
            piece = whole.rows(part)
            G = problem.features.block(piece.X)
            Z = problem.projected((G.toarray() if hasattr(G, "toarray") else G).T).T
            yield slice(seen, seen + len(Z)), piece, Z - mean[:, 0]
            seen += len(Z)


def residuals_from_factor(factor: Factor, beta: Array, bias: bool) -> Array:
    """beta_i / (A^-1)_ii, with the factor of A."""
    diagonal = factor.inverse_diagonal()
    if bias:
        u = factor.solve(np.ones((factor.n, 1)))[:, 0]
        diagonal = diagonal - u**2 / u.sum()
    return np.asarray(beta / diagonal[:, None])


def residuals_from_weights(problem: FeatureProblem, answer: Weights) -> Array:
    """e_i / (1 - h_i)."""
    assert answer.measured is not None
    assert answer.inverse is not None
    now = answer.measured
    out = np.empty_like(now.errors)
    for rows, piece, Z in _rows_of_features(problem, now.mean):
        leverage = piece.weight * np.square(forward(answer.inverse.L, Z.T)).sum(axis=0)
        leverage += piece.weight / now.mass if problem.bias else 0.0
        out[rows] = now.errors[rows] / (1.0 - leverage)[:, None]
    return out


def grid_of(problem: Ridge, alphas: Any) -> Array:
    """The values of lambda, checked."""
    if alphas is None:
        if problem.kernel.domain is Domain.VALUES:
            values = np.diagonal(problem.arrays.X)
        else:
            values = problem.kernel.diag(problem.drawn(AT_A_TIME.rows, np.random.default_rng(0)).X)
        return np.geomspace(1e-8, 1e3, 50) * (float(np.mean(np.abs(values))) or 1.0)
    grid = np.array(alphas, np.float64)
    if grid.ndim != 1 or grid.size == 0 or not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"alphas must be finite numbers > 0, not {alphas!r}.")
    return grid
