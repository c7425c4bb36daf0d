"""Loops over all points for the logistic loss: coefficients from scores, the best bias, slopes along a line.

With margins m = y f, everything is made of exp(-|m|), which is taken for many points at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled, exactly_compiled, inlined
from .exponential import LOWEST_64, atanh, exp_row_64, log_row_64

_AT_ONCE = 256
_STEPS = 50  # of Newton's method for a bias
_FLAT = 1e-9  # curvatures below this part of the largest possible one are left to others
_ROUNDING = 1e-14
_TINY = 1e-300  # p log p of less is 0


@inlined
def _other(e: float, margin: float) -> Any:
    """The probability of the other label, from e = exp(-|margin|)."""
    return (e if margin > 0.0 else 1.0 if margin <= 0.0 else np.nan) / (1.0 + e)


@inlined
def _loss(e: float, margin: float) -> Any:
    """log(1 + exp(-margin)), from e = exp(-|margin|)."""
    return 2.0 * atanh(e / (2.0 + e)) - (0.0 if margin > 0.0 else margin)


@exactly_compiled
def _exponentials(margin: Array, e: Array, work: Array) -> None:
    """e <- exp(-|margin|)."""
    for j in range(margin.size):
        e[j] = max(-abs(margin[j]), LOWEST_64)
    exp_row_64(e, work)


@compiled
def logistic_coefficients(f: Array, y: Array, C: Array, beta: Array, rate: Array) -> Any:
    """beta <- minus C_i times the slope at f_i, rate <- C_i times the curvature; sum C_i loss."""
    work, losses = np.empty((3, _AT_ONCE)), 0.0
    for start in range(0, f.size, _AT_ONCE):
        own = slice(start, start + _AT_ONCE)
        losses += _coefficients(f[own], y[own], C[own], beta[own], rate[own], work)
    return losses


@compiled
def _coefficients(f: Array, y: Array, C: Array, beta: Array, rate: Array, work: Array) -> Any:
    margin, e = work[0, : f.size], work[1, : f.size]
    for j in range(f.size):
        margin[j] = y[j] * f[j]
    _exponentials(margin, e, work[2])
    losses = 0.0
    for j in range(f.size):
        losses += C[j] * _loss(e[j], margin[j])
        e[j] = _other(e[j], margin[j])
    for j in range(f.size):  # one array after the other: the loops vectorise
        beta[j] = y[j] * C[j] * e[j]
    for j in range(f.size):
        rate[j] = C[j] * e[j] * (1.0 - e[j])
    return losses


@compiled
def logistic_bias(f: Array, y: Array, C: Array, mass: float) -> Any:
    """The b with the least sum C_i loss(f_i + b) + mass b, by Newton's method; not a number where it finds none.

    Steps are shortened to log(1 + |step|), with which the method cannot overshoot for ever: no curvature here changes
    by more than a factor e over a distance of 1.
    """
    work, b, most = np.empty((3, _AT_ONCE)), 0.0, 0.25 * C.sum()
    for _ in range(_STEPS):
        slope, curvature = mass, 0.0
        for start in range(0, f.size, _AT_ONCE):
            own = slice(start, start + _AT_ONCE)
            more = _slope_and_curvature(f[own], b, y[own], C[own], work)
            slope, curvature = slope + more[0], curvature + more[1]
        if not curvature > _FLAT * most:  # one label, or huge scores
            return np.nan
        step = -slope / curvature
        b += np.log1p(abs(step)) * (1.0 if step > 0.0 else -1.0)
        if abs(step) <= _ROUNDING * max(1.0, abs(b)):
            return b
    return np.nan


@compiled
def _slope_and_curvature(f: Array, b: float, y: Array, C: Array, work: Array) -> tuple[float, float]:
    margin, e = work[0, : f.size], work[1, : f.size]
    for j in range(f.size):
        margin[j] = y[j] * (f[j] + b)
    _exponentials(margin, e, work[2])
    slope, curvature = 0.0, 0.0
    for j in range(f.size):
        p = _other(e[j], margin[j])
        slope -= y[j] * C[j] * p
        curvature += C[j] * p * (1.0 - p)
    return slope, curvature


@compiled
def logistic_slope(f: Array, df: Array, part: float, y: Array, C: Array) -> Any:
    """The slope in `part` of sum C_i loss(f_i + part df_i)."""
    work, slope = np.empty((3, _AT_ONCE)), 0.0
    for start in range(0, f.size, _AT_ONCE):
        own = slice(start, start + _AT_ONCE)
        slope += _slope(f[own], df[own], part, y[own], C[own], work)
    return slope


@compiled
def _slope(f: Array, df: Array, part: float, y: Array, C: Array, work: Array) -> Any:
    margin, e = work[0, : f.size], work[1, : f.size]
    for j in range(f.size):
        margin[j] = y[j] * (f[j] + part * df[j])
    _exponentials(margin, e, work[2])
    slope = 0.0
    for j in range(f.size):
        slope -= y[j] * C[j] * _other(e[j], margin[j]) * df[j]
    return slope


@compiled
def logistic_account(
    f: Array, y: Array, C: Array, beta: Array, dual_f: Array, residuals: Array
) -> tuple[float, float, float, float]:
    """What a certificate sums up, for scores f and the dual point beta with scores dual_f:

    sum C loss(f), sum h(beta), the largest difference of beta / C from minus the slope of the loss at dual_f, and by
    how much bounds are violated. residuals <- C loss(f) + h(beta) + beta f, the share of each point in the gap.
    """
    work = np.empty((4, _AT_ONCE))
    losses, conjugates, violation, outside = 0.0, 0.0, 0.0, 0.0
    for start in range(0, f.size, _AT_ONCE):
        own = slice(start, start + _AT_ONCE)
        more = _account(f[own], y[own], C[own], beta[own], dual_f[own], residuals[own], work)
        losses, conjugates = losses + more[0], conjugates + more[1]
        violation, outside = max(violation, more[2]), max(outside, more[3])
    return losses, conjugates, violation, outside


@compiled
def _account(
    f: Array, y: Array, C: Array, beta: Array, dual_f: Array, residuals: Array, work: Array
) -> tuple[float, float, float, float]:
    margin, e, share = work[0, : f.size], work[1, : f.size], work[3, : f.size]
    losses, conjugates, violation, outside = 0.0, 0.0, 0.0, 0.0
    for j in range(f.size):
        margin[j] = y[j] * f[j]
    _exponentials(margin, e, work[2])
    for j in range(f.size):
        residuals[j] = C[j] * _loss(e[j], margin[j])
        losses += residuals[j]
    for j in range(f.size):
        outside = max(outside, max(-y[j] * beta[j], y[j] * beta[j] - C[j]))
        margin[j] = min(max(y[j] * beta[j] / C[j], _TINY), 1.0)
        e[j] = max(1.0 - margin[j], _TINY)
        residuals[j] += beta[j] * f[j]
    for p in (margin, e):
        for j in range(f.size):
            share[j] = p[j]
        log_row_64(p, work[2])
        for j in range(f.size):
            h = C[j] * share[j] * p[j]
            conjugates += h
            residuals[j] += h
    for j in range(f.size):
        margin[j] = y[j] * dual_f[j]
    _exponentials(margin, e, work[2])
    for j in range(f.size):
        violation = max(violation, abs(y[j] * beta[j] / C[j] - _other(e[j], margin[j])))
    return losses, conjugates, violation, outside
