"""The spectral map of a Gram matrix: Mercer's theorem on the training points."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..kernels import Centered, Gaussian
from ..kernels.points import common_dtype, count
from ..parallel import eigh
from ..params import random_generator, require_integer
from ..ties import signed
from ..types import Array, Points
from .base import KernelMap, double


class SpectralMap(KernelMap):
    """From K = U diag(lambda) U': phi(x_i) = (sqrt(lambda_1) u_1i, sqrt(lambda_2) u_2i, ...).

    On the training points phi(x) . phi(z) = k(x, z) exactly; a new point is projected, phi(x) = lambda^(-1/2) U'
    k(X, x). The map is not unique: `rotated()` gives another with the same inner products. With center=True and a few
    components it is kernel principal component analysis.

    Parameters
    ----------
    kernel : Kernel, str or callable, default=Gaussian()
        An object, the same thing as text such as "rbf(gamma=0.5) + linear", or a function of two matrices, as in
        scikit-learn.
    n_components : int, default=None
        Those of the largest lambda; None: all.
    center : bool, default=False
        Whether features are taken around their mean.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its parameters found.
    eigenvalues_ : ndarray of shape (n_features_out,)
        lambda, the largest first.
    points_ : array or list of points
        The points of the training.
    projection_ : ndarray of shape (n_samples, n_features_out)
        What k(X, x) is multiplied by.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    def __init__(self, kernel: Any = Gaussian(), n_components: int | None = None, center: bool = False) -> None:  # noqa: B008
        self.kernel = kernel
        self.n_components = n_components
        self.center = center

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """On the training points, with all components."""
        return self.n_components is None and not getattr(self, "_indefinite", False)

    def _fit(self, X: Points) -> None:
        wanted = count(X)
        if self.n_components is not None:
            wanted = min(wanted, require_integer(self, "n_components", at_least=1))
        X = double(X)
        self.kernel_ = self._resolved(X)
        if self.center:
            self.kernel_ = Centered(self.kernel_).resolve(X)
        K = self.kernel_(X)
        values, vectors = eigh((K + K.T) / 2)
        values, vectors = values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
        # What is left of zero eigenvalues is rounding; a kernel that is 0 everywhere keeps one feature, which is 0.
        rounding = count(X) * float(np.finfo(float).eps) * max(abs(values[0]), abs(values[-1]))
        self._indefinite = bool(values[-1] < -100 * rounding)
        if self._indefinite:
            warnings.warn(
                f"{self.kernel_!r} is not positive definite on these points: K has the eigenvalue {values[-1]:.3g}, "
                "and no features reproduce it. The map keeps the positive part; see mercer.evidence.",
                stacklevel=4,
            )
        kept = max(1, int(np.sum(values > rounding)))
        values, vectors = np.maximum(values[:kept], 0.0), signed(vectors[:, :kept])
        self.points_ = X
        self.eigenvalues_ = values
        self.projection_ = np.divide(vectors, np.sqrt(values), where=values > 0, out=np.zeros_like(vectors))
        self._n_features_out = kept

    def _map(self, X: Points) -> Any:
        features = self.kernel_(X, self.points_) @ self.projection_
        return features.astype(common_dtype(X), copy=False)

    def rotated(self, random_state: Any = None) -> Self:
        """The same map turned by a random orthogonal matrix: other features, the same inner products."""
        from scipy.stats import ortho_group

        check_is_fitted(self)
        size = self._n_features_out
        turned = copy.copy(self)
        turn = ortho_group.rvs(size, random_state=random_generator(random_state)) if size > 1 else -np.eye(1)
        turned.projection_ = self.projection_ @ turn
        return turned


def root_of_inverse(K: Array, precision: float) -> Array:
    """W with W'KW = I on the range of K (eigenvalues below the precision are left out): K^(-1/2), in other axes."""
    values, vectors = eigh((K + K.T) / 2)
    kept = values > len(values) * precision * max(values[-1], 0.0)
    if not kept.any():
        return np.zeros((len(K), 1))
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
