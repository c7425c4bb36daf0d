"""Losses with a quadratic dual, which is every loss but the logistic one; and the terms of that dual.

h_i(s) = r/2 s^2 - q s + eps |s|  on  [lo, hi]: five arrays, so that one solver serves them all. Losses of the margin
y f(x) are for labels -1 and +1, those of the residual y - f(x) for numbers; and one is for a single class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..params import require_number
from ..types import Array
from .base import Loss, finite_interval

_SORTED = 2_000  # points; to sort no more takes no time
_PIECES = 500
_ROUNDING = 1e-9


class Box(NamedTuple):
    """Where the dual terms are finite: lo <= beta <= hi.

    Parameters
    ----------
    lo : ndarray of shape (n,)
        The least coefficients.
    hi : ndarray of shape (n,)
        The largest ones.
    """

    lo: Array
    hi: Array

    def nearest(self, beta: Array) -> Array:
        """Each coefficient, or the bound that it has passed."""
        return np.minimum(np.maximum(beta, self.lo), self.hi)

    def free(self, beta: Array) -> Array:
        """Which coefficients are between their bounds."""
        return (self.lo < beta) & (beta < self.hi)

    def outside(self, beta: Array) -> float:
        """By how much the worst coefficient has left its bounds."""
        return max(float((self.lo - beta).max(initial=0.0)), float((beta - self.hi).max(initial=0.0)), 0.0)


@dataclass(frozen=True, eq=False)
class Terms:
    """h_i(s) = r_i/2 s^2 - q_i s + eps_i |s| for s in [lo_i, hi_i], infinite elsewhere.

    Parameters
    ----------
    q : ndarray of shape (n,)
        The slope.
    r : ndarray of shape (n,)
        The curvature, >= 0.
    eps : ndarray of shape (n,)
        The weight of |s|, >= 0.
    lo : ndarray of shape (n,)
        The least s.
    hi : ndarray of shape (n,)
        The largest s.
    """

    q: Array
    r: Array
    eps: Array
    lo: Array
    hi: Array

    @cached_property
    def curved(self) -> bool:
        """Whether r > 0 for all."""
        return bool((self.r > 0.0).all())

    @cached_property
    def box(self) -> Box:
        """The bounds."""
        return Box(self.lo, self.hi)

    @property
    def rows(self) -> Array:
        """q, r, eps, lo, hi, a row of one array for each: as native loops take them."""
        return np.stack([self.q, self.r, self.eps, self.lo, self.hi])

    def at(self, places: Any) -> Terms:
        """Those of some points."""
        return Terms(self.q[places], self.r[places], self.eps[places], self.lo[places], self.hi[places])

    def value(self, beta: Array) -> Array:
        """h_i(beta_i) for coefficients within their bounds."""
        return np.asarray(0.5 * self.r * beta * beta - self.q * beta + self.eps * np.abs(beta))

    def best(self, f: Array) -> Array:
        """The s with the least h_i(s) + f_i s: minus C_i times a slope of the loss at f_i."""
        g = self.q - f
        pull = g - np.minimum(np.maximum(g, -self.eps), self.eps)
        if self.curved:
            return self.box.nearest(pull / self.r)
        s = np.divide(pull, self.r, out=np.copysign(np.inf, pull), where=self.r > 0.0)
        return self.box.nearest(np.where(pull == 0.0, 0.0, s))

    def losses(self, f: Array) -> Array:
        """C_i loss(y_i, f_i), the largest -h_i(s) - f_i s; not of a hard margin, where it may be infinite."""
        s = np.abs(self.best(f))
        return np.asarray(s * (np.maximum(np.abs(self.q - f) - self.eps, 0.0) - 0.5 * self.r * s))

    def shares(self, beta: Array, f: Array) -> Array:
        """What each point adds to the gap, which is never negative (Fenchel-Young)."""
        return np.asarray(self.losses(f) + self.value(beta) + beta * f)

    def gradient(self, beta: Array, scores: Array) -> Array:
        """F = q - r beta - K beta: the slope of the dual, but for eps |beta|."""
        return np.asarray(self.q - self.r * beta - scores)

    def slopes(self, beta: Array, F: Array) -> tuple[Array, Array]:
        """The slope of the dual on the way up, -inf at the upper bound, and on the way down, inf at the lower one."""
        rise = np.where(beta < self.hi, F - np.where(beta >= 0.0, self.eps, -self.eps), -np.inf)
        fall = np.where(beta > self.lo, F - np.where(beta > 0.0, self.eps, -self.eps), np.inf)
        return rise, fall

    def violation(self, beta: Array, scores: Array, bias: bool) -> float:
        """By how much the optimality conditions (KKT) fail: the largest gain of a move that the bounds allow."""
        rise, fall = self.slopes(beta, self.gradient(beta, scores))
        return violation(float(rise.max()), float(fall.min()), bias)


def violation(top: float, bottom: float, bias: bool) -> float:
    """The same from the largest slope on the way up and the least on the way down: with a bias, one coefficient rises
    as another one sinks.
    """
    return max(top - bottom, 0.0) if bias else max(top, -bottom, 0.0)


def require_labels(loss: Loss, y: Array) -> None:
    """Raise unless every target is -1 or +1."""
    right = np.abs(y) == 1.0
    if not right.all():
        raise ValueError(f"{loss!r} needs labels -1 and +1, not {y[~right][0]:g}.")


def crossing(at: Array, jump: Array, slope: float) -> tuple[float, float]:
    """The interval where a function whose slope starts at `slope`, and grows by jump_i at at_i, is least.

    Of many points, sums over pieces of the line tell where to look: far fewer are left to be sorted.
    """
    level, slack, before = -slope, 1e-12 * float(jump.sum()), 0.0
    start, width = float(at.min()), float(np.ptp(at))
    if at.size > _SORTED and 0.0 < width < np.inf:
        piece = np.minimum((at - start) * (_PIECES / width), _PIECES - 1).astype(np.intp)
        sums = np.cumsum(np.bincount(piece, jump, _PIECES))
        first = min(int(np.searchsorted(sums, level - slack)), _PIECES - 1)
        last = min(int(np.searchsorted(sums, level + slack, side="right")), _PIECES - 1)
        inside = np.flatnonzero((piece >= first) & (piece <= last))
        at, jump, before = at[inside], jump[inside], float(sums[first - 1]) if first else 0.0
    order = np.argsort(at)
    at, total = at[order], before + np.cumsum(jump[order])
    low = int(np.searchsorted(total, level - slack))  # the slope is >= 0 right of this point,
    high = int(np.searchsorted(total, level + slack, side="right"))  # and > 0 right of that one
    last = at.size - 1
    return float(at[min(low, last)]), float(at[min(high, last)])


def full(y: Array, value: float) -> Array:
    """An array like y of one value."""
    return np.full(y.shape, float(value))


# Of the margin.


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

    check = require_labels

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

    check = require_labels

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

    check = require_labels

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


# Of the residual.


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |y - u| - epsilon): residuals up to epsilon cost nothing.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half the width of the tube, >= 0.
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "epsilon", at_least=0)

    def value(self, y: Array, u: Array) -> Array:
        return np.asarray(np.maximum(0.0, np.abs(y - u) - self.epsilon))

    def slope(self, y: Array, u: Array) -> Array:
        return np.where(np.abs(u - y) > self.epsilon, np.sign(u - y), 0.0)

    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(np.abs(v) <= 1.0, y * v + self.epsilon * np.abs(v), np.inf)

    def terms(self, y: Array, C: Array) -> Terms:
        return Terms(y, np.zeros(y.shape), full(y, self.epsilon), -C, C)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        room = y - scores
        kinks = np.concatenate([room - self.epsilon, room + self.epsilon])
        return crossing(kinks, np.concatenate([C, C]), mass - float(C.sum()))


@dataclass(frozen=True)
class Squared(Loss):
    """1/2 (y - u)^2: ridge regression, with C = 1 / lambda."""

    smooth: ClassVar[bool] = True

    def value(self, y: Array, u: Array) -> Array:
        return 0.5 * (y - u) ** 2

    def slope(self, y: Array, u: Array) -> Array:
        return u - y

    def curvature(self, y: Array, u: Array) -> Array:
        return full(y, 1)

    def conjugate(self, y: Array, v: Array) -> Array:
        return y * v + 0.5 * v * v

    def terms(self, y: Array, C: Array) -> Terms:
        return Terms(y, 1.0 / C, full(y, 0), full(y, -np.inf), full(y, np.inf))

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        b = (float(C @ (y - scores)) - mass) / float(C.sum())
        return b, b


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
