"""Between which values an accuracy lies, whatever exact solver had been used.

The primal objective grows at least as 1/2 |w - w*|^2 away from the best w*, and is no more than the gap above its least
value; so |w - w*| <= sqrt(2 gap), and the scores <w, x> are within r(x) = sqrt(2 gap k(x, x)) of the best ones. Scores
that grow let the best bias sink, and by no more than they grow: so b* is no farther than the largest r from the
interval of best biases of the scores at hand. A label is decided where all of f(x) that this leaves has one sign; of
several classes, where nobody else can win the vote.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.multiclass import pairs
from ..losses import Box
from ..types import Array, Index
from .paths import GOAL, Posed, Solved, objective
from .sums import plain_rounding, rounding

_SAFE = 1.01  # of numbers that are only nearly known
_ENOUGH = 1 / 32  # of f(x)^2: with such a gap f(x) has a sign
_FLOOR = 1e-15  # of the objective: with float64 scores, less cannot be reached


@dataclass(frozen=True, eq=False)
class Interval:
    """f(x) of some points lies between low and high: (problems, C, points); b is the best bias: (problems, C)."""

    low: Array
    high: Array
    b: Array


def between(
    posed: list[Posed], solved: list[Solved], fold: int, diag: Array, at: Index, new: Array, known: Interval | None
) -> Interval:
    """The bounds of f at the points `at` that a fold asks for, for each problem and C; of those that are not new, the
    known ones.
    """
    shape = (len(posed), solved[0].b.shape[1], at.size)
    empty = Interval(np.empty(shape), np.empty(shape), np.zeros(shape[:2]))
    found = Interval(known.low.copy(), known.high.copy(), known.b.copy()) if known else empty
    root = np.sqrt(np.maximum(diag, 0.0))
    for k in np.flatnonzero(new).tolist():
        problem, answer = posed[k], solved[k]
        own = np.concatenate([root[points] for _, points in problem.parts]) if problem.parts else root
        scale = answer.scale[fold][:, None]
        lost = _lost(answer, fold, own)
        gap = np.maximum(answer.gap[fold], 0.0) + _hidden(problem, answer, fold, own, lost)
        radius = np.sqrt(2.0 * gap) + lost
        least = most = np.zeros(len(radius))
        if problem.bias:
            inside = problem.weights[fold, 0] > 0.0
            wide = radius * float(own[inside].max(initial=0.0))
            weights = problem.weights[fold][:, inside]
            best = best_biases(problem.y[fold, inside], (scale * answer.scores[fold])[:, inside], weights)
            least, most = best[0] - wide, best[1] + wide
            found.b[k] = 0.5 * (best[0] + best[1])
        plain = answer.scale[fold] * plain_rounding(answer.beta[fold], own)
        f, r = scale * answer.asked[fold], (radius + np.where(answer.exact[fold], 0.0, plain))[:, None] * root[at]
        found.low[k], found.high[k] = f - r + least[:, None], f + r + most[:, None]
    return found


def best_biases(y: Array, scores: Array, C: Array) -> tuple[Array, Array]:
    """The interval of the best b of sum C_i max(0, 1 - y_i (s_i + b)), of each row: the slope grows by C_i at
    y_i - s_i, from minus the weight of the points with y > 0.
    """
    at = y - scores
    if (C[:, :1] == C).all():  # by counting, without sorting
        rises, last = int(np.count_nonzero(y > 0)), y.size - 1
        first, second = max(rises - 1, 0), min(rises, last)
        found = np.partition(at, sorted({first, second}), axis=1)
        return found[:, first], found[:, second]
    order = np.argsort(at, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(C, order, axis=1), axis=1)
    level, slack, last = C[:, y > 0].sum(axis=1), 1e-12 * C.sum(axis=1), y.size - 1
    ends = (total < (level - slack)[:, None]).sum(axis=1), (total <= (level + slack)[:, None]).sum(axis=1)
    row = np.arange(len(C))
    low, high = (at[row, order[row, np.minimum(end, last)]] for end in ends)
    return low, high


def _lost(answer: Solved, fold: int, own: Array) -> Array:
    """What rounding may have done to scores, in parts of |x|."""
    beta = answer.beta[fold]
    norm = np.sqrt(np.maximum((beta * answer.scores[fold]).sum(axis=1), 0.0)) * _SAFE
    return np.asarray(answer.scale[fold] * rounding(beta, own, norm) * _SAFE)


def _hidden(problem: Posed, answer: Solved, fold: int, own: Array, lost: Array) -> Array:
    """What rounding of the scores may hide of the gap, beta'K beta + sum C_i loss(f_i) - sum y_i beta_i.

    An error e of a score changes it by beta_i e and by C_i times the change of the loss: at a bound the two cancel, and
    outside of the margin both are zero, so that only free coefficients, and points that are at the margin up to
    rounding, count: by no more than C_i e each.
    """
    lo, hi = problem.terms[3:].reshape(2, *problem.weights.shape)[:, fold]
    beta, size, largest = answer.beta[fold], lost[:, None] * own, float(own.max(initial=0.0))
    free = Box(lo, hi).free(beta) & (beta != 0.0)
    margin = answer.scale[fold][:, None] * problem.y[fold] * (answer.scores[fold] + answer.b[fold][:, None])
    near = np.abs(1.0 - margin) <= 2.0 * size * largest
    return np.asarray(np.where(free | near, problem.weights[fold] * size, 0.0).sum(axis=1) * largest)


def right(found: Interval, truth: Index, classes: int, paired: bool) -> tuple[Array, Array]:
    """For each C and point: whether its label is surely right, and whether it may be; `truth` is its class."""
    possible = _possible(found, classes, paired)
    may = np.take_along_axis(possible, truth[None, :, None], axis=2)[:, :, 0]
    return may & (possible.sum(axis=2) == 1), may


def _possible(found: Interval, classes: int, paired: bool) -> Array:
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


def wanted(
    found: Interval, solved: list[Solved], fold: int, unsure: Array, paired: bool
) -> tuple[Array, Array]:  # fmt: skip
    """The gaps by which the unsure labels of a fold would be decided; and where there are any: (problems, C)."""
    out = np.empty(found.low.shape[:2])
    middle = 0.5 * (found.low + found.high)
    unsure = np.broadcast_to(unsure, middle.shape)
    if paired:  # f has a sign, or none yet
        unsure = unsure & (found.low <= 0.0) & (found.high >= 0.0)
        margin = np.abs(middle)
    else:  # of one against the rest, the largest f counts
        first, second = np.sort(middle, axis=0)[[-1, -2]]
        margin = np.broadcast_to(0.5 * (first - second), middle.shape)
    least = np.where(unsure, margin, np.inf).min(axis=2, initial=np.inf)
    for k, answer in enumerate(solved):
        size = objective(answer)[fold]
        out[k] = np.minimum(GOAL * size, np.maximum(_ENOUGH * least[k] ** 2, _FLOOR * size))
    return out, np.isfinite(least)
