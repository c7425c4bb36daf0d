"""f = sum_i beta_i k(c_i, .) + b: what every machine ends as."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Any

import numpy as np

from .columns import product_between
from .kernels import Kernel
from .kernels import kernel as as_kernel
from .kernels.points import Domain, admit, copied, count, stack
from .types import Array, Points


@dataclass(frozen=True, eq=False)
class RKHSFunction:
    """f(x) = sum_i beta_i k(c_i, x) + b.

    The constant b is no part of the reproducing kernel Hilbert space: it is added and scaled with f, and takes no part
    in inner products, norms and distances.

    Parameters
    ----------
    kernel : Kernel
        k.
    centers : array or list of points
        The c_i.
    beta : array-like of shape (n,)
        The coefficients.
    b : float, default=0.0
        The constant.
    """

    kernel: Kernel
    centers: Any
    beta: Array
    b: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", as_kernel(self.kernel))
        self.kernel.require_resolved()
        if self.kernel.domain is Domain.VALUES:
            raise ValueError("An RKHSFunction needs points: hold the values in the kernel, Precomputed(matrix).")
        centers = admit(self.centers, self.kernel.domain, "centers")
        self.kernel.check(centers, "centers")
        beta = np.array(self.beta, np.float64)
        if beta.shape != (count(centers),) or not np.isfinite(beta).all() or not isfinite(self.b):
            raise ValueError(f"beta must be {count(centers)} finite numbers, one per centre, and b a finite number.")
        beta.flags.writeable = False
        object.__setattr__(self, "centers", copied(centers))
        object.__setattr__(self, "beta", beta)
        object.__setattr__(self, "b", float(self.b))

    @classmethod
    def section(cls, kernel: Kernel, x: Any) -> RKHSFunction:
        """k(x, .) for one point x: the function with <f, k(x, .)> = f(x)."""
        vector = kernel.domain is Domain.VECTORS
        if vector and not hasattr(x, "tocsr"):
            x = np.reshape(x, (1, -1))
        return cls(kernel, x if vector else [x], np.ones(1))

    def __call__(self, X: Points) -> Array:
        """The values f(x_i)."""
        return product_between(self.kernel, X, self.centers, self.beta) + self.b

    def __add__(self, other: RKHSFunction | float) -> RKHSFunction:
        if isinstance(other, int | float | np.number):
            return replace(self, b=self.b + float(other))
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        self._require_same_space(other)
        centers, beta = stack(self.centers, other.centers), np.concatenate([self.beta, other.beta])
        return RKHSFunction(self.kernel, centers, beta, self.b + other.b)

    __radd__ = __add__

    def __mul__(self, factor: float) -> RKHSFunction:
        if not isinstance(factor, int | float | np.number):
            return NotImplemented
        return replace(self, beta=float(factor) * self.beta, b=float(factor) * self.b)

    __rmul__ = __mul__
    __array_ufunc__ = None  # np.float64(2) * f is ours to answer

    def __truediv__(self, divisor: float) -> RKHSFunction:
        return self * (1.0 / divisor)

    def __neg__(self) -> RKHSFunction:
        return self * -1.0

    def __sub__(self, other: RKHSFunction | float) -> RKHSFunction:
        return self + -other

    def __rsub__(self, other: float) -> RKHSFunction:
        return -self + other

    def inner(self, other: RKHSFunction) -> float:
        """<f, g> = sum_ij beta_i beta'_j k(c_i, c'_j)."""
        self._require_same_space(other)
        return float(self.beta @ product_between(self.kernel, self.centers, other.centers, other.beta, np.float64))

    def norm(self) -> float:
        """|f| = sqrt(<f, f>)."""
        return sqrt(max(self.inner(self), 0.0))

    def distance(self, other: RKHSFunction) -> float:
        """|f - g|."""
        return (self - other).norm()

    def _require_same_space(self, other: RKHSFunction) -> None:
        if not isinstance(other, RKHSFunction):
            raise TypeError(f"An RKHSFunction is expected, not {other!r}.")
        if self.kernel != other.kernel:
            raise ValueError(f"The functions live in different spaces, of {self.kernel!r} and of {other.kernel!r}.")

    def __repr__(self) -> str:
        return f"<RKHSFunction of {self.kernel!r} with {count(self.centers)} centers, b = {self.b + 0.0:g}>"
