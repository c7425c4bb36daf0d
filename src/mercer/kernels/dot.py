"""Kernels of the dot product <x, z>."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from ..params import require_integer, require_number
from ..types import Array, Points
from .adaptive import Adaptive, median_norm, variance
from .base import Kernel
from .monomials import polynomial_features
from .pairwise import dot, raise_to
from .points import is_sparse, squared_norms, width

_MOST_FEATURES, _HIGHEST = 5000, 50  # monomials, and the degree: with more, the kernel itself is the better way


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    def fill(self, A: Points, B: Points, out: Array) -> None:
        dot(A, B, out)

    def diagonal(self, A: Points) -> Array:
        """|x|^2."""
        return squared_norms(A)

    def reason(self) -> str | None:
        return "an inner product"

    def features(self, X: Points) -> Any:
        """The points themselves."""
        return X


@dataclass(frozen=True)
class Polynomial(Adaptive, names=("poly", "polynomial")):
    """k(x, z) = (gamma <x, z> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=2
        The degree, 1 or more.
    gamma : float, "scale" or "median", default=1.0
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is 1 / (d Var X), as
        in Gaussian, "median" 1 over the median of |x|^2.
    coef0 : float, default=1.0
        The constant, >= 0.
    """

    degree: int = 2
    gamma: float | str = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer(self, "degree", at_least=1)
        require_number(self, "coef0")

    def size(self, word: str, X: Points, weight: Array) -> float:
        """Of <x, z>."""
        return variance(X, weight) * width(X) if word == "scale" else median_norm(X, weight)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        dot(A, B, out)
        out *= float(self.gamma)
        out += self.coef0
        raise_to(out, self.degree)

    def diagonal(self, A: Points) -> Array:
        """(gamma |x|^2 + coef0)^degree."""
        values = float(self.gamma) * squared_norms(A) + self.coef0
        raise_to(values, self.degree)
        return values

    def monomials(self, d: int) -> int:
        """How many monomials of d variables there are up to the degree."""
        return comb(d + self.degree, self.degree)

    def features(self, X: Points) -> Any:
        """The monomials, where they are no more than some thousands and X is dense."""
        d, p = X.shape[1], self.degree
        if is_sparse(X) or self.coef0 < 0 or p > _HIGHEST or self.monomials(d) > _MOST_FEATURES:
            return None
        monomials, factors = polynomial_features(d, p, float(self.gamma), float(self.coef0))
        return monomials.evaluate(X, np.empty((len(X), len(monomials)), X.dtype)) * factors.astype(X.dtype)

    def reason(self) -> str | None:
        if self.coef0 < 0:
            return None
        return "a product of sums of an inner product and a constant >= 0"
