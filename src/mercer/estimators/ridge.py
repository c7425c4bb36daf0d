"""Kernel ridge regression."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_consistent_length, validate_data

from ..gram import DenseGram, Gram, unformed
from ..kernels import Gaussian, Kernel
from ..kernels import kernel as as_kernel
from ..kernels.evaluate import product
from ..kernels.points import Domain, count, objects, take
from ..progress import Line, Watches
from ..solution import Solution
from ..solvers import Cholesky
from ..solvers.linear import RidgeSolver, System
from ..types import Array, Points
from .base import Machine, _sample_weights
from .callbacks import Hooks
from .checks import require_choice, require_limits, require_positive
from .definite import doubted
from .ridge_certificate import of_all
from .ridge_run import solve_system


class KernelRidge(MultiOutputMixin, RegressorMixin, Machine):  # type: ignore[misc]
    """min J(w) = 1/2 sum_i w_i (f(x_i) - t_i)^2 + lambda/2 |w|^2, with f(x) = <w, phi(x)> + b.

    The answer is w = sum_i beta_i phi(x_i) with (K + lambda diag(1/w_i)) beta + b = t. w_i are the sample weights;
    alpha is lambda; b is 0 unless bias=True, and is not penalised. There may be several targets.

    Parameters
    ----------
    kernel, solver : an object, or the same thing as text: "rbf(gamma=0.5) + linear", "cholesky(precision=float64)".
        Without a solver, one is chosen by size and memory; solution_.reason says why.
    alpha : lambda > 0.
    bias : whether b is free.
    tol : the relative residual, and the relative gap, to reach.
    memory : what the fit may take, such as "2GB".
    time_limit, max_iter : seconds, and rounds.
    random_state : the seed of solvers that draw at random.
    verbose : whether to show the progress on stderr.

    Attributes
    ----------
    dual_coef_, intercept_ : beta and b; with a column, and an entry, for each of several targets.
    X_fit_ : the points that f is a sum over.
    certificate_, certificates_ : how good the answer is, in values of J; of several targets the worst, and all of them.
    solution_ : the Solution; of several targets, all of them.
    kernel_ : the kernel, with its parameters found. alpha_ : lambda. n_iter_ : the number of rounds.
    """

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        alpha: float = 1.0,
        bias: bool = False,
        solver: Any = None,
        tol: float = 1e-6,
        memory: int | float | str = "2GB",
        time_limit: float | None = None,
        max_iter: int = 2_000,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Points, y: Any = None, sample_weight: Any = None) -> Self:
        """Find f from points X, targets y and weights (>= 0) of the points; see `certificate_` for how good it is."""
        began = perf_counter()
        self._check()
        kernel = as_kernel(self.kernel)
        X, y = self._admit_both(X, y, kernel)
        weight = _sample_weights(sample_weight, count(X))
        rows = np.flatnonzero(weight)
        points = _chosen(kernel, X, rows)
        self.kernel_ = kernel.resolve(points, weight[rows])
        self.alpha_ = float(self.alpha)
        gram = _gram(self.kernel_, points)
        system = System(gram, y.reshape(len(y), -1)[rows], self.alpha_ / weight[rows], bool(self.bias))
        deadline = None if self.time_limit is None else began + self.time_limit
        hooks = Hooks(self, 1, X, y, sample_weight)
        with ExitStack() as stack:
            line = [stack.enter_context(Line(type(self).__name__, 1))] if self.verbose else []
            solver, reason = self._choice()
            solutions = solve_system(
                system, solver, self.alpha_, tol=self.tol, max_iter=self.max_iter, deadline=deadline,
                watch=Watches([hooks, *line]),
            )  # fmt: skip
        solutions = [replace(solution, reason=reason) for solution in doubted(gram, solutions)]
        self._keep_ridge(X, y, rows, solutions)
        self._warn()
        hooks.close()
        return self

    def predict(self, X: Points) -> Array:
        """f(x)."""
        X = self._admit(X)
        if self.kernel_.domain is Domain.VALUES:
            sums = np.asarray(X @ self.dual_coef_)
        else:
            sums = product(self.kernel_, X, self.X_fit_, self.dual_coef_)
        return np.asarray(sums + self.intercept_)

    def _check(self) -> None:
        require_limits(self)
        require_positive(self, "alpha")
        require_choice(self, "bias", (True, False))

    def _choice(self) -> tuple[RidgeSolver, str]:
        """The solver, and why."""
        solver = self._solver()
        if solver is None:
            return Cholesky(), "the factor fits in memory"
        if not isinstance(solver, RidgeSolver):
            raise ValueError(f"KernelRidge: {solver!r} is not a solver of ridge regression.")
        return solver, ""

    def _admit_both(self, X: Points, y: Any, kernel: Kernel, reset: bool = True) -> tuple[Any, Any]:
        """Points and targets, checked; there may be a column for each target."""
        if kernel.domain in (Domain.VECTORS, Domain.VALUES):
            checks = self._vector_checks(kernel) | {"reset": reset}
            X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, **checks)
        else:
            X, y = objects(X), _numbers(y)
            check_consistent_length(range(count(X)), y)
        return X, np.asarray(y, np.float64)

    def _keep_ridge(self, X: Points, y: Array, rows: Array, solutions: list[Solution]) -> None:
        """What was learned, as attributes."""
        coefficients = np.zeros((len(y), len(solutions)))
        coefficients[rows] = np.column_stack([solution.beta for solution in solutions])
        several = y.ndim == 2
        self.X_fit_ = X
        self.dual_coef_ = coefficients if several else coefficients[:, 0]
        biases = np.array([solution.b for solution in solutions])
        self.intercept_ = biases if several else biases[0]
        self.n_iter_ = max(1, solutions[0].iterations)
        self.solution_ = tuple(solutions) if several else solutions[0]
        self.certificates_ = tuple(solution.certificate for solution in solutions)
        self.certificate_ = of_all(self.certificates_)


def _chosen(kernel: Kernel, X: Points, rows: Array) -> Points:
    """The points with these numbers; X itself where they are all."""
    if rows.size == count(X):
        return X
    return X[np.ix_(rows, rows)] if kernel.domain is Domain.VALUES else take(X, rows)


def _gram(kernel: Kernel, points: Points) -> Gram:
    """K, of which the solvers form what they need; all of it where its values are given or slow to compute."""
    if kernel.domain is Domain.VALUES or kernel.serial or not kernel.symmetric:
        return DenseGram.compute(kernel, points, dtype=np.float64)
    return unformed(kernel, points)


def _numbers(y: Any) -> Any:
    """Targets of objects."""
    if y is None:
        raise ValueError("KernelRidge requires y to be passed, but the target y is None.")
    y = np.array(y, np.float64)
    if y.ndim not in (1, 2) or not np.isfinite(y).all():
        raise ValueError(f"y must be finite numbers, a row for each point; its shape is {y.shape}.")
    return y
