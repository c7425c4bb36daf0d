"""Kernel principal component analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..features.base import KernelMap, double
from ..features.leading import leading
from ..gram import DenseGram
from ..kernels import Gaussian
from ..kernels.points import common_dtype, count, is_sparse
from ..memory import DOUBLE, BudgetError, format_bytes, parse_bytes
from ..params import require_integer
from ..solvers.ridge.linear_system import TIGHT
from ..types import Array, Points
from .checks import BOTH, POSITIVE, require_settings
from .ridge import KernelRidge

_ROUNDING = float(np.finfo(np.float64).eps)


class KernelPCA(KernelMap):
    """The directions in feature space along which the points vary most, around their mean.

    K - 1K - K1 + 1K1 = U diag(lambda) U' with 1 the matrix of 1/n; the j-th component of x is
    sum_i u_ij (k(x_i, x) - mean) / sqrt(lambda_j).

    Parameters
    ----------
    n_components : int, default=None
        How many, those of the largest lambda; None: all that are not 0.
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back, by kernel ridge regression from components to points.
    alpha : float, default=1.0
        lambda of that regression.
    memory : int, float or str, default="2GB"
        What the Gram matrix may take, in bytes or as text.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        lambda, the largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        U.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The part of all variance that lies along each component.
    residuals_ : ndarray of shape (n_components,)
        By how much each eigenvalue may be wrong.
    kernel_ : Kernel
        The kernel, with its parameters found.
    X_fit_ : array or list of n_samples points
        The points of the training.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        The coefficients of the way back.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        The components of the training, from which it leads.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    exact: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int | None = None,
        kernel: Any = Gaussian(),  # noqa: B008
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        memory: int | float | str = "2GB",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.memory = memory

    def _fit(self, X: Points) -> None:
        self._check()
        n, points = count(X), double(X)
        wanted = n if self.n_components is None else min(n, int(self.n_components))
        self.kernel_ = self._resolved(points)
        K = square_matrix(self, points)
        means = K.mean(axis=0)
        total = max(float(np.trace(K)) - float(means.sum()), 0.0)
        found = leading(K, wanted)
        values, vectors, residuals = found
        small = n * _ROUNDING * max(float(np.abs(values).max()), _ROUNDING)
        values = np.where(values > small, values, 0.0)
        kept = max(1, int(np.count_nonzero(values))) if self.n_components is None else wanted  # largest first
        self.eigenvalues_, self.residuals_ = values[:kept], residuals[:kept]
        self.eigenvectors_ = np.ascontiguousarray(vectors[:, :kept])  # as it comes back from a file: the same bits
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0.0 else np.zeros(kept)
        self.X_fit_, self._n_features_out = points, kept
        self._offset = (means @ self.eigenvectors_) * self._inverse_roots()
        if self.fit_inverse_transform:
            self._fit_way_back(X)

    def _check(self) -> None:
        if self.n_components is not None:
            require_integer(self, "n_components", at_least=1)
        require_settings(self, {"alpha": POSITIVE, "fit_inverse_transform": BOTH})

    def _inverse_roots(self) -> Array:
        """lambda^(-1/2); 0 of what has no length."""
        roots = np.sqrt(self.eigenvalues_)
        return np.divide(1.0, roots, where=roots > 0, out=np.zeros_like(roots))

    def _map(self, X: Points) -> Any:
        components = (self.kernel_(double(X), self.X_fit_) @ self.eigenvectors_) * self._inverse_roots() - self._offset
        return components.astype(common_dtype(X), copy=False)

    def _fit_way_back(self, X: Points) -> None:
        if is_sparse(X) or not isinstance(X, np.ndarray):
            raise ValueError(
                "KernelPCA: there is no way back to sparse points or objects: fit_inverse_transform=False."
            )
        components = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        ridge = KernelRidge(self.kernel_, alpha=self.alpha, solver="cholesky", tol=TIGHT)
        ridge.fit(components, np.asarray(X, np.float64))
        self.X_transformed_fit_, self.dual_coef_ = components, ridge.dual_coef_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.fit_inverse_transform
        return tags

    def inverse_transform(self, X: Any) -> Array:
        """Points whose components are about these."""
        check_is_fitted(self)
        if not hasattr(self, "dual_coef_"):
            raise ValueError("KernelPCA has not learned the way back: fit it with fit_inverse_transform=True.")
        components = np.asarray(X, np.float64)
        return np.asarray(self.kernel_(components, self.X_transformed_fit_) @ self.dual_coef_)


def square_matrix(owner: Any, points: Points) -> Array:
    """K in float64, where it fits into the memory of the estimator."""
    size, budget = DOUBLE * count(points) ** 2, parse_bytes(owner.memory)
    if size > budget:
        raise BudgetError(
            f"{type(owner).__name__} needs the whole Gram matrix: {format_bytes(size)}, and memory={owner.memory!r} is "
            "less."
        )
    return DenseGram.compute(owner.kernel_, points, dtype=np.dtype(np.float64)).matrix
