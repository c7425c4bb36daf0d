"""Losses of the margin y f(x), for labels -1 and +1, and the one of a single class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Array
from .base import Loss, Terms, crossing, finite_interval, full, require_labels

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
        zero, bound = np.zeros(y.shape), C * y
        return Terms(y, zero, zero, np.minimum(0.0, bound), np.maximum(0.0, bound))

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
        return Terms(y, 0.5 / C, full(y, 0), lo, hi)

    def check(self, y: Array) -> None:
        require_labels(self, y)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """Where all margins can be met, between the classes; else where the slope, which only rises, is 0."""
        low, high = _between_classes(y, scores)
        if mass == 0.0 and low <= high:
            return low, high
        b = _root(y - scores, 2.0 * C, y < 0, mass)
        return b, b


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
        return _between_classes(y, scores)


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
        return Terms(zero, zero, zero, zero, C)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        return crossing(-scores, C, mass - float(C.sum()))


def _inside(value: Array, where: Array) -> Array:
    """A conjugate: the value on its domain, infinity elsewhere."""
    return np.where(where, value, np.inf)


def _between_classes(y: Array, scores: Array) -> tuple[float, float]:
    """The b with y_i (scores_i + b) >= 1 for all i lie between these ends, where the first is below the second."""
    room = y - scores
    return finite_interval(room[y > 0].max(initial=-np.inf), room[y < 0].min(initial=np.inf))


def _root(at: Array, rate: Array, right: Array, slope: float) -> float:
    """The b where  slope + sum rate_i (b - at_i)  over the active points is 0.

    A point is active right of at_i, or, where `right` is False, left of it. The slope at b is a b - c with a and c of
    the points active there: one pass in the order of at_i gives both for each piece, and the root is in the first piece
    that ends with a slope >= 0.
    """
    order = np.argsort(at)
    at, rate, right = at[order], rate[order], right[order]
    joins = np.where(right, rate, -rate)  # what a point adds to a when b passes it
    a = float(rate[~right].sum()) + np.cumsum(joins)  # of the piece right of each at_i
    c = float((rate * at)[~right].sum()) + np.cumsum(joins * at) - slope
    piece = int(np.searchsorted(a * at - c, 0.0))
    active = right & (np.arange(at.size) < piece) | ~right & (np.arange(at.size) >= piece)
    total = float(rate[active].sum())
    if total == 0.0:
        return float(at[min(piece, at.size - 1)])
    return (float((rate * at)[active].sum()) - slope) / total
