"""scikit-learn's SVC, SVR and OneClassSVM, trained and evaluated by Mercer.

Two private hooks are taken over: `_dense_fit` and `_sparse_fit`, which turn data into the nine attributes that LIBSVM
returns, and the functions that evaluate them. Everything else is scikit-learn's: validation (but for plain targets),
gamma, class weights, warnings, votes, ties, tags. Predictions are made from the attributes alone, so that models which
were changed, or were trained by scikit-learn, work too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from .. import estimators
from ..columns import sums_between, votes_between
from ..estimators.checks import classes_of
from ..estimators.machine import Machine
from ..estimators.multiclass import cast as cast_votes
from ..estimators.multiclass import join, paired
from ..estimators.together import Lot
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from ..kernels.pairwise import linear_scores
from ..kernels.points import is_sparse
from ..losses import EpsilonInsensitive, Hinge, Loss, OneClass
from ..solution import Certificate
from ..types import Array
from .answer import LibsvmAnswer, Problems, RefusedError, log, of_machine, of_small, small_dense, told
from .documented import documented

try:
    from sklearn.utils._sparse import _align_api_if_sparse as as_theirs
except ImportError:  # before it had sparse arrays
    as_theirs = sp.csr_matrix

_HINGE, _ONE_CLASS = Hinge(), OneClass()
LARGE = 1e10  # is what C = inf means to scikit-learn
_VALUES_AS_LIBSVM = 100_000
"""Values of a linear kernel, or entries: sums over so few are taken as LIBSVM does, vector by vector."""


class OnMercer:
    """Mixed in before one of scikit-learn's machines."""

    kernel: Any
    gamma: Any
    certificate_: Certificate

    if TYPE_CHECKING:  # scikit-learn's own, of which type checkers and editors see nothing

        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
            """Fit the machine."""

        def predict(self, X: Any) -> Array:
            """The class, the value or the side of each point."""

    def _machine(self, kernel: Kernel) -> Machine:
        """Mercer's machine with the same settings."""
        raise NotImplementedError

    # Fitting.

    def _validate_targets(self, y: Any) -> Array:
        """Theirs. Of a fit of 20 points (0.4 to 0.8 ms) it takes 0.05 ms to look at plain targets once more, and 0.1 ms
        to find the weights of classes that have none: so plain targets are taken as they are.
        """
        settings: Any = self
        plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf"
        if plain and settings._impl != "c_svc":
            return np.ascontiguousarray(y, np.float64)
        if plain and settings.class_weight is None and y.size and y.min() < y.max():
            settings.classes_, group = classes_of(self, y)
            settings.class_weight_ = np.ones(settings.classes_.size)
            return group.astype(np.float64)
        return np.asarray(super()._validate_targets(y))  # type: ignore[misc]

    def _dense_fit(self, X: Any, y: Array, sample_weight: Array, *rest: Any, **named: Any) -> None:
        given = X
        if callable(self.kernel):
            self._BaseLibSVM__Xfit = X
            X = self._compute_kernel(X)  # type: ignore[attr-defined]
            if X.shape[0] != X.shape[1]:
                raise ValueError("X.shape[0] should be equal to X.shape[1]")
        if not self._fitted_by_mercer(X, y, sample_weight):
            super()._dense_fit(given, y, sample_weight, *rest, **named)  # type: ignore[misc]

    def _sparse_fit(self, X: Any, y: Array, sample_weight: Array, *rest: Any, **named: Any) -> None:
        if not self._fitted_by_mercer(X, y, sample_weight):
            super()._sparse_fit(X, y, sample_weight, *rest, **named)  # type: ignore[misc]

    def _fitted_by_mercer(self, X: Any, y: Array, sample_weight: Array) -> bool:
        """Fit, and say so in the log; False, with the reason in the log, where LIBSVM has to do it."""
        self.__dict__.pop("certificate_", None)
        name = type(self).__name__
        try:
            weight = self._weights(y, sample_weight)
            self._require_possible(X, y, weight)
            found = self._found(X, y, weight)
        except (RefusedError, ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            log.info("%s.fit: by scikit-learn, because %s", name, error)
            return False
        told(name, found.certificate)
        self._keep(found, X)
        return True

    def _weights(self, y: Array, sample_weight: Array) -> Array | None:
        """The weight of each point, times that of its class; below 0 is none, as in LIBSVM. None: all are 1."""
        by_class = None if getattr(self, "class_weight", None) is None else self.class_weight_  # type: ignore[attr-defined]
        if not sample_weight.size:
            return None if by_class is None else by_class[y.astype(int)]
        if sample_weight.ndim != 1:
            raise RefusedError("sample_weight has not one dimension")
        weight = np.maximum(sample_weight, 0.0)
        return weight if by_class is None else weight * by_class[y.astype(int)]

    def _found(self, X: Any, y: Array, weight: Array | None) -> LibsvmAnswer:
        """The answer: of few points by one native call, where that leads to the end; else by Mercer's machine."""
        kernel, small, tol = self._mercer_kernel(), small_dense(X), self.tol  # type: ignore[attr-defined]
        if small is not None:
            found = of_small(kernel, small, y, weight, self._posed, tol)
            if found is not None:
                return found
        weight = np.ones(X.shape[0]) if weight is None else weight
        return of_machine(self._machine(kernel), X if small is None else small, y, weight, tol)

    def _posed(self, y: Array, weight: Array | None) -> Problems:
        """The problems on few points."""
        raise NotImplementedError

    def _require_possible(self, X: Any, y: Array, weight: Array | None) -> None:
        """Raise with the reason, where Mercer does not do what is asked for."""
        self._require_kernel()
        settings: Any = self
        if settings.max_iter != -1:
            raise RefusedError("max_iter counts steps of LIBSVM")
        if getattr(self, "_effective_probability", settings.probability) is True:
            raise RefusedError("probability=True is Platt's method inside LIBSVM")
        if weight is not None and not (np.isfinite(weight).all() and (weight > 0).any()):
            raise RefusedError("weights are not finite, or none is positive")
        if callable(self.kernel) and not np.isfinite(X).all():  # of points, scikit-learn has seen to it
            raise RefusedError("kernel values are not finite")
        if weight is None or settings._impl != "c_svc":
            return
        if not (np.bincount(y.astype(int), weight, settings.classes_.size) > 0).all():
            raise RefusedError("a class has no point of positive weight")

    def _require_kernel(self) -> None:
        settings: Any = self
        if self.kernel == "sigmoid":
            raise RefusedError("the sigmoid kernel is not positive definite")
        if self.kernel in ("rbf", "poly") and not 0 < settings._gamma < np.inf:
            raise RefusedError(f"gamma is {settings._gamma}")
        if self.kernel == "poly" and (settings.degree < 1 or settings.coef0 < 0):
            raise RefusedError("the polynomial kernel has degree < 1 or coef0 < 0")

    def _mercer_kernel(self) -> Kernel:
        """The kernel, with gamma as scikit-learn has found it."""
        settings: Any = self
        if self.kernel == "linear":
            return Linear()
        if self.kernel == "rbf":
            return Gaussian(float(settings._gamma))
        if self.kernel == "poly":
            return Polynomial(int(settings.degree), float(settings._gamma), float(settings.coef0))
        return Precomputed()

    def _keep(self, found: LibsvmAnswer, X: Any) -> None:
        """The nine attributes of LIBSVM, in its own conventions: of two classes, the first is the positive one."""
        classifies = self._impl == "c_svc"  # type: ignore[attr-defined]
        sign = -1.0 if classifies and self.classes_.size == 2 else 1.0  # type: ignore[attr-defined]
        coefficients = np.ascontiguousarray(sign * found.coefficients)
        self.certificate_ = found.certificate
        self.support_ = found.support.astype(np.int32)
        self._n_support = np.array(found.per_class if classifies else [found.support.size, 0], np.int32)
        self.intercept_ = sign * found.intercepts
        given = callable(self.kernel) or self.kernel == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if given else X[found.support]
        self.dual_coef_ = coefficients
        if self._sparse:  # type: ignore[attr-defined]
            self.support_vectors_ = as_theirs(sp.csr_array(self.support_vectors_))
            self.dual_coef_ = as_theirs(_full_rows(coefficients))
        self._probA, self._probB, self.fit_status_ = np.empty(0), np.empty(0), 0
        self._num_iter = np.array(found.rounds, np.int32)

    # Evaluation.

    def _dense_predict(self, X: Any) -> Array:
        given = X
        if callable(self.kernel):
            X = self._compute_kernel(X)  # type: ignore[attr-defined]
        fits = not callable(self.kernel) or (X.ndim == 2 and X.shape[1] == self.shape_fit_[0])  # type: ignore[attr-defined]
        found = self._predicted(X) if fits else None
        return super()._dense_predict(given) if found is None else found  # type: ignore[misc]

    def _sparse_predict(self, X: Any) -> Array:
        found = self._predicted(X)
        return super()._sparse_predict(X) if found is None else found  # type: ignore[misc]

    def _dense_decision_function(self, X: Any) -> Array:
        scores = self._pair_scores(X) if X.ndim == 2 else None
        return super()._dense_decision_function(X) if scores is None else scores  # type: ignore[misc]

    def _sparse_decision_function(self, X: Any) -> Array:
        scores = self._pair_scores(X)
        return super()._sparse_decision_function(X) if scores is None else scores  # type: ignore[misc]

    def _dual(self) -> Array | None:
        """The coefficients, a column for each row of LIBSVM's; None where it has to evaluate them."""
        model: Any = self
        try:
            self._require_kernel()
        except RefusedError:
            return None
        dual = model._dual_coef_.toarray() if is_sparse(model._dual_coef_) else model._dual_coef_
        return np.ascontiguousarray(dual.T) if dual.size else None

    def _pair_scores(self, X: Any) -> Array | None:
        """f(x) of each problem, as columns; None where LIBSVM has to do it."""
        dual = self._dual()
        if dual is None:
            return None
        parts = self._sums(X, dual)
        sums = np.ascontiguousarray(join(parts)) if len(parts) > 1 else parts[0].T
        return np.asarray(sums + self._intercept_)  # type: ignore[attr-defined]

    def _predicted(self, X: Any) -> Array | None:
        """What LIBSVM predicts: a number, a side, or the number of the class with most votes; None as above."""
        dual, model = self._dual(), cast(Any, self)
        if dual is None:
            return None
        if dual.shape[1] > 1:
            return np.asarray(self._votes(X, dual).argmax(axis=1), np.float64)
        scores = self._sums(X, dual)[0, 0] + model._intercept_[0]
        if self._impl == "epsilon_svr":  # type: ignore[attr-defined]
            return np.asarray(scores)
        if self._impl == "one_class":  # type: ignore[attr-defined]
            return np.where(scores > 0, 1.0, -1.0)
        return np.asarray(scores <= 0, np.float64)

    def _votes(self, X: Any, dual: Array) -> Array:
        """The votes for each class, (points, classes)."""
        model: Any = self
        biases, found = np.ascontiguousarray(model._intercept_, np.float64), None
        if self.kernel in ("rbf", "poly"):
            Z, edges = model.support_vectors_, [0, *np.cumsum(model._n_support).tolist()]
            found = votes_between(self._mercer_kernel(), X, Z, dual, edges, np.float64, biases, ties=False)
        found = found or cast_votes(
            lambda at: self._sums(X[at], dual), X.shape[0], model.classes_.size, biases, ties=False
        )
        return found[0]

    def _sums(self, X: Any, dual: Array) -> Array:
        """sum_i beta_i k(x_i, x) over the support vectors of each class, (classes, columns of dual, points); of two
        classes or none, over all.
        """
        model: Any = self
        many, columns = dual.shape
        edges = [0, *np.cumsum(model._n_support).tolist()] if columns > 1 else [0, many]
        if self.kernel in ("rbf", "poly"):
            return sums_between(self._mercer_kernel(), X, model.support_vectors_, dual, edges, np.float64)
        pieces = [slice(start, stop) for start, stop in pairwise(edges)]
        if callable(self.kernel) or self.kernel == "precomputed":
            values = X.take(model.support_, axis=1)  # by rows, as below: the same sums, to the last digit
        elif (X.shape[0] + columns) * max(X.shape[1], columns) <= _VALUES_AS_LIBSVM:
            values = _dense(X) @ _dense(model.support_vectors_).T
        else:
            vectors = model.support_vectors_
            return np.stack([linear_scores(X, np.asarray(dual[p].T @ vectors[p])).T for p in pieces])
        return np.stack([(values[:, p] @ dual[p]).T for p in pieces])


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _full_rows(coefficients: Array) -> Any:
    """As CSR with every entry stored, zeros too: that is how LIBSVM's are."""
    rows, n = coefficients.shape
    if n == 0:
        return sp.csr_array([[]])
    return sp.csr_array((coefficients.ravel(), np.tile(np.arange(n), rows), np.arange(0, rows * n + 1, n)), (rows, n))


def _of_all(loss: Loss, y: Array, C: float, weight: Array | None, mass: float = 0.0) -> Lot:
    """One problem on all points."""
    weights = np.full(y.size, C) if weight is None else C * weight
    return Lot(loss, y, weights, np.arange(y.size), np.array([y.size]), mass=mass)


@documented
class SVC(OnMercer, sklearn.svm.SVC):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.SVC(kernel, C=min(self.C, LARGE))

    def _posed(self, y: Array, weight: Array | None) -> Problems:
        C, group = min(self.C, LARGE), y.astype(np.intp)
        if self.classes_.size == 2:
            return Problems(None, group, _of_all(_HINGE, 2.0 * y - 1.0, C, weight))
        order = group.argsort(kind="stable")
        group = group[order]
        rows, ends, labels = paired(np.bincount(group).tolist())
        weights = np.full(rows.size, C) if weight is None else C * weight[order][rows]
        return Problems(order, group, Lot(_HINGE, labels, weights, rows, ends))


@documented
class SVR(OnMercer, sklearn.svm.SVR):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.SVR(kernel, C=min(self.C, LARGE), epsilon=self.epsilon)

    def _posed(self, y: Array, weight: Array | None) -> Problems:
        return Problems(None, None, _of_all(EpsilonInsensitive(self.epsilon), y, min(self.C, LARGE), weight))


@documented
class OneClassSVM(OnMercer, sklearn.svm.OneClassSVM):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.OneClassSVM(kernel, nu=self.nu)

    def _posed(self, y: Array, weight: Array | None) -> Problems:
        mass = float(self.nu) * (y.size if weight is None else float(weight.sum()))
        return Problems(None, None, _of_all(_ONE_CLASS, np.zeros(y.size), 1.0, weight, mass))
