"""Kernel values between points that a perceptron holds and the points that it is shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..columns import SCRATCH, Columns, pieces, value_seconds
from ..kernels import Kernel
from ..kernels.points import Domain, common_dtype, count, diagonal, stack
from ..limits import NEVER, Deadline
from ..parallel import for_each, shares, thread_count
from ..types import Array, Index, Points

core = CHOICE.functions
_BLOCK, _CHEAP_BLOCK = 512, 1024  # points that are learned from at a time
_HELD = 4_000_000  # values; so few are computed once and held,
_HELD_SHARE = 0.1  # if that takes no more than this part of the time
_BLOCK_SHARE = 0.02  # of the time is what mistakes on a whole block may take
_BUFFER = 64_000_000  # bytes of rows that are computed at a time
_WORTH_THREADS = 2_000_000  # values; smaller updates stay in one thread
_ROOM = 2**28  # bytes that prepared points may take


class RowsOfValues(ABC):
    """k(u_i, x_j) for points u (those held before, then those of X) and x (those of X).

    block: of how many points at a time the square of values had better be computed.
    """

    block: int

    @abstractmethod
    def square(self, columns: Index) -> Array:
        """k(x_i, x_j) for some points of X, valid until the next call."""

    @abstractmethod
    def row(self, i: int) -> Array:
        """k(u_i, x_j) for the points of the last square."""

    @abstractmethod
    def add(self, F: Array, index: Index, v: Array) -> None:
        """F_j += sum_i v_i k(u_i, x_j) for all j, in each row of F with the row of v."""

    @abstractmethod
    def squares(self) -> Array:
        """k(u_i, u_i)."""


def rows_of(kernel: Kernel, held: Points | None, X: Points, deadline: Deadline = NEVER) -> RowsOfValues:
    """All values at once, where they are few or given and there is time for them; else some rows at a time."""
    if kernel.domain is Domain.VALUES:
        return _Matrix(X, X.diagonal().astype(np.float64))
    points = X if held is None else stack(held, X)
    n, shown = count(points), count(X)
    seconds = value_seconds(kernel, X) if deadline.limited else 0.0
    threads = 1 if kernel.serial else thread_count()
    own = np.arange(n - shown, n)
    if n * shown <= _HELD and n * shown * seconds <= _HELD_SHARE * deadline.left():
        points = _double(points)
        return _Matrix(_values(Columns(kernel, points, np.float64, threads), own), diagonal(kernel, points))
    columns = Columns(kernel, points, common_dtype(X), threads, _ROOM, SCRATCH)
    rows = _Streamed(columns if held is None else columns.narrow(own, threads))
    if seconds > 0.0:
        rows.block = int(min(rows.block, max(1.0, _BLOCK_SHARE * deadline.left() / (seconds * shown))))
    return rows


def _values(columns: Columns, own: Index) -> Array:
    """k(u_i, x_j), where the x are the last of the u; by symmetry, where they are all."""
    K = np.empty((columns.n, own.size))
    if own.size == columns.n and columns.kernel.symmetric:
        columns.square(columns.at, K)
    else:
        columns.narrow(own, columns.threads).fill(columns.at, K, columns.at)
    return K


class _Matrix(RowsOfValues):
    """All values, held."""

    def __init__(self, K: Array, diagonal: Array) -> None:
        self.K, self.diagonal, self.block = K, diagonal, _BLOCK

    def square(self, columns: Index) -> Array:
        before, self.chosen = len(self.K) - self.K.shape[1], columns
        return np.ascontiguousarray(self.K[np.ix_(before + columns, columns)], np.float64)

    def row(self, i: int) -> Array:
        return np.asarray(self.K[i, self.chosen])

    def add(self, F: Array, index: Index, v: Array) -> None:
        F += v @ self.K[index]

    def squares(self) -> Array:
        return self.diagonal


class _Streamed(RowsOfValues):
    """Rows computed when they are needed, and forgotten. The columns are the points of X, the last of all."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.before = columns, columns.diag.size - columns.n
        self.block = _CHEAP_BLOCK if columns.cheap else _BLOCK
        self.buffer, self.tile = np.empty((0, columns.n), columns.dtype), np.empty((0, 0), columns.dtype)
        self.chosen: Columns | None = None

    def square(self, columns: Index) -> Array:
        if len(self.tile) != columns.size:
            self.tile = np.empty((columns.size, columns.size), self.columns.dtype)
        self.places, self.chosen = self.before + columns, None
        if self.columns.kernel.symmetric:
            self.columns.square(self.places, self.tile)
        else:
            self._narrow().fill(self.places, self.tile, np.arange(columns.size))
        return self.tile

    def row(self, i: int) -> Array:
        out = np.empty((1, self.places.size), self.columns.dtype)
        self._narrow().fill(np.array([i]), out, np.zeros(1, np.intp))
        return np.asarray(out[0])

    def _narrow(self) -> Columns:
        """The points of the last square, as columns."""
        if self.chosen is None:
            self.chosen = self.columns.narrow(self.places, self.columns.threads)
        return self.chosen

    def add(self, F: Array, index: Index, v: Array) -> None:
        if len(F) == 1:
            self.columns.add(index, np.ascontiguousarray(v[0]), F[0])
            return
        step = max(1, _BUFFER // (self.columns.n * self.columns.dtype.itemsize))
        if len(self.buffer) < min(step, index.size):
            self.buffer = np.empty((min(step, index.size), self.columns.n), self.columns.dtype)
        for rows in pieces(index.size, step):
            some = index[rows]
            places = np.arange(some.size)
            self.columns.fill(some, self.buffer, places)
            for part, weights in zip(F, v[:, rows], strict=True):
                self._add_held(part, places, weights)

    def _add_held(self, F: Array, places: Index, weights: Array) -> None:
        """By all cores, where it is worth it."""
        used = np.flatnonzero(weights)
        threads = thread_count() if F.size * used.size >= _WORTH_THREADS else 1
        v, rows = np.ascontiguousarray(weights[used], np.float64), places[used]

        def add(part: slice) -> None:
            core.add_rows(self.buffer[:, part], rows, v, F[part])

        for_each(shares(F.size, threads), add, threads)

    def squares(self) -> Array:
        return self.columns.diag


def _double(X: Points) -> Any:
    """Numbers in float64; objects as they are."""
    return X.astype(np.float64, copy=False) if hasattr(X, "dtype") and X.dtype.kind == "f" else X
