"""Loss: a convex function of the score u = f(x), for each target y; and the terms of its dual.

With weights C_i, a machine minimises  1/2 |w|^2 + sum_i C_i loss(y_i, f_i).  Its dual has one coefficient beta_i per
point and the terms  h_i(s) = C_i loss*(-s / C_i),  where loss* is the conjugate. For every loss but the
logistic one  h_i(s) = r/2 s^2 - q s + eps |s|  on  [lo, hi]: five arrays, so that one solver serves them all.

Targets, scores and weights are arrays of one length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..params import Parameters
from ..types import Array

_DOUBLINGS = 200  # how far a bias is looked for
_HALVINGS = 200  # more than enough to reach neighbouring floating point numbers
_FEW = 2_000  # points; to sort so many takes no time
_PIECES = 500


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


class Loss(Parameters):
    """loss(y, u), convex in the score u."""

    quadratic: ClassVar[bool] = True
    """Whether the dual terms are quadratic: whether there are `terms`."""

    smooth: ClassVar[bool] = False
    """Whether there is a second derivative: a `curvature`."""

    def value(self, y: Array, u: Array) -> Array:
        """loss(y_i, u_i)."""
        raise NotImplementedError

    def slope(self, y: Array, u: Array) -> Array:
        """A derivative in u; at a kink, any of them."""
        raise NotImplementedError

    def curvature(self, y: Array, u: Array) -> Array:
        """The second derivative in u."""
        raise NotImplementedError(f"{self!r} has no second derivative.")

    def model(self, y: Array, u: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature: what a step of Newton's method knows of the loss."""
        return self.value(y, u), self.slope(y, u), self.curvature(y, u)

    def conjugate(self, y: Array, v: Array) -> Array:
        """loss*(v) = sup_u (v u - loss(y, u))."""
        raise NotImplementedError

    def terms(self, y: Array, C: Array) -> Terms:
        """The dual terms of points with weights C."""
        raise NotImplementedError(f"The dual of {self!r} is not quadratic.")

    def bounds(self, y: Array, C: Array) -> Box:
        """Between which coefficients the dual terms are finite."""
        return self.terms(y, C).box

    def check(self, y: Array) -> None:
        """Raise a clear error for targets that the loss is not made for."""

    def feasible_scale(self, y: Array, u: Array) -> float:
        """The factor that makes the scores feasible; only a hard margin needs one."""
        return 1.0

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """The interval of b where  sum C_i loss(y_i, scores_i + b) + mass b  is least: here by halving.

        An interval without end is given as the one end that it has.
        """

        def slope(b: float) -> float:
            return float(C @ self.slope(y, scores + b)) + mass

        return finite_interval(_turning_point(lambda b: slope(b) >= 0.0), _turning_point(lambda b: slope(b) > 0.0))


def _turning_point(holds: Callable[[float], bool]) -> float:
    """Where a condition on b that holds from some b on begins to hold; infinite where it always or never does."""
    low, high, width = -1.0, 1.0, 1.0
    for _ in range(_DOUBLINGS):
        if not holds(low):
            break
        low, high, width = low - width, low, 2.0 * width
    else:
        return -np.inf
    for _ in range(_DOUBLINGS):
        if holds(high):
            break
        low, high, width = high, high + width, 2.0 * width
    else:
        return np.inf
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def require_labels(loss: Loss, y: Array) -> None:
    """Raise unless every target is -1 or +1."""
    right = np.abs(y) == 1.0
    if not right.all():
        raise ValueError(f"{loss!r} needs labels -1 and +1, not {y[~right][0]:g}.")


def finite_interval(low: float, high: float) -> tuple[float, float]:
    """The interval; where one end is infinite, the other alone, and 0 where both are."""
    if np.isfinite(low) and np.isfinite(high):
        return float(low), float(high)
    end = float(low) if np.isfinite(low) else float(high) if np.isfinite(high) else 0.0
    return end, end


def crossing(at: Array, jump: Array, slope: float) -> tuple[float, float]:
    """The interval where a function whose slope starts at `slope`, and grows by jump_i at at_i, is least."""
    level, slack, before = -slope, 1e-12 * float(jump.sum()), 0.0
    if at.size > _FEW:
        at, jump, before = _near(at, jump, level - slack, level + slack)
    order = np.argsort(at)
    at, total = at[order], before + np.cumsum(jump[order])
    low = int(np.searchsorted(total, level - slack))  # the slope is >= 0 right of this point,
    high = int(np.searchsorted(total, level + slack, side="right"))  # and > 0 right of that one
    last = at.size - 1
    return float(at[min(low, last)]), float(at[min(high, last)])


def _near(at: Array, jump: Array, low: float, high: float) -> tuple[Array, Array, float]:
    """The points near those where the sum of all jumps so far passes low and high, and the sum of the jumps before.

    Sums over pieces of the line tell where to look: far fewer points are left to be sorted.
    """
    start, width = float(at.min()), float(np.ptp(at))
    if not 0.0 < width < np.inf:
        return at, jump, 0.0
    piece = np.minimum((at - start) * (_PIECES / width), _PIECES - 1).astype(np.intp)
    total = np.cumsum(np.bincount(piece, jump, _PIECES))
    first = min(int(np.searchsorted(total, low)), _PIECES - 1)
    last = min(int(np.searchsorted(total, high, side="right")), _PIECES - 1)
    inside = np.flatnonzero((piece >= first) & (piece <= last))
    return at[inside], jump[inside], float(total[first - 1]) if first else 0.0


def full(y: Array, value: float) -> Array:
    """An array like y of one value."""
    return np.full(y.shape, float(value))
