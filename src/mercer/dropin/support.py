"""scikit-learn's SVC, SVR and OneClassSVM, trained and evaluated by Mercer.

Two private hooks are taken over: `_dense_fit` and `_sparse_fit`, which turn data into the nine attributes that LIBSVM
returns, and the functions that evaluate them. Everything else is scikit-learn's: validation, gamma, class weights,
warnings, votes, ties, tags. Predictions are made from the attributes alone, so that models which were changed, or were
trained by scikit-learn, work too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from .. import estimators
from ..columns import sums_between
from ..estimators.base import Machine
from ..estimators.multiclass import join, pairs
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from ..kernels.pairwise import linear_scores
from ..kernels.points import is_sparse
from ..solution import Certificate
from ..types import Array
from .answer import Answer, RefusedError, answer, log, told
from .documented import documented

try:
    from sklearn.utils._sparse import _align_api_if_sparse as as_theirs
except ImportError:  # before it had sparse arrays
    as_theirs = sp.csr_matrix

LARGE = 1e10  # is what C = inf means to scikit-learn
_FEW_VALUES = 100_000  # of a linear kernel, or entries: sums over so few are taken as LIBSVM does, vector by vector


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
            weight = self._weights(X, y, sample_weight)
            self._require_possible(X, y, weight)
            found = answer(self._machine(self._mercer_kernel()), X, y, weight, self.tol)  # type: ignore[attr-defined]
        except (RefusedError, ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            log.info("%s.fit: by scikit-learn, because %s", name, error)
            return False
        told(name, found.certificate)
        self._keep(found, X)
        return True

    def _weights(self, X: Any, y: Array, sample_weight: Array) -> Array:
        """The weight of each point, times that of its class; below 0 is none, as in LIBSVM."""
        if sample_weight.ndim != 1:
            raise RefusedError("sample_weight has not one dimension")
        weight = np.maximum(sample_weight, 0.0) if sample_weight.size else np.ones(X.shape[0])
        by_class = getattr(self, "class_weight_", None)
        return weight if by_class is None else weight * by_class[y.astype(int)]

    def _require_possible(self, X: Any, y: Array, weight: Array) -> None:
        """Raise with the reason, where Mercer does not do what is asked for."""
        self._require_kernel()
        settings: Any = self
        if settings.max_iter != -1:
            raise RefusedError("max_iter counts steps of LIBSVM")
        if getattr(self, "_effective_probability", settings.probability) is True:
            raise RefusedError("probability=True is Platt's method inside LIBSVM")
        if not (np.isfinite(weight).all() and (weight > 0).any()):
            raise RefusedError("weights are not finite, or none is positive")
        if callable(self.kernel) and not np.isfinite(X).all():  # of points, scikit-learn has seen to it
            raise RefusedError("kernel values are not finite")
        if settings._impl == "c_svc" and not (np.bincount(y.astype(int), weight, settings.classes_.size) > 0).all():
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

    def _keep(self, found: Answer, X: Any) -> None:
        """The nine attributes of LIBSVM, in its own conventions: of two classes, the first is the positive one."""
        classifies = self._impl == "c_svc"  # type: ignore[attr-defined]
        sign = -1.0 if classifies and self.classes_.size == 2 else 1.0  # type: ignore[attr-defined]
        coefficients = np.ascontiguousarray(sign * found.coefficients)
        self.certificate_ = found.certificate
        self.support_ = found.support.astype(np.int32)
        self._n_support = (found.per_class if classifies else np.array([found.support.size, 0])).astype(np.int32)
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
        if callable(self.kernel):
            K = self._compute_kernel(X)  # type: ignore[attr-defined]
            fits = K.ndim == 2 and K.shape[1] == self.shape_fit_[0]  # type: ignore[attr-defined]
            scores = self._pair_scores(K) if fits else None
        else:
            scores = self._pair_scores(X)
        return super()._dense_predict(X) if scores is None else self._decided(scores)  # type: ignore[misc]

    def _sparse_predict(self, X: Any) -> Array:
        scores = self._pair_scores(X)
        return super()._sparse_predict(X) if scores is None else self._decided(scores)  # type: ignore[misc]

    def _dense_decision_function(self, X: Any) -> Array:
        scores = self._pair_scores(X) if X.ndim == 2 else None
        return super()._dense_decision_function(X) if scores is None else scores  # type: ignore[misc]

    def _sparse_decision_function(self, X: Any) -> Array:
        scores = self._pair_scores(X)
        return super()._sparse_decision_function(X) if scores is None else scores  # type: ignore[misc]

    def _pair_scores(self, X: Any) -> Array | None:
        """f(x) of each problem, as columns; None where LIBSVM has to do it."""
        model: Any = self
        try:
            self._require_kernel()
        except RefusedError:
            return None
        dual = model._dual_coef_.toarray() if is_sparse(model._dual_coef_) else model._dual_coef_
        if dual.size == 0:
            return None
        edges = [0, *np.cumsum(model._n_support).tolist()] if len(dual) > 1 else [0, dual.shape[1]]
        parts = self._sums(X, dual.T, edges)
        sums = parts[0] if len(dual) == 1 else np.ascontiguousarray(join(parts))
        return np.asarray(sums + model._intercept_)

    def _sums(self, X: Any, dual: Array, edges: list[int]) -> list[Array]:
        """sum_i beta_i k(x_i, x) over pieces of the support vectors."""
        model: Any = self
        pieces = [slice(start, stop) for start, stop in pairwise(edges)]
        if callable(self.kernel) or self.kernel == "precomputed":
            values = X[:, model.support_]
        elif self.kernel == "linear" and (X.shape[0] + len(dual)) * max(X.shape[1], len(dual)) <= _FEW_VALUES:
            values = _dense(X) @ _dense(model.support_vectors_).T
        elif self.kernel == "linear":
            vectors = model.support_vectors_
            return [linear_scores(X, np.asarray(dual[p].T @ vectors[p])) for p in pieces]
        else:
            sums = sums_between(self._mercer_kernel(), X, model.support_vectors_, dual, edges, np.float64)
            return [part.T for part in sums]
        return [values[:, p] @ dual[p] for p in pieces]

    def _decided(self, scores: Array) -> Array:
        """What LIBSVM predicts from them: a number, a side, or the number of the class with most votes."""
        if self._impl == "one_class":  # type: ignore[attr-defined]
            return np.where(scores[:, 0] > 0, 1.0, -1.0)
        if self._impl == "epsilon_svr":  # type: ignore[attr-defined]
            return scores[:, 0]
        k = self.classes_.size  # type: ignore[attr-defined]
        won = np.zeros((k, len(scores)), np.int32)
        for (i, j), score in zip(pairs(k), scores.T, strict=True):
            first = score > 0
            won[i] += first
            won[j] += ~first
        return np.asarray(won.argmax(axis=0), np.float64)


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _full_rows(coefficients: Array) -> Any:
    """As CSR with every entry stored, zeros too: that is how LIBSVM's are."""
    rows, n = coefficients.shape
    if n == 0:
        return sp.csr_array([[]])
    return sp.csr_array((coefficients.ravel(), np.tile(np.arange(n), rows), np.arange(0, rows * n + 1, n)), (rows, n))


@documented
class SVC(OnMercer, sklearn.svm.SVC):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.SVC(kernel, C=min(self.C, LARGE))


@documented
class SVR(OnMercer, sklearn.svm.SVR):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.SVR(kernel, C=min(self.C, LARGE), epsilon=self.epsilon)


@documented
class OneClassSVM(OnMercer, sklearn.svm.OneClassSVM):  # type: ignore[misc]  # noqa: D101
    def _machine(self, kernel: Kernel) -> Machine:
        return estimators.OneClassSVM(kernel, nu=self.nu)
