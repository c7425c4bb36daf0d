"""Kernel values that are all there: a matrix that was given, or that of few points."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import DTypeLike

from ..types import Array, Index, Points
from .columns import Columns, Counted
from .way import Errors, core


class GivenColumns(Columns):
    """The verbs of `Columns` on a matrix K, of which nothing has to be computed. K may be wider and longer than n."""

    matrix: Array
    cheap, dear = True, False

    def __init__(self, K: Array, n: int, counted: Counted | None = None, error: float = 0.0) -> None:
        self.matrix, self.dtype, self.threads, self.errors = K, K.dtype, 1, Errors(rest=error)
        self.counted = Counted() if counted is None else counted
        self.at, self.n = np.arange(n), n
        self.diag = np.asarray(K.diagonal()[:n], np.float64)

    def narrow(self, at: Index, threads: int) -> GivenColumns:
        narrow = copy(self)
        narrow.at, narrow.n = at, at.size
        return narrow

    def fill(self, rows: Index, out: Array, slots: Index) -> None:
        out[slots, : self.n] = self.matrix[np.ix_(rows, self.at)]

    def add(self, rows: Index, v: Array, out: Array, points: Points = None) -> None:
        if self.n == self.diag.size:
            core.add_rows(self.matrix, rows, v, out)
        else:
            core.add_rows(np.ascontiguousarray(self.matrix[np.ix_(rows, self.at)]), np.arange(rows.size), v, out)

    def square(self, rows: Index, out: Array) -> None:
        core.gather(self.matrix, rows, rows, self.matrix[:0], out)

    def product(self, rows: Index, V: Array, at: Index, dtype: DTypeLike = np.float64) -> Array:
        out = np.zeros((V.shape[1], at.size))
        part = np.ascontiguousarray(self.matrix[np.ix_(self.at[rows], self.at[at])])
        for sums, v in zip(out, np.ascontiguousarray(V.T), strict=True):
            core.add_rows(part, np.arange(rows.size), v, sums)
        return out.T
