"""Loss: a convex function of the score u = f(x), for each target y.

With weights C_i, a machine minimises  1/2 |w|^2 + sum_i C_i loss(y_i, f_i).  Its dual has one coefficient beta_i per
point and the terms  h_i(s) = C_i loss*(-s / C_i),  where loss* is the conjugate.

Targets, scores and weights are arrays of one length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..arithmetic import inner
from ..params import Parameters
from ..types import Array

if TYPE_CHECKING:
    from .quadratic import Box, Terms

_DOUBLINGS = 200  # how far a bias is looked for
_HALVINGS = 200  # more than enough to reach neighbouring floating point numbers


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

    def slope_along(self, y: Array, C: Array, u: Array, du: Array, part: float) -> float:
        """The slope, in `part`, of sum C_i loss(y_i, u_i + part du_i)."""
        return inner(C * du, self.slope(y, u + part * du))

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


def finite_interval(low: float, high: float) -> tuple[float, float]:
    """The interval; where one end is infinite, the other alone, and 0 where both are."""
    if np.isfinite(low) and np.isfinite(high):
        return float(low), float(high)
    end = float(low) if np.isfinite(low) else float(high) if np.isfinite(high) else 0.0
    return end, end
