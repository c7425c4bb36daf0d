"""Rows z(x) = L^-1 k(landmarks, x) of all points, computed in each pass anew: K ~ Z Z', and nothing of size n x m held.

L L' = K_landmarks. They are what `smooth.py` asks of explicit features, from kernel values in pieces that stay in
cache; what is held are vectors, and matrices of m x m.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from ...columns import Between, block_between
from ...gram import Gram
from ...gram.pivoted import pivoted_cholesky
from ...kernels import Kernel
from ...kernels.points import count, take
from ...limits import look
from ...parallel import for_each, thread_count
from ...types import Array, Index, Points
from ..triangular import factored

_POOL = 8  # times as many points as landmarks are looked at,
_LEAST = 96  # rows of kernel values at a time,
_STRIP = 1024  # rows whose squares are added up at a time
_CACHE = 2**18  # or as many as take so many bytes
_PIECE = 8192  # rows with a sum of their own, whatever the number of threads: the same bits
_JITTER = {4: 1e-6, 8: 1e-13}  # of the largest k(x, x): what rounding to so many bytes may take from K_landmarks


class LandmarkRows:
    """Z, as `smooth.py` and `preconditioner.py` use a Design."""

    sparse, constant = False, 0.0

    def __init__(self, kernel: Kernel, X: Points, landmarks: Points, L: Array, dtype: Any) -> None:
        self.kernel, self.X, self.landmarks, self.L, self.dtype = kernel, X, landmarks, L, np.dtype(dtype)
        self.n, self.width = count(X), len(L)
        self.entries = self.n * self.width
        self._between = Between(kernel, X, landmarks, dtype)
        self._parts: dict[int, tuple[Index, LandmarkRows]] = {}

    def part(self, size: int) -> tuple[Index, LandmarkRows]:
        """Some of the rows, in order: their numbers, and they alone; the same ones every time."""
        if size not in self._parts:
            ends = np.linspace(0, self.n, size + 1).astype(np.intp)  # from each of so many pieces, one at random
            rows = np.random.default_rng(0).integers(ends[:-1], ends[1:])
            some = LandmarkRows(self.kernel, take(self.X, rows), self.landmarks, self.L, self.dtype)
            self._parts[size] = rows, some
        return self._parts[size]

    def squares(self, index: Index, weight: Array) -> Array:
        """sum weight_i z_i z_i' over some points."""
        root, total = np.sqrt(weight)[:, None], np.zeros((self.width, self.width))
        for start in range(0, index.size, _STRIP):
            look()
            part = slice(start, start + _STRIP)
            G = block_between(self.kernel, take(self.X, index[part]), self.landmarks)
            G *= root[part]
            total += G.T @ G
        return self._solved(self._solved(total, 0).T, 0)

    def coefficients(self, w: Array) -> Array:
        """c with w . z(x) = sum_j c_j k(l_j, x)."""
        return self._solved(w, 1)

    def dots(self, w: Array) -> Array:
        """Z w."""
        out, c = np.empty(self.n), self.coefficients(w).astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            out[rows] = G @ c

        self._pass(work)
        return out

    def combination(self, v: Array) -> Array:
        """Z'v."""
        v = v.astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            total += v[rows] @ G

        return self._solved(self._pass(work), 0)

    def weighted(self, w: Array, shift: float, rate: Array, s: Array) -> Array:
        """s <- Z w + shift, and Z'(rate s): values are computed once."""
        c = self.coefficients(w).astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            s[rows] = G @ c + shift
            total += (rate[rows] * s[rows]).astype(self.dtype) @ G

        return self._solved(self._pass(work), 0)

    def product(self, v: Array) -> Array:
        """Z Z'v."""
        return self.dots(self.combination(v))

    def _pass(self, work: Callable[[slice, Array, Array], None]) -> Array:
        """`work` on some rows of k(x, l) at a time, by all cores; the sum of what it adds up, in order."""
        step = max(_LEAST, _CACHE // (self.width * self.dtype.itemsize))
        starts = range(0, self.n, _PIECE)
        totals = np.zeros((len(starts), self.width))

        def piece(number: int) -> None:
            G, stop = np.empty((step, self.width), self.dtype), min(starts[number] + _PIECE, self.n)
            for start in range(starts[number], stop, step):
                look()
                rows = slice(start, min(start + step, stop))
                values = G[: rows.stop - rows.start]
                self._between.fill(rows, values)
                work(rows, values, totals[number])

        for_each(range(len(starts)), piece, 1 if self.kernel.serial else thread_count())
        return np.asarray(totals.sum(axis=0))

    def _solved(self, V: Array, transposed: Literal[0, 1]) -> Array:
        """L^-1 v, or L'^-1 v."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.L, V, lower=True, trans=transposed, check_finite=False))


def landmark_rows(gram: Gram, landmarks: int, seed: int | None) -> tuple[LandmarkRows, Index]:
    """The rows, and which points are landmarks: drawn by randomly pivoted Cholesky from some of the points; once for
    all problems on one Gram matrix.
    """
    key = (landmarks, seed)
    if _rows.get(gram, (None, None))[0] != key:
        generator = np.random.default_rng(seed)
        pool = generator.permutation(gram.n)[: max(_POOL * landmarks, 1)]
        X, dtype = gram.points[0 : gram.n], np.dtype(gram.dtype)
        pivots = pivoted_cholesky(gram.kernel, take(X, pool), landmarks, generator, np.float32)[1]
        chosen = pool[pivots if pivots.size else np.arange(1)]
        points = take(X, chosen)
        jitter = _JITTER[dtype.itemsize] * float(np.abs(gram.diag()).max())
        L = factored(block_between(gram.kernel, points, points), jitter)
        _rows[gram] = key, (LandmarkRows(gram.kernel, X, points, L, dtype), chosen)
    return _rows[gram][1]


_rows: WeakKeyDictionary[Gram, tuple[tuple[int, int | None], tuple[LandmarkRows, Index]]] = WeakKeyDictionary()
