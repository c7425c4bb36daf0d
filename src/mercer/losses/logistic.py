"""The logistic loss: its scores are log-odds, so that a machine trained with it knows probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._core.core import CHOICE
from ..types import Array
from .base import Loss
from .quadratic import Box, require_labels

core = CHOICE.functions
_STEPS = 50  # of Newton's method for a bias
_FLAT = 1e-9  # curvatures below this part of the largest possible one are left to others
_SMALL = 1e-8  # a step of which the square is nothing: no other need follow


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y u)): minus the logarithm of the probability 1 / (1 + exp(-u)) of y = 1, or of the other label.

    With p_i = y_i beta_i / C_i between 0 and 1, h_i = C_i (p_i log p_i + (1 - p_i) log(1 - p_i)): an entropy, which is
    not quadratic.
    """

    quadratic: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def value(self, y: Array, u: Array) -> Array:
        return _evaluated(y * u)[0]

    def slope(self, y: Array, u: Array) -> Array:
        return np.asarray(-y * _evaluated(y * u)[1])

    def curvature(self, y: Array, u: Array) -> Array:
        return _evaluated(y * u)[2]

    def model(self, y: Array, u: Array) -> tuple[Array, Array, Array]:
        value, other, curvature = _evaluated(y * u)
        return value, -y * other, curvature

    def slope_along(self, y: Array, C: Array, u: Array, du: Array, part: float) -> float:
        return _bends(y, C, u, du, part)[0]

    def conjugate(self, y: Array, v: Array) -> Array:
        p = np.ascontiguousarray(-y * v, np.float64)
        out = np.empty_like(p)
        core.entropies(p.reshape(-1), out.reshape(-1))
        return out

    def bounds(self, y: Array, C: Array) -> Box:
        return Box(np.minimum(0.0, C * y), np.maximum(0.0, C * y))

    check = require_labels

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """By Newton's method; where the objective is nearly flat (one label, huge scores), by halving."""
        b = self.bias_by_newton(y, scores, C, mass)
        return super().best_bias(y, scores, C, mass) if b is None else (b, b)

    def bias_by_newton(self, y: Array, scores: Array, C: Array, mass: float = 0.0) -> float | None:
        """The b with the least sum C_i loss(scores_i + b) + mass b; None, where the method finds none."""
        b, most, ones = 0.0, 0.25 * float(C.sum()), np.ones(C.shape)
        for _ in range(_STEPS):
            slope, curvature = _bends(y, C, scores, ones, b)
            slope += mass
            if not curvature > _FLAT * most:  # one label, or huge scores
                break
            step = -slope / curvature
            # Shortened so, steps cannot overshoot for ever: no curvature changes by more than a factor e over 1.
            b += float(np.sign(step) * np.log1p(abs(step)))
            if abs(step) <= _SMALL:
                return b
        return None


def _evaluated(margin: Array) -> tuple[Array, Array, Array]:
    """The loss, the probability 1 / (1 + exp(margin)) of the other label, and the curvature."""
    margin = np.ascontiguousarray(margin, np.float64)
    loss, other, curvature = (np.empty_like(margin) for _ in range(3))
    core.logistic(margin.reshape(-1), loss.reshape(-1), other.reshape(-1), curvature.reshape(-1))
    return loss, other, curvature


def _bends(y: Array, C: Array, u: Array, du: Array, part: float) -> tuple[float, float]:
    """Slope and curvature, in `part`, of sum C_i loss(y_i, u_i + part du_i)."""
    slope, curvature = core.logistic_bends(*(np.ascontiguousarray(a, np.float64) for a in (y, C, u, du)), float(part))
    return float(slope), float(curvature)
