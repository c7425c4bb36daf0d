"""scikit-learn's LinearSVC, trained by Mercer: liblinear's problem, in which the intercept is penalised.

    min 1/2 |w|^2 + sum_i C_i loss(y_i <w, z_i>),    z = (x, s), intercept = s w_last, with s = intercept_scaling

It is validated as there, and whatever is not plain goes to scikit-learn, whose errors and warnings are raised then.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from .. import estimators
from ..estimators.certificates import worst
from ..estimators.scales import ScaleWarning
from ..kernels.points import is_sparse
from ..solution import Certificate, Status
from ..types import Array, Index
from .answer import RefusedError, log, told
from .documented import documented
from .newton import newton

_GAP = 1e-6  # the relative gap to reach
_SMALL, _NARROW = 2_000_000, 300  # entries of X, and columns, up to which Newton's method in w is the quickest
_DEFAULT_ITERATIONS = 1000


class _Fitted(NamedTuple):
    coef: Array
    intercept: Array
    certificate: Certificate
    rounds: int


@documented
class LinearSVC(sklearn.svm.LinearSVC):  # type: ignore[misc]  # noqa: D101
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.__dict__.pop("certificate_", None)
        name = type(self).__name__
        try:
            self._validate_params()
            self._require_possible()
            found = self._solved(X, y, sample_weight)
        except (RefusedError, ValueError, TypeError, ArithmeticError, MemoryError) as error:
            log.info("%s.fit: by scikit-learn, because %s", name, error)
            return super().fit(X, y, sample_weight)
        told(name, found.certificate)
        self.coef_, self.intercept_, self.certificate_, self.n_iter_ = found
        return self

    fit.__doc__ = sklearn.svm.LinearSVC.fit.__doc__

    def _require_possible(self) -> None:
        """Raise with the reason, where Mercer does not do what is asked for."""
        if self.penalty != "l2":
            raise RefusedError("the penalty is l1")
        if self.multi_class != "ovr":
            raise RefusedError("multi_class is crammer_singer")
        if self.loss == "hinge" and self.dual is False:
            raise RefusedError("liblinear has no hinge loss with dual=False")
        if self.max_iter != _DEFAULT_ITERATIONS:
            raise RefusedError("max_iter counts iterations of liblinear")
        if self.verbose:
            raise RefusedError("verbose shows the lines of liblinear")

    def _solved(self, X: Any, y: Any, sample_weight: Any) -> _Fitted:
        checks = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "accept_large_sparse": False}
        X, y = validate_data(self, X, y, **checks)
        check_classification_targets(y)
        self.classes_, group = np.unique(y, return_inverse=True)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.classes_.size < 2 or not (weight >= 0).all():
            raise RefusedError("there is one class alone, or a weight below 0")
        C = self.C * weight * self._class_weights(y, sample_weight)[group]
        kept = np.flatnonzero(C)
        if np.unique(group[kept]).size < self.classes_.size:
            raise RefusedError("a class has no point of positive weight")
        if kept.size < C.size:
            X, group, C = X[kept], group[kept], C[kept]
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        small = not is_sparse(X) and X.size <= _SMALL and X.shape[1] <= _NARROW
        if small and self.loss == "squared_hinge":
            return self._by_newton(X, group, C, scaling)
        return self._by_machine(X, group, C, scaling)

    def _class_weights(self, y: Array, sample_weight: Any) -> Array:
        weights = {} if sample_weight is None or self.class_weight != "balanced" else {"sample_weight": sample_weight}
        return np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=y, **weights))

    def _by_newton(self, X: Array, group: Index, C: Array, scaling: float) -> _Fitted:
        Z = np.column_stack([X, np.full(len(X), scaling)]) if scaling else X
        sides = [1] if self.classes_.size == 2 else range(self.classes_.size)
        found = [newton(Z, np.where(group == side, 1.0, -1.0), C, _GAP) for side in sides]
        if any(certificate.relative_gap > _GAP for _, certificate, _ in found):
            raise RefusedError("Newton's method did not come to an end")
        W = np.array([w for w, _, _ in found])
        names = [f"{self.classes_[side]} against the rest" for side in sides]
        certificate = worst([certificate for _, certificate, _ in found], names, _GAP)
        return _Fitted(*_parted(W, scaling), certificate, max(rounds for _, _, rounds in found))

    def _by_machine(self, X: Any, group: Index, C: Array, scaling: float) -> _Fitted:
        bias: Any = "penalised" if scaling == 1.0 else False
        if scaling not in (0.0, 1.0):
            column: Any = np.full((X.shape[0], 1), scaling)
            X = sp.hstack([X, sp.csr_array(column)], format="csr") if is_sparse(X) else np.hstack([X, column])
        machine = estimators.LinearSVC(loss=self.loss, bias=bias, tol=_GAP)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", ScaleWarning)
            machine.fit(X, group, C)
        bad = [c.status for c in machine.certificates_ if c.status not in (Status.CONVERGED, Status.STALLED)]
        if bad:
            raise RefusedError(f"the status is {bad[0].name.lower()}")
        light = [replace(c, residuals=np.zeros(0)) for c in machine.certificates_]
        certificate = worst(light, [f"{c} against the rest" for c in self.classes_], _GAP)
        coef, intercept = machine.coef_, machine.intercept_
        if scaling != 1.0:
            coef, intercept = _parted(coef, scaling)
        return _Fitted(coef, intercept, certificate, machine.n_iter_)


def _parted(W: Array, scaling: float) -> tuple[Array, Any]:
    """Coefficients and intercept of w for z = (x, s); 0.0 is the intercept of machines without, as there."""
    return (W[:, :-1].copy(), scaling * W[:, -1]) if scaling else (W, 0.0)
