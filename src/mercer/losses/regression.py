"""Losses of the residual y - f(x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..params import require_number
from ..types import Array
from .base import Loss, Terms, crossing, full


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
