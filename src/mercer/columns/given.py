"""Kernel values that are all there: a matrix that was given, or that of few points."""

from __future__ import annotations

from copy import copy

import numpy as np

from ..types import Array, Index
from .columns import Counted
from .way import core


class GivenColumns:
    """The verbs of `Columns` on a matrix K, of which nothing has to be computed. K may be wider and longer than n."""

    cheap, dear = True, False

    def __init__(self, K: Array, n: int, counted: Counted | None = None) -> None:
        self.K, self.dtype = K, K.dtype
        self.counted = Counted() if counted is None else counted
        self.at, self.n = np.arange(n), n
        self.diag = np.asarray(K.diagonal()[:n], np.float64)

    def narrow(self, at: Index) -> GivenColumns:
        """These points alone as columns."""
        narrow = copy(self)
        narrow.at, narrow.n = at, at.size
        return narrow

    def fill(self, rows: Index, out: Array, slots: Index) -> None:
        """out[slots] <- K[rows, columns]."""
        out[slots, : self.n] = self.K[np.ix_(rows, self.at)]

    def add(self, rows: Index, v: Array, out: Array) -> None:
        """out += sum_i v_i K[row_i, columns]."""
        if self.n == self.diag.size:
            core.add_rows(self.K, rows, v, out)
        else:
            core.add_rows(np.ascontiguousarray(self.K[np.ix_(rows, self.at)]), np.arange(rows.size), v, out)

    def square(self, rows: Index, out: Array) -> None:
        """out <- K[rows, rows]."""
        core.gather(self.K, rows, rows, self.K[:0], out)

    def product(self, rows: Index, v: Array, at: Index) -> Array:
        """sum_i v_i K[row_i, at], in float64."""
        out = np.zeros(at.size)
        core.add_rows(np.ascontiguousarray(self.K[np.ix_(rows, at)]), np.arange(rows.size), v, out)
        return out
