"""Support vector regression."""

from __future__ import annotations

from sys import float_info
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from ..amounts import TOLERANCE
from ..kernels import Gaussian
from ..losses import EpsilonInsensitive
from ..problem import Task
from ..types import Array, Index, Points
from .checks import BOTH, LIMITS, POSITIVE, Range, Settings
from .machine import Machine


class SVR(RegressorMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i max(0, |t_i - f(x_i)| - epsilon), with f(x) = <w, phi(x)> + b: a tube.

    C_i is C times the weight of the point.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    C : float, default=1.0
        The weight of residuals, > 0.
    epsilon : float, default=0.1
        Half the width of the tube, >= 0: residuals up to it cost nothing.
    bias : bool, default=True
        Whether b is free; else it is 0.
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
    support_ : ndarray of shape (n_support,)
        The rows of the training set that are support vectors.
    support_vectors_ : array or list of n_support points
        The support vectors.
    n_support_ : ndarray of shape (1,)
        How many support vectors there are.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The coefficients beta.
    intercept_ : ndarray of shape (n_problems,)
        b of each problem.
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

    _settings: ClassVar[Settings] = LIMITS | {
        "C": POSITIVE, "epsilon": Range("a finite number of at least 0", least=0.0, most=float_info.max), "bias": BOTH,
    }  # fmt: skip

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: bool = True,
        solver: Any = None,
        tol: float = TOLERANCE,
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

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        loss = EpsilonInsensitive(float(self.epsilon))
        y = np.asarray(y, np.float64)
        return None, np.zeros(y.size, np.intp), [Task(y, loss, self.C * weight, bool(self.bias))]
