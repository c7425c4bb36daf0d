"""Rows z(x) = L^-1 k(landmarks, x) of all points (Nystrom features), computed in each pass anew: K ~ Z Z', and nothing
of size n x m is held.

L L' = K_landmarks. They are what `irls.py` asks of explicit features, from kernel values in pieces that stay in
cache; what is held are vectors, and matrices of m x m.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...amounts import AT_A_TIME
from ...columns import Between, block_between, pieces, rows_held
from ...gram.design import one_of_each
from ...kernels import Kernel
from ...kernels.points import count, take
from ...limits import check_limits
from ...parallel import in_order, thread_count
from ...types import Array, Index, Points
from ..triangular import backward, forward


class LandmarkRows:
    """Z, as `irls.py` and `preconditioner.py` use a Design. Rows of k(x, l) are called G."""

    sparse, constant, pairs = False, 0.0, 0.0

    def __init__(self, kernel: Kernel, X: Points, landmarks: Points, L: Array, dtype: Any) -> None:
        self.kernel, self.X, self.landmarks, self.L, self.dtype = kernel, X, landmarks, L, np.dtype(dtype)
        self.n, self.width = count(X), count(landmarks)
        self.entries = self.n * self.width
        self._parts: dict[int, tuple[Index, LandmarkRows]] = {}

    @cached_property
    def _between(self) -> Between:
        return Between(self.kernel, self.X, self.landmarks, self.dtype)

    def part(self, size: int) -> tuple[Index, LandmarkRows]:
        """Some of the rows, in order: their numbers, and they alone; the same ones every time."""
        if size not in self._parts:
            rows = one_of_each(self.n, size)
            self._parts[size] = rows, self._only(rows)
        return self._parts[size]

    def _only(self, rows: Index) -> LandmarkRows:
        return LandmarkRows(self.kernel, take(self.X, rows), self.landmarks, self.L, self.dtype)

    def coefficients(self, w: Array) -> Array:
        """c with w . z(x) = sum_j c_j k(l_j, x)."""
        return backward(self.L, w)

    def dots(self, w: Array) -> Array:
        """Z w."""
        return self.values(self.coefficients(w))

    def combination(self, v: Array) -> Array:
        """Z'v."""
        return forward(self.L, self.pulled(v))

    def weighted(self, w: Array, shift: float, rate: Array, s: Array) -> Array:
        """s <- Z w + shift, and Z'(rate s): values are computed once."""
        return forward(self.L, self.both(self.coefficients(w), shift, rate, s))

    def squares(self, index: Index, weight: Array) -> tuple[Array, Array]:
        """sum weight_i z_i z_i' and sum weight_i z_i over some points."""
        squares, ones = self.raw_squares(index, weight)
        return forward(self.L, forward(self.L, squares).T), forward(self.L, ones)

    def product(self, v: Array) -> Array:
        """Z Z'v."""
        return self.dots(self.combination(v))

    # In kernel values.

    def raw_squares(self, index: Index, weight: Array) -> tuple[Array, Array]:
        """sum weight_i g_i g_i' and sum weight_i g_i over some points."""
        root, total, ones = np.sqrt(weight), np.zeros((self.width, self.width)), np.zeros(self.width)
        for part in pieces(index.size, AT_A_TIME.rows):
            check_limits()
            G = block_between(self.kernel, take(self.X, index[part]), self.landmarks)
            G *= root[part, None]
            total += G.T @ G
            ones += root[part] @ G
        return total, ones

    def values(self, c: Array) -> Array:
        """G c."""
        out, c = np.empty(self.n), c.astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            out[rows] = G @ c

        self._pass(work)
        return out

    def pulled(self, v: Array) -> Array:
        """G'v."""
        v = v.astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            total += v[rows] @ G

        return self._pass(work)

    def both(self, c: Array, shift: float, rate: Array, s: Array) -> Array:
        """s <- G c + shift, and G'(rate s)."""
        c = c.astype(self.dtype)

        def work(rows: slice, G: Array, total: Array) -> None:
            s[rows] = G @ c + shift
            total += (rate[rows] * s[rows]).astype(self.dtype) @ G

        return self._pass(work)

    def _pass(self, work: Callable[[slice, Array, Array], None]) -> Array:
        """`work` on some rows of k(x, l) at a time, by all cores; the sum of what it adds up, in order."""
        step = rows_held(self.width, self.dtype)

        def own(piece: slice) -> Array:
            G, total = np.empty((step, self.width), self.dtype), np.zeros(self.width)
            for rows in pieces(piece.stop, step, piece.start):
                check_limits()
                values = G[: rows.stop - rows.start]
                self._between.fill(rows, values)
                work(rows, values, total)
            return total

        threads = 1 if self.kernel.serial else thread_count()
        # Pieces are the same whatever the number of threads, and so are the bits of their sum.
        return np.asarray(sum(in_order(pieces(self.n, AT_A_TIME.rows), own, threads), start=np.zeros(self.width)))
