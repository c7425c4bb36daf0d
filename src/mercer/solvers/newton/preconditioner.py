"""Preconditioner: M = I + Z'mZ, made of some of the points, is near the Hessian H = I + Z'DZ of a smooth problem.

m_i is max(D_i, least) for points that are drawn, each with the probability min(1, D_i / least), and 0 for the others:
in the mean m is D, and the points that matter most are all there. With M, conjugate gradients take few steps; and a sum
of z z' over so few points costs no more than some of them. Where it is cheap, all points are drawn, and M = H.

The bias is in M what it is in H, with m in place of D: a column with a penalty, or free and always at its best.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..._core.core import CHOICE
from ...limits import deadline, flop_seconds, look
from ...parallel import for_each, thread_count
from ...types import Array, inner
from .landmark_rows import LandmarkRows

core = CHOICE.functions

_ROWS = 4  # points, at least, for each feature,
_CHEAP = 6.0  # or as many as cost no more than so many passes over all points: then M is made at once
_DEAR = 60.0  # what M may cost
_VALUES, _STRIP = 2**17, 512  # of dense features at a time: so many, but of no fewer rows
_WORTH_THREADS = 500_000  # nanoseconds
_ROUNDS = 20  # to find out who is drawn
_SHARE = 0.2  # of the time that is left is what M may take


class Preconditioner:
    """M, or I as long as there is none. `column` is what stands in the column of a bias; `penalty` 0: a free one."""

    def __init__(self, design: Any, column: float, penalty: float) -> None:
        n, d = design.n, design.width
        self.design, self.column, self.penalty = design, column, penalty
        self.weight, self.known = np.zeros(n), False
        row = design.entries / n
        read, square = (1.8 * row, 0.6 * row * row) if design.sparse else (0.5 * d, d * d / 70 + d)  # nanoseconds
        self.size = int(min(max(_ROWS * d, _CHEAP * n * read / max(square, 1.0)), n))
        self.square = square
        self.cost = (self.size * square + d**3 / 60) / max(n * read, 1.0) if d <= n else np.inf
        self.possible, self.spent = self.cost <= _DEAR, _CHEAP

    def renew(self, rate: Array) -> None:
        """M for these D; nothing, where products with H since the last time (`spent`) have cost less than that."""
        if not self.possible or self.spent < self.cost:
            return
        if deadline().limited:
            d = self.design.width
            if (self.size * d * d + d**3 / 3) * flop_seconds() > _SHARE * deadline().left():
                return
        from scipy.linalg.lapack import dpotrf

        self.spent, self.weight = 0.0, _drawn(rate, self.size)
        M = self._squares(np.flatnonzero(self.weight))
        M[np.diag_indices_from(M)] += 1.0
        self.factor, failed = dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
        self.known = failed == 0
        if failed:  # it cannot be told from a singular matrix
            self.weight, self.possible = np.zeros(rate.size), False
            return
        if self.column:
            self.image = self.design.combination(self.weight)
            self.solved = self._solved(self.image)
            rest = float(self.weight.sum()) - inner(self.image, self.solved)
            self.corner = self.penalty + self.column**2 * max(rest, 0.0)

    def solve(self, r: Array, r_e: float) -> tuple[Array, float]:
        """M^-1 r: of w, and of a penalised bias."""
        if not self.known:
            return r.copy(), r_e
        first = self._solved(r)
        if not self.column or not self.corner > 0.0:
            return first, r_e
        extra = (r_e - self.column * inner(self.image, first)) / self.corner
        return first - (self.column * extra) * self.solved, self.penalty * extra

    def _solved(self, r: Array) -> Array:
        """The same without a bias."""
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self.factor, r, lower=1)[0])

    def _squares(self, rows: Array) -> Array:
        """sum m z z' over these rows, on and above the diagonal."""
        if isinstance(self.design, LandmarkRows):
            return self.design.squares(rows, self.weight[rows])
        threads = thread_count() if rows.size * self.square > _WORTH_THREADS else 1
        cuts = [rows.size * k // threads for k in range(threads + 1)]
        sums: dict[int, Array] = {}
        add = self._sparse if self.design.sparse else self._dense

        def work(piece: tuple[int, int]) -> None:
            sums[piece[0]] = add(rows[slice(*piece)])

        for_each(pairwise(cuts), work, threads)
        first, *others = (sums[start] for start in sorted(sums))  # in order: the same bits every time
        for other in others:
            first += other
        return first

    def _sparse(self, rows: Array) -> Array:
        begin, column, value = self.design.arrays
        out = np.zeros((self.design.width, self.design.width))
        core.add_sparse_squares(begin, column, value, rows, self.weight[rows], out, np.zeros(self.design.width))
        return out

    def _dense(self, rows: Array) -> Array:
        d, root = self.design.width, np.sqrt(self.weight)
        out, step = np.zeros((d, d)), max(1, _VALUES // d, _STRIP)
        for start in range(0, rows.size, step):
            look()
            part = rows[start : start + step]
            strip = self.design.arrays[0][part] * root[part, None]
            out += strip.T @ strip  # NumPy sees that this is symmetric
        return out


def _drawn(rate: Array, size: int) -> Array:
    """m, with about `size` that are not 0; no chance is needed: every time that the probabilities add up to 1, a point
    is drawn.
    """
    if rate.size <= 1.5 * size:
        return rate.copy()
    small, least = rate, np.inf
    for _ in range(_ROUNDS):  # large ones are certain, and leave fewer draws to the small ones
        left = size - (rate.size - small.size)
        least, before = float(small.sum()) / max(left, 1), least
        if not 0.0 < least < 0.99 * before:
            break
        small = small[small < least]
    if not 0.0 < least < np.inf:
        return rate.copy()
    counted = np.floor(np.cumsum(np.minimum(rate / least, 1.0)))
    return np.where(np.diff(counted, prepend=0.0) > 0.0, np.maximum(rate, least), 0.0)
