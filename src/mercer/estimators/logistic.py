"""Kernel logistic regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..amounts import TOLERANCE
from ..gram import Gram, LinearGram, gram_of
from ..gram.linear import constant_beside_linear
from ..kernels import Gaussian
from ..kernels.points import count
from ..losses import Logistic
from ..parallel import thread_count
from ..problem import Task
from ..solvers.newton.in_points import held_step
from ..types import Array, Index, Points
from .checks import (
    BOTH,
    LIMITS,
    POSITIVE,
    Settings,
    classes_of,
    name_of,
    predicted,
    weights_with_classes,
)
from .machine import Machine
from .tasks import Training


class KernelLogistic(ClassifierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i f(x_i))), with f(x) = <w, phi(x)> + b: the log-odds of a class.

    C_i is C times the weight of the point and of its class; bias=False is b = 0. Of three or more classes, each is told
    from the rest by a problem of its own, and the probabilities 1 / (1 + exp(-f_c(x))) are divided by their sum.

    Up to some thousands of points, and for kernels with few explicit features, the answer is exact (Newton). For more,
    landmarks stand for the points (NystromNewton), and the certificate tells what that costs: its gap is that of the
    full problem. `solution_.reason` says why; `solver="newton"` is exact at any size, by conjugate gradients.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    C : float, default=1.0
        The weight of mistakes, > 0.
    bias : bool, default=True
        Whether b is free; else it is 0.
    solver : Solver or str, default=None
        An object, or the same thing as text: "nystromnewton(landmarks=500)". None lets Mercer choose; solution_.reason
        says why.
    tol : float, default=1e-4
        The relative gap to reach.
    class_weight : dict or "balanced", default=None
        A weight for each class. With "balanced" each class weighs the same; a point counts with its own weight: a
        weight of 2 is the point twice.
    memory : int, float or str, default="2GB"
        What the fit may take, in bytes or as text.
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
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors each class has.
    dual_coef_ : ndarray of shape (n_problems, n_support)
        The coefficients beta.
    intercept_ : ndarray of shape (n_problems,)
        b of each problem.
    coef_ : ndarray of shape (n_problems, n_features)
        w of each problem, where the kernel is linear.
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
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

    _targets: ClassVar[str] = "labels"
    _settings: ClassVar[Settings] = LIMITS | {"C": POSITIVE, "bias": BOTH}
    _in_features: ClassVar[bool] = True

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        C: float = 1.0,
        bias: bool = True,
        solver: Any = None,
        tol: float = TOLERANCE,
        class_weight: Any = None,
        memory: int | float | str = "2GB",
        time_limit: float | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def decision_function(self, X: Points) -> Array:
        """f(x), the log-odds of classes_[1]; of more classes, those of each against the rest, as columns."""
        scores = self._scores(X)
        return np.asarray(scores[:, 0]) if self.classes_.size == 2 else scores

    def predict_log_proba(self, X: Points) -> Array:
        """The logarithm of the probability of each class."""
        scores = self._scores(X)
        if self.classes_.size == 2:
            return np.asarray(-np.logaddexp(0.0, np.concatenate([scores, -scores], axis=1)))
        each = -np.logaddexp(0.0, -scores)
        return np.asarray(each - np.logaddexp.reduce(each, axis=1, keepdims=True))

    def predict_proba(self, X: Points) -> Array:
        """The probability of each class, in the order of classes_."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Points) -> Array:
        """The most probable class of each point."""
        values = self.decision_function(X)  # first: it says so where nothing is fitted yet
        return predicted(self.classes_, values)

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        self.classes_, group = classes_of(self, y)
        k = self.classes_.size
        C = self.C * weights_with_classes(self, self.classes_, group, weight)

        def task(c: int, name: str) -> Task:
            return Task(np.where(group == c, 1.0, -1.0), Logistic(), C, bool(self.bias), name=name)

        if k == 2:
            return None, group, [task(1, "")]
        return None, group, [task(c, f"{name_of(self.classes_[c])} against the rest") for c in range(k)]

    def _gram(self, training: Training) -> Gram:
        """The points, where the kernel is linear; features, where there are few; else K, where there is room for it and
        for the factors of all threads.
        """
        constant = constant_beside_linear(training.kernel)
        if constant is not None:
            return LinearGram(training.points, constant)
        at_once = min(len(training.tasks), thread_count())
        ahead = len(training.tasks) * held_step(count(training.points))
        return gram_of(training.kernel, training.points, self.memory, shares=2 + at_once, ahead=ahead)
