"""Between which values an accuracy lies, whatever exact solver had been used.

The primal objective grows at least as 1/2 |w - w*|^2 away from the best w*, and is no more than the gap above its least
value; so |w - w*| <= sqrt(2 gap), and the scores <w, x> are within r(x) = sqrt(2 gap k(x, x)) of the best ones. Scores
that grow let the best bias sink, and by no more than they grow: so b* is no farther than the largest r from the
interval of best biases of the scores at hand. A label is decided where all of f(x) that this leaves has one sign; of
several classes, where nobody else can win the vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.multiclass import pairs
from ..types import Array, Index
from .paths import CHUNK, GOAL, Posed, Solved

_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_MORE = 64  # roundings of a sum: one for each class whose points are summed up by themselves, and a few
_ENOUGH = 1 / 32  # of f(x)^2: with such a gap f(x) has a sign
_FLOOR = 1e-13  # of the objective: with float64 scores, less cannot be reached


@dataclass(frozen=True, eq=False)
class Between:
    """f(x) of some points lies between low and high: (problems, C, points); b is the best bias: (problems, C)."""

    low: Array
    high: Array
    b: Array


def between(
    posed: list[Posed], solved: list[Solved], scores: list[Array], loss: Any, diag: Array, at: Index
) -> Between:
    """The bounds of f at the points `at`, for each problem and C."""
    shape = (len(posed), len(solved[0].b), at.size)
    low, high, biases = np.empty(shape), np.empty(shape), np.zeros(shape[:2])
    root = np.sqrt(np.maximum(diag, 0.0))
    for k, (problem, answer) in enumerate(zip(posed, solved, strict=True)):
        own = root if problem.at is None else root[problem.at]
        for c, weight in enumerate(problem.weights):
            rounding = _rounding(answer.scale[c] * answer.beta[c], own, root)
            gap = max(float(answer.gap[c]), 0.0) + _hidden(problem, answer, c, own, rounding)
            radius = np.sqrt(2.0 * gap) + rounding
            b = 0.0, 0.0
            if problem.bias:
                inside = np.flatnonzero(weight)
                long = answer.scale[c] * answer.scores[c, inside]
                best = loss.best_bias(problem.y[inside], long, weight[inside], 0.0)
                wide = radius * float(own[inside].max(initial=0.0))
                b = best[0] - wide, best[1] + wide
                biases[k, c] = 0.5 * (best[0] + best[1])
            f, r = answer.scale[c] * scores[k][c, at], radius * root[at]
            low[k, c], high[k, c] = f - r + b[0], f + r + b[1]
    return Between(low, high, biases)


def _rounding(beta: Array, own: Array, root: Array) -> float:
    """What float64 sums over kernel values may have lost, in parts of |x|: a product, the sum of a chunk, and the sums
    over all chunks and classes.
    """
    roundings = CHUNK + root.size / CHUNK + _MORE
    return float(roundings * _UNIT * (np.abs(beta) * own).sum())


def _hidden(problem: Posed, answer: Solved, c: int, own: Array, rounding: float) -> float:
    """What rounding of the scores may hide of the gap, beta'K beta + sum C_i loss(f_i) - sum y_i beta_i.

    An error e of a score changes it by beta_i e and by C_i times the change of the loss: at a bound the two cancel, and
    outside of the margin both are zero, so that only free coefficients, and points that are at the margin up to
    rounding, count: by no more than C_i e each.
    """
    t, beta, size = problem.terms[c], answer.beta[c], rounding * own
    free = (t.lo < beta) & (beta < t.hi) & (beta != 0.0)
    margin = answer.scale[c] * problem.y * (answer.scores[c] + answer.b[c])
    near = np.abs(1.0 - margin) <= 2.0 * size * float(own.max(initial=0.0))
    return float((problem.weights[c] * size)[free | near].sum() * float(own.max(initial=0.0)))


def right(found: Between, truth: Index, classes: int, paired: bool) -> tuple[Array, Array]:
    """For each C and point: whether its label is surely right, and whether it may be; `truth` is its class."""
    possible = _possible(found, classes, paired)
    may = np.take_along_axis(possible, truth[None, :, None], axis=2)[:, :, 0]
    return may & (possible.sum(axis=2) == 1), may


def _possible(found: Between, classes: int, paired: bool) -> Array:
    """Which classes may be predicted: (C, points, classes)."""
    low, high = found.low, found.high
    if classes == 2:
        return np.stack([low[0] <= 0.0, high[0] > 0.0], axis=2)
    if not paired:
        least, most = np.moveaxis(low, 0, 2), np.moveaxis(high, 0, 2)
        return np.asarray(least.max(axis=2, keepdims=True) <= most)
    return _winners(low, high, classes)


def _winners(low: Array, high: Array, classes: int) -> Array:
    """Who may win the vote: nobody else has surely more votes, or as many and a surely larger sum of f."""
    shape = (*low.shape[1:], classes)
    fewest, most = np.zeros(shape), np.zeros(shape)
    least, largest = np.zeros(shape), np.zeros(shape)
    for k, (i, j) in enumerate(pairs(classes)):
        fewest[..., i] += low[k] >= 0.0
        most[..., i] += high[k] >= 0.0
        fewest[..., j] += high[k] < 0.0
        most[..., j] += low[k] < 0.0
        least[..., i] += low[k]
        largest[..., i] += high[k]
        least[..., j] -= high[k]
        largest[..., j] -= low[k]
    out = np.ones(shape, bool)
    for d in range(classes):
        beaten = (fewest[..., [d]] > most) | ((fewest[..., [d]] >= most) & (least[..., [d]] > largest))
        beaten[..., d] = False
        out &= ~beaten
    return out


def wanted(found: Between, solved: list[Solved], surely: Array, may: Array, paired: bool) -> Array:
    """The gaps by which open labels would be decided: (problems, C)."""
    out = np.empty(found.low.shape[:2])
    middle = 0.5 * (found.low + found.high)
    unsure = np.broadcast_to(surely != may, middle.shape)
    if paired:  # f has a sign, or none yet
        unsure = unsure & (found.low <= 0.0) & (found.high >= 0.0)
        margin = np.abs(middle)
    else:  # of one against the rest, the largest f counts
        first, second = np.sort(middle, axis=0)[[-1, -2]]
        margin = np.broadcast_to(0.5 * (first - second), middle.shape)
    least = np.where(unsure, margin, np.inf).min(axis=2, initial=np.inf)
    for k, answer in enumerate(solved):
        objective = np.maximum(np.abs(answer.dual), np.abs(answer.dual + answer.gap))
        out[k] = np.minimum(GOAL * objective, np.maximum(_ENOUGH * least[k] ** 2, _FLOOR * objective))
    return out
