"""One-class machines: where the data is, learned without labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from ..kernels import Gaussian
from ..losses import OneClass
from ..types import Array, Index, Points
from .base import Machine
from .checks import require, require_limits
from .tasks import Task

ROUNDING = 1e-9  # of f, in parts of rho


class OneClassSVM(OutlierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i c_i max(0, -f(x_i)) - nu sum_i c_i rho, with f(x) = <w, phi(x)> - rho and weights c_i.

    At most a part nu of the weight has f < 0, and at least that part belongs to support vectors. The scaling is
    LIBSVM's: 0 <= beta_i <= c_i and sum beta = nu sum c.

    Parameters
    ----------
    kernel, solver : an object, or the same thing as text: "rbf(gamma=0.5) + linear", "qp(solver=clarabel)".
        A kernel may also be a function of two matrices, as in scikit-learn.
    nu : the part of the weight that may be outside, 0 < nu <= 1.
    tol : the relative gap to reach.
    memory : what the Gram matrix may take, such as "2GB".
    time_limit, max_iter : seconds, and rounds, that a fit may take; max_iter=None bounds its work to that of 2,000 full
        rounds, however small the memory makes them.
    random_state : the seed of solvers that draw at random.
    verbose : whether to show the progress on stderr.

    Attributes
    ----------
    offset_ : rho. intercept_ : -rho.
    certificate_, solution_ : how good the answer is, and the Solution.
    support_, support_vectors_, n_support_, dual_coef_, coef_ : as in scikit-learn's OneClassSVM.
    kernel_ : the kernel, with its parameters found. n_iter_ : the rounds.
    """

    targets: ClassVar[str] = "nothing"

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        nu: float = 0.5,
        solver: Any = None,
        tol: float = 1e-4,
        memory: int | float | str = "2GB",
        time_limit: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.solver = solver
        self.tol = tol
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @property
    def offset_(self) -> Array:
        """rho: decision_function is score_samples - offset_."""
        return -self.intercept_

    def decision_function(self, X: Points) -> Array:
        """f(x), negative for outliers; exactly 0 where it cannot be told from 0, as at the edge of the data."""
        f = self._scores(X)[:, 0]
        return np.where(np.abs(f) <= ROUNDING * np.abs(self.intercept_), 0.0, f)

    def score_samples(self, X: Points) -> Array:
        """<w, phi(x)> = f(x) + rho."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Points) -> Array:
        """+1 where f(x) >= 0, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _check(self) -> None:
        require_limits(self)
        require(self, "nu", "a number with 0 < nu <= 1", lambda value: 0 < value <= 1)

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        n = weight.size
        mass = float(self.nu) * float(weight.sum())
        return None, np.zeros(n, np.intp), [Task(np.zeros(n), OneClass(), weight, mass=mass)]
