"""The logistic loss: its scores are log-odds, so that a machine trained with it knows probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..types import Array
from .base import Loss, require_labels


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y u)): minus the logarithm of the probability 1 / (1 + exp(-u)) of y = 1, or of the other label.

    With p_i = y_i beta_i / C_i between 0 and 1, h_i = C_i (p_i log p_i + (1 - p_i) log(1 - p_i)): an entropy, which is
    not quadratic.
    """

    quadratic: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def value(self, y: Array, u: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * u))

    def slope(self, y: Array, u: Array) -> Array:
        from scipy.special import expit

        return np.asarray(-y * expit(-y * u))

    def curvature(self, y: Array, u: Array) -> Array:
        from scipy.special import expit

        return np.asarray(expit(u) * expit(-u))

    def conjugate(self, y: Array, v: Array) -> Array:
        from scipy.special import entr

        return np.asarray(-entr(-y * v) - entr(1.0 + y * v))

    def bounds(self, y: Array, C: Array) -> tuple[Array, Array]:
        return np.minimum(0.0, C * y), np.maximum(0.0, C * y)

    def check(self, y: Array) -> None:
        require_labels(self, y)

    def best_bias(self, y: Array, scores: Array, C: Array, mass: float) -> tuple[float, float]:
        """By Newton's method; where the objective is nearly flat (one label, huge scores), by halving."""
        from .._core.logistic import logistic_bias

        b = float(logistic_bias(scores, y, C, float(mass)))
        return (b, b) if np.isfinite(b) else super().best_bias(y, scores, C, mass)
