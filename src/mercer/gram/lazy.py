"""Rows of the Gram matrix on demand, the latest ones kept, within a number of bytes that is never exceeded."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .._core import is_small
from ..kernels import Kernel
from ..kernels.evaluate import (
    LEAST_SIDE,
    SCRATCH,
    SCRATCH_PER_THREAD,
    Prepared,
    add_up_all,
    add_up_own_rows,
    diagonal,
    fill_rows,
    fill_square,
    prepared,
    tile_bytes,
)
from ..kernels.points import Chosen, Domain, admit, common_dtype, count, take
from ..memory import BudgetError, format_bytes, parse_bytes
from ..parallel import thread_count
from ..types import Array, Points
from .base import Gram, Held, Part, as_factor, as_index
from .dense import DenseGram
from .linear import LinearGram, constant_beside_linear

_BOOKS = 4 * 8  # bytes a row: which row is where, and since when; the diagonal
_RECENT = 2  # calls; rows that were asked for within so many are kept, while there is memory


def least_budget(kernel: Kernel, points: Points, n: int, dtype: Any) -> int:
    """The least memory for the rows of n such points: three rows, the books, and the smallest tile."""
    return _BOOKS * n + 3 * n * int(np.dtype(dtype).itemsize) + tile_bytes(kernel, points, LEAST_SIDE, 8)


def require_budget(budget: int, least: int, n: int, parts: int = 1) -> None:
    """Raise where a budget, one of several equal parts of what the user allows, is less than the least that will do."""
    if budget < least:
        raise BudgetError(
            f"A memory budget of {format_bytes(parts * budget)} is too small for rows of {n} values: "
            f"at least {format_bytes(parts * least)} is needed."
        )


class LazyGram(Gram):
    """Rows computed when they are asked for; the least recently used give way first.

    The budget is split once: temporaries of the computation, the rows that are kept, and the rows of one answer
    (`batch` rows at most). `most` limits the number of rows kept, where more would not be worth their memory. The
    budget may be one of several equal `parts` of what the user allows.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Points,
        budget: int | float | str,
        reason: str = "lazy: asked for",
        dtype: Any = None,
        most: int | None = None,
        memory: Array | None = None,
        columns: Prepared | None = None,
        parts: int = 1,
    ) -> None:
        budget = parse_bytes(budget)
        self.kernel, self.budget, self.reason = kernel, budget, reason
        self.points = admit(X, kernel.domain)
        kernel.check(self.points, "X")
        kernel.require_resolved()
        self._dtype = np.dtype(dtype or common_dtype(self.points))
        n = count(self.points)
        row = n * self.dtype.itemsize
        books = _BOOKS * n
        self.room = min(Gram.room, budget // 8)
        smallest = tile_bytes(kernel, self.points, LEAST_SIDE, 8)
        least = least_budget(kernel, self.points, n, self.dtype)
        require_budget(budget, least, n, parts)
        room = min(budget // 4, budget - least)
        self.prepared = prepared(kernel, self.points, self.dtype, room) if columns is None else columns
        books += self.prepared.nbytes
        self.scratch = min(SCRATCH, SCRATCH_PER_THREAD * thread_count(), max(smallest, (budget - least) // 4))
        rows_in_all = max(3, (budget - books - self.scratch - self.room) // row)
        self.batch = int(min(n, max(1, rows_in_all // 4)))
        slots = int(min(n, max(2, rows_in_all - self.batch), n if most is None else most))
        self.most = most
        if memory is None:
            memory = np.empty(slots * n, self.dtype)
        slots = min(slots, memory.size // n)
        self.cache = _Rows(memory[: slots * n].reshape(slots, n))
        self._diag = diagonal(kernel, self.points)
        self._lock = threading.Lock()  # several machines may share the rows that are kept

    def __reduce__(self) -> Any:
        return type(self), (self.kernel, self.points, self.budget, self.reason, self.dtype, self.most)

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

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def gaussian(self) -> Any:
        return self.prepared.gaussian if self.prepared.cheap else None

    @property
    def most_held(self) -> int:
        return self.cache.size

    def held(self, index: Any) -> Held:
        """See Gram.held; at most as many rows as can be kept."""
        index = as_index(index, self.n)
        if index.size > self.cache.size:
            raise ValueError(
                f"{index.size} rows at once are more than the memory budget of {format_bytes(self.budget)} has room "
                f"for: ask for at most {self.cache.size} at a time."
            )
        with self._lock:
            return Held(self.cache.values, self.cache.slots_for(index, self._compute), [(0, self.n, 0)])

    def worth_keeping(self, index: Any, often: Any) -> Any:
        if self.prepared.cheapest:
            return np.zeros(len(index), np.bool_)
        return (self.cache.slot_of[index] >= 0) | often | (not self.prepared.cheap)

    def combination(self, index: Any, v: Array) -> Array:
        if not self.prepared.cheap:
            return super().combination(index, v)
        return add_up_own_rows(self.prepared, self.prepared, as_index(index, self.n), v, self.scratch)

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """See Gram.recompute; the points that are prepared need not be prepared again."""
        if np.ndim(v) != 1 or not self.prepared.adds_up or (rows is not None and self.dtype != dtype):
            return super().recompute(v, rows, dtype)
        source = self.prepared if self.dtype == dtype else prepared(self.kernel, self.points, dtype, self.scratch)
        if not source.adds_up:
            return super().recompute(v, rows, dtype)
        v = np.asarray(as_factor(v, self.n), np.float64)
        columns = source.precise() if rows is None else source.columns_of(as_index(rows, self.n))
        used = np.flatnonzero(v)
        if used.size == 0:
            return np.zeros(columns.n)
        add_up = add_up_all if rows is None else add_up_own_rows
        return add_up(columns, source, used, v[used], self.scratch)

    def block(self, index: Any, out: Array | None = None) -> Array:
        """See Gram.block; computed anew, which is faster than to look for the rows."""
        index = as_index(index, self.n)
        out = np.empty((index.size, index.size), self.dtype) if out is None else out
        fill_square(self.prepared.columns_of(index), out, self.scratch)
        return out

    def narrow(self, index: Any) -> LazyGram:
        """See Gram.narrow; rows of these points that are held are moved to the front of the same memory.

        This matrix forgets its rows. It can be used again, once the narrow one is no longer used.
        """
        index = as_index(index, self.n)
        memory, held = self.cache.values.reshape(-1), self.cache.slot_of[index]
        order = np.argsort(held, kind="stable")
        order = order[held[order] >= 0]
        for place, slot in enumerate(held[order]):  # the row moves to the left, so that none is overwritten before
            memory[place * index.size : (place + 1) * index.size] = self.cache.values[slot][index]
        self.cache.forget()
        points, columns = take(self.points, index), self.prepared.columns_of(index)
        narrow = LazyGram(self.kernel, points, self.budget, self.reason, self.dtype, self.most, memory, columns)
        narrow.cache.adopt(order)
        return narrow

    def astype(self, dtype: Any) -> LazyGram:
        """See Gram.astype; in the same memory, as with `narrow`."""
        if self.dtype == dtype:
            return self
        self.cache.forget()
        memory = self.cache.values.reshape(-1).view(np.uint8)
        memory = memory[: memory.size // 8 * 8].view(dtype)
        return LazyGram(self.kernel, self.points, self.budget, self.reason, dtype, self.most, memory)

    def _compute(self, index: Any, slots: Any) -> None:
        """Fill slots with rows; the diagonal as everywhere else."""
        values = self.cache.values
        fill_rows(self.prepared, Chosen(self.points, index), values, slots, self.scratch)
        if self.kernel.symmetric:
            values[slots, index] = self._diag[index]

    def __matmul__(self, v: Array) -> Array:
        return self.recompute(v, dtype=self.dtype)

    def subset(self, index: Any) -> SubsetGram:
        """See Gram.subset; the rows that are kept, and the budget, are shared."""
        return SubsetGram(self, as_index(index, self.n))


class SubsetGram(Part):
    """Some points of a lazy Gram matrix: rows come from, and are kept in, the whole one."""

    whole: LazyGram

    @property
    def batch(self) -> int:
        """The most rows of one answer."""
        return self.whole.batch

    @property
    def most_held(self) -> int:
        return self.whole.batch

    def diag(self) -> Array:
        return np.asarray(self.whole.diag()[self.index])

    def rows(self, index: Any) -> Array:
        return self.whole.rows(self.places(index), self.index)

    def __matmul__(self, v: Array) -> Array:
        return self.recompute(v, dtype=self.whole.dtype)

    def astype(self, dtype: Any) -> SubsetGram:
        return SubsetGram(self.whole.astype(dtype), self.index)


class _Rows:
    """A fixed number of slots for rows; the least recently used slot is filled next."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.size = len(values)
        self.slot_of = np.full(values.shape[1], -1, np.int64)
        self.row_in = np.full(self.size, -1, np.int64)
        self.used_at = np.zeros(self.size, np.int64)
        self.clock = 0

    def forget(self) -> None:
        """Empty every slot."""
        self.slot_of[:], self.row_in[:], self.used_at[:] = -1, -1, 0

    def adopt(self, rows: Any) -> None:
        """Take the first slots as filled with these rows."""
        self.slot_of[rows], self.row_in[: len(rows)], self.used_at[: len(rows)] = np.arange(len(rows)), rows, 1
        self.clock = 1

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
            # To touch new memory is slow, so a slot never used counts as one that was used a few calls ago.
            age = np.where(self.used_at > 0, self.used_at, self.clock - _RECENT)
            oldest = np.argsort(age, kind="stable")[: missing.size]
            evicted = self.row_in[oldest]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.row_in[oldest] = -1  # until they are filled, so that an error or Ctrl-C leaves no half-filled row
            self.used_at[oldest] = 1
            compute(missing, oldest)
            self.slot_of[missing], self.row_in[oldest], self.used_at[oldest] = oldest, missing, self.clock
        return self.slot_of[index]


def unformed(kernel: Kernel, X: Points, budget: float = np.inf) -> Gram:
    """A Gram matrix of which nobody will ask more than products from the points: it holds next to nothing."""
    if kernel.domain is Domain.VALUES:
        return DenseGram.compute(kernel, X)
    constant = constant_beside_linear(kernel)
    if constant is not None:
        return LinearGram(X, constant)
    X = admit(X, kernel.domain)
    columns = Prepared(kernel, X, common_dtype(X), count(X) ** 2) if is_small(count(X) ** 2) else None
    return LazyGram(kernel, X, min(budget, 100_000_000 + 100 * 8 * count(X)), most=2, columns=columns)
