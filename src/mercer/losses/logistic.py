"""The logistic loss: its scores are log-odds, so that a machine trained with it knows probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..types import Array
from .base import Loss
from .quadratic import Box, require_labels

_STEPS = 50  # of Newton's method for a bias
_FLAT = 1e-9  # curvatures below this part of the largest possible one are left to others
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y u)): minus the logarithm of the probability 1 / (1 + exp(-u)) of y = 1, or of the other label.

    With p_i = y_i beta_i / C_i between 0 and 1, h_i = C_i (p_i log p_i + (1 - p_i) log(1 - p_i)): an entropy, which is
    not quadratic.
    """

    quadratic: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def value(self, y: Array, u: Array) -> Array:
        margin = y * u
        return np.asarray(np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0))

    def slope(self, y: Array, u: Array) -> Array:
        return np.asarray(-y * other_label(y * u))

    def curvature(self, y: Array, u: Array) -> Array:
        e = np.exp(-np.abs(u))
        return np.asarray(e / (1.0 + e) ** 2)

    def model(self, y: Array, u: Array) -> tuple[Array, Array, Array]:
        margin = y * u
        e = np.exp(-np.abs(margin))
        p = np.where(margin > 0.0, e, 1.0) / (1.0 + e)
        return np.log1p(e) - np.minimum(margin, 0.0), -y * p, p * (1.0 - p)

    def conjugate(self, y: Array, v: Array) -> Array:
        from scipy.special import entr

        return np.asarray(-entr(-y * v) - entr(1.0 + y * v))

    def bounds(self, y: Array, C: Array) -> Box:
        return Box(np.minimum(0.0, C * y), np.maximum(0.0, C * y))

    check = require_labels

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """By Newton's method; where the objective is nearly flat (one label, huge scores), by halving."""
        b = self.bias_by_newton(y, scores, C, mass)
        return super().best_bias(y, scores, C, mass) if b is None else (b, b)

    def bias_by_newton(self, y: Array, scores: Array, C: Array, mass: float = 0.0) -> float | None:
        """The b with the least sum C_i loss(scores_i + b) + mass b; None, where the method finds none."""
        b, most = 0.0, 0.25 * float(C.sum())
        for _ in range(_STEPS):
            p = other_label(y * (scores + b))
            slope, curvature = mass - float((y * C) @ p), float(C @ (p * (1.0 - p)))
            if not curvature > _FLAT * most:  # one label, or huge scores
                break
            step = -slope / curvature
            # Shortened so, steps cannot overshoot for ever: no curvature changes by more than a factor e over 1.
            b += float(np.sign(step) * np.log1p(abs(step)))
            if abs(step) <= _ROUNDING * max(1.0, abs(b)):
                return b
        return None


def other_label(margin: Array) -> Array:
    """1 / (1 + exp(margin)): the probability of the other label. Made of exp(-|margin|), which does not overflow."""
    e = np.exp(-np.abs(margin))
    return np.asarray(np.where(margin > 0.0, e, 1.0) / (1.0 + e))
