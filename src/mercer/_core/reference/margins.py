"""Newton's method in w for losses of the margin y f with slopes, f = X w + b."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...types import Array
from .logistic import logistic as logistic_losses
from .newton import solve_definite

_MOST_BIASES, _MOST_HALVINGS = 200, 20
_STILL, _ROUNDING = 1e-11, 2.0**-51  # of a step of b, and in parts of b: no other need follow


class Losses(NamedTuple):
    """C times value, slope and curvature of each loss, and the best b there."""

    value: Array
    slope: Array
    curvature: Array
    b: float


def descend_margins(
    X: Array, y: Array, C: Array, kind: tuple[bool, bool], limits: tuple[float, int], w: Array, f: Array, found: Array
) -> None:  # fmt: skip
    """min 1/2 |w|^2 + sum C_i loss(y_i (f_i + b)), f = X w. `kind` is whether the loss is logistic, or else the squared
    hinge, and whether b is free, or else as given; `limits` are a goal and the most steps. found <- b, the
    objective, the gap 1/2 |w + X'slope|^2 there, and whether that is above the goal, a part of the objective, and more
    steps may gain.
    """
    (logistic, bias), (goal, most) = kind, limits
    now, more = _losses(y, C, logistic, bias, f, found[0]), True
    for number in range(most + 1):
        primal, left = 0.5 * w @ w + now.value.sum(), w + now.slope @ X
        gap = 0.5 * left @ left
        more = gap > goal * primal
        if not more or number == most:
            break
        H, ones, total = (X.T * now.curvature) @ X + np.eye(w.size), now.curvature @ X, now.curvature.sum()
        if bias and total > 0.0:  # the best b follows w
            H -= np.outer(ones, ones / total)
        step = left[:, None].copy()
        if not solve_definite(H, step):
            more = False
            break
        move = X @ step[:, 0]
        for part in 0.5 ** np.arange(_MOST_HALVINGS):
            to, there = w - part * step[:, 0], f - part * move
            next_one = _losses(y, C, logistic, bias, there, now.b)
            if 0.5 * to @ to + next_one.value.sum() <= primal:
                break
        else:  # rounding
            more = False
            break
        w[:], f[:], now = to, there, next_one
    found[:] = now.b, primal, gap, more


def _losses(y: Array, C: Array, logistic: bool, bias: bool, scores: Array, b: float) -> Losses:
    if bias:
        b = _best_bias(y, C, logistic, scores, b)
    value, slope, curvature = _evaluated(y * (scores + b), logistic)
    return Losses(C * value, -y * C * slope, C * curvature, b)


def _evaluated(margin: Array, logistic: bool) -> tuple[Array, Array, Array]:
    """Value, minus slope and curvature in the margin."""
    if logistic:
        value, slope, curvature = np.empty((3, margin.size))
        logistic_losses(margin, value, slope, curvature)
        return value, slope, curvature
    short = np.maximum(0.0, 1.0 - margin)
    return short * short, 2.0 * short, np.where(margin < 1.0, 2.0, 0.0)


def _best_bias(y: Array, C: Array, logistic: bool, scores: Array, b: float) -> float:
    """By Newton's method between bounds; where those are not known yet and it is flat, by larger and larger steps."""
    low, high, width = -np.inf, np.inf, 1.0
    for _ in range(_MOST_BIASES):
        _, slopes, curvatures = _evaluated(y * (scores + b), logistic)
        slope, curvature = -float((y * C) @ slopes), float(C @ curvatures)
        if slope == 0.0:
            break
        low, high = (low, b) if slope > 0.0 else (b, high)
        to = b - slope / curvature if curvature > 0.0 else np.nan
        if not low < to < high:
            to = 0.5 * (low + high)  # not a number, or infinite, where one of them is
        if not abs(to - b) <= width:
            to = max(b - width, 0.5 * (b + low)) if slope > 0.0 else min(b + width, 0.5 * (b + high))
            width *= 2.0
        before, b = b, to
        if abs(b - before) <= _STILL + _ROUNDING * abs(before):
            break
    return b
