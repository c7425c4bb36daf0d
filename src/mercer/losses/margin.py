"""Losses of the margin y f(x), for labels -1 and +1, and the one of a single class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Array
from .base import Loss, Terms, crossing, full, require_labels

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y u): the soft margin."""

    def value(self, y: Array, u: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * u)

    def slope(self, y: Array, u: Array) -> Array:
        return np.where(y * u < 1.0, -y, 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return _inside(y * v, (y * v >= -1.0) & (y * v <= 0.0))

    def terms(self, y: Array, C: Array) -> Terms:
        zero = full(y, 0)
        return Terms(y, zero, zero, np.minimum(0.0, C * y), np.maximum(0.0, C * y))

    def check(self, y: Array) -> None:
        require_labels(self, y)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        return crossing(y - scores, C, mass - float(C[y > 0].sum()))


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 - y u)^2, without a factor 1/2."""

    def value(self, y: Array, u: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * u) ** 2

    def slope(self, y: Array, u: Array) -> Array:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * u)

    def conjugate(self, y: Array, v: Array) -> Array:
        return _inside(y * v + 0.25 * v * v, y * v <= 0.0)

    def terms(self, y: Array, C: Array) -> Terms:
        lo, hi = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
        return Terms(y, 1.0 / (2.0 * C), full(y, 0), lo, hi)

    def check(self, y: Array) -> None:
        require_labels(self, y)


@dataclass(frozen=True)
class HardMargin(Loss):
    """0 where y u >= 1, infinite elsewhere; the weights C play no part.

    An iterate becomes feasible when it is divided by its least y_i f(x_i), where that is positive.
    """

    def value(self, y: Array, u: Array) -> Array:
        return np.where(y * u >= 1.0 - _ROUNDING, 0.0, np.inf)

    def slope(self, y: Array, u: Array) -> Array:
        return np.where(y * u < 1.0, -y, 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return _inside(y * v, y * v <= 0.0)

    def terms(self, y: Array, C: Array) -> Terms:
        zero = full(y, 0)
        return Terms(y, zero, zero, np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0))

    def check(self, y: Array) -> None:
        require_labels(self, y)

    def feasible_scale(self, y: Array, u: Array) -> float:
        """1 / min y_i u_i, or infinity where some point is on the wrong side."""
        least = float((y * u).min())
        return 1.0 / least if least > 0.0 else np.inf

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """Between the nearest points of the two classes; its middle makes the least margin as large as it can be."""
        room = y - scores
        ends = [float(room[y > 0].max(initial=-np.inf)), float(room[y < 0].min(initial=np.inf))]
        finite = [end for end in ends if np.isfinite(end)]
        return (ends[0], ends[1]) if len(finite) == 2 else (finite[0], finite[0])


@dataclass(frozen=True)
class OneClass(Loss):
    """max(0, -u): points should lie on the side where f >= 0. The targets play no part."""

    def value(self, y: Array, u: Array) -> Array:
        return np.maximum(0.0, -u)

    def slope(self, y: Array, u: Array) -> Array:
        return np.where(u < 0.0, -1.0, 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return _inside(0.0 * v, (v >= -1.0) & (v <= 0.0))

    def terms(self, y: Array, C: Array) -> Terms:
        zero = full(y, 0)
        return Terms(zero, zero, zero, zero, C + zero)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        return crossing(-scores, C + full(y, 0), mass - float(C.sum()))


def _inside(value: Array, where: Array) -> Array:
    """A conjugate: the value on its domain, infinity elsewhere."""
    return np.where(where, value, np.inf)
