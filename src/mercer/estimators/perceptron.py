"""The perceptron, with its weights in the space of the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from ..kernels import Linear
from ..kernels.points import is_sparse, squared_norms
from ..limits import Deadline, ctrl_c_held
from ..online import MarginCertificate, Primal, margin_certificate, one_pass
from ..solution import Inseparable, Status
from ..types import Array, Points
from .callbacks import CallbackSupportMixin, Hooks, with_callbacks
from .checks import POSITIVE, classes_of, classes_of_stream, keeping, require_settings, validated
from .functions import Functions, linear_functions
from .online import Online, confirmed, weighted_rows

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
_LEAST = float(np.sqrt(np.finfo(np.float64).tiny))  # Squares of smaller coordinates are not told from zero.


class Perceptron(CallbackSupportMixin, Online, LinearClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Where y_i <w, x_i> <= 0, w += eta y_i x_i; pass after pass over the points, until one makes no mistake.

    A point with a sample weight adds that many times as much, w += eta weight_i y_i x_i; one of weight 0 is left out.
    bias=True gives every point one more coordinate, 1, whose weight is b. Of three or more classes, each is told from
    the rest. Data that cannot be separated ends at the limit, or earlier with a proof: when w is again what it was
    before. Memory-mapped arrays are read as they are.

    Parameters
    ----------
    eta : float, default=1.0
        The length of a step, > 0; since w begins at 0, it only scales w.
    max_epochs : int, default=1000
        Passes, at most.
    bias : bool, default=False
        Whether f(x) = <w, x> + b, or b = 0.
    shuffle : bool, default=False
        Whether each pass has an order of its own, drawn with random_state; else that of X.
    trace : bool, default=False
        Whether to keep every update in `trace_`: epoch, row of X, its score, its alpha afterwards.
    time_limit : float, default=None
        Seconds that a fit may take.
    random_state : int or RandomState, default=None
        The seed of the order.
    verbose : bool, default=False
        Whether to show one live line of progress, on stderr or in the notebook.

    Attributes
    ----------
    certificate_ : MarginCertificate
        Bounds on the margin; of several machines, those of the worst.
    certificates_ : tuple of MarginCertificate
        Those of all machines.
    solution_ : Solution or tuple of Solution
        With the history, a step for each pass; of several machines, all of them.
    function_ : RKHSFunction or tuple of RKHSFunction
        f as a function that can be added, scaled and measured; of several problems, theirs in order.
    mistakes_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        alpha, the mistakes on each row of X (for each class, of more than two); w = eta sum alpha_i y_i x_i, times the
        weights.
    n_mistakes_ : ndarray of shape (n_problems,)
        All mistakes of each machine.
    coef_ : ndarray of shape (n_problems, n_features)
        A row of weights for two classes, or for each class.
    intercept_ : ndarray of shape (n_problems,)
        b of each problem.
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    n_iter_ : int
        The passes.
    trace_ : tuple of Update
        Every update, where trace=True asked for them.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    def __init__(
        self,
        eta: float = 1.0,
        max_epochs: int = 1_000,
        bias: bool = False,
        shuffle: bool = False,
        trace: bool = False,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.eta = eta
        self.max_epochs = max_epochs
        self.bias = bias
        self.shuffle = shuffle
        self.trace = trace
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Points, y: Any, sample_weight: Any = None) -> Self:
        """Learn from points X of classes y, with weights (>= 0); see `certificate_` for what is proved."""
        deadline = Deadline.after(self.time_limit)
        X, y = self._admit(X, y, reset=True)
        seen = weighted_rows(sample_weight, len(y))
        points = seen.of(X)
        self.classes_, group = classes_of(self, seen.of(y))
        sides = self._sides(group)
        learner = self._learner(points, sides * seen.weight)
        hooks = Hooks(self, len(sides), X, y, sample_weight) if getattr(self, "_skl_callbacks", None) else None
        with keeping(self) as interrupt:
            outcome = self._learn(learner, hooks, deadline)
            self._keep(learner)
            found = self._certificates(points, sides, outcome.statuses, outcome.proofs)
            certificates = [seen.told(certificate, Linear(), points) for certificate in found]
            beta = self.eta * learner.alpha * learner.Y
            self._conclude(learner, outcome, beta, learner.b, certificates, hooks, seen)
            if not interrupt.asked:
                self._warn()
        return self

    def partial_fit(self, X: Points, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one pass over a piece of a stream; all `classes` are named with the first piece.

        mistakes_ and trace_ are of this piece. There is no certificate: mercer.certify gives one for any data. Ctrl-C
        in the middle leaves the machine as it was before the piece.
        """
        first = not hasattr(self, "coef_")
        X, y = self._admit(X, y, reset=first)
        seen = weighted_rows(sample_weight, len(y))
        self.classes_, group = classes_of_stream(self, y, classes)
        learner = self._learner(seen.of(X), self._sides(seen.of(group)) * seen.weight, goes_on=not first)
        one_pass(learner, next(self._orders(seen.rows.size)), np.ones(len(learner.Y), np.bool_), 1)
        with ctrl_c_held():
            self._keep(learner)
            self._forget_fit(learner, seen)
        return self

    @property
    def function_(self) -> Functions:
        """f = <w, .> + b as an RKHSFunction; of more than two classes, a tuple with one for each."""
        check_is_fitted(self)
        return linear_functions(self.coef_, self.intercept_)

    def decision_function(self, X: Points) -> Array:
        """f(x), positive for classes_[1]; of more classes, a column for each."""
        check_is_fitted(self)
        X = validated(self, X, reset=False, **_CHECKS)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return np.asarray(scores[:, 0] if self.classes_.size == 2 else scores)

    def _admit(self, X: Points, y: Any, reset: bool) -> tuple[Any, Any]:
        self._check()
        require_settings(self, {"eta": POSITIVE})
        X, y = validated(self, X, y, reset=reset, **_CHECKS)
        _require_products(X)
        return X, y

    def _admit_again(self, X: Points, y: Any) -> tuple[Any, Any]:
        return self._admit(X, y, reset=False)

    def _certificates(
        self, X: Points, Y: Array, statuses: Sequence[Status | None], proofs: list[Inseparable | None]
    ) -> list[MarginCertificate]:
        scores = np.asarray(X @ self.coef_.T + self.intercept_, np.float64).T
        norms = np.hypot(np.linalg.norm(self.coef_, axis=1), float(self.bias) * self.intercept_)
        parts = zip(scores, Y, norms, self.eta * self.n_mistakes_, statuses, proofs, self._names(), strict=True)
        return [
            margin_certificate(f, y, float(norm), float(weight), *self._confirmed(X, y, status, proof), name=name)
            for f, y, norm, weight, status, proof, name in parts
        ]

    def _confirmed(
        self, X: Points, y: Array, status: Status | None, proof: Inseparable | None
    ) -> tuple[Status | None, Inseparable | None]:
        if proof is None:
            return status, None
        signed = proof.weights * y
        square = float(((X.T @ signed) ** 2).sum() + float(self.bias) * signed.sum() ** 2)
        own = squared_norms(X[proof.weights > 0.0]).astype(np.float64) + float(self.bias)
        return confirmed(status, proof, square, float(np.sqrt(own.max())), not abs(X[proof.weights > 0.0]).max())

    def _learner(self, X: Any, Y: Array, goes_on: bool = False) -> Primal:
        W, b, weight = np.zeros((len(Y), X.shape[1])), np.zeros(len(Y)), np.zeros(len(Y))
        if goes_on:
            W, b, weight = self.coef_.copy(), self.intercept_.copy(), self.n_mistakes_.astype(np.float64)
        return Primal(X, Y, W, b, float(self.eta), bool(self.bias), weight, bool(self.trace))

    def _keep(self, learner: Primal) -> None:
        self.coef_, self.intercept_ = learner.W, learner.b
        made = learner.norms()[1]  # each as often as its point weighs
        self.n_mistakes_ = made if (made % 1).any() else made.astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _require_products(X: Any) -> None:
    """Raise where inner products of the points overflow, or are all too small to be told from zero."""
    values = X.data if is_sparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest and not _LEAST <= largest <= 1.0 / (_LEAST * X.shape[1]):
        raise ValueError(
            f"Inner products of these points are beyond float64, for the largest coordinate is {largest:.1g}: "
            "scale the data first (divide by its largest)."
        )
