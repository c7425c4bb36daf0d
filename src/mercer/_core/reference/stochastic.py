"""Stochastic subgradient steps: one point at a time, w <- (1 - step) w + step n s_i z_i.

w = scale sum u_i z_i, so that a step changes one number for all of w, and one row. The sum of all beta = scale u so far
is `passed` u - `late`: the sum of all scales, and what each change of u came too late for. It is added to `sums` before
the scale becomes tiny. The slopes s_i are added up too: their means are a dual point. ../descent.py has the layout.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from ..descent import (
    BESIDE,
    BIAS,
    BIAS_RATE,
    EPS,
    HI,
    LATE,
    LO,
    LOGISTIC,
    PASSED,
    SCALE,
    SLOPES,
    STEPS,
    SUMS,
    TOTAL,
    VISITS,
    Q,
    R,
    U,
)
from .features import KernelRows, Rows, sigmoid

_SMALL = 1e-9  # scales below this are multiplied out
_SEARCHES, _FLAT = 15, 0.1  # of a search along a line: so many slopes, or until one is this small beside the first
_SHIFT = 0.2  # the first step of a bias


def _slopes(points: Array, f: Array) -> Array:
    """Minus C_i times the slope of the loss at f_i."""
    q, r, eps, lo, hi = (points[:, column] for column in (Q, R, EPS, LO, HI))
    g = q - f
    excess = np.where(g > eps, g - eps, np.where(g < -eps, g + eps, 0.0))
    curved = np.clip(excess / np.where(r > 0.0, r, 1.0), lo, hi)
    flat = np.where(g > eps, hi, np.where(g < -eps, lo, 0.0))
    C = np.where(r == LOGISTIC, hi - lo, 0.0)
    return np.where(r == LOGISTIC, q * C * sigmoid(-q * f), np.where(r > 0.0, curved, flat))


def _conjugates(points: Array, s: Array) -> Array:
    """h_i(s_i)."""
    q, r, eps, lo, hi = (points[:, column] for column in (Q, R, EPS, LO, HI))
    logistic = r == LOGISTIC
    C = np.where(logistic, hi - lo, 1.0)
    part = np.where(logistic, np.clip(q * s / C, 0.0, 1.0), 0.0)
    entropy = C * (_times_log(part) + _times_log(1.0 - part))
    return np.asarray(np.where(logistic, entropy, (0.5 * r * s - q) * s + eps * np.abs(s)))


def _times_log(p: Array) -> Array:
    """p log p, which is 0 at 0."""
    return np.asarray(p * np.log(np.where(p > 0.0, p, 1.0)))


def losses_and_conjugates(f: Array, points: Array, beta: Array) -> tuple[float, float]:
    """sum C_i loss(f_i), which is the largest -h_i(s) - f_i s, and sum h_i(beta_i)."""
    s = _slopes(points, f)
    return float(-(_conjugates(points, s) + f * s).sum()), float(_conjugates(points, beta).sum())


def _slope_along(points: Array, f: Array, change: Array, part: float) -> float:
    """The slope in `part` of sum C_i loss(f_i + part change_i)."""
    return -float(_slopes(points, f + part * change) @ change)


def _best_part(points: Array, f: Array, change: Array, linear: float, square: float, most: float) -> float:
    """The part <= most of a change where  linear part + square/2 part^2 + sum C_i loss  is nearly least.

    The slope only rises: it is looked for where it is 0 (regula falsi, an end that stays has its slope halved). Where
    the part ends it is not above 0, so that the objective has only fallen: beyond a sharp bend it may have risen.
    """
    low, high = 0.0, 1.0
    slope_low = linear + _slope_along(points, f, change, low)
    slope_high = linear + square + _slope_along(points, f, change, high)
    if not slope_low < 0.0:
        return 0.0
    enough = _FLAT * abs(slope_low)
    while slope_high < -enough and high < most:
        low, high, slope_low = high, 2.0 * high, slope_high
        slope_high = linear + high * square + _slope_along(points, f, change, high)
    if slope_high <= 0.0:
        return high
    for _ in range(_SEARCHES):
        part = low + (high - low) * min(max(slope_low / (slope_low - slope_high), 0.05), 0.95)
        slope = linear + part * square + _slope_along(points, f, change, part)
        if slope > 0.0:
            high, slope_high, slope_low = part, slope, 0.5 * slope_low
        else:
            low, slope_low, slope_high = part, slope, 0.5 * slope_high
        if -enough <= slope <= 0.0:
            break
    return low


def _best_shift(points: Array, f: Array, b: float) -> float:
    """The bias for scores f where sum C_i loss is nearly least, looked for from b on."""
    ones = np.ones(f.size)
    step = -_SHIFT if _slope_along(points, f + b, ones, 0.0) > 0.0 else _SHIFT
    return b + step * _best_part(points, f + b, step * ones, 0.0, 0.0, 2.0**_SEARCHES)


def approach(
    beta: Array, scores: Array, b: float, target: Array, target_scores: Array, points: Array, free_bias: bool
) -> float:
    """beta and its scores go towards a target, to where the primal objective is nearly least; the new b."""
    step, change = target - beta, target_scores - scores
    db = _best_shift(points, target_scores, b) - b if free_bias else 0.0
    part = _best_part(points, scores + b, change + db, float(step @ scores), float(step @ change), 1.0)
    beta += part * step
    scores += part * change
    return b + part * db


def _shrink(step: float, sums: Array, image: Array, numbers: Array) -> None:
    """beta <- (1 - step) beta."""
    numbers[SCALE] *= 1.0 - step
    if numbers[SCALE] < _SMALL:
        sums[SUMS] += numbers[PASSED] * sums[U] - sums[LATE]
        sums[LATE] = 0.0
        sums[U] *= numbers[SCALE]
        image *= numbers[SCALE]
        numbers[TOTAL] *= numbers[SCALE]
        numbers[PASSED], numbers[SCALE] = 0.0, 1.0


def _join(i: int, s: float, step: float, sums: Array, numbers: Array) -> float:
    """Add step n s to beta_i: the change of u_i."""
    n = sums.shape[1]
    change = step * n * s / numbers[SCALE]
    sums[U, i] += change
    sums[LATE, i] += change * numbers[PASSED]
    sums[SLOPES, i] += s
    sums[VISITS, i] += 1.0
    numbers[TOTAL] += change
    numbers[BIAS] += numbers[BIAS_RATE] * step * n * s
    numbers[PASSED] += numbers[SCALE]
    numbers[STEPS] += 1.0
    return float(change)


def _draws(
    rows: Rows | KernelRows, points: Array, order: Index, steps: Array, sums: Array, image: Array, numbers: Array
) -> None:
    for k, i in enumerate(order.tolist()):
        dot = rows.score(k, i, image) + numbers[BESIDE] * numbers[TOTAL]
        f = np.array([numbers[SCALE] * dot + numbers[BIAS]])
        s = float(_slopes(points[i : i + 1], f)[0])
        _shrink(float(steps[k]), sums, image, numbers)
        change = _join(i, s, float(steps[k]), sums, numbers)
        if change != 0.0:
            rows.change(k, i, change, image)


def draws(
    rows: tuple[Array, ...], points: Array, order: Index, steps: Array, sums: Array, image: Array, numbers: Array
) -> None:
    """A step for each point of the order; image = sum u_i x_i."""
    _draws(Rows(rows), points, order, steps, sums, image, numbers)


def draws_kernel(
    K: Array, points: Array, order: Index, steps: Array, sums: Array, scores: Array, numbers: Array
) -> None:
    """As `draws`, with K[k] the row of the point order[k] and scores = K u."""
    _draws(KernelRows(K), points, order, steps, sums, scores, numbers)
