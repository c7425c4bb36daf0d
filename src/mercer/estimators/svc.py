"""Support vector classification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..kernels import Gaussian
from ..losses import HardMargin, Hinge
from ..types import Array, Index, Points
from .base import Machine
from .checks import require_choice, require_limits, require_positive
from .contributions import Contributions, contributions
from .elsewhere import NO_PROBABILITIES, Absent
from .labels import classes_of, name_of, predicted, weights_with_classes
from .multiclass import class_slices, join, pack, pairs, unpack, votes
from .tasks import Task


class SVC(ClassifierMixin, Machine):  # type: ignore[misc]
    """min 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)), with f(x) = <w, phi(x)> + b: a wide margin.

    C_i is C times the weight of the point and of its class; C=float("inf") is the hard margin, y_i f(x_i) >= 1.
    bias=False is b = 0. Of three or more classes, each is told from each other ("ovo", by votes) or from the rest
    ("ovr").

    Parameters
    ----------
    kernel, solver : an object, or the same thing as text: "rbf(gamma=0.5) + linear", "qp(solver=clarabel)".
        A kernel may also be a function of two matrices, as in scikit-learn.
    C : the weight of mistakes, > 0.
    bias : whether b is free.
    tol : the relative gap to reach.
    class_weight : None, "balanced", or a weight for each class. For "balanced", a point counts with its own weight: a
        weight of 2 is the point twice.
    multiclass : "ovo" or "ovr".
    memory : what the Gram matrix may take, such as "2GB".
    time_limit, max_iter : seconds for all problems together, and rounds for each; None bounds the work of each to that
        of 2,000 full rounds, however small the memory makes them.
    random_state : the seed of solvers that draw at random.
    verbose : whether to show the progress on stderr.

    Attributes
    ----------
    certificate_, certificates_ : how good the answer is; of several problems the worst, and all of them.
    solution_ : the Solution; of several problems, all of them (the points of a pair: those of its first class, then of
        its second one, as they stand in X).
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_ : as in scikit-learn's SVC; with
        "ovr" dual_coef_ has a row for each class.
    kernel_ : the kernel, with its parameters found. n_iter_ : the most rounds of any problem.
    """

    targets: ClassVar[str] = "labels"

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
        scores = self._scores(X)
        if self.classes_.size == 2:
            return np.asarray(scores[:, 0])
        return votes(scores, self.classes_.size) if self._paired() else scores

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
