"""Columns: a set of points made ready for many kernel values. Its verbs take numbers of points.

    fill(rows, out, slots)    out[slots] <- k(rows, all)
    add(rows, v, out)         out += sum_i v_i k(row_i, all), never forming the rows
    square(rows, out)         out <- k(rows, rows), half of it by symmetry
    product(rows, v, at)      sum_i v_i k(row_i, .) at some points, in float64

Work is cut into pieces whose sizes depend on nothing but the points, so that the same sums are taken in the same order by
any number of threads. Values are counted.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..kernels import Kernel
from ..kernels.points import count
from ..parallel import for_each
from ..types import Array, Index, Points
from .choose import way_of
from .way import Way

BATCH = 1024  # rows made ready at a time
PIECE = 1536  # columns of one task: whole panels of every precision
_SIDE = 480  # points of a block of a square: whole tiles
_STRIPS = 16  # of a symmetric product, at most: each has sums of its own
CHEAP = 20.0  # multiply-adds: a value costs as much as reading it from memory
DEAR = 200.0  # it costs more than looking for it there


class Counted:
    """How many kernel values were computed, by all columns of the same points."""

    def __init__(self) -> None:
        self.values = 0


class Columns:
    """Some points (all, where `at` is None) as columns; rows are any of them. Numbers of rows are those of all points.

    Columns are ready all the time where that takes no more than `room` bytes, else when they are needed.
    """

    def __init__(self, kernel: Kernel, X: Points, dtype: Any, threads: int = 1, room: float = np.inf) -> None:
        self.kernel, self.X, self.dtype, self.threads, self.room = kernel, X, np.dtype(dtype), threads, room
        self.way: Way[Any] = way_of(kernel, X, self.dtype)
        self.cheap, self.dear = self.way.cost <= CHEAP, self.way.cost > DEAR
        self.counted = Counted()
        self._own = self.way.prepared(X)
        self._stand_at(np.arange(count(X)))

    def narrow(self, at: Index) -> Columns:
        """These points alone as columns."""
        narrow = copy(self)
        narrow._stand_at(at)
        return narrow

    def _stand_at(self, at: Index) -> None:
        self.at, self.n = at, at.size
        self.parts = _pieces(at.size, PIECE)
        held = at.size * self.way.bytes_a_point <= self.room
        self._ready = [self.way.columns(self._own, at[part]) for part in self.parts] if held else None

    def _columns(self, number: int) -> Any:
        """One piece of the columns, ready."""
        if self._ready is not None:
            return self._ready[number]
        return self.way.columns(self._own, self.at[self.parts[number]])

    @cached_property
    def diag(self) -> Array:
        """k(x, x) of all points, in float64."""
        return np.asarray(self.kernel.diag(self.X), np.float64)

    @cached_property
    def precise(self) -> Way[Any]:
        """The way of float64."""
        return self.way if self.dtype == np.float64 else way_of(self.kernel, self.X, np.dtype(np.float64))

    def fill(self, rows: Index, out: Array, slots: Index) -> None:
        """out[slots] <- k(rows, columns)."""
        for part in _pieces(rows.size, BATCH):
            ready = self.way.rows(self._own, rows[part])

            def task(number: int, ready: Any = ready, slots: Index = slots[part]) -> None:
                self.way.fill(ready, self._columns(number), slots, out[:, self.parts[number]])

            for_each(range(len(self.parts)), task, self.threads)
        self.counted.values += rows.size * self.n

    def add(self, rows: Index, v: Array, out: Array) -> None:
        """out += sum_i v_i k(row_i, columns)."""
        for part in _pieces(rows.size, BATCH):
            ready = self.way.rows(self._own, rows[part])

            def task(number: int, ready: Any = ready, v: Array = v[part]) -> None:
                self.way.add(ready, self._columns(number), v, out[self.parts[number]])

            for_each(range(len(self.parts)), task, self.threads)
        self.counted.values += rows.size * self.n

    def square(self, rows: Index, out: Array) -> None:
        """out <- k(rows, rows), into the upper left corner: one half is the mirror image of the other."""
        parts = [rows[start : start + _SIDE] for start in range(0, rows.size, _SIDE)]
        across = [self.way.rows(self._own, part) for part in parts]
        down = [self.way.columns(self._own, part) for part in parts]

        def task(pair: tuple[int, int]) -> None:
            i, j = pair
            top, left = slice(i * _SIDE, i * _SIDE + across[i].count), slice(j * _SIDE, j * _SIDE + down[j].count)
            if i == j:
                self.way.square(across[i], down[i], out[top, left])
            else:
                self.way.fill(across[i], down[j], np.arange(across[i].count), out[top, left])
                out[left, top] = out[top, left].T

        for_each(list(combinations_with_replacement(range(len(parts)), 2)), task, self.threads)
        self.counted.values += rows.size * (rows.size + _SIDE) // 2

    def product(self, rows: Index, v: Array, at: Index) -> Array:
        """sum_i v_i k(row_i, .) at some points, in float64; where these begin with the rows, by symmetry."""
        out = np.zeros(at.size)
        own = rows.size if np.array_equal(at[: rows.size], rows) else 0
        if own:
            out[:own] = self._symmetric_product(rows, v)
        X = self.precise.prepared(self.X)
        others = at[own:]
        for part in _pieces(rows.size, BATCH):
            ready = self.precise.rows(X, rows[part])

            def task(piece: slice, ready: Any = ready, weights: Array = v[part]) -> None:
                self.precise.add(ready, self.precise.columns(X, others[piece]), weights, out[own:][piece])

            for_each(_pieces(others.size, PIECE), task, self.threads)
        self.counted.values += rows.size * others.size
        return out

    def _symmetric_product(self, rows: Index, v: Array) -> Array:
        """The same among the rows: each strip of them meets those that follow, and each value is used twice."""
        X, strips = self.precise.prepared(self.X), _pieces(rows.size, max(PIECE, -(-rows.size // _STRIPS)))
        sums = np.zeros((len(strips), rows.size))

        def task(number: int) -> None:
            for top in _pieces(strips[number].stop, BATCH, strips[number].start):
                ready = self.precise.rows(X, rows[top])
                self.precise.add(ready, self.precise.columns(X, rows[top]), v[top], sums[number, top])
                for left in _pieces(rows.size, PIECE, top.stop):
                    columns = self.precise.columns(X, rows[left])
                    self.precise.add_both(ready, columns, v[top], v[left], sums[number, left], sums[number, top])

        for_each(range(len(strips)), task, self.threads)
        self.counted.values += rows.size * (rows.size + BATCH) // 2
        total = np.zeros(rows.size)
        for part in sums:
            total += part
        return total


def _pieces(stop: int, size: int, start: int = 0) -> list[slice]:
    """From start to stop, cut into pieces of at most a size."""
    return [slice(left, min(left + size, stop)) for left in range(start, stop, size)]
