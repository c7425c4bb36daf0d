"""Kernels of the difference x - z."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, pi, sqrt
from typing import Any, Self

import numpy as np

from .._core.small import part_of
from ..params import require_number
from ..types import Array, Points
from .base import Kernel
from .columns import fast_columns, fits_single
from .evaluate import Prepared
from .pairwise import (
    add_over_coordinates,
    centred_dot,
    dense,
    few,
    fill_squared_distances,
    overflow_checked_later,
    squared_distances,
)
from .points import common_dtype, count, held_width, row_weights, take, vectors, width

# float32 products give |x - z|^2 with an error of about 1e-7 (|x|^2 + |z|^2). Rows where gamma |x|^2 is larger than
# this are computed in float64, so that no value of the Gaussian is wrong by more than about 5e-6. (The size of the
# row's own point is enough: a much larger z is so far away that the value is 0.)
_HEAVY = 16.0
_MEDIAN_POINTS = 1000  # "median" looks at so many points, evenly spaced


class Stationary(Kernel, names=()):
    """k(x, z) = k(x - z), with k(0) = 1: positive definite where its Fourier transform is a density (Bochner)."""

    spectrum = ""
    bounded = True

    def diagonal(self, A: Points) -> Array:
        """Ones."""
        return np.ones(count(A), common_dtype(A))

    def reason(self) -> str | None:
        return f"its Fourier transform is a density >= 0, {self.spectrum} (Bochner)"


@dataclass(frozen=True)
class Gaussian(Stationary, names=("rbf", "gaussian")):
    """k(x, z) = exp(-gamma |x - z|^2).

    gamma is a number, "scale" (1 / (d Var X)) or "median" (1 / (2 m^2), m the median distance of distinct points), the
    last two found from the training data by `resolve`. From a width: `Gaussian.from_width(sigma)`.
    """

    gamma: float | str = "scale"
    spectrum = "a normal one"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma not in ("scale", "median"):
            if isinstance(self.gamma, str):
                raise ValueError(f"Gaussian: gamma must be a number > 0, 'scale' or 'median', not {self.gamma!r}.")
            require_number(self, "gamma", above=0)

    @classmethod
    def from_width(cls, sigma: float) -> Self:
        """The kernel with gamma = 1 / (2 sigma^2)."""
        if not 1e-150 < sigma < 1e150:
            raise ValueError(f"A width must be greater than 0, and neither tiny nor huge, not {sigma!r}.")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    def require_resolved(self) -> None:
        if isinstance(self.gamma, str):
            raise ValueError(
                f"{self!r} waits for training data: call kernel.resolve(X) first, or give gamma as a number."
            )

    def resolve(self, X: Points, sample_weight: Any = None) -> Self:
        """See Kernel.resolve; rows of weight 0 do not count, and a weight of 2 counts as two rows."""
        if not isinstance(self.gamma, str):
            return self
        X = vectors(X)
        weight = row_weights(sample_weight, count(X))
        spread = _variance(X, weight) * X.shape[1] if self.gamma == "scale" else 2.0 * _median_square(X, weight)
        if spread == 0.0:  # all points are one: any gamma gives the same kernel
            return replace(self, gamma=1.0)
        if not isfinite(spread) or not isfinite(1.0 / spread):
            raise ValueError(f"gamma={self.gamma!r} overflows on this data: its values are too large or too small.")
        return replace(self, gamma=1.0 / spread)

    def scratch_width(self, X: Points) -> int:
        """Twice the columns: some rows may need float64."""
        return 2 * held_width(X)

    def prepare(self, Z: Points, dtype: Any) -> Prepared:
        columns = fast_columns(Z, dtype, float(self.gamma))
        return super().prepare(Z, dtype) if columns is None else columns(self, Z, dtype)

    def prepared_bytes(self, Z: Points, dtype: Any) -> int:
        columns = fast_columns(Z, dtype, float(self.gamma))
        return 0 if columns is None else columns.bytes_for(Z, dtype)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        gamma = float(self.gamma)
        if few(A, B):
            np.exp((-gamma * squared_distances(A, B)).astype(out.dtype, copy=False), out=out)
            return
        from .._core.exponential import exp_64, gaussian_32

        if out.dtype == np.float64:
            fill_squared_distances(A, B, out)
            exp_64(out, gamma)
            return
        heavy = np.arange(count(A))
        if fits_single(gamma, A, B):
            a, b = centred_dot(A, B, out)
            if gaussian_32(out, a, b, gamma) <= _HEAVY:
                return
            heavy = np.flatnonzero(~(gamma * a <= _HEAVY))
        if heavy.size:
            precise = np.empty((heavy.size, count(B)))
            self.fill(take(A, heavy).astype(np.float64), B.astype(np.float64), precise)
            out[heavy] = precise


def _variance(X: Points, weight: Array) -> float:
    """The variance of all entries, each row counted with its weight."""
    total = float(weight.sum() * X.shape[1])
    with overflow_checked_later():
        if not isinstance(X, np.ndarray):  # sparse: most entries are 0
            mean = float(weight @ (X @ np.ones(X.shape[1]))) / total
            return max(float(weight @ (X.multiply(X) @ np.ones(X.shape[1]))) / total - mean * mean, 0.0)
        mean = float(weight @ X.sum(axis=1, dtype=np.float64)) / total
        squares = np.empty(len(X))
        for start in range(0, len(X), 4096):  # by pieces: X may be large
            part = np.subtract(X[start : start + 4096], mean, dtype=np.float64)
            squares[start : start + 4096] = np.einsum("ij,ij->i", part, part)
        return float(weight @ squares) / total


def _median_square(X: Points, weight: Array) -> float:
    """The weighted median of |x - z|^2 over pairs of distinct points."""
    kept = np.flatnonzero(weight)
    if kept.size > _MEDIAN_POINTS:
        kept = kept[np.linspace(0, kept.size - 1, _MEDIAN_POINTS).astype(int)]
    points = take(X, kept)
    i, j = np.triu_indices(kept.size, 1)
    with part_of(kept.size**2):
        squares = squared_distances(points, points)[i, j]
    weights = (weight[kept][i] * weight[kept][j])[squares > 0]
    squares = squares[squares > 0]
    if squares.size == 0:
        return 0.0
    order = np.argsort(squares)
    cumulated = np.cumsum(weights[order])
    low, high = np.searchsorted(cumulated, cumulated[-1] * np.array([0.5 - 1e-12, 0.5 + 1e-12]))
    return float(squares[order[low]] + squares[order[min(high, order.size - 1)]]) / 2.0


@dataclass(frozen=True)
class Laplacian(Stationary):
    """k(x, z) = exp(-gamma |x - z|_1)."""

    gamma: float = 1.0
    spectrum = "a Cauchy one in each coordinate"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "gamma", above=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        from .._core.exponential import exp_32, exp_64
        from .._core.sums import add_l1

        add_over_coordinates(add_l1, A, B, out)
        (exp_32 if out.dtype == np.float32 else exp_64)(out, float(self.gamma))


@dataclass(frozen=True)
class Matern(Stationary):
    """With r = |x - z| / length_scale: exp(-r) for nu = 1/2, (1 + s) exp(-s), s = sqrt(3) r, for nu = 3/2,
    (1 + s + s^2/3) exp(-s), s = sqrt(5) r, for nu = 5/2.
    """

    nu: float = 1.5
    length_scale: float = 1.0
    tiles = 10  # float64 inside
    spectrum = "a Student one"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"Matern: nu must be 0.5, 1.5 or 2.5, not {self.nu!r}.")
        require_number(self, "length_scale", above=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        s = np.sqrt(squared_distances(A, B))
        s *= sqrt(2 * self.nu) / self.length_scale
        np.minimum(s, 1e3, out=s)  # exp(-1000) is 0 already; more would be infinity times 0
        if self.nu == 0.5:
            out[...] = np.exp(-s)
        elif self.nu == 1.5:
            out[...] = (1.0 + s) * np.exp(-s)
        else:
            out[...] = (1.0 + s + s * s / 3.0) * np.exp(-s)


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """k(x, z) = (1 + |x - z|^2 / (2 alpha length_scale^2))^-alpha."""

    alpha: float = 1.0
    length_scale: float = 1.0
    tiles = 8  # float64 inside
    spectrum = "a mixture of normal ones"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "alpha", above=0)
        require_number(self, "length_scale", above=0)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        scaled = squared_distances(A, B) / (2.0 * self.alpha * self.length_scale**2)
        out[...] = np.exp(-self.alpha * np.log1p(scaled))


@dataclass(frozen=True)
class Periodic(Stationary):
    """k(x, z) = exp(-2 sum_j sin^2(pi (x_j - z_j) / period) / length_scale^2).

    Coordinate by coordinate: with the points of a circle, e(x) = (cos, sin)(2 pi x / period), it is the Gaussian
    exp(-|e(x) - e(z)|^2 / (2 length_scale^2)). Of the Euclidean distance it would not be positive definite.
    """

    period: float = 1.0
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "period", above=0)
        require_number(self, "length_scale", above=0)
        Gaussian.from_width(self.length_scale)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        Gaussian.from_width(self.length_scale).fill(self._circles(A, out.dtype), self._circles(B, out.dtype), out)

    def reason(self) -> str | None:
        return "a Gaussian of the points (cos, sin) of a circle in each coordinate"

    def scratch_width(self, X: Points) -> int:
        """Both coordinates of the circles, on the way in float64."""
        return 4 * width(X)

    def _circles(self, A: Points, dtype: Any) -> Any:
        angle = np.mod(dense(A).astype(np.float64), self.period) * (2 * pi / self.period)
        return np.hstack([np.cos(angle), np.sin(angle)]).astype(dtype)
