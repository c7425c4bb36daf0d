"""Blocks of kernel values and their products, tile by tile on all cores.

A tile is a small block that fits in cache: two slices of points go into `Kernel.fill`, the values come out. So no
temporary is larger than a few MB per thread, whatever the kernel and however large the block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import is_small
from .._core.small import part_of
from ..limits import look, now
from ..parallel import for_each, thread_count
from ..types import Array, Points
from .pairwise import overflow_checked_later, require_no_overflow
from .points import Domain, admit, common_dtype, count, is_sparse, take, width

if TYPE_CHECKING:
    from .base import Kernel

SCRATCH = 32_000_000  # bytes of temporaries, over all threads
SCRATCH_PER_THREAD = 10_000_000
LEAST_SIDE = 16  # of a tile, in points: with less, overhead is all there is
_SYMMETRIC_SIDE = 512  # of a tile that is used twice
_DIAGONAL = 1024  # points whose diagonal is computed at a time
_LEAST_ROWS = 256  # of a square that are a piece of work
_PIECES = 8  # of work for each thread: cores are not always equally fast
_WORTH_A_THREAD = 100_000  # values; smaller blocks are one tile in the caller's thread
_PROBE_ROWS = {False: (16, 128), True: (2, 16)}  # of blocks that are timed, one after the other,
_PROBE_COLUMNS = {False: 8192, True: 16}  # with so many columns; fewer, where the kernel is a user's own function
_PROBE_SECONDS = 0.003  # until one takes so long


def block(kernel: Kernel, X: Points, Z: Points = None) -> Array:
    """The matrix k(x_i, z_j); of X against itself where Z is None or X."""
    X, Z, same = admit_both(kernel, X, Z)
    out = np.empty((count(X), count(Z)), common_dtype(X, Z))
    fill_block(kernel, X, Z, out, same=same)
    return out


def product(kernel: Kernel, X: Points, Z: Points, v: Array, dtype: Any = None) -> Array:
    """sum_j k(x_i, z_j) v_j in float64, without forming the block; kernel values in `dtype`."""
    X, Z, _ = admit_both(kernel, X, Z)
    v = np.asarray(v, np.float64)
    if v.shape[:1] != (count(Z),) or v.ndim > 2:
        raise ValueError(f"One coefficient per point is needed: {count(Z)} points, but coefficients {v.shape}.")
    return stream_product(kernel, X, Z, v, dtype or common_dtype(X, Z))


def diagonal(kernel: Kernel, X: Points, dtype: Any = None) -> Array:
    """k(x_i, x_i) for admitted points, by pieces, so that its temporaries are small."""
    out = np.empty(count(X), dtype or common_dtype(X))
    with overflow_checked_later():
        for rows in _slices(count(X), _DIAGONAL):
            out[rows] = kernel.diagonal(cut(X, rows, out.dtype))
    require_no_overflow(out)
    return out


def admit_both(kernel: Kernel, X: Points, Z: Points) -> tuple[Any, Any, bool]:
    """Both sets as the kernel uses them, and whether they are one; every check that can fail comes here."""
    kernel.require_resolved()
    domain = kernel.domain
    same = Z is None or Z is X
    _require_same_columns(X, Z)
    X = admit(X, domain, "X")
    kernel.check(X, "X")
    if domain is Domain.VALUES:  # X is the block already: its columns stand for the points of Z
        columns = X.shape[0] if same else count(Z)
        if X.shape[1] != columns:
            raise ValueError(
                f"A precomputed X has one column per training point: {columns} are expected, but X is "
                f"{X.shape[0]} x {X.shape[1]}."
            )
        return X, np.arange(columns), same
    if same:
        return X, X, same
    Z = admit(Z, domain, "Z")
    kernel.check(Z, "Z")
    if domain is Domain.VECTORS and X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but Z has {Z.shape[1]}: they must describe the same features.")
    return X, Z, same


def _require_same_columns(X: Any, Z: Any) -> None:
    """Two data frames are compared by position, so their columns must have one order."""
    if hasattr(X, "columns") and hasattr(Z, "columns") and list(X.columns) != list(Z.columns):
        raise ValueError("The columns of X and Z differ in name or order: select them alike, as in Z[X.columns].")


def tile_bytes(kernel: Kernel, X: Points, side: int, itemsize: int) -> int:
    """The temporaries of a square tile: so many blocks as the kernel says, and four copies of its points."""
    return (kernel.tiles * side * side + 4 * side * kernel.scratch_width(X)) * itemsize


def plan(kernel: Kernel, X: Points, Z: Points, dtype: Any, scratch: int) -> tuple[int, int]:
    """The number of threads, and the side of the largest tile whose temporaries fit in the share of one thread."""
    n, m, itemsize = count(X), count(Z), np.dtype(dtype).itemsize
    threads = 1
    if n * m >= _WORTH_A_THREAD and not kernel.serial:
        threads = max(1, min(thread_count(), scratch // tile_bytes(kernel, X, LEAST_SIDE, itemsize)))
    share = min(SCRATCH_PER_THREAD, scratch // threads) / itemsize
    t, d = kernel.tiles, kernel.scratch_width(X)
    side = max(1, int((sqrt(4 * d * d + t * share) - 2 * d) / t))  # t side^2 + 4 d side = share
    if threads > 1:  # several tiles for each, so that none waits long for the others
        side = min(side, max(64, ceil(sqrt(n * m / (4 * threads)))))
    return threads, side


def fill_block(kernel: Kernel, X: Points, Z: Points, out: Array, *, same: bool = False, scratch: int = SCRATCH) -> None:
    """out[i, j] <- k(x_i, z_j) for admitted points."""
    n, m = count(X), count(Z)
    mirror = same and kernel.symmetric
    threads, side = plan(kernel, X, Z, out.dtype, scratch)
    buffers = _Buffers(out.dtype)

    def work(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        A, B = cut(X, rows, out.dtype), cut(Z, columns, out.dtype)
        values = buffers.get(count(A), count(B))
        with part_of(n * m):
            evaluate_tile(kernel, A, B, values)
        if mirror and rows == columns:  # symmetric to the last digit, and the diagonal as `diag` gives it
            upper = np.triu(values, 1)
            np.add(upper, upper.T, out=values)
            np.fill_diagonal(values, kernel.diagonal(A))
        out[rows, columns] = values
        if mirror and rows != columns:
            out[columns, rows] = values.T

    with overflow_checked_later():
        for_each(_tiles(n, m, side, mirror), work, threads)


def value_seconds(kernel: Kernel, X: Points) -> float:
    """Seconds of one kernel value of admitted points, as they are computed for many points on all cores; measured on
    more and more rows of a block until that takes long enough. A user's own function has few columns.
    """
    n = count(X)
    if kernel.domain is Domain.VALUES:  # they are there
        return 0.0
    columns = prepared(kernel, X[0 : min(n, _PROBE_COLUMNS[kernel.serial])], np.float32, inf)
    for most in _PROBE_ROWS[kernel.serial]:
        rows = X[0 : min(most, n)]
        out, at = np.empty((count(rows), columns.n), np.float32), np.arange(count(rows))
        taken = []
        for _ in range(2):  # the first time, compiled code may have to be loaded
            began = now()
            fill_rows(columns, rows, out, at)
            taken.append(now() - began)
        if min(taken) >= _PROBE_SECONDS:
            break
    return min(taken) / out.size


def stream_product(kernel: Kernel, X: Points, Z: Points, v: Array, dtype: Any, scratch: int = SCRATCH) -> Array:
    """K(X, Z) v for admitted points: each strip of rows by one thread, so that sums keep their order."""
    n = count(X)
    out = np.empty((n, *v.shape[1:]))
    threads, side = plan(kernel, X, Z, dtype, scratch)
    columns = prepared(kernel, Z, dtype, scratch, count(X))

    def work(rows: slice) -> None:
        out[rows] = columns.products(cut(X, rows, dtype), v, side)

    with overflow_checked_later():
        for_each(_strips(n, side, threads), work, threads)
    return out


def _strips(n: int, side: int, threads: int) -> list[slice]:
    """Some for each thread, none longer than a tile."""
    return _slices(n, min(side, max(16, ceil(n / (_PIECES * threads)) if threads > 1 else n)))


def symmetric_product(kernel: Kernel, X: Points, v: Array, dtype: Any, scratch: int = SCRATCH) -> Array:
    """K(X, X) v for admitted points and a matrix v, each value computed once where k(x, z) = k(z, x) is certain.

    With float32 values, sums within a tile are float32 too; those over tiles are float64. Each thread has its own tiles
    and its own sum, so that the same input on as many threads gives the same bits.
    """
    n = count(X)
    if not kernel.symmetric or is_small(n * n):
        return stream_product(kernel, X, X, v, dtype, scratch)
    threads, side = plan(kernel, X, X, dtype, scratch)
    strips = _slices(n, min(side, _SYMMETRIC_SIDE))
    threads = min(threads, len(strips))
    columns = [kernel.prepare(cut(X, strip, dtype), dtype) for strip in strips]
    v = np.ascontiguousarray(v, dtype)
    sums = np.zeros((threads, *v.shape))

    def work(thread: int) -> None:
        total = sums[thread]
        for number in [i for i in range(len(strips)) if (i % (2 * threads)) in (thread, 2 * threads - 1 - thread)]:
            rows = strips[number]
            look()
            for strip, column in zip(strips[number:], columns[number:], strict=True):
                column.both_ways(columns[number], v[strip], v[rows], total[rows], total[strip])

    with overflow_checked_later():
        for_each(range(threads), work, threads)
    return np.asarray(sums.sum(axis=0))


def fill_rows(columns: Prepared, A: Points, out: Array, at: Any, scratch: int = SCRATCH) -> None:
    """out[at[i], j] <- k(a_i, z_j) for all prepared points z_j, on all cores: each has a piece of every row."""
    threads, side = plan(columns.kernel, A, columns.points, columns.dtype, scratch)
    at, rows = np.asarray(at, np.intp), columns.ready(A)
    pieces = threads if count(A) * columns.n < 4 * _WORTH_A_THREAD else _PIECES * threads
    parts = _slices(columns.n, ceil(columns.n / pieces), columns.unit)
    with overflow_checked_later():
        for_each(parts, lambda part: columns.fill(rows, out, at, part, side), threads)


def fill_square(columns: Prepared, out: Array, scratch: int = SCRATCH) -> None:
    """out[i, j] <- k(z_i, z_j) for all prepared points, on all cores: each has some of the rows."""
    n = columns.n
    threads, side = plan(columns.kernel, columns.points, columns.points, columns.dtype, scratch)

    def work(part: slice) -> None:
        rows = columns.rows_of(np.arange(part.start, part.stop))
        columns.fill(rows, out[part], np.arange(part.stop - part.start), slice(0, n), side)

    with overflow_checked_later():
        for_each(_slices(n, max(_LEAST_ROWS, ceil(n / (_PIECES * threads))) if threads > 1 else n), work, threads)


def add_up_own_rows(columns: Prepared, source: Prepared, index: Any, v: Array, scratch: int = SCRATCH) -> Array:
    """sum_i v_i k(a_i, z_j) over some points a_i of a source, for all points z_j that were prepared alike and can add
    up, on all cores: no row is kept.
    """
    threads = thread_count() if len(v) * columns.n >= _WORTH_A_THREAD else 1
    parts = _slices(columns.n, ceil(columns.n / (_PIECES * threads if threads > 1 else 1)), columns.unit)
    some = max(64, scratch // max(1, 8 * width(columns.points)))  # rows at a time
    total, out = np.zeros(columns.n), np.empty(columns.n)
    for few in _slices(len(v), some):
        rows, factors = source.rows_of(index[few]), v[few]
        for_each(parts, lambda part: columns.add_up(rows, factors, out, part), threads)  # noqa: B023 (called at once)
        total += out
    return total


def prepared(kernel: Kernel, Z: Points, dtype: Any, room: float, rows: float = inf) -> Prepared:
    """The points as the kernel likes them, if that takes no more memory than there is room for, and is worth its while
    for blocks of so many rows.
    """
    values = max(rows, count(Z)) * count(Z)
    if is_small(values) or kernel.prepared_bytes(Z, dtype) > room:
        return Prepared(kernel, Z, dtype, values)
    return kernel.prepare(Z, dtype)


class Prepared:
    """Points z_j made ready to be the columns of many blocks.

    This one serves every kernel, tile by tile; a kernel with a faster way for points of some kind returns its own from
    `Kernel.prepare` (see columns.py). Both methods are the work of one thread.
    """

    cheap = False  # True where to compute a value again costs no more than to keep it,
    cheapest = False  # and less than to read it from memory
    adds_up = False  # whether there is `add_up`
    gaussian: Any = None  # what compiled loops over a Gaussian take
    unit = 1  # a part of the columns had better be a multiple of this

    def __init__(self, kernel: Kernel, points: Points, dtype: Any, values: float = inf) -> None:
        self.kernel, self.points, self.dtype, self.n = kernel, points, np.dtype(dtype), count(points)
        self.values = values  # of all blocks together

    @property
    def nbytes(self) -> int:
        """The memory that they take beside the points."""
        return 0

    def alike(self, A: Points) -> Prepared:
        """Other points, prepared in the same way: the rows of one are those of the other."""
        return Prepared(self.kernel, A, self.dtype)

    def takes(self, A: Points) -> bool:
        """Whether these points can be rows beside the columns, in the faster way."""
        return True

    def ready(self, A: Points) -> Any:
        """The points A as `fill` takes them: made ready once, for all parts."""
        return A

    def as_rows_of(self, columns: Prepared) -> Any:
        """All of these points, made ready to be rows beside those columns."""
        return columns.ready(self.points)

    def precise(self) -> Prepared:
        """The same, as good as their precision allows, if that is slower."""
        return self

    def rows_of(self, index: Any) -> Any:
        """Some of these points, made ready."""
        return self.ready(take(self.points, index))

    def columns_of(self, index: Any) -> Prepared:
        """Some of these points, prepared."""
        return self.kernel.prepare(take(self.points, index), self.dtype)

    def fill(self, A: Any, out: Array, at: Any, part: slice, side: int) -> None:
        """out[at[i], j] <- k(a_i, z_j) for the columns j of this part; A has been made ready."""
        buffer = _Buffer(self.dtype)
        for columns in _slices(part.stop - part.start, side):
            columns = slice(part.start + columns.start, part.start + columns.stop)
            B = cut(self.points, columns, self.dtype)
            for rows in _slices(count(A), side):
                values = buffer.get(len(at[rows]), count(B))
                with part_of(self.values):
                    evaluate_tile(self.kernel, cut(A, rows, self.dtype), B, values)
                out[at[rows], columns] = values

    def add_up(self, rows: Any, v: Array, out: Array, part: slice) -> None:
        """out[j] <- sum_i v_i k(a_i, z_j) for the columns j of this part, where `adds_up`."""
        raise NotImplementedError

    def both_ways(self, rows: Prepared, v: Array, w: Array, above: Array, below: Array) -> None:
        """above += K v and, unless the rows are these points themselves, below += K'w; v and w are matrices."""
        values = np.empty((rows.n, self.n), self.dtype)
        self.fill(rows.as_rows_of(self), values, np.arange(rows.n), slice(0, self.n), max(rows.n, self.n))
        above += values @ v
        if rows is not self:
            below += values.T @ w

    def products(self, A: Points, v: Array, side: int) -> Array:
        """sum_j k(a_i, z_j) v_j in float64, whatever the values."""
        buffer = _Buffer(self.dtype)
        out = np.zeros((count(A), *v.shape[1:]))
        for columns in _slices(self.n, side):
            B = cut(self.points, columns, self.dtype)
            values = buffer.get(count(A), count(B))
            with part_of(self.values):
                evaluate_tile(self.kernel, A, B, values)
            out += values @ v[columns]
        return out


def evaluate_tile(kernel: Kernel, A: Points, B: Points, out: Array) -> None:
    """One tile; where the kernel has no bound, with the check that its values are finite."""
    kernel.fill(A, B, out)
    if not kernel.bounded and not np.isfinite(out.sum()):
        require_no_overflow(out)


def cut(X: Points, rows: slice, dtype: Any) -> Any:
    """A slice of the points, in the precision asked for where they are numbers."""
    part = X[rows]
    if not hasattr(part, "dtype") or part.dtype.kind != "f":
        return part
    if is_sparse(part):
        return part.astype(dtype, copy=False)
    return np.ascontiguousarray(part, dtype)


class _Buffer:
    """A tile of memory that is reused from tile to tile (touching new memory is slow)."""

    def __init__(self, dtype: Any) -> None:
        self.flat = np.empty(0, dtype)

    def get(self, rows: int, columns: int) -> Any:
        if self.flat.size < rows * columns:
            self.flat = np.empty(rows * columns, self.flat.dtype)
        return self.flat[: rows * columns].reshape(rows, columns)


class _Buffers(_Buffer, threading.local):
    """One such tile per thread."""


def _slices(n: int, size: int, unit: int = 1) -> list[slice]:
    """0 ... n in equal pieces of at most this size; all but the last are multiples of the unit."""
    units, pieces = ceil(n / unit), ceil(n / size)
    edges = [min(n, unit * (units * i // pieces)) for i in range(pieces + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges) if start < stop]


def _tiles(n: int, m: int, side: int, upper: bool) -> Iterator[tuple[slice, slice]]:
    """Rows vary fastest: threads at work on neighbouring tiles then touch different pages of the result."""
    strips = _slices(n, side)
    for columns in _slices(m, side):
        for rows in strips:
            if not upper or columns.start >= rows.start:
                yield rows, columns
