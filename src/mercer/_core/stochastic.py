"""Stochastic subgradient steps: one point at a time, w <- (1 - step) w + step n s_i z_i.

w = scale sum u_i z_i, so that a step changes one number for all of w, and one row. The sum of all beta = scale u so far
is `passed` u - `late`: the sum of all scales, and what each change of u came too late for. It is added to `sums` before
the scale becomes tiny. The slopes s_i are added up too: their means are a dual point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled
from .descent import EPS, HI, LO, LOGISTIC, Q, R

SCALE, PASSED, STEPS, BIAS, TOTAL = range(5)  # of `numbers`: what is said above, the bias, and the sum of u
_SMALL = 1e-9  # scales below this are multiplied out
_SEARCHES, _FLAT = 15, 0.1  # of a search along a line: so many slopes, or until one is this small beside the first
_SHIFT = 0.2  # the first step of a bias


@compiled
def slope_point(p: Array, f: float) -> Any:
    """Minus C_i times the slope of the loss at f."""
    if p[R] == LOGISTIC:
        return p[Q] * (p[HI] - p[LO]) / (1.0 + np.exp(p[Q] * f))
    g = p[Q] - f
    if p[R] > 0.0:
        g = g - p[EPS] if g > p[EPS] else g + p[EPS] if g < -p[EPS] else 0.0
        return min(max(g / p[R], p[LO]), p[HI])
    return p[HI] if g > p[EPS] else p[LO] if g < -p[EPS] else 0.0


@compiled
def _conjugate(p: Array, s: float) -> Any:
    """h(s)."""
    if p[R] == LOGISTIC:
        C = p[HI] - p[LO]
        part = p[Q] * s / C
        if part <= 0.0 or part >= 1.0:
            return 0.0
        return C * (part * np.log(part) + (1.0 - part) * np.log1p(-part))
    return (0.5 * p[R] * s - p[Q]) * s + p[EPS] * abs(s)


@compiled
def losses_and_conjugates(f: Array, points: Array, beta: Array) -> tuple[float, float]:
    """sum C_i loss(f_i), which is the largest -h_i(s) - f_i s, and sum h_i(beta_i)."""
    losses, conjugates = 0.0, 0.0
    for i in range(f.size):
        p = points[i]
        s = slope_point(p, f[i])
        losses -= _conjugate(p, s) + f[i] * s
        conjugates += _conjugate(p, beta[i])
    return losses, conjugates


@compiled
def _slope_along(f: Array, b: float, df: Array, db: float, part: float, points: Array) -> float:
    """The slope in `part` of sum C_i loss(f_i + b + part (df_i + db)); a df of size 0 stands for zeros."""
    slope = 0.0
    for i in range(f.size):
        change = db + df[i] if df.size else db
        slope -= slope_point(points[i], f[i] + b + part * change) * change
    return slope


@compiled
def _best_part(
    f: Array, b: float, df: Array, db: float, points: Array, linear: float, square: float, most: float
) -> float:
    """The part <= most of a step df, db where  linear part + square/2 part^2 + sum C_i loss  is nearly least.

    The slope only rises: it is looked for where it is 0 (regula falsi, an end that stays has its slope halved). Where
    the part ends it is not above 0, so that the objective has only fallen: beyond a sharp bend it may have risen.
    """
    low, high = 0.0, 1.0
    slope_low = linear + _slope_along(f, b, df, db, low, points)
    slope_high = linear + square + _slope_along(f, b, df, db, high, points)
    if not slope_low < 0.0:
        return 0.0
    enough = _FLAT * abs(slope_low)
    while slope_high < -enough and high < most:
        low, high, slope_low = high, 2.0 * high, slope_high
        slope_high = linear + high * square + _slope_along(f, b, df, db, high, points)
    if slope_high <= 0.0:
        return high
    for _ in range(_SEARCHES):
        part = low + (high - low) * min(max(slope_low / (slope_low - slope_high), 0.05), 0.95)
        slope = linear + part * square + _slope_along(f, b, df, db, part, points)
        if slope > 0.0:
            high, slope_high, slope_low = part, slope, 0.5 * slope_low
        else:
            low, slope_low, slope_high = part, slope, 0.5 * slope_high
        if -enough <= slope <= 0.0:
            break
    return low


@compiled
def _best_shift(f: Array, b: float, points: Array) -> float:
    """The bias for scores f where sum C_i loss is nearly least, looked for from b on."""
    none = f[:0]
    step = -_SHIFT if _slope_along(f, b, none, 1.0, 0.0, points) > 0.0 else _SHIFT
    return b + step * _best_part(f, b, none, step, points, 0.0, 0.0, 2.0**_SEARCHES)


@compiled
def approach(
    beta: Array, scores: Array, b: float, target: Array, target_scores: Array, points: Array, free_bias: bool
) -> float:
    """beta and its scores go towards a target, to where the primal objective is nearly least; the new b."""
    step, change = target - beta, target_scores - scores
    db = _best_shift(target_scores, b, points) - b if free_bias else 0.0
    linear, square = 0.0, 0.0
    for i in range(step.size):
        linear += step[i] * scores[i]
        square += step[i] * change[i]
    part = _best_part(scores, b, change, db, points, linear, square, 1.0)
    for i in range(step.size):
        beta[i] += part * step[i]
        scores[i] += part * change[i]
    return b + part * db


@compiled
def settle(u: Array, late: Array, sums: Array, numbers: Array) -> None:
    """Add up beta so far."""
    for i in range(u.size):
        sums[i] += numbers[PASSED] * u[i] - late[i]
        late[i] = 0.0
    numbers[PASSED] = 0.0


@compiled
def _shrink(step: float, u: Array, image: Array, late: Array, sums: Array, numbers: Array) -> None:
    """beta <- (1 - step) beta."""
    scale = numbers[SCALE] * (1.0 - step)
    if scale < _SMALL:
        settle(u, late, sums, numbers)
        u *= scale
        image *= scale
        numbers[TOTAL] *= scale
        scale = 1.0
    numbers[SCALE] = scale


@compiled
def _join(
    i: int, s: float, step: float, u: Array, late: Array, slopes: Array, visits: Array, numbers: Array,
    bias_rate: float, mass: float,
) -> Any:  # fmt: skip
    """Add step n s to beta_i: the change of u_i."""
    n = u.size
    change = step * n * s / numbers[SCALE]
    u[i] += change
    late[i] += change * numbers[PASSED]
    slopes[i] += s
    visits[i] += 1.0
    numbers[TOTAL] += change
    numbers[BIAS] += bias_rate * step * (n * s - mass)
    numbers[PASSED] += numbers[SCALE]
    numbers[STEPS] += 1.0
    return change


@compiled
def dense_draws(
    X: Array, points: Array, order: Array, steps: Array, u: Array, w: Array, late: Array, sums: Array,
    slopes: Array, visits: Array, numbers: Array, constant: float, bias_rate: float, mass: float,
) -> None:  # fmt: skip
    """A step for each point of the order; w is sum u_i x_i."""
    for k in range(order.size):
        i = order[k]
        row = X[i]
        dot = constant * numbers[TOTAL]
        for j in range(w.size):
            dot += row[j] * w[j]
        s = slope_point(points[i], numbers[SCALE] * dot + numbers[BIAS])
        _shrink(steps[k], u, w, late, sums, numbers)
        change = _join(i, s, steps[k], u, late, slopes, visits, numbers, bias_rate, mass)
        if change != 0.0:
            for j in range(w.size):
                w[j] += change * row[j]


@compiled
def sparse_draws(
    begin: Array, column: Array, value: Array, points: Array, order: Array, steps: Array, u: Array, w: Array,
    late: Array, sums: Array, slopes: Array, visits: Array, numbers: Array, constant: float, bias_rate: float,
    mass: float,
) -> None:  # fmt: skip
    """As `dense_draws`."""
    for k in range(order.size):
        i = order[k]
        dot = constant * numbers[TOTAL]
        for e in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
            dot += value[e] * w[np.uint64(column[e])]
        s = slope_point(points[i], numbers[SCALE] * dot + numbers[BIAS])
        _shrink(steps[k], u, w, late, sums, numbers)
        change = _join(i, s, steps[k], u, late, slopes, visits, numbers, bias_rate, mass)
        if change != 0.0:
            for e in range(np.uint64(begin[i]), np.uint64(begin[i + 1])):
                w[np.uint64(column[e])] += change * value[e]


@compiled
def kernel_draws(
    rows: Array, points: Array, order: Array, steps: Array, u: Array, scores: Array, late: Array, sums: Array,
    slopes: Array, visits: Array, numbers: Array, constant: float, bias_rate: float, mass: float,
) -> None:  # fmt: skip
    """As `dense_draws`, with rows[k] = K of the point order[k] and scores = K u."""
    for k in range(order.size):
        i = order[k]
        dot = scores[i] + constant * numbers[TOTAL]
        s = slope_point(points[i], numbers[SCALE] * dot + numbers[BIAS])
        _shrink(steps[k], u, scores, late, sums, numbers)
        change = _join(i, s, steps[k], u, late, slopes, visits, numbers, bias_rate, mass)
        if change != 0.0:
            row = rows[k]
            for j in range(scores.size):
                scores[j] += change * row[j]
