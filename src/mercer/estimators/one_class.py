"""One-class machines: where the data is, learned without labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin

from ..amounts import TOLERANCE
from ..kernels import Gaussian
from ..losses import OneClass
from ..problem import Task
from ..ties import ROUNDING
from ..types import Array, Index, Points
from .checks import LIMITS, Range, Settings
from .machine import Machine


class OneClassSVM(OutlierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i c_i max(0, -f(x_i)) - nu sum_i c_i rho, with f(x) = <w, phi(x)> - rho and weights c_i.

    At most a part nu of the weight has f < 0, and at least that part belongs to support vectors. The scaling is
    LIBSVM's: 0 <= beta_i <= c_i and sum beta = nu sum c.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    nu : float, default=0.5
        The part of the weight that may be outside, 0 < nu <= 1.
    solver : Solver or str, default=None
        An object, or the same thing as text: "qp(solver=clarabel)". None lets Mercer choose; solution_.reason says why.
    tol : float, default=1e-4
        The relative gap to reach.
    memory : int, float or str, default="2GB"
        What the Gram matrix may take, in bytes or as text.
    time_limit : float, default=None
        Seconds that a fit may take, all problems together.
    max_iter : int, default=None
        Rounds for each problem; None bounds the work of each to that of 2,000 full rounds, however small the memory
        makes them.
    random_state : int or RandomState, default=None
        The seed of solvers that draw at random.
    verbose : bool, default=False
        Whether to show one live line of progress, on stderr or in the notebook.

    Attributes
    ----------
    certificate_ : Certificate
        How good the answer is: primal and dual value, gap, KKT violation; of several problems, the worst.
    certificates_ : tuple of Certificate
        Those of all problems.
    solution_ : Solution or tuple of Solution
        How it was found: solver, rounds, history, work; of several problems, all of them.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    offset_ : ndarray of shape (1,)
        rho.
    support_ : ndarray of shape (n_support,)
        The rows of the training set that are support vectors.
    support_vectors_ : array or list of n_support points
        The support vectors.
    n_support_ : ndarray of shape (1,)
        How many support vectors there are.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The coefficients beta.
    intercept_ : ndarray of shape (1,)
        -rho.
    coef_ : ndarray of shape (n_problems, n_features)
        w of each problem, where the kernel is linear.
    kernel_ : Kernel
        The kernel, with its parameters found.
    n_iter_ : int
        The rounds; of several problems, the most.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    shape_fit_ : tuple of int
        The shape of the training set.
    """

    _targets: ClassVar[str] = "none"
    _settings: ClassVar[Settings] = LIMITS | {"nu": Range("a number with 0 < nu <= 1", above=0.0, most=1.0)}

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        nu: float = 0.5,
        solver: Any = None,
        tol: float = TOLERANCE,
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

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        n = weight.size
        mass = float(self.nu) * float(weight.sum())
        return None, np.zeros(n, np.intp), [Task(np.zeros(n), OneClass(), weight, mass=mass)]
