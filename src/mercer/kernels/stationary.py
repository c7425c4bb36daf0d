"""Kernels of the difference x - z."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from ..params import require_number
from ..types import Array, Points
from .adaptive import Adaptive, mean_absolute, mean_square, median_distance, variance
from .base import Kernel
from .pairwise import add_over_coordinates, dense, squared_distances
from .points import common_dtype, count, held_width, width


class Stationary(Kernel, names=()):
    """k(x, z) = k(x - z), with k(0) = 1: positive definite where its Fourier transform is a density (Bochner)."""

    spectrum = ""
    bounded = True

    def diagonal(self, A: Points) -> Array:
        """Ones."""
        return np.ones(count(A), common_dtype(A))

    def reason(self) -> str | None:
        return f"its Fourier transform is a density >= 0, {self.spectrum} (Bochner)"


@dataclass(frozen=True, init=False)
class Gaussian(Adaptive, Stationary, names=("rbf", "gaussian")):
    """k(x, z) = exp(-gamma |x - z|^2).

    Parameters
    ----------
    gamma : float, "scale", "auto" or "median", default="scale"
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is 1 / (d Var X),
        "auto" 1 / d, "median" 1 / (2 m^2), with m the median distance of points that are not equal.
    sigma : float, default=None
        The width, in place of gamma: gamma = 1 / (2 sigma^2).
    """

    gamma: float | str = "scale"
    words: ClassVar[tuple[str, ...]] = ("scale", "auto", "median")
    spectrum = "a normal one"

    def __init__(self, gamma: float | str | None = None, *, sigma: float | None = None) -> None:
        if gamma is not None and sigma is not None:
            raise ValueError("Gaussian: one of gamma and sigma must be given, not both: gamma is 1 / (2 sigma^2).")
        if sigma is not None:
            gamma = _gamma_of_width(sigma)
        object.__setattr__(self, "gamma", "scale" if gamma is None else gamma)
        self.__post_init__()

    def with_params(self, **params: Any) -> Self:
        """See Parameters.with_params; sigma is taken too."""
        if "sigma" in params:
            params["gamma"] = type(self)(params.get("gamma"), sigma=params.pop("sigma")).gamma
        return super().with_params(**params)

    def size(self, word: str, X: Points, weight: Array) -> float:
        """Of squared distances."""
        if word == "auto":
            return float(width(X))
        if word == "scale":
            return variance(X, weight) * float(X.shape[1])
        return 2.0 * median_distance(squared_distances, X, weight)

    def scratch_width(self, X: Points) -> int:
        """Twice the columns: distances are float64."""
        return 2 * held_width(X)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        out[...] = np.exp(-float(self.gamma) * squared_distances(A, B))


def _gamma_of_width(sigma: float) -> float:
    """1 / (2 sigma^2)."""
    number = isinstance(sigma, int | float | np.number) and not isinstance(sigma, bool)
    if not number or not 1e-150 < sigma < 1e150:
        raise ValueError(f"A width must be a number greater than 0, and neither tiny nor huge, not {sigma!r}.")
    return 1.0 / (2.0 * float(sigma) ** 2)


@dataclass(frozen=True)
class Laplacian(Adaptive, Stationary):
    """k(x, z) = exp(-gamma |x - z|_1).

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is 1 over the mean of
        |x - z|_1 over pairs, "median" 1 over its median.
    """

    gamma: float | str = "scale"
    spectrum = "a Cauchy one in each coordinate"

    def size(self, word: str, X: Points, weight: Array) -> float:
        """Of |x - z|_1."""
        return mean_absolute(X, weight) if word == "scale" else median_distance(_absolute_distances, X, weight)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        out[...] = np.exp(-float(self.gamma) * _absolute_distances(A, B))


def _absolute_distances(A: Points, B: Points) -> Array:
    """|x - z|_1 for each pair, in float64."""
    out = np.empty((count(A), count(B)))
    add_over_coordinates(lambda a, b: np.abs(a - b), A, B, out)
    return out


class _OfDistance(Adaptive, Stationary, names=()):
    """A kernel of |x - z| / length_scale, inside in float64.

    Half of the root of the mean of |x - z|^2 is the width of `Gaussian("scale")` where all columns have one mean.
    """

    adapts: ClassVar[str] = "length_scale"

    def size(self, word: str, X: Points, weight: Array) -> float:
        """Of |x - z|."""
        if word == "scale":
            return sqrt(mean_square(X, weight)) / 2.0
        return sqrt(median_distance(squared_distances, X, weight))


@dataclass(frozen=True)
class Matern(_OfDistance):
    """A kernel of r = |x - z| / length_scale, as smooth as nu says.

    exp(-r) for nu = 1/2, (1 + s) exp(-s), s = sqrt(3) r, for nu = 3/2, (1 + s + s^2/3) exp(-s), s = sqrt(5) r, for
    nu = 5/2.

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5}, default=1.5
        How smooth its functions are.
    length_scale : float, "scale" or "median", default="scale"
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is half of the root of
        the mean of |x - z|^2 over pairs, "median" the median of |x - z|.
    """

    nu: float = 1.5
    length_scale: float | str = "scale"
    tiles = 10  # float64 inside
    spectrum = "a Student one"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"Matern: nu must be 0.5, 1.5 or 2.5, not {self.nu!r}.")

    def fill(self, A: Points, B: Points, out: Array) -> None:
        s = np.sqrt(squared_distances(A, B))
        s *= sqrt(2 * self.nu) / float(self.length_scale)
        np.minimum(s, 1e3, out=s)  # exp(-1000) is 0 already; more would be infinity times 0
        if self.nu == 0.5:
            out[...] = np.exp(-s)
        elif self.nu == 1.5:
            out[...] = (1.0 + s) * np.exp(-s)
        else:
            out[...] = (1.0 + s + s * s / 3.0) * np.exp(-s)


@dataclass(frozen=True)
class RationalQuadratic(_OfDistance):
    """k(x, z) = (1 + |x - z|^2 / (2 alpha length_scale^2))^-alpha.

    Parameters
    ----------
    alpha : float, default=1.0
        How many widths are mixed: for large alpha it is a Gaussian.
    length_scale : float, "scale" or "median", default="scale"
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is half of the root of
        the mean of |x - z|^2 over pairs, "median" the median of |x - z|.
    """

    alpha: float = 1.0
    length_scale: float | str = "scale"
    tiles = 8  # float64 inside
    spectrum = "a mixture of normal ones"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "alpha", above=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        scaled = squared_distances(A, B) / (2.0 * self.alpha * float(self.length_scale) ** 2)
        out[...] = np.exp(-self.alpha * np.log1p(scaled))


@dataclass(frozen=True)
class Periodic(Stationary):
    """k(x, z) = exp(-2 sum_j sin^2(pi (x_j - z_j) / period) / length_scale^2).

    Coordinate by coordinate: with the points of a circle, e(x) = (cos, sin)(2 pi x / period), it is the Gaussian
    exp(-|e(x) - e(z)|^2 / (2 length_scale^2)). Of the Euclidean distance it would not be positive definite.

    Parameters
    ----------
    period : float, default=1.0
        After which the kernel is as it was.
    length_scale : float, default=1.0
        The width within a period.
    """

    period: float = 1.0
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "period", above=0)
        require_number(self, "length_scale", above=0)
        Gaussian(sigma=self.length_scale)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        Gaussian(sigma=self.length_scale).fill(self._circles(A, out.dtype), self._circles(B, out.dtype), out)

    def reason(self) -> str | None:
        return "a Gaussian of the points (cos, sin) of a circle in each coordinate"

    def scratch_width(self, X: Points) -> int:
        """Both coordinates of the circles, on the way in float64."""
        return 4 * width(X)

    def _circles(self, A: Points, dtype: Any) -> Any:
        angle = np.mod(dense(A).astype(np.float64), self.period) * (2 * pi / self.period)
        return np.hstack([np.cos(angle), np.sin(angle)]).astype(dtype)
