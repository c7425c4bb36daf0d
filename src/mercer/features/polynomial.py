"""The features of the polynomial kernel."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..kernels import Polynomial
from ..kernels.monomials import polynomial_features
from ..types import Points
from .base import FeatureMap, require_bearable


class PolynomialMap(FeatureMap):
    """phi(x) . phi(z) = (gamma <x, z> + coef0)^degree, with all cross terms.

    The feature of the exponents a is sqrt(p! / (a! (p - |a|)!) gamma^|a| coef0^(p - |a|)) x^a. For d = 2 and degree 2:
    1, sqrt2 x1, sqrt2 x2, x1^2, x2^2, sqrt2 x1 x2.

    Parameters
    ----------
    degree : int, default=2
        The largest degree.
    gamma : float, default=1.0
        The factor of <x, z>, > 0.
    coef0 : float, default=1.0
        The constant, >= 0; 0 leaves only the features of the full degree.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that the map induces.
    monomials_ : Monomials
        The exponents, a row for each feature.
    coefficients_ : ndarray of shape (n_features_out,)
        The factor of each monomial.
    n_features_in_ : int
        The columns in training, where points are vectors.
    feature_names_in_ : ndarray of str
        Their names, where the data had any.
    """

    _other_names: ClassVar[Mapping[str, str]] = {
        "n_components": 'there is a feature for each monomial; for fewer, take Nystrom("poly", landmarks=100)',
        "interaction_only": "the kernel needs all monomials, so leave it out",
        "include_bias": "coef0=0 leaves the constant out, with all lower degrees",
    }

    def __init__(self, degree: int = 2, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _fit(self, X: Points) -> None:
        self.kernel_ = Polynomial(self.degree, self.gamma, self.coef0)
        if self.coef0 < 0:
            raise ValueError(f"PolynomialMap: with coef0 = {self.coef0} < 0 the kernel has no real feature map.")
        d, p = X.shape[1], int(self.degree)
        if p > 150:
            raise ValueError("PolynomialMap: from degree 171 on the factorials overflow; 150 is the largest offered.")
        require_bearable(self, comb(d + p, p) if self.coef0 > 0 else comb(d + p - 1, p))
        self.monomials_, self.coefficients_ = polynomial_features(d, p, float(self.gamma), float(self.coef0))
        self._n_features_out = len(self.monomials_)

    def _map(self, X: Points) -> Any:
        out = self.monomials_.evaluate(X, np.empty((len(X), self._n_features_out), X.dtype))
        out *= self.coefficients_
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The monomials, without their coefficients."""
        check_is_fitted(self)
        return np.array(self.monomials_.names(_check_feature_names_in(self, input_features)), object)
