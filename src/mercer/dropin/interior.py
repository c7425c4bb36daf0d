"""An interior point method for the hinge loss: few columns, no kernel matrix. About twenty steps, whatever C is.

    min 1/2 |w|^2 - sum a_i,    w = A'a,    0 <= a <= C,    with the rows y_i z_i of A

A w - 1 is the slope of the dual, split into over - under: a over = 0 and (C - a) under = 0 at the answer. All four stay
above 0 until then, and both products fall together: a step asks where they would be 0, sees how far that leads, and
asks for what can be reached (Mehrotra 1992). It costs the squares of the columns of A.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..amounts import ROUNDING
from ..solution import Certificate
from ..solvers.triangular import NotDefiniteError, inverse_of
from ..types import Array
from .hinge import HingeProblem, best_free, certified

_ROUNDS = 60
_NEARLY = 0.999  # of the way to the first that would be 0 is gone


class _Point(NamedTuple):
    """Where the method stands, or a step of it. The rows of `four` are a, C - a, over and under."""

    four: Array
    w: Array

    def after(self, step: _Point, part: float) -> _Point:
        return _Point(self.four + part * step.four, self.w + part * step.w)

    def room(self, step: _Point) -> float:
        """The part of a step after which the first of the four would be 0."""
        fall = -float((step.four / self.four).min())
        return 1.0 / fall if fall > 0.0 else np.inf

    def products(self) -> float:
        """The sum of all products, which is the gap."""
        return float(np.vdot(self.four[:2], self.four[2:]))


def interior(posed: HingeProblem, tol: float, near: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of steps, of dense rows without a constant; see `certified`."""
    (design, y, C, _), rounds = posed, 0
    A = design.Z * y[:, None]
    point = _middle(A, C)
    found = certified(posed, _nearest(y, C, point), tol, near)
    while not found[1].converged and rounds < _ROUNDS:
        try:
            step = _step(A, point)
        except NotDefiniteError:  # rounding hides what is left, but for the best values of those that are free
            beta = _nearest(y, C, point)
            return *certified(posed, best_free(posed, beta, design.product(beta)), tol, near), max(1, rounds)
        point, rounds = point.after(step, min(1.0, _NEARLY * point.room(step))), rounds + 1
        if point.products() <= tol * float(C @ point.four[3]):  # the losses are less than that
            found = certified(posed, _nearest(y, C, point), tol, near)
    return *found, max(1, rounds)


def _middle(A: Array, C: Array) -> _Point:
    """Where the method begins: in the middle, or where the dual is largest on the way there."""
    w = C @ A
    part = min(0.5, float(C.sum()) / max(float(w @ w), ROUNDING.least))
    a, w = part * C, part * w
    half = 0.5 * (A @ w - 1.0)
    size = np.hypot(half, 2.0 * np.abs(half).mean())
    return _Point(np.array([a, C - a, size + half, size - half]), w)


def _step(A: Array, point: _Point) -> _Point:
    """Towards the products that can be reached."""
    towards = _steps_from(A, point)
    straight = towards(0.0)
    now, then = point.products(), point.after(straight, min(1.0, point.room(straight))).products()
    aim = then * then / (2 * len(A) * now)
    return towards((aim - straight.four[:2] * straight.four[2:]) / point.four[:2])


def _steps_from(A: Array, point: _Point) -> Callable[[Array | float], _Point]:
    """Newton's step, from what over and under are to become, as long as a stays where it is."""
    slopes = point.four[2:]
    ratios = slopes / point.four[:2]
    scale = 1.0 / (ratios[0] + ratios[1])
    scaled = A.T * scale
    H = scaled @ A
    H.reshape(-1)[:: len(H) + 1] += 1.0
    inverse = inverse_of(H)

    def towards(wanted: Array | float) -> _Point:
        missing = wanted - slopes
        pull = missing[0] - missing[1]
        w = inverse(scaled @ pull)
        four = np.empty_like(point.four)
        four[0] = scale * (pull - A @ w)
        four[1] = -four[0]
        four[2:] = missing - ratios * four[:2]
        return _Point(four, w)

    return towards


def _nearest(y: Array, C: Array, point: _Point) -> Array:
    """The coefficients, those next to a bound moved there."""
    a, rest, over, under = point.four
    return y * np.where(a < C * over, 0.0, np.where(rest < C * under, C, a))
