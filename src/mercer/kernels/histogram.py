"""Kernels of histograms: points whose entries are all >= 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Array, Points
from .adaptive import Adaptive, mean_distance, median_distance
from .base import Kernel
from .pairwise import add_over_coordinates
from .points import common_dtype, count, is_sparse


class Histogram(Kernel, names=()):
    """A kernel that is defined for entries >= 0 only."""

    def check(self, X: Points, name: str) -> None:
        """Refuse negative entries."""
        values = X.data if is_sparse(X) else X
        least = values.min() if values.size else 0
        if least < 0:
            raise ValueError(
                f"{type(self).__name__} is a kernel of histograms and needs entries >= 0, but {name} has {least:g}: "
                "shift or count the data, or use another kernel."
            )


def _sums(A: Points) -> Array:
    return np.asarray(A.sum(axis=1)).reshape(-1)


@dataclass(frozen=True)
class Intersection(Histogram):
    """k(x, z) = sum_j min(x_j, z_j)."""

    def fill(self, A: Points, B: Points, out: Array) -> None:
        add_over_coordinates(np.minimum, A, B, out)

    def diagonal(self, A: Points) -> Array:
        """sum_j x_j."""
        return _sums(A)

    def reason(self) -> str | None:
        return "min(x, z) is the inner product of the indicators of [0, x] and [0, z]"


@dataclass(frozen=True)
class Chi2(Histogram):
    """k(x, z) = sum_j x_j z_j / (x_j + z_j), with 0/0 = 0."""

    def fill(self, A: Points, B: Points, out: Array) -> None:
        add_over_coordinates(_product_over_sum, A, B, out)

    def diagonal(self, A: Points) -> Array:
        """sum_j x_j / 2."""
        return _sums(A) / 2

    def reason(self) -> str | None:
        return "x z / (x + z) is the inner product of x exp(-x t) and z exp(-z t), t > 0"


@dataclass(frozen=True)
class ExpChi2(Adaptive, Histogram):
    """k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), with 0/0 = 0.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        A number > 0, or a word that `resolve` replaces by one, from the training points: "scale" is 1 over the mean of
        that sum over pairs, "median" 1 over its median.
    """

    gamma: float | str = "scale"
    bounded = True

    def size(self, word: str, X: Points, weight: Array) -> float:
        """Of the sum."""
        return (mean_distance if word == "scale" else median_distance)(_chi2_distances, X, weight)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        out[...] = np.exp(-float(self.gamma) * _chi2_distances(A, B))

    def diagonal(self, A: Points) -> Array:
        """Ones."""
        return np.ones(count(A), common_dtype(A))

    def reason(self) -> str | None:
        return "exp(4 gamma Chi2), a limit of sums of products of Chi2, times a function of x and the same of z"


def _chi2_distances(A: Points, B: Points) -> Array:
    """sum_j (x_j - z_j)^2 / (x_j + z_j) for each pair, in float64."""
    out = np.empty((count(A), count(B)))
    add_over_coordinates(_square_over_sum, A, B, out)
    return out


def _product_over_sum(a: Array, b: Array) -> Array:
    """a b / (a + b), where 0/0 = 0."""
    return np.asarray(a * (b / _sum(a, b)))


def _square_over_sum(a: Array, b: Array) -> Array:
    """(a - b)^2 / (a + b), where 0/0 = 0."""
    difference = np.subtract(a, b, dtype=np.float64)
    return np.asarray(difference * (difference / _sum(a, b)))


def _sum(a: Array, b: Array) -> Array:
    """a + b, but never 0."""
    return np.asarray(np.maximum(a + b, np.finfo(np.result_type(a, b)).tiny))
