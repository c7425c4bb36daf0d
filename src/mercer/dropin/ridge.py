"""scikit-learn's KernelRidge, trained and evaluated by Mercer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.kernel_ridge
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .. import estimators
from ..columns import sums_between
from ..estimators.checks import validated
from ..estimators.from_sklearn import ridge_kernel
from ..gram import DenseGram
from ..kernels import FromBlocks, Kernel, Linear, Precomputed
from ..kernels.pairwise import linear_scores
from ..kernels.points import is_sparse
from ..solution import Certificate, Status, worst
from ..solvers.ridge.linear_system import System
from ..solvers.ridge.posed import TARGET, of_arrays
from ..types import Array
from .answer import RefusedError, light, log, matrix_of, quietly, small_dense, told
from .documented import documented

_FACTOR = 60_000  # points, up to which Mercer may choose its solver; beyond, landmarks would be another machine
_GAP = 1e-10  # the relative gap to reach
_CHECKS: dict[str, Any] = {"accept_sparse": ("csr", "csc")}


@documented
class KernelRidge(sklearn.kernel_ridge.KernelRidge):  # type: ignore[misc]  # noqa: D101
    certificate_: Certificate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.__dict__.pop("certificate_", None)
        name = type(self).__name__
        try:
            self._validate_params()
            self._require_possible()
            coefficients, certificate = self._solved(X, y, sample_weight)
        except (RefusedError, ValueError, TypeError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            log.info("%s.fit: by scikit-learn, because %s", name, error)
            super().fit(X, y, sample_weight)
            return self
        told(name, certificate)
        self.dual_coef_, self.certificate_ = coefficients, certificate
        return self

    fit.__doc__ = sklearn.kernel_ridge.KernelRidge.fit.__doc__

    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        if self._why_not() is not None:
            return super().predict(X)  # type: ignore[no-any-return]
        X = validated(self, X, reset=False, **_CHECKS)
        coefficients = np.asarray(self.dual_coef_, np.float64).reshape(self.X_fit_.shape[0], -1)
        return self._f(X, coefficients).reshape(X.shape[0], *np.shape(self.dual_coef_)[1:])

    predict.__doc__ = sklearn.kernel_ridge.KernelRidge.predict.__doc__

    def _f(self, X: Any, coefficients: Array) -> Array:
        kernel = self._mercer_kernel()
        if isinstance(kernel, Precomputed):
            return np.asarray(X @ coefficients)
        points, X = _plain(self.X_fit_), _plain(X)
        if isinstance(kernel, Linear):
            return linear_scores(X, np.asarray((points.T @ coefficients).T))
        return np.asarray(sums_between(kernel, X, points, coefficients, [0, len(coefficients)], np.float64)[0].T)

    def _why_not(self) -> str | None:
        """Why the kernel is not for Mercer."""
        if self.kernel not in ("linear", "rbf", "poly", "polynomial", "precomputed"):
            return f"the kernel is {self.kernel!r}"
        if self.gamma is not None and not 0 < self.gamma < np.inf:
            return f"gamma is {self.gamma}"
        poly = self.kernel in ("poly", "polynomial")
        if poly and (self.degree < 1 or self.degree % 1 or self.coef0 < 0):
            return "the polynomial kernel has coef0 < 0, or a degree that is no whole number"
        return None

    def _require_possible(self) -> None:
        """Raise with the reason, where Mercer does not do what is asked for."""
        why = self._why_not()
        if why is not None:
            raise RefusedError(why)
        if np.size(self.alpha) != 1 or not 0 < float(np.ravel(self.alpha)[0]) < np.inf:
            raise RefusedError("alpha is not one number greater than 0")

    def _mercer_kernel(self) -> Kernel:
        kernel = ridge_kernel(self)
        assert not isinstance(kernel, FromBlocks)
        return kernel

    def _solved(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Certificate]:
        """Coefficients as they are kept, and what is proved of them."""
        X, y = validated(self, X, y, multi_output=True, y_numeric=True, **_CHECKS)
        weight = _check_sample_weight(sample_weight, X)
        if not (weight > 0).all() or np.iscomplexobj(y) or np.iscomplexobj(X):
            raise RefusedError("a weight is not positive, or numbers are complex")
        self.X_fit_, alpha = X, float(np.ravel(self.alpha)[0])
        targets = np.asarray(y, np.float64).reshape(X.shape[0], -1)
        small = small_dense(_plain(X))
        if small is not None:
            coefficients, certificate = _of_small(self._mercer_kernel(), small, targets, weight, alpha)
        else:
            coefficients, certificate = _of_machine(self._mercer_kernel(), _plain(X), targets, weight, alpha)
        return (coefficients if y.ndim == 2 else coefficients[:, 0]), certificate


def _plain(X: Any) -> Any:
    """Floats, by rows."""
    if is_sparse(X):
        return X.tocsr()
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def _of_small(kernel: Kernel, X: Array, targets: Array, weight: Array, alpha: float) -> tuple[Array, Certificate]:
    """(K + alpha / w) beta = t, by a factor in float64."""
    n = len(X)
    K = matrix_of(kernel, X)[:n, :n]
    A = K.copy()
    A.flat[:: n + 1] += alpha / weight
    beta = cho_solve(cho_factor(A, overwrite_a=True, check_finite=False), targets, check_finite=False)
    system = System(of_arrays(X, targets, weight, False, K.nbytes, penalty=alpha), DenseGram(K, kernel, X))
    answer = system.answer(beta, K @ beta, np.zeros(beta.shape[1]), done=True)
    found = [light(certificate.ended(Status.STALLED, _GAP)) for certificate in answer.certificates]
    if not all(certificate.converged for certificate in found):
        raise RefusedError("the equations are too close to singular")
    return beta, worst(found, TARGET, _GAP)


def _of_machine(kernel: Kernel, X: Any, targets: Array, weight: Array, alpha: float) -> tuple[Array, Certificate]:
    """By Mercer's own machine, exactly."""
    solver = None if X.shape[0] <= _FACTOR else "conjugategradient"
    machine = estimators.KernelRidge(kernel, alpha=alpha, solver=solver, tol=_GAP)
    with quietly():
        machine.fit(X, targets, weight)
    if machine.has_landmarks_ or any(c.status is not Status.CONVERGED for c in machine.certificates_):
        raise RefusedError("the answer is not exact")
    return machine.dual_coef_, worst([light(c) for c in machine.certificates_], TARGET, _GAP)
