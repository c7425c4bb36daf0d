"""Blocks of kernel values and their products as kernels define them, tile by tile on all cores.

A tile is a small block that fits in cache: two slices of points go into `Kernel.fill`, the values come out. So no
temporary is larger than a few MB per thread, whatever the kernel and however large the block.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parallel import for_each, thread_count
from ..types import Array, Points
from .pairwise import overflow_checked_later, require_no_overflow
from .points import Domain, admit, common_dtype, count, is_sparse

if TYPE_CHECKING:
    from .base import Kernel

SCRATCH = 32_000_000  # bytes of temporaries, over all threads
SCRATCH_PER_THREAD = 10_000_000
LEAST_SIDE = 16  # of a tile, in points: with less, overhead is all there is
_DIAGONAL = 1024  # points whose diagonal is computed at a time
_PIECES = 8  # of work for each thread: cores are not always equally fast
_WORTH_A_THREAD = 100_000  # values; smaller blocks are one tile in the caller's thread


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


def stream_product(kernel: Kernel, X: Points, Z: Points, v: Array, dtype: Any, scratch: int = SCRATCH) -> Array:
    """K(X, Z) v for admitted points: each strip of rows by one thread, so that sums keep their order."""
    n = count(X)
    out = np.empty((n, *v.shape[1:]))
    threads, side = plan(kernel, X, Z, dtype, scratch)
    buffers = _Buffers(dtype)

    def work(rows: slice) -> None:
        A, total = cut(X, rows, dtype), np.zeros((rows.stop - rows.start, *v.shape[1:]))
        for columns in _slices(count(Z), side):
            B = cut(Z, columns, dtype)
            values = buffers.get(count(A), count(B))
            evaluate_tile(kernel, A, B, values)
            total += values @ v[columns]
        out[rows] = total

    with overflow_checked_later():
        for_each(_strips(n, side, threads), work, threads)
    return out


def _strips(n: int, side: int, threads: int) -> list[slice]:
    """Some for each thread, none longer than a tile."""
    return _slices(n, min(side, max(16, ceil(n / (_PIECES * threads)) if threads > 1 else n)))


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
