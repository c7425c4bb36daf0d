"""Preconditioner: M = I + Z'mZ, made of some of the points, is near the Hessian H = I + Z'DZ of a smooth problem.

m_i is max(D_i, least) for points that are drawn, each with the probability min(1, D_i / least), and 0 for the others:
in the mean m is D, and the points that matter most are all there. With M, conjugate gradients take few steps; and a sum
of z z' over so few points costs no more than some of them. Where it is cheap, all points are drawn, and M = H.

The bias is in M what it is in H, with m in place of D: a column with a penalty, or free and always at its best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...amounts import A_DIGIT, SHARE
from ...arithmetic import inner
from ...limits import deadline, flop_seconds
from ...types import Array
from ..nanoseconds import PASSES_PER_DIGIT, of_a_factor, of_a_product, of_squares
from ..triangular import NotDefiniteError, factor_work, inverse_of
from .hessian import Bias, Bordered
from .line_search import TRIALS

ROWS_PER_FEATURE = 4
"""So many points are drawn for each feature, at least, or as many as cost no more than a pass or two over all points:
then M is made at once.
"""
_MOST_PASSES = PASSES_PER_DIGIT / A_DIGIT  # M may cost so many passes;
_FEW_PASSES = SHARE.little * PASSES_PER_DIGIT  # of more points, it is made of as many as cost no more than so many.
_BESIDE = 120_000.0  # nanoseconds: what is done beside a pass takes so long, however few the points are


class Preconditioner:
    """M, or I as long as there is none."""

    def __init__(self, design: Any, bias: Bias) -> None:
        n, d = design.n, design.width
        self.design, self.bias, self.weight = design, bias, np.zeros(n)
        self.inverse: Bordered | None = None
        product, square = of_a_product(design) + _BESIDE, of_squares(design, 1, d)
        self.size = int(min(max(ROWS_PER_FEATURE * d, _FEW_PASSES * product / max(square, 1.0)), n))
        self.cost = (self.size * square + of_a_factor(d)) / product if d <= n else np.inf
        self.possible, self.spent = self.cost <= _MOST_PASSES, PASSES_PER_DIGIT

    def renew(self, rate: Array) -> None:
        """M for these D; left as it is, where products with H since the last time (`spent`) have cost less than a new
        M.
        """
        if not self.possible or self.spent < self.cost:
            return
        if deadline().limited:
            d = self.design.width
            if (self.size * d * d + factor_work(d)) * flop_seconds() > SHARE.some * deadline().left():
                return
        self.spent, self.weight = 0.0, _drawn(rate, self.size)
        rows = np.flatnonzero(self.weight != 0.0)
        M, image = self.design.squares(rows, self.weight[rows])
        M.flat[:: len(M) + 1] += 1.0
        try:
            solve = inverse_of(M)
        except NotDefiniteError:  # it cannot be told from a singular matrix
            self.inverse, self.weight, self.possible = None, np.zeros(rate.size), False
            return
        solved = solve(image)
        self.inverse = Bordered(solve, self.bias, image, solved, float(self.weight.sum()) - inner(image, solved))

    def solve(self, r: Array, r_e: float) -> tuple[Array, float]:
        """M^-1 r: of w, and of a penalised bias; a free one follows."""
        if self.inverse is None:
            return r.copy(), r_e
        w, e = self.inverse(r, r_e)
        return w, self.bias.penalty * e


def _drawn(rate: Array, size: int) -> Array:
    """m, with about `size` that are not 0; no chance is needed: every time that the probabilities add up to 1, a point
    is drawn.
    """
    if rate.size <= size:
        return rate.copy()
    small, least = rate, np.inf
    for _ in range(TRIALS):  # large ones are certain, and leave fewer draws to the small ones
        left = size - (rate.size - small.size)
        least, before = float(small.sum()) / max(left, 1), least
        if not 0.0 < least < before:
            break
        small = small[small < least]
    if not 0.0 < least < np.inf:
        return rate.copy()
    counted = np.floor(np.cumsum(np.minimum(rate / least, 1.0)))
    return np.where(np.diff(counted, prepend=0.0) > 0.0, np.maximum(rate, least), 0.0)
