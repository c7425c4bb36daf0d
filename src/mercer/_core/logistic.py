"""Loops over all points for the logistic loss: coefficients from scores, the best bias, slopes along a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled

_STEPS = 50  # of Newton's method for a bias
_FLAT = 1e-9  # curvatures below this part of the largest possible one are left to others
_ROUNDING = 1e-14


@compiled
def logistic_coefficients(f: Array, y: Array, C: Array, beta: Array, rate: Array) -> Any:
    """beta <- minus C_i times the slope at f_i, rate <- C_i times the curvature; sum C_i loss."""
    losses = 0.0
    for i in range(f.size):
        margin = y[i] * f[i]
        e = np.exp(-abs(margin))
        p = (e if margin > 0.0 else 1.0) / (1.0 + e)  # of the other label
        beta[i], rate[i] = y[i] * C[i] * p, C[i] * p * (1.0 - p)
        losses += C[i] * (np.log1p(e) - min(margin, 0.0))
    return losses


@compiled
def logistic_bias(f: Array, y: Array, C: Array, mass: float) -> Any:
    """The b with the least sum C_i loss(f_i + b) + mass b, by Newton's method; not a number where it finds none.

    Steps are shortened to log(1 + |step|), with which the method cannot overshoot for ever: no curvature here changes
    by more than a factor e over a distance of 1.
    """
    b, most = 0.0, 0.25 * C.sum()
    for _ in range(_STEPS):
        slope, curvature = mass, 0.0
        for i in range(f.size):
            margin = y[i] * (f[i] + b)
            e = np.exp(-abs(margin))
            p = (e if margin > 0.0 else 1.0) / (1.0 + e)
            slope -= y[i] * C[i] * p
            curvature += C[i] * p * (1.0 - p)
        if not curvature > _FLAT * most:  # one label, or huge scores
            return np.nan
        step = -slope / curvature
        b += np.log1p(abs(step)) * (1.0 if step > 0.0 else -1.0)
        if abs(step) <= _ROUNDING * max(1.0, abs(b)):
            return b
    return np.nan


@compiled
def logistic_slope(f: Array, df: Array, part: float, y: Array, C: Array) -> Any:
    """The slope in `part` of sum C_i loss(f_i + part df_i)."""
    slope = 0.0
    for i in range(f.size):
        slope -= y[i] * C[i] / (1.0 + np.exp(y[i] * (f[i] + part * df[i]))) * df[i]
    return slope
