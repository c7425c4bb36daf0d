"""Sparse points: rows meet columns only in the coordinates that both have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from .._core.forms import Form, Summed
from .._core.reference import PANEL
from ..amounts import AT_A_TIME
from ..types import Array, Index, Points
from .way import CURVED, Way, core

_ANYWHERE = 60.0  # To add somewhere in memory costs as much as so many multiply-adds in order.


@dataclass(frozen=True, eq=False)
class Entries:
    """A sparse matrix by its first axis: points by rows, or (as columns) coordinates; and the levels of the points."""

    start: Array
    place: Array
    value: Array
    levels: Array
    count: int


class Inverted(Way[Entries]):
    """A form of sparse points, from an inverted index: for each coordinate, the points that have it.

    What one point alone adds to a sum is its level: `factor` times its squared length (products), or the sum of its
    entries.
    """

    def __init__(self, form: Form, factor: float, X: Points, dtype: DTypeLike) -> None:
        self.form, self.factor, self.dtype = form, float(factor), np.dtype(dtype)
        self.symmetric = form.way != Summed.CHI2
        starts = range(0, max(X.indices.size, 1), AT_A_TIME.values)
        counts = [np.bincount(X.indices[start : start + AT_A_TIME.values], minlength=X.shape[1]) for start in starts]
        frequency = np.sum(counts, axis=0) / X.shape[0]
        self.cost = _ANYWHERE * float((frequency * frequency).sum()) + CURVED
        entry = np.dtype(np.int32).itemsize + self.dtype.itemsize
        self.bytes_a_point = X.nnz / X.shape[0] * entry + self.dtype.itemsize

    def rows(self, X: Points, index: Index) -> Entries:
        part = X[index].astype(self.dtype, copy=False)
        return self._entries(part, part, index.size)

    def columns(self, X: Points, index: Index) -> Entries:
        part = X[index].astype(self.dtype, copy=False)
        return self._entries(part, part.tocsc(), index.size)

    def _entries(self, points: Points, by: Points, count: int) -> Entries:
        levels = np.zeros(-(-count // PANEL) * PANEL, self.dtype)
        if self.factor:
            own = points.multiply(points) if self.form.way == Summed.PRODUCTS else abs(points)
            levels[:count] = self.factor * np.asarray(own.sum(axis=1), np.float64).reshape(-1)
        return Entries(by.indptr.astype(np.int32), by.indices.astype(np.int32), by.data, levels, count)

    def fill(self, rows: Entries, columns: Entries, slots: Index, out: Array) -> None:
        core.sparse_sums(
            rows.start, rows.place, rows.value, columns.start, columns.place, columns.value,
            int(self.form.way), slots, out,
        )  # fmt: skip
        core.finish_rows(self.form, rows.levels[: rows.count], columns.levels, slots, out)
