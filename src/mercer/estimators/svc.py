"""Support vector classification."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..kernels import Gaussian
from ..losses import HardMargin, Hinge
from ..memory import parse_bytes
from ..types import Array, Index, Points
from .base import Machine
from .checks import require_choice, require_limits, require_positive
from .contributions import Contributions, contributions
from .elsewhere import NO_PROBABILITIES, Absent
from .labels import classes_of, name_of, predicted, weights_with_classes
from .machines import COPY
from .multiclass import class_slices, join, pack, pairs, unpack, votes
from .tasks import Task

_HELD = 24  # bytes for each class and each other one, of a point on its way to votes
_LEAST = 10_000  # points at a time


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

    predict_proba = Absent(NO_PROBABILITIES)
    predict_log_proba = Absent(NO_PROBABILITIES)

    def __init__(
        self,
        kernel: Any = Gaussian(),  # noqa: B008
        C: float = 1.0,
        bias: bool = True,
        solver: Any = None,
        tol: float = 1e-4,
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
        return self._made_of(X, np.asarray)

    def _made_of(self, X: Points, what: Callable[[Array], Array]) -> Array:
        """What is made of the values of decision_function: of a matrix of many points, some at a time, where the scores
        of all pairs of classes would take more than a part of the memory.
        """
        paired = hasattr(self, "classes_") and self._paired()
        k, n = self.classes_.size if paired else 0, X.shape[0] if paired and getattr(X, "ndim", 0) == 2 else 0
        size = max(_LEAST, int(COPY * parse_bytes(self.memory) / (_HELD * k * k))) if n else 0
        if n <= size:
            scores = self._scores(X)  # it says so where nothing is fitted yet
            if self.classes_.size == 2:
                return what(scores[:, 0])
            return what(votes(scores, self.classes_.size) if self._paired() else scores)
        points, out = self._admit(X), None
        for start, stop in pairwise(np.linspace(0, n, -(-n // size) + 1).astype(int).tolist()):
            found = what(votes(self._f(points[start:stop]), k))
            out = np.empty((n, *found.shape[1:]), found.dtype) if out is None else out
            out[start:stop] = found
        return np.asarray(out)

    def pairwise_decision_function(self, X: Points) -> Array:
        """f(x) of each pair of classes (0, 1), (0, 2), ..., (1, 2), ..., positive for the first class of the pair."""
        scores = self._scores(X)
        if self.classes_.size > 2 and not self._paired():
            raise ValueError("This SVC was fitted with multiclass='ovr', which has no pairs: fit it with 'ovo'.")
        return -scores if self.classes_.size == 2 else scores

    def predict(self, X: Points) -> Array:
        """The class of each point: of the sign of f(x), or the one with the largest value of decision_function."""
        return self._made_of(X, lambda values: predicted(self.classes_, values))

    def contributions(self, X: Points, top: int = 5) -> Contributions:
        """The support vectors that carry each prediction: row numbers of the training set, and beta_i k(x_i, x).

        Of two classes, the values and the intercept sum up to decision_function, so that positive ones speak for
        classes_[1]. Of more, they are those of the predicted class: of its own problem ("ovr"), or added over its pairs
        ("ovo"), and positive ones speak for it. The largest in size come first.
        """
        return contributions(self, X, top)

    def _check(self) -> None:
        require_limits(self)
        require_positive(self, "C", infinite="the hard margin")
        require_choice(self, "multiclass", ("ovo", "ovr"))
        require_choice(self, "bias", (True, False))

    def _plan(self, y: Any, weight: Array) -> tuple[Any, Index, list[Task]]:
        self.classes_, group = classes_of(self, y)
        k = self.classes_.size
        hard = float("inf") == self.C
        loss = HardMargin() if hard else Hinge()
        C = np.ones(weight.size) if hard else self.C * weights_with_classes(self, self.classes_, group, weight)

        def task(y: Array, rows: Any, name: str) -> Task:
            return Task(y, loss, C if rows is None else C[rows], bool(self.bias), rows=rows, name=name)

        if k == 2:
            return None, group, [task(np.where(group == 1, 1.0, -1.0), None, "")]
        order = np.argsort(group, kind="stable")
        group, C = group[order], C[order]
        if self.multiclass == "ovr":
            rest = [(c, f"{name_of(self.classes_[c])} against the rest") for c in range(k)]
            return order, group, [task(np.where(group == c, 1.0, -1.0), None, name) for c, name in rest]
        return order, group, [task(y, rows, name) for y, rows, name in self._pairs(group)]

    def _pairs(self, group: Index) -> Iterator[tuple[Array, Index, str]]:
        """Each pair of classes: labels, the points of the first and then of the second, and what to call it."""
        every, names = np.arange(group.size), [name_of(c) for c in self.classes_]
        own = [every[place] for place in class_slices(np.bincount(group).tolist())]
        for i, j in pairs(len(own)):
            rows = np.concatenate([own[i], own[j]])
            y = np.ones(rows.size)
            y[own[i].size :] = -1.0
            yield y, rows, f"{names[i]} against {names[j]}"

    def _paired(self) -> bool:
        """Whether there is a problem for each pair of more than two classes."""
        return self.classes_.size > 2 and self.multiclass == "ovo"

    def _pack(self, betas: list[Array], sizes: list[int]) -> Array:
        return pack(betas, sizes) if self._paired() else np.stack(betas)

    def _unpack(self, layout: Array, sizes: list[int]) -> list[Array]:
        return unpack(layout, sizes) if self._paired() else list(layout)

    def _blocks(self) -> list[slice]:
        return class_slices(self.n_support_.tolist()) if self._paired() else super()._blocks()

    def _join(self, parts: list[Array]) -> Array:
        return join(parts) if self._paired() else parts[0]
