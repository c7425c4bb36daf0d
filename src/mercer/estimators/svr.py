"""Support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ..kernels import Gaussian
from ..losses import EpsilonInsensitive
from ..types import Array, Index, Points
from .base import Machine
from .checks import require, require_choice, require_limits, require_positive
from .tasks import Task


class SVR(RegressorMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i max(0, |t_i - f(x_i)| - epsilon), with f(x) = <w, phi(x)> + b: a tube.

    C_i is C times the weight of the point.

    Parameters
    ----------
    kernel, solver : an object, or the same thing as text: "rbf(gamma=0.5) + linear", "qp(solver=clarabel)".
        A kernel may also be a function of two matrices, as in scikit-learn.
    C : the weight of residuals, > 0.
    epsilon : half the width of the tube, >= 0: residuals up to it cost nothing.
    bias : whether b is free.
    tol : the relative gap to reach.
    memory : what the Gram matrix may take, such as "2GB".
    time_limit, max_iter : seconds, and rounds, that a fit may take; max_iter=None bounds its work to that of 2,000 full
        rounds, however small the memory makes them.
    random_state : the seed of solvers that draw at random.
    verbose : whether to show the progress on stderr.

    Attributes
    ----------
    certificate_, solution_ : how good the answer is, and the Solution.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ : as in scikit-learn's SVR.
    kernel_ : the kernel, with its parameters found. n_iter_ : the rounds.
    """

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: bool = True,
        solver: Any = None,
        tol: float = 1e-4,
        memory: int | float | str = "2GB",
        time_limit: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Points) -> Array:
        """f(x)."""
        return np.asarray(self._scores(X)[:, 0])

    def _check(self) -> None:
        require_limits(self)
        require_positive(self, "C")
        require(self, "epsilon", "a finite number of at least 0", lambda value: 0 <= value < float("inf"))
        require_choice(self, "bias", (True, False))

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        loss = EpsilonInsensitive(float(self.epsilon))
        y = np.asarray(y, np.float64)
        return None, np.zeros(y.size, np.intp), [Task(y, loss, self.C * weight, bool(self.bias))]
