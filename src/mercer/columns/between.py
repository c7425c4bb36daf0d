"""Kernel values of points as a user gives them: blocks, squares and sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from ..amounts import AT_A_TIME, LARGEST
from ..kernels import Kernel
from ..kernels.points import (
    Chosen,
    Domain,
    admit_both,
    common_dtype,
    count,
    diagonal,
    overflow_checked_later,
    require_no_overflow,
    squares_fit_in_single,
)
from ..memory import DOUBLE
from ..parallel import for_each, thread_count
from ..types import Array, DType, Points
from .choose import way_of
from .columns import (
    BLOCK,
    PROBE_COLUMNS,
    SCRATCH,
    Columns,
    padded,
    pieces,
    sizes,
    sums_between,
    tiles_of,
    way_between,
)
from .tiles import Tiles
from .way import core


class Between:
    """k(x_i, z_j) for points z_j that are ready: some rows x_i at a time, each call by one thread.

    The x_i may be chosen ones: then they are copied as they are needed.
    """

    def __init__(self, kernel: Kernel, X: Points, Z: Points, dtype: DTypeLike) -> None:
        self.kernel, self.way = kernel, way_of(kernel, (Z, X.points if isinstance(X, Chosen) else X), dtype)
        self.points = X if isinstance(X, Chosen) else self.way.prepared(X)
        held, self.n = self.way.prepared(Z), count(Z)
        _, piece = sizes(self.way, SCRATCH)
        self.parts = pieces(self.n, piece)
        self.columns = [self.way.columns(held, np.arange(part.start, part.stop)) for part in self.parts]

    def fill(self, rows: slice, out: Array) -> None:
        """out <- the rows of these points."""
        if isinstance(self.points, Chosen):
            for part in pieces(rows.stop, BLOCK, rows.start):
                points, here = (
                    self.way.prepared(self.points[part]),
                    slice(part.start - rows.start, part.stop - rows.start),
                )
                self._fill(points, slice(0, part.stop - part.start), out[here])
        else:
            self._fill(self.points, rows, out)

    def _fill(self, points: Points, rows: slice, out: Array) -> None:
        ready, every = self.way.rows(points, np.arange(rows.start, rows.stop)), np.arange(rows.stop - rows.start)
        for part, columns in zip(self.parts, self.columns, strict=True):
            self.way.fill(ready, columns, every, out[:, part])
        if not self.kernel.bounded:
            require_no_overflow(out)


def rows_held(columns: int, dtype: DTypeLike) -> int:
    """How many rows of so many values a thread holds at a time, before others take their place: as many as stay in its
    cache, but enough to be worth a call.
    """
    return max(BLOCK, min(AT_A_TIME.rows, AT_A_TIME.thread_bytes // (columns * np.dtype(dtype).itemsize)))


def block(kernel: Kernel, X: Points, Z: Points = None) -> Array:
    """k(x_i, z_j) for points as a user gives them; of X against itself where Z is None or X."""
    X, Z, same = admit_both(kernel, X, Z)
    dtype = _precision(X, Z)
    if same and kernel.symmetric and kernel.domain is not Domain.VALUES:
        found = square_of(Columns(kernel, X, dtype, 1 if kernel.serial else thread_count()))
    else:
        found = block_between(kernel, X, Z, dtype)
    if dtype == common_dtype(X, Z):
        return found
    with overflow_checked_later():
        found = found.astype(np.float32)
    require_no_overflow(found)
    return found


def square_of(columns: Columns) -> Array:
    """k(x_i, x_j) of all its points: symmetric to the last digit, and the diagonal as `Kernel.diag` gives it."""
    out = np.empty((columns.n, columns.n), columns.dtype)
    columns.square(columns.at, out)
    np.fill_diagonal(out, diagonal(columns.kernel, columns.X, columns.dtype))
    if not columns.kernel.bounded:
        require_no_overflow(out)
    return out


def padded_square(kernel: Kernel, X: Points, exact: bool = False) -> Array:
    """k(x_i, x_j) in float64, with zeros around it, as solvers take it; of few dense points in one native call."""
    n = count(X)
    out = np.zeros((padded(n),) * 2)
    way = way_of(kernel, (X,), np.float64, exact)
    if n <= LARGEST.columns and type(way) is Tiles and isinstance(X, np.ndarray):
        core.square_points(way.prepared(X), way.tiled, out)
    else:
        columns = Columns(kernel, X, np.float64, 1 if kernel.serial else thread_count(), way=way)
        columns.square(columns.at, out)
    if not kernel.bounded:
        require_no_overflow(out)
    return out


def block_between(kernel: Kernel, X: Points, Z: Points, dtype: DTypeLike = np.float64) -> Array:
    """k(x_i, z_j), a row for each x, on all cores; faster where there are more x than z."""
    out, between = np.empty((count(X), count(Z)), dtype), Between(kernel, X, Z, dtype)
    threads = thread_count() if out.size >= AT_A_TIME.entries_for_a_thread and not kernel.serial else 1
    batch, _ = sizes(between.way, SCRATCH / threads)
    for_each(pieces(len(out), batch, threads=threads), lambda rows: between.fill(rows, out[rows]), threads)
    return out


def value_seconds(kernel: Kernel, X: Points) -> float:
    """Seconds of a float32 value between many points, about."""
    if kernel.domain is Domain.VALUES:  # they are there
        return 0.0
    some = X[0 : min(count(X), PROBE_COLUMNS[kernel.serial])]
    return Columns(kernel, some, np.float32, 1 if kernel.serial else thread_count()).value_seconds


def product_between(kernel: Kernel, X: Points, Z: Points, v: Array, dtype: DTypeLike | None = None) -> Array:
    """sum_j k(x_i, z_j) v_j in float64, for points as a user gives them; v may be a matrix."""
    X, Z, _ = admit_both(kernel, X, Z)
    v = np.asarray(v, np.float64)
    if v.shape[:1] != (count(Z),) or v.ndim > 2:
        raise ValueError(f"One coefficient per point is needed: {count(Z)} points, but coefficients {v.shape}.")
    V = v.reshape(len(v), -1)
    sums = sums_between(kernel, X, Z, V, [0, count(Z)], dtype or _precision(X, Z))[0]
    return np.asarray(sums.T.reshape(count(X), *v.shape[1:]))


def votes_between(
    kernel: Kernel, X: Points, Z: Points, V: Array, edges: Sequence[int], dtype: DTypeLike, biases: Array,
    ties: bool = True,
) -> tuple[Array, Array] | None:  # fmt: skip
    """The votes of pairs of classes and their margins at the x_i, without a table of all scores (see `sums_between` for
    the sums, and `cast` of estimators/multiclass.py for what is made of them). None, where there is no native way.
    """
    way = tiles_of(way_between(kernel, X, Z, dtype)[0], X, Z) if np.dtype(dtype) == np.float64 else None
    n, threads = count(X), thread_count() if count(X) * count(Z) >= AT_A_TIME.entries_for_a_thread else 1
    if way is None or threads * len(V) * way.centre.size * DOUBLE > AT_A_TIME.temporary_bytes:
        return None
    ready, V, ends = way.prepared(Z), np.ascontiguousarray(V, np.float64), np.array(edges[1:])
    won, margin = np.empty((2, n, ends.size))

    def task(at: slice) -> None:
        core.vote_points(ready, way.prepared(X[at]), way.tiled, V, ends, biases, ties, (won[at], margin[at]))

    for_each(pieces(n, AT_A_TIME.rows, threads=threads), task, threads)
    if not kernel.bounded:
        require_no_overflow(margin)
    return won, margin


def _precision(X: Points, Z: Points) -> DType:
    """That of the points, where it can hold their squares."""
    fit = squares_fit_in_single(X) and squares_fit_in_single(Z)
    return np.dtype(common_dtype(X, Z) if fit else np.float64)
