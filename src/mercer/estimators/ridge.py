"""Kernel ridge regression."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from sys import maxsize
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length

from ..amounts import FINE_TOLERANCE
from ..driver import solve
from ..kernels import Gaussian, Kernel, Linear
from ..kernels import kernel as as_kernel
from ..kernels.pairwise import linear_weights
from ..kernels.points import Domain, count, objects, take
from ..limits import Deadline, Interrupt, stopped_by, until
from ..memory import parse_bytes
from ..params import random_generator, suggestion
from ..progress import Watch
from ..rounds import ROUNDS
from ..solution import Joint, Solutions, worst
from ..solvers import ConjugateGradient, NystromCG
from ..solvers.ridge import Ridge
from ..solvers.ridge.linear_system import AllTargets, RidgeSolver
from ..solvers.ridge.posed import TARGET, is_chunks, of_arrays, of_chunks
from ..solvers.ridge.ridge_auto import choose_ridge, landmarks_within
from ..types import Array, Index, Points
from .centring import far_centre
from .checks import (
    BOTH,
    CHECKS,
    LIMITS,
    POSITIVE,
    Settings,
    advise,
    level_of_caller,
    require_here,
    require_settings,
    sample_weights,
    validated,
    warn_of,
)
from .predicted import ridge_as_predicted
from .ridge_answer import RidgeAnswer, answered, moved_back
from .ridge_blocks import SpreadRows
from .ridge_path import RidgePath, grid_of, path_of
from .ridge_predict import RidgePredictions

_PATH_SHARE = 0.5  # of the time is for the choice of alpha
_LARGEST = 1e150  # target: sums of squares of larger ones are no numbers


class KernelRidge(MultiOutputMixin, RegressorMixin, RidgePredictions):  # type: ignore[misc]
    """min J(w) = 1/2 sum_i w_i (f(x_i) - t_i)^2 + lambda/2 |w|^2, with f(x) = <w, phi(x)> + b.

    The answer is w = sum_i beta_i phi(x_i) with (K + lambda diag(1/w_i)) beta + b = t. w_i are the sample weights;
    alpha is lambda; b is 0 unless bias=True, and is not penalised. There may be several targets.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    alpha : float or "loo", default=1.0
        lambda > 0, or the one of `alphas` with the least leave-one-out error.
    bias : bool, default=False
        Whether b is free.
    solver : Solver or str, default=None
        An object, or the same thing as text; None is by size and memory. "cholesky": exact. "primal": exact, for
        kernels with fewer features than points (linear, polynomial, FromFeatures). "conjugategradient": exact, without
        a factor, for tens of thousands of points. "nystrom(landmarks=2000)": the best f that is a sum over landmarks,
        for any number of rows.
    tol : float, default=1e-6
        The relative residual, and the relative gap, to reach.
    alphas : array-like, default=None
        The grid of alpha="loo"; None is 50 values from 1e-8 to 1e3 times the mean of k(x, x).
    loo : bool, default=False
        Whether to find loo_residuals_. Takes about three times as long as the fit alone.
    memory : int, float or str, default="2GB"
        What the fit may take, in bytes or as text.
    time_limit : float, default=None
        Seconds, looked at between pieces of work, as is Ctrl-C. Where the time is too short for the solver, or for the
        eigendecomposition of alpha="loo", landmarks stand for all points: as many as there is time for. In explicit
        features, normal equations are made from some of the rows. Ctrl-C does not wait for an eigendecomposition, and
        there is no answer then.
    max_iter : int, default=2000
        Rounds, at most.
    random_state : int or RandomState, default=None
        The seed of solvers that draw at random.
    verbose : bool, default=False
        Whether to show one live line of progress, on stderr or in the notebook.

    Attributes
    ----------
    certificate_ : RidgeCertificate
        How good the answer is, in values of J; of several targets, the worst.
    certificates_ : tuple of RidgeCertificate
        Those of all targets.
    solution_ : Solution or tuple of Solution
        How it was found: solver, rounds, history, work; of several problems, all of them.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    dual_coef_ : ndarray of shape (n_points,) or (n_points, n_targets)
        beta, of the points of X_fit_.
    intercept_ : float or ndarray of shape (n_targets,)
        b.
    X_fit_ : array or list of n_points points
        The points that f is a sum over: those of the training, or landmarks.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        w, where the kernel is linear.
    loo_residuals_ : ndarray of the shape of y
        t_i - f(x_i) of the f found without point i, where loo or alpha="loo" asked for it.
    path_ : RidgePath
        The errors over the grid, with alpha="loo".
    alpha_ : float
        lambda.
    kernel_ : Kernel
        The kernel, with its parameters found.
    n_iter_ : int
        The rounds; of several problems, the most.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    has_landmarks_ : bool
        Whether f is a sum over landmarks.
    amplitude_ : float or ndarray of shape (n_targets,)
        t'beta / n, the prior variance under which the targets are most likely.
    """

    _settings: ClassVar[Settings] = LIMITS | {"bias": BOTH, "loo": BOTH}
    _ridge: ClassVar[bool] = True

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        alpha: float | str = 1.0,
        bias: bool = False,
        solver: Any = None,
        tol: float = FINE_TOLERANCE,
        alphas: Any = None,
        loo: bool = False,
        memory: int | float | str = "2GB",
        time_limit: float | None = None,
        max_iter: int = ROUNDS,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.alphas = alphas
        self.loo = loo
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Points, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Find f from points X, targets y and weights (>= 0) of the points; see `certificate_` for how good it is.

        With landmarks, X may also stand for pieces of data that are read several times: a function that gives an
        iterator of (X, y) or (X, y, sample_weight), or a list of them; y is then left out.
        """
        return super().fit(X, y, sample_weight)

    def _learn(  # type: ignore[override]
        self, training: _Training, deadline: Deadline, interrupt: Interrupt, watch: Watch | None, checkpoint: Any
    ) -> None:
        for earlier in ("path_", "loo_residuals_"):  # are there only where this fit finds them
            self.__dict__.pop(earlier, None)
        if self.alpha == "loo":
            with stopped_by(interrupt), until(deadline.part(_PATH_SHARE)):
                self.path_ = path_of(training.problem, training.solver, grid_of(training.problem, self.alphas))
            self.alpha_ = self.path_.best
        else:
            self.alpha_ = float(self.alpha)
        problem = replace(training.problem, penalty=self.alpha_, loo=bool(self.loo), tol=self.tol)
        solutions: Joint = solve(
            problem, training.solver, tol=self.tol, max_iter=self.max_iter,
            time_limit=deadline.left() if deadline.limited else None,
            callback=None if watch is None else partial(watch.round, 0),
        )  # fmt: skip
        if solutions.found.doubt is not None:
            warn_of(solutions.found.doubt)
        answer = RidgeAnswer(list(solutions))
        if problem.loo or not isinstance(solutions.found, AllTargets):  # there is more to find
            with stopped_by(interrupt), until(deadline):
                answer = answered(problem, solutions)
        self._keep_answer(training, answer)

    def path(self, X: Points, y: Any, alphas: Any = None, sample_weight: Any = None) -> RidgePath:
        """The leave-one-out error for each lambda of a grid, from one eigendecomposition (which no time limit ends).

        Of K for some thousands of points, or of Z'WZ where there are fewer explicit features; for more points, as seen
        through landmarks. `alphas` are those of the estimator where none are given.
        """
        training, alphas = self._training(X, y, sample_weight), self.alphas if alphas is None else alphas
        return path_of(training.problem, training.solver, grid_of(training.problem, alphas))

    def _check(self) -> None:
        require_settings(self, self._settings)
        if isinstance(self.alpha, str) and self.alpha != "loo":
            near = suggestion(self.alpha, ["loo"])
            raise ValueError(f"KernelRidge: alpha must be a number greater than 0, or 'loo', not {self.alpha!r}.{near}")
        if self.alpha != "loo":
            require_settings(self, {"alpha": POSITIVE})

    # Training data.

    def _training(self, X: Points, y: Any, sample_weight: Any) -> _Training:  # type: ignore[override]
        """Admit the data, leave out what has no weight, and find the kernel and the solver."""
        self._check()
        kernel, generator = as_kernel(self.kernel), random_generator(self.random_state)
        if y is None and is_chunks(X):
            return self._chunks(X, kernel, generator)
        X, y = self._admit_both(X, y, kernel)
        n = count(X)
        weight = np.ones(n) if sample_weight is None else sample_weights(sample_weight, n)
        rows = np.flatnonzero(weight)
        points = X
        if rows.size < n:
            points = X[np.ix_(rows, rows)] if kernel.domain is Domain.VALUES else take(X, rows)
        advise(self, kernel, points)
        kernel = kernel.resolve(points, None if sample_weight is None else weight[rows])
        solver, reason = self._choice(kernel, points)
        centred = bool(self.bias) and isinstance(kernel, Linear) and not isinstance(solver, NystromCG)
        centre = far_centre(points, weight[rows], parse_bytes(self.memory)) if centred else None
        around = points if centre is None else points - centre
        T, budget, rest = y.reshape(n, -1)[rows], parse_bytes(self.memory), {"kernel": kernel, "generator": generator}
        data = of_arrays(around, T, weight[rows], bool(self.bias), budget, **rest)
        return _Training(data, solver, reason, X, y, rows, centre)

    def _chunks(self, X: Any, kernel: Kernel, generator: np.random.Generator) -> _Training:
        budget = parse_bytes(self.memory)
        solver = NystromCG(landmarks_within(budget)) if self.solver is None else self._solver()
        if isinstance(X, SpreadRows) and isinstance(solver, ConjugateGradient):
            return self._exact_on_blocks(X, kernel, solver, generator)
        if not isinstance(solver, NystromCG) or kernel.domain is not Domain.VECTORS:
            raise ValueError(f"Data in pieces needs landmarks and vectors: solver='nystrom', not {solver!r}.")
        several: list[bool] = []

        def admit(points: Any, targets: Any, weight: Any) -> Any:
            points, targets = self._admit_both(points, targets, kernel, reset=not several)
            several.append(targets.ndim == 2)
            weight = np.ones(count(points)) if weight is None else np.asarray(weight, np.float64)
            if weight.shape != (count(points),) or not (np.isfinite(weight) & (weight >= 0)).all():
                raise ValueError(f"The weights of a piece must be {count(points)} finite numbers >= 0.")
            return points, targets.reshape(count(points), -1), weight

        if isinstance(X, SpreadRows):
            several.append(X.several)
            data = X.data(bool(self.bias), budget, solver.drawn(len(X.points)), generator)
        else:
            data = of_chunks(X, admit, bool(self.bias), budget, solver.drawn(maxsize), generator)
        advise(self, kernel, data.pool.X)
        resolved = kernel.resolve(data.pool.X, data.pool.weight)
        y = np.empty((0, data.stream.targets)) if several[0] else np.empty(0)
        reason = "" if self.solver is not None else f"the data comes in {'blocks' if data.stream.afar else 'pieces'}"
        data = replace(data, kernel=resolved, generator=generator)
        return _Training(data, solver, reason, None, y, np.arange(data.stream.n))

    def _exact_on_blocks(
        self, rows: SpreadRows, kernel: Kernel, solver: RidgeSolver, generator: np.random.Generator
    ) -> _Training:
        """All rows are fetched, since f has a coefficient for each of them; products with K stay with the blocks."""
        if self.loo or self.alpha == "loo":
            raise ValueError("KernelRidge: loo needs a factor, which ConjugateGradient does not have: use 'nystrom'.")
        X = rows.points[:]
        advise(self, kernel, X)
        y, kernel = rows.T if rows.several else rows.T[:, 0], kernel.resolve(X, rows.weight)
        budget, rest = parse_bytes(self.memory), {"kernel": kernel, "generator": generator}
        data = of_arrays(rows.points, rows.T, rows.weight, bool(self.bias), budget, **rest)
        return _Training(data, solver, "", X, y, np.arange(len(y)))

    def _admit_both(self, X: Points, y: Any, kernel: Kernel, reset: bool = True) -> tuple[Any, Any]:
        """Points and targets, checked; there may be a column for each target."""
        if not isinstance(X, np.ndarray):
            require_here(self, X)
        if kernel.domain in (Domain.VECTORS, Domain.VALUES):
            X, y = validated(self, X, y, y_numeric=True, multi_output=True, reset=reset, **CHECKS[kernel.domain])
        else:
            X, y = objects(X), _numbers(y)
            check_consistent_length(range(count(X)), y)
        y = np.asarray(y, np.float64)
        if np.abs(y).max(initial=0.0) > _LARGEST:
            raise ValueError(f"Squares of y overflow, for the largest is {np.abs(y).max():.0e}: divide y by it first.")
        return X, y

    def _choice(self, kernel: Kernel, points: Points) -> tuple[RidgeSolver, str]:
        """The solver, and why."""
        if self.solver is None:
            return choose_ridge(kernel, points, parse_bytes(self.memory), factor=bool(self.loo))
        solver = self._solver()
        if not isinstance(solver, RidgeSolver):
            raise ValueError(f"KernelRidge: {solver!r} is not a solver of ridge regression.")
        if self.loo and isinstance(solver, ConjugateGradient):
            raise ValueError("KernelRidge: loo needs a factor, which ConjugateGradient does not have: use 'nystrom'.")
        return solver, ""

    # The answer.

    def _keep_answer(self, training: _Training, answer: RidgeAnswer) -> None:
        """What was learned, as attributes."""
        y, rows = training.y, training.rows
        problem, solutions = training.problem, answer.solutions
        solutions = [replace(solution, reason=solution.reason or training.reason) for solution in solutions]
        if training.centre is not None:
            answer, solutions = moved_back(training.problem, training.centre, answer, solutions)
        several = y.ndim == 2
        self.kernel_ = problem.kernel
        coefficients = np.column_stack([solution.beta for solution in solutions])
        if answer.points is None:  # the points of the training
            whole = np.zeros((count(training.X), len(solutions)))
            whole[rows] = coefficients
            coefficients = whole
        self.X_fit_ = training.X if answer.points is None else answer.points
        self.dual_coef_ = coefficients if several else coefficients[:, 0]
        biases = np.array([solution.b for solution in solutions])
        self.intercept_ = biases if several else biases[0]
        self.n_iter_ = max(1, len(solutions[0].history))
        self._feature_weights = answer.weights
        self._coef = self._linear_coefficients(several) if isinstance(self.kernel_, Linear) else None
        if self._coef is not None and problem.arrays is not None:
            solutions = ridge_as_predicted(self, training.X, rows, problem.arrays, solutions)
        self.solution_: Any = Solutions(solutions) if several else solutions[0]
        self.certificates_ = tuple([solution.certificate for solution in solutions])
        self.certificate_ = worst(self.certificates_, TARGET, self.tol)
        most_likely = np.array([2.0 * c.primal / (self.alpha_ * problem.stream.n) for c in self.certificates_])
        self.amplitude_ = most_likely if several else most_likely[0]
        self.has_landmarks_ = answer.points is not None
        self._spread_, self._spread_centre = answer.spread, training.centre
        exact = answer.points is None
        self._training_ridge: Any = (rows, self.alpha_ / problem.arrays.weight) if exact else None
        self._left_out_ = None
        self._left_points, self._left_weight, self._left_errors = answer.left_out or (None, None, None)
        residuals = answer.loo_residuals
        if residuals is None and self.alpha == "loo":
            residuals = self.path_.residuals
        if residuals is not None:
            self._keep_loo(training, residuals, several)
        elif self.loo:
            told = "KernelRidge: the fit was stopped before loo_residuals_ were found, so there are none."
            warnings.warn(told, ConvergenceWarning, stacklevel=level_of_caller())

    def _keep_loo(self, training: _Training, residuals: Array, several: bool) -> None:
        """Of rows without weight, which were left out anyway, the ordinary residuals."""
        whole = residuals
        if training.X is not None and training.rows.size < count(training.X):
            whole = np.empty((count(training.X), residuals.shape[1]))
            out = np.setdiff1d(np.arange(len(whole)), training.rows)
            T = training.y.reshape(len(training.y), -1)
            whole[training.rows] = residuals
            whole[out] = T[out] - np.reshape(self._mean(take(training.X, out)), (out.size, -1))
        self.loo_residuals_ = whole if several else whole[:, 0]

    def _linear_coefficients(self, several: bool) -> Array:
        """w = X'beta, as rows where there are several targets."""
        found = self._feature_weights
        w = linear_weights(self.X_fit_, self.dual_coef_.reshape(count(self.X_fit_), -1).T) if found is None else found.T
        return np.ascontiguousarray(w) if several else w[0]


@dataclass(frozen=True, eq=False)
class _Training:
    """What is trained on, and by which solver; lambda is not known yet."""

    problem: Ridge
    solver: RidgeSolver
    reason: str
    X: Any
    """The user's points; None where they come in pieces."""
    y: Array
    rows: Index
    """The rows with a weight."""
    centre: Array | None = None
    """What was taken from the points, where those of a linear machine are far from the origin."""
    problems: ClassVar[int] = 1
    """All targets are one problem."""


def _numbers(y: Any) -> Any:
    """Targets of objects."""
    if y is None:
        raise ValueError("KernelRidge requires y to be passed, but the target y is None.")
    y = np.array(y, np.float64)
    if y.ndim not in (1, 2) or not np.isfinite(y).all():
        raise ValueError(f"y must be finite numbers, a row for each point; its shape is {y.shape}.")
    return y
