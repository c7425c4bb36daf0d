"""What the gap and rounding leave open of answers: how far w, scores and biases may be from the best ones."""

from __future__ import annotations

import numpy as np

from ...types import Array
from ..rounding import LAST, UNIT, last_digits

_SAFE = 1.01
_SAME_LEVEL = 1e-12  # of the sum of all weights


def left_open(
    terms: Array, weights: Array, targets: Array, beta: Array, scores: Array, found: Array, out: Array, bias: bool
) -> None:  # fmt: skip
    """Of each cell: the radius, the least and the most that the best bias may be, that of the scores at hand, and what
    rounding may have done to a score, in parts of root(K_xx), beside `last_digits`. No w is farther from the best one
    than the radius.

    terms: q, r, eps, lo and hi of each cell and point; weights: C_i, 0 where a point is left out. targets: root(K_ii),
    then y of each fold, which has as many cells as any other. found: gap, b, scale, whether scores have twice the
    digits.
    """
    root, each = targets[0], len(found) // (len(targets) - 1)
    for c, (gap, b, scale, twice) in enumerate(found):
        y, s, C = targets[1 + c // each], scale * scores[c], weights[c]
        lost = scale * rounding(beta[c], root, twice)
        error = lost * root + last_digits(np.abs(s) + (1.0 + abs(b)))
        radius = np.sqrt(
            2.0 * (max(gap, 0.0) + _hidden(y * (s + scale * b), C, terms[3, c], terms[4, c], beta[c], error))
        )
        least = most = b = 0.0
        if bias:
            inside = C > 0.0
            wide = radius * root[inside].max(initial=0.0) + error[inside].max(initial=0.0)
            low, high = best_biases(y[inside], s[inside], C[inside])
            least, most, b = low - wide, high + wide, 0.5 * (low + high)
        out[c] = radius, least, most, b, lost


def rounding(beta: Array, root: Array, twice: Array | bool) -> Array:
    """How far scores may be from the truth, in parts of root(K_xx), for each row of beta; beside `last_digits`.

    A plain sum of m products may lose a rounding by each product and each sum. Where `twice`, it loses m^2 roundings of
    roundings of sum_i |beta_i K_ix| (Ogita, Rump, Oishi 2005, proposition 5.5). root holds root(K_ii).
    """
    plain = _SAFE * UNIT * (root.size + LAST)
    return np.asarray(np.where(twice, plain**2, plain) * (np.abs(beta) * root).sum(axis=-1))


def _hidden(margin: Array, weights: Array, lo: Array, hi: Array, beta: Array, error: Array) -> float:
    """What errors of the scores may hide of the gap, beta'K beta + sum C_i loss(f_i) - sum y_i beta_i.

    An error e of a score changes it by beta_i e and by C_i times the change of the loss: at a bound the two cancel, and
    outside of the margin both are zero, so that only free coefficients, and points that are at the margin up to
    rounding, count: by no more than C_i e each.
    """
    free = (lo < beta) & (beta < hi) & (beta != 0.0)
    near = np.abs(1.0 - margin) <= 2.0 * error
    return float((weights * error)[free | near].sum())


def best_biases(y: Array, scores: Array, C: Array) -> tuple[float, float]:
    """The interval of the best b of sum C_i max(0, 1 - y_i (s_i + b)): the slope grows by C_i at y_i - s_i, from minus
    the weight of the points with y > 0.
    """
    order = np.argsort(y - scores, kind="stable")
    at, total, level = (y - scores)[order], np.cumsum(C[order]), C[y > 0].sum()
    if at.size == 0:
        return 0.0, 0.0
    slack = _SAME_LEVEL * C.sum()
    before, after = (total < level - slack).sum(), (total <= level + slack).sum()
    return float(at[min(before, at.size - 1)]), float(at[min(after, at.size - 1)])
