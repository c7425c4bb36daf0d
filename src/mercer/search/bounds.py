"""Between which values an accuracy lies, whatever exact solver had been used.

The primal objective grows at least as 1/2 |w - w*|^2 away from the best w*, and is no more than the gap above its least
value; so |w - w*| <= sqrt(2 gap), and the scores <w, x> are within r(x) = sqrt(2 gap k(x, x)) of the best ones. Scores
that grow let the best bias sink, and by no more than they grow: so b* is no farther than the largest r from the
interval of best biases of the scores at hand. A label is decided where all of f(x) that this leaves has one sign; of
several classes, where nobody else can win the vote.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..estimators.multiclass import pairs
from ..losses import Box
from ..types import Array, Index
from .paths import GOAL, Posed, Solved, objective
from .sums import last_digits, rounding

ENOUGH = 1 / 32  # of f(x)^2: with such a gap f(x) has a sign
_FLOOR = 1e-15  # of the objective: with float64 scores, less cannot be reached


@dataclass(frozen=True, eq=False)
class Interval:
    """f(x) of some points lies between low and high: (problems, C, points); b is the best bias: (problems, C)."""

    low: Array
    high: Array
    b: Array


@dataclass(frozen=True, eq=False)
class LeftOpen:
    """What is known of one problem in all folds, for each C: (folds, C)."""

    radius: Array
    """How far w may be from the best one."""
    least: Array
    """Between which values the best bias lies;"""
    most: Array
    b: Array
    """and the best one of the scores at hand."""
    rounding: Array
    """What rounding may have done to a score, in parts of root(K_xx)."""


def spread(problem: Posed, answer: Solved, root: Array) -> LeftOpen:
    """What the gap and rounding leave open; root is that of k(x, x) of all points."""
    own = root[problem.places()]
    scale, lost = answer.scale, answer.scale * rounding(answer.beta, own, answer.twice)
    scores = scale[..., None] * answer.scores
    error = lost[..., None] * own + last_digits(_size(scores, answer.b))
    radius = np.sqrt(2.0 * (np.maximum(answer.gap, 0.0) + _hidden(problem, answer, scores, error)))
    least, most, b = np.zeros((3, *radius.shape))
    if problem.bias:
        inside = problem.weights > 0.0
        wide = radius * np.where(inside[:, 0], own, 0.0).max(axis=1)[:, None] + np.where(inside, error, 0.0).max(axis=2)
        y, cells = np.broadcast_to(problem.y[:, None], scores.shape), (-1, own.size)
        best = best_biases(y.reshape(cells), scores.reshape(cells), problem.weights.reshape(cells))
        low, high = (end.reshape(radius.shape) for end in best)
        least, most, b = low - wide, high + wide, 0.5 * (low + high)
    return LeftOpen(radius, least, most, b, lost)


def between(
    spreads: dict[int, LeftOpen], solved: list[Solved], fold: int, root: Array, new: Array, known: Interval | None
) -> Interval:
    """The bounds of f at the points that a fold asks for, whose root of k(x, x) is given, for each problem and C; of
    problems that are not new, the known ones.
    """
    shape = (len(solved), *solved[0].asked[fold].shape)
    empty = Interval(np.empty(shape), np.empty(shape), np.zeros(shape[:2]))
    found = Interval(known.low.copy(), known.high.copy(), known.b.copy()) if known else empty
    for k in np.flatnonzero(new).tolist():
        one, answer = spreads[k], solved[k]
        f = answer.scale[fold][:, None] * answer.asked[fold]
        r = (one.radius + one.rounding)[fold][:, None] * root + last_digits(_size(f, one.b[fold]))
        found.low[k], found.high[k] = f - r + one.least[fold][:, None], f + r + one.most[fold][:, None]
        found.b[k] = one.b[fold]
    return found


def _size(scores: Array, b: Array) -> Array:
    """That of what is rounded where f and its distance from a label are made of scores."""
    return np.asarray(np.abs(scores) + (1.0 + np.abs(b))[..., None])


def best_biases(y: Array, scores: Array, C: Array) -> tuple[Array, Array]:
    """The interval of the best b of sum C_i max(0, 1 - y_i (s_i + b)), of each row: the slope grows by C_i at
    y_i - s_i, from minus the weight of the points with y > 0. Points without weight stand before all others.
    """
    inside, row, last = C > 0.0, np.arange(len(C)), C.shape[1] - 1
    at = np.where(inside, y - scores, -np.inf)
    if (np.where(inside, C, np.inf).min(axis=1) == C.max(axis=1)).all():  # by counting
        at.sort(axis=1)
        others = last + 1 - inside.sum(axis=1)
        rises = others + (inside & (y > 0)).sum(axis=1)
        return at[row, np.maximum(rises - 1, others)], at[row, np.minimum(rises, last)]
    order = np.argsort(at, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(C, order, axis=1), axis=1)
    level, slack = np.where(y > 0, C, 0.0).sum(axis=1), 1e-12 * C.sum(axis=1)
    ends = (total < (level - slack)[:, None]).sum(axis=1), (total <= (level + slack)[:, None]).sum(axis=1)
    low, high = (at[row, order[row, np.minimum(end, last)]] for end in ends)
    return low, high


def _hidden(problem: Posed, answer: Solved, scores: Array, error: Array) -> Array:
    """What errors of the scores may hide of the gap, beta'K beta + sum C_i loss(f_i) - sum y_i beta_i.

    An error e of a score changes it by beta_i e and by C_i times the change of the loss: at a bound the two cancel, and
    outside of the margin both are zero, so that only free coefficients, and points that are at the margin up to
    rounding, count: by no more than C_i e each.
    """
    lo, hi = problem.terms[3:].reshape(2, *problem.weights.shape)
    free = Box(lo, hi).free(answer.beta) & (answer.beta != 0.0)
    margin = problem.y[:, None] * (scores + answer.scale[..., None] * answer.b[..., None])
    near = np.abs(1.0 - margin) <= 2.0 * error
    return np.asarray(np.where(free | near, problem.weights * error, 0.0).sum(axis=2))


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
    found: Interval, solved: list[Solved], fold: int, unsure: Array, classes: int, paired: bool
) -> tuple[Array, Array]:  # fmt: skip
    """The gaps by which the unsure labels of a fold would be decided; and where there are any: (problems, C)."""
    out = np.empty(found.low.shape[:2])
    middle = 0.5 * (found.low + found.high)
    if paired:  # f has a sign, or none yet
        open_ = unsure & (found.low <= 0.0) & (found.high >= 0.0)
        tied = unsure & ~open_.any(axis=0)
        margin = np.where(tied, _lead(found, tied, classes), np.abs(middle)) if tied.any() else np.abs(middle)
        unsure = open_ | tied
    else:  # of one against the rest, the largest f counts
        first, second = np.sort(middle, axis=0)[[-1, -2]]
        margin = np.broadcast_to(0.5 * (first - second), middle.shape)
        unsure = np.broadcast_to(unsure, middle.shape)
    least = np.where(unsure, margin, np.inf).min(axis=2, initial=np.inf)
    for k, answer in enumerate(solved):
        size = objective(answer)[fold]
        out[k] = np.minimum(GOAL * size, np.maximum(ENOUGH * least[k] ** 2, _FLOOR * size))
    return out, np.isfinite(least)


def _lead(found: Interval, tied: Array, classes: int) -> Array:
    """Of points with as many votes for several classes: how far the two largest sums of f are apart, for each f."""
    at, out = np.flatnonzero(tied.any(axis=0)), np.zeros(tied.shape)
    some = replace(found, low=found.low[:, :, at], high=found.high[:, :, at])
    total = np.zeros((*some.low.shape[1:], classes))
    for (i, j), f in zip(pairs(classes), 0.5 * (some.low + some.high), strict=True):
        total[..., i] += f
        total[..., j] -= f
    total[~_possible(some, classes, True)] = -np.inf
    second, first = np.moveaxis(np.sort(total, axis=2)[..., -2:], 2, 0)
    out[:, at] = (first - second) / (2 * (classes - 1))
    return out
