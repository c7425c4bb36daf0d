"""Rows of the Gram matrix on demand, the latest ones kept, within a number of bytes that is never exceeded."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.evaluate import LEAST_SIDE, SCRATCH, SCRATCH_PER_THREAD, diagonal, fill_block, stream_product, tile_bytes
from ..kernels.points import Chosen, admit, common_dtype, count
from ..memory import format_bytes, parse_bytes
from ..parallel import thread_count
from ..types import Array, Index, Points
from .base import Gram, as_factor, as_index


class LazyGram(Gram):
    """Rows computed when they are asked for; the least recently used give way first.

    The budget is split once: temporaries of the computation, the rows that are kept, and the rows of one answer
    (`batch` rows at most).
    """

    def __init__(self, kernel: Kernel, X: Points, budget: int | float | str, reason: str = "lazy: asked for") -> None:
        budget = parse_bytes(budget)
        self.kernel, self.budget, self.reason = kernel, budget, reason
        self.points = admit(X, kernel.domain)
        kernel.check(self.points, "X")
        kernel.require_resolved()
        self.dtype = common_dtype(self.points)
        n = count(self.points)
        row = n * self.dtype.itemsize
        books = 4 * n * 8  # which row is where, and since when; the diagonal
        smallest = tile_bytes(kernel, self.points, LEAST_SIDE, 8)
        least = books + 2 * row + smallest
        if budget < least:
            raise ValueError(
                f"A memory budget of {format_bytes(budget)} is too small for rows of {n} values: "
                f"at least {format_bytes(least)} is needed."
            )
        self.scratch = min(SCRATCH, SCRATCH_PER_THREAD * thread_count(), max(smallest, (budget - least) // 4))
        rows_in_all = (budget - books - self.scratch) // row
        self.batch = int(min(n, max(1, rows_in_all // 4)))
        slots = int(min(n, max(1, rows_in_all - self.batch)))
        self.cache = _Rows(np.empty((slots, n), self.dtype))
        self._diag = diagonal(kernel, self.points)
        self._lock = threading.Lock()  # several machines may share the rows that are kept

    def __reduce__(self) -> Any:
        return type(self), (self.kernel, self.points, self.budget, self.reason)

    @property
    def n(self) -> int:
        return count(self.points)

    @property
    def nbytes(self) -> int:
        return int(self.cache.nbytes + self._diag.nbytes)

    def diag(self) -> Array:
        return self._diag.copy()

    def rows(self, index: Any, columns: Any = None) -> Array:
        """See Gram.rows; with columns, those entries of the rows only."""
        index = as_index(index, self.n)
        if index.size > self.batch:
            raise ValueError(
                f"{index.size} rows at once are more than the memory budget of {format_bytes(self.budget)} has room "
                f"for: ask for at most {self.batch} at a time."
            )
        out = np.empty((index.size, self.n if columns is None else len(columns)), self.dtype)
        for start in range(0, index.size, self.cache.size):
            part = slice(start, start + self.cache.size)
            with self._lock:
                slots = self.cache.slots_for(index[part], self._compute)
                for row, slot in zip(out[part], slots, strict=True):
                    row[...] = self.cache.values[slot] if columns is None else self.cache.values[slot][columns]
        return out

    def _compute(self, index: Any, slots: Any) -> None:
        """Fill slots with rows; the diagonal as everywhere else."""
        values = self.cache.values
        fill_block(self.kernel, Chosen(self.points, index), self.points, values, at=slots, scratch=self.scratch)
        if self.kernel.symmetric:
            values[slots, index] = self._diag[index]

    def __matmul__(self, v: Array) -> Array:
        return self._product(v, self.dtype)

    def product64(self, v: Array) -> Array:
        return self._product(v, np.float64)

    def _product(self, v: Array, dtype: Any) -> Array:
        v = np.asarray(as_factor(v, self.n), np.float64)
        return stream_product(self.kernel, self.points, self.points, v, dtype, self.scratch)

    def subset(self, index: Any) -> SubsetGram:
        """See Gram.subset; the rows that are kept, and the budget, are shared."""
        return SubsetGram(self, as_index(index, self.n))


class SubsetGram(Gram):
    """Some points of a lazy Gram matrix: rows come from, and are kept in, the whole one."""

    def __init__(self, whole: LazyGram, index: Index) -> None:
        self.whole, self.index, self.reason = whole, index, whole.reason

    @property
    def n(self) -> int:
        return len(self.index)

    @property
    def nbytes(self) -> int:
        return self.whole.nbytes

    @property
    def batch(self) -> int:
        """The most rows of one answer."""
        return self.whole.batch

    def diag(self) -> Array:
        return np.asarray(self.whole.diag()[self.index])

    def rows(self, index: Any) -> Array:
        return self.whole.rows(self.index[as_index(index, self.n)], self.index)

    def __matmul__(self, v: Array) -> Array:
        return self._product(v, self.whole.dtype)

    def product64(self, v: Array) -> Array:
        return self._product(v, np.float64)

    def _product(self, v: Array, dtype: Any) -> Array:
        whole = self.whole
        points = Chosen(whole.points, self.index)
        v = np.asarray(as_factor(v, self.n), np.float64)
        return stream_product(whole.kernel, points, points, v, dtype, whole.scratch)

    def subset(self, index: Any) -> SubsetGram:
        return SubsetGram(self.whole, self.index[as_index(index, self.n)])


class _Rows:
    """A fixed number of slots for rows; the least recently used slot is filled next."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.size = len(values)
        self.slot_of = np.full(values.shape[1], -1, np.int64)
        self.row_in = np.full(self.size, -1, np.int64)
        self.used_at = np.zeros(self.size, np.int64)
        self.clock = 0

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.slot_of.nbytes + self.row_in.nbytes + self.used_at.nbytes)

    def slots_for(self, index: Any, compute: Any) -> Any:
        """The slots of these rows (at most `size` of them); `compute(rows, slots)` is called for the missing ones."""
        self.clock += 1
        present = self.slot_of[index]
        self.used_at[present[present >= 0]] = self.clock
        missing = np.unique(index[present < 0])
        if missing.size:
            oldest = np.argsort(self.used_at, kind="stable")[: missing.size]
            evicted = self.row_in[oldest]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.row_in[oldest] = -1  # until they are filled, so that an error or Ctrl-C leaves no half-filled row
            self.used_at[oldest] = 0
            compute(missing, oldest)
            self.slot_of[missing], self.row_in[oldest], self.used_at[oldest] = oldest, missing, self.clock
        return self.slot_of[index]
