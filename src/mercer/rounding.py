"""What rounding may have done to a certificate, measured on a sample of the points.

A sum over points of steepness times error is estimated from points drawn with the probability of their steepness: its
mean, and four standard deviations of that.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from .losses import HardMargin
from .types import Array, Index

if TYPE_CHECKING:
    from .problem import Problem

_SAMPLE = 256  # rows, at most,
_PART = 8  # and of n one in so many
_DEVIATIONS = 4.0


def drawn(weight: Array, size: int) -> Index:
    """So many rows, the same every time, each with a probability in proportion to its weight >= 0; some come twice."""
    total = np.cumsum(weight)
    if not 0.0 < total[-1] < np.inf:
        return np.linspace(0, weight.size - 1, size).astype(np.intp)
    rows = np.searchsorted(total, total[-1] * _places(size), side="right")
    return np.asarray(np.minimum(rows, np.flatnonzero(weight)[-1]))


@cache
def _places(size: int) -> Array:
    """One number in each of so many equal parts of [0, 1)."""
    return np.asarray((np.arange(size) + np.random.default_rng(0).random(size)) / size)


def at_most(total: float, errors: Array) -> float:
    """What |sum_i weight_i error_i| is at most, from the errors of rows that were `drawn`; total is that of weights."""
    if not np.isfinite(errors).all():
        return float("inf")
    return total * (abs(float(errors.mean())) + _DEVIATIONS * float(errors.std()) / sqrt(errors.size))


def rounding_of_scores(
    problem: Problem, beta: Array, b: float, other: Array, scores: Array, dual_scores: Array, primal: float
) -> float:
    """By how much primal, dual and gap may be wrong, because K beta and K other, the dual point's, are.

    The largest of the three. The primal has the slope C_i loss'(f_i) + beta_i / 2 in the score of a point, and the dual
    -other_i / 2. Where a loss has kinks or is curved, its slope may change between the score and the true one.
    """
    y, C, f = problem.y, problem.C, scores + b
    hard = isinstance(problem.loss, HardMargin)
    scale = problem.loss.feasible_scale(y, f)
    if not np.isfinite(scale):
        return float("inf")
    slope = 0.0 if hard else problem.loss.slope(y, f)
    pull, lift = C * slope + 0.5 * scale * scale * beta, 0.5 * other
    weight = np.abs(pull) + np.abs(lift)
    rows, place = np.unique(drawn(weight, min(_SAMPLE, max(1, problem.n // _PART))), return_inverse=True)
    both = beta if other is beta else np.column_stack([beta, other])
    exact = problem.gram.recompute(both, rows).reshape(rows.size, -1)
    error, dual_error = (scores[rows] - exact[:, 0])[place], (dual_scores[rows] - exact[:, -1])[place]
    rows = rows[place]
    own = np.where(weight[rows] > 0.0, weight[rows], 1.0)
    wrong, wrong_dual = pull[rows] / own * error, lift[rows] / own * dual_error
    total = float(weight.sum())
    found = max(at_most(total, errors) for errors in (wrong, wrong_dual, wrong + wrong_dual))
    largest, typical = float(np.abs(error).max()), float(np.sqrt(np.mean(error * error)))
    if hard:
        left = 1.0 - 3.0 * largest * scale  # of the least margin
        return found + primal * (left**-2 - 1.0) if left > 0.0 else float("inf")
    ends = (np.abs(problem.loss.slope(y, f + e) - slope) for e in (-largest, largest))
    return found + float((C * np.maximum(*ends)).sum()) * typical
