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

from .._core.core import CHOICE
from .._core.rounding import last_digits
from ..estimators.multiclass import pairs
from ..types import Array, Index
from .paths import GOAL, Posed, Solved, objective

core = CHOICE.functions
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
    """The least value that the best bias may have."""
    most: Array
    """The largest one."""
    b: Array
    """The best bias of the scores at hand."""
    rounding: Array
    """What rounding may have done to a score, in parts of root(K_xx)."""


def spread(problem: Posed, answer: Solved, root: Array) -> LeftOpen:
    """What the gap and rounding leave open; root is that of k(x, x) of all points."""
    shape, cells = answer.gap.shape, (answer.gap.size, problem.y.shape[1])
    targets = np.concatenate([root[None, problem.places()], problem.y])
    found = np.stack([answer.gap, answer.b, answer.scale, answer.twice], axis=2, dtype=np.float64)
    weights, beta, scores = (values.reshape(cells) for values in (problem.weights, answer.beta, answer.scores))
    out = np.empty((cells[0], 5))
    core.left_open(problem.terms, weights, targets, beta, scores, found.reshape(-1, 4), out, problem.bias)
    return LeftOpen(*np.moveaxis(out.reshape(*shape, 5), 2, 0))


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
    shape = (classes, *low.shape[1:])
    fewest, most = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for k, (i, j) in enumerate(pairs(classes)):
        fewest[i] += low[k] >= 0.0
        most[i] += high[k] >= 0.0
        fewest[j] += high[k] < 0.0
        most[j] += low[k] < 0.0
    out = most >= fewest.max(axis=0)
    C, point = np.nonzero(out.sum(axis=0) > 1)  # sums matter where votes leave several
    out[:, C, point] = _by_sums(low[:, C, point], high[:, C, point], fewest[:, C, point], most[:, C, point])
    return np.moveaxis(out, 0, 2)


def _by_sums(low: Array, high: Array, fewest: Array, most: Array) -> Array:
    """The same of some points, by sums of f too: (classes, points)."""
    least, largest = np.zeros((2, *most.shape))
    for k, (i, j) in enumerate(pairs(len(most))):
        least[i] += low[k]
        largest[i] += high[k]
        least[j] -= high[k]
        largest[j] -= low[k]
    out = np.ones(most.shape, bool)
    for d in range(len(most)):
        beaten = (fewest > most[d]) | ((fewest >= most[d]) & (least > largest[d]))
        beaten[d] = False
        out[d] = ~beaten.any(axis=0)
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
