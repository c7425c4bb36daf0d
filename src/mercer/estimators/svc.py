"""Support vector classification."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..amounts import TOLERANCE
from ..columns import votes_between
from ..hints import NO_PROBABILITIES, Absent
from ..kernels import Gaussian
from ..kernels.points import Domain, count
from ..losses import HardMargin, Hinge
from ..parallel import thread_count
from ..problem import Task
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
from .contributions import Contributions, contributions
from .machine import Machine
from .multiclass import apart, cast, class_slices, decision, pack, paired, pairs, unpack


class SVC(ClassifierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)), with f(x) = <w, phi(x)> + b: a wide margin.

    C_i is C times the weight of the point and of its class; C=float("inf") is the hard margin, y_i f(x_i) >= 1.
    bias=False is b = 0. Of three or more classes, each is told from each other ("ovo", by votes) or from the rest
    ("ovr").

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
        An object, or the same thing as text: "qp(solver=clarabel)". None lets Mercer choose; solution_.reason says why.
    tol : float, default=1e-4
        The relative gap to reach.
    class_weight : dict or "balanced", default=None
        A weight for each class. With "balanced" each class weighs the same; a point counts with its own weight: a
        weight of 2 is the point twice.
    multiclass : {"ovo", "ovr"}, default="ovo"
        Each class against each other, by votes; or against the rest.
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
        How it was found: solver, rounds, history, work; of several problems, all of them. The points of a pair are
        those of its first class, then of its second one, as they stand in X.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    support_ : ndarray of shape (n_support,)
        The rows of the training set that are support vectors.
    support_vectors_ : array or list of n_support points
        The support vectors.
    n_support_ : ndarray of shape (n_classes,)
        How many support vectors each class has.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        The coefficients as in scikit-learn's SVC; of two classes, and with "ovr", a row for each problem.
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
    _settings: ClassVar[Settings] = LIMITS | {
        "C": POSITIVE._replace(meaning=f"{POSITIVE.meaning}, or infinite (the hard margin)", most=inf),
        "multiclass": ("ovo", "ovr"),
        "bias": BOTH,
    }

    predict_proba = Absent(NO_PROBABILITIES)
    predict_log_proba = Absent(NO_PROBABILITIES)

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        C: float = 1.0,
        bias: bool = True,
        solver: Any = None,
        tol: float = TOLERANCE,
        class_weight: Any = None,
        multiclass: str = "ovo",
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
        self.multiclass = multiclass
        self.memory = memory
        self.time_limit = time_limit
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def decision_function(self, X: Points) -> Array:
        """f(x), positive for classes_[1]; of more classes, a column for each (with "ovo": votes and their margins)."""
        X = self._admit(X)
        by_kernel = self._coef is None and self._expanded is None
        return self._votes(X) if by_kernel and self._paired() else self._decided(self._f(X))

    def _decided(self, scores: Array) -> Array:
        """The same, from f(x) of each problem."""
        if not self._paired():
            return np.asarray(scores[:, 0]) if self.classes_.size == 2 else scores
        none = np.zeros(scores.shape[1])
        return decision(*cast(lambda at: apart(scores[at], self.classes_.size), len(scores), self.classes_.size, none))

    def _votes(self, X: Points) -> Array:
        """What the pairs of classes say, some points at a time: for many classes there are very many pairs."""
        if self.kernel_.domain is not Domain.VALUES and len(self.support_):
            found = votes_between(self.kernel_, *self._between(X), self.intercept_)
            if found is not None:
                return decision(*found)

        def sums(at: slice) -> Array:
            return self._parts(X[at])

        threads = 1 if self.kernel_.serial else thread_count()
        return decision(*cast(sums, count(X), self.classes_.size, self.intercept_, threads=threads))

    def pairwise_decision_function(self, X: Points) -> Array:
        """f(x) of each pair of classes (0, 1), (0, 2), ..., (1, 2), ..., positive for the first class of the pair."""
        scores = self._scores(X)
        if self.classes_.size > 2 and not self._paired():
            raise ValueError("This SVC was fitted with multiclass='ovr', which has no pairs: fit it with 'ovo'.")
        return -scores if self.classes_.size == 2 else scores

    def predict(self, X: Points) -> Array:
        """The class of each point: of the sign of f(x), or the one with the largest value of decision_function."""
        values = self.decision_function(X)  # first: it says so where nothing is fitted yet
        return predicted(self.classes_, values)

    def contributions(self, X: Points, top: int = 5) -> Contributions:
        """The support vectors that carry each prediction: row numbers of the training set, and beta_i k(x_i, x).

        Of two classes, the values and the intercept sum up to decision_function, so that positive ones speak for
        classes_[1]. Of more, they are those of the predicted class: of its own problem ("ovr"), or added over its pairs
        ("ovo"), and positive ones speak for it. The largest in size come first.
        """
        return contributions(self, X, top)

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        self.classes_, group = classes_of(self, y)
        k, bias = self.classes_.size, bool(self.bias)
        hard = float("inf") == self.C
        loss = HardMargin() if hard else Hinge()
        C = np.ones(weight.size) if hard else self.C * weights_with_classes(self, self.classes_, group, weight)
        if k == 2:
            return None, group, [Task(np.where(group == 1, 1.0, -1.0), loss, C, bias)]

        order = np.argsort(group, kind="stable")
        group, C = group[order], C[order]
        if self.multiclass == "ovr":
            names = [f"{name_of(c)} against the rest" for c in self.classes_]
            sides = [np.where(group == c, 1.0, -1.0) for c in range(k)]
            return order, group, [Task(y, loss, C, bias, name=n) for y, n in zip(sides, names, strict=True)]
        rows, ends, labels = paired(np.bincount(group).tolist())
        C, names = C[rows], [name_of(c) for c in self.classes_]
        return order, group, [
            Task(labels[a:z], loss, C[a:z], bias, rows=rows[a:z], name=f"{names[i]} against {names[j]}")
            for (i, j), (a, z) in zip(pairs(k), pairwise([0, *ends.tolist()]), strict=True)
        ]  # fmt: skip

    def _paired(self) -> bool:
        """Whether there is a problem for each pair of more than two classes."""
        return self.classes_.size > 2 and self.multiclass == "ovo"

    def _pack(self, betas: list[Array], sizes: list[int]) -> Array:
        return pack(betas, sizes) if self._paired() else np.stack(betas)

    def _unpack(self, layout: Array, sizes: list[int]) -> list[Array]:
        return unpack(layout, sizes) if self._paired() else list(layout)

    def _blocks(self) -> list[slice]:
        return class_slices(self.n_support_.tolist()) if self._paired() else [slice(0, len(self.support_))]
