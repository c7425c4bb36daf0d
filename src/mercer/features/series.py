"""The Gaussian kernel's own features: an infinite series, truncated."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..kernels import Gaussian
from ..kernels.monomials import Monomials
from ..params import require_integer
from ..types import Points
from .base import FeatureMap, require_bearable


class GaussianSeries(FeatureMap):
    """exp(-|x|^2 / 2s^2) x^a / (s^|a| sqrt(a!)) for all exponents a with |a| <= degree, s = sigma.

    In one dimension exp(-x^2 / 2s^2) x^k / (s^k sqrt(k!)), k = 0, 1, ..., degree. With all degrees it would be exactly
    the Gaussian of that width. The squared length of what is cut off is P(N > degree), N Poisson of mean |x|^2 / s^2;
    |phi(x) . phi(z) - k(x, z)| is at most the largest of these on the points: `truncation_error_` is that bound on the
    training points, `truncation_error(X)` on others.

    Parameters
    ----------
    degree : int, default=4
        The largest degree.
    sigma : float, default=1.0
        The width of the Gaussian, > 0.

    Attributes
    ----------
    kernel_ : Kernel
        The Gaussian that the map approximates.
    monomials_ : Monomials
        The exponents, a row for each feature.
    truncation_error_ : float
        By how much phi(x) . phi(z) may differ from it on the training points.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    exact: ClassVar[bool] = False

    _other_names: ClassVar[Mapping[str, str]] = {
        "n_components": "it is degree=4: there is a feature for each monomial up to that degree",
        "gamma": "it is sigma, with gamma = 1 / (2 sigma^2)",
    }

    def __init__(self, degree: int = 4, sigma: float = 1.0) -> None:
        self.degree = degree
        self.sigma = sigma

    def _fit(self, X: Points) -> None:
        degree = require_integer(self, "degree", at_least=0)
        if degree > 150:
            raise ValueError("GaussianSeries: from degree 171 on the factorials overflow; 150 is the largest offered.")
        self.kernel_ = Gaussian(sigma=self.sigma)
        require_bearable(self, comb(X.shape[1] + degree, degree))
        self.monomials_ = Monomials.of(X.shape[1], range(degree + 1))
        self._n_features_out = len(self.monomials_)
        self.truncation_error_ = self._tail(X)

    def _map(self, X: Points) -> Any:
        scaled = X / self.sigma
        damping = np.exp(-0.5 * np.einsum("ij,ij->i", scaled, scaled))  # first, or large powers would overflow
        out = self.monomials_.evaluate(scaled, np.empty((len(X), self._n_features_out), X.dtype), damping)
        out /= np.sqrt(self.monomials_.multiplicities)
        return out

    def truncation_error(self, X: Points) -> float:
        """The bound of |phi(x) . phi(z) - k(x, z)| over all pairs of these points."""
        check_is_fitted(self)
        return self._tail(self._admit(X, reset=False))

    def _tail(self, X: Points) -> float:
        from scipy.special import gammainc

        X = np.asarray(X, np.float64)
        squares = np.einsum("ij,ij->i", X, X) / float(self.sigma) ** 2
        return float(gammainc(self.degree + 1, squares.max()))
