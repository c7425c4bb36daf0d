"""Points prepared for the Gaussian: with few coordinates, with many, or of zeros and ones; a compiled way for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array, Points
from .evaluate import Prepared, cut
from .points import Chosen, count, is_sparse, width

# float32 products give |x - z|^2 with an error of about 1e-7 (|x|^2 + |z|^2). Rows where gamma |x|^2 is larger than
# this are computed in float64, so that no value of the Gaussian is wrong by more than about 5e-6. (The size of the
# row's own point is enough: a much larger z is so far away that the value is 0.)
HEAVY = 16.0


class _Fast(Prepared):
    """Columns of a Gaussian, with a compiled `fill`."""

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.gamma = float(kernel.gamma)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        """The memory that the columns take."""
        raise NotImplementedError

    def products(self, A: Points, v: Array, side: int) -> Array:
        if self.cheap and (v.ndim == 1 or v.shape[1] == 1):  # k(a, z) = k(z, a): A as columns
            out = np.empty(count(A))
            type(self)(self.kernel, A, self.dtype).add_up(self, np.ravel(v), out, slice(0, count(A)))
            return out.reshape(count(A), *v.shape[1:])
        return self._products_by_rows(A, v, side)

    def _products_by_rows(self, A: Points, v: Array, side: int) -> Array:
        """The same for any v, from the values of some rows at a time."""
        out = np.empty((count(A), *v.shape[1:]))
        step = min(count(A), max(1, side * side // self.n))
        values = np.empty((step, self.n), self.dtype)
        for start in range(0, count(A), step):
            rows = min(step, count(A) - start)
            self.fill(self.ready(A[start : start + rows]), values, np.arange(rows), slice(0, self.n), side)
            out[start : start + rows] = values[:rows] @ v
        return out


class FewCoordinates(_Fast):
    """Dense points with few coordinates: distance and exponential in one compiled pass."""

    MOST = 24  # with more coordinates, matrix products are faster
    cheap = True

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.transposed = np.ascontiguousarray(cut(points, slice(0, self.n), dtype).T)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return count(points) * width(points) * int(np.dtype(dtype).itemsize)

    def ready(self, A: Points) -> Any:
        return cut(A, slice(0, count(A)), self.dtype)

    def fill(self, A: Any, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.gaussian import gaussian_rows_32, gaussian_rows_64

        fill = gaussian_rows_32 if self.dtype == np.float32 else gaussian_rows_64
        fill(A, self.transposed, out, at, part.start, part.stop, self.gamma)

    def add_up(self, rows: FewCoordinates, v: Array, out: Array, part: slice) -> None:
        from .._core.gaussian import gaussian_sums_32, gaussian_sums_64

        add_up = gaussian_sums_32 if self.dtype == np.float32 else gaussian_sums_64
        add_up(rows.transposed, np.ascontiguousarray(v), self.transposed, out, part.start, part.stop, self.gamma)

    def both_ways(self, rows: Any, v: Array, w: Array, above: Array, below: Array) -> None:
        from .._core.gaussian import gaussian_both_ways_64

        if self.dtype == np.float32 or v.shape[1] > 2:
            super().both_ways(rows, v, w, above, below)
            return
        for j in range(v.shape[1]):
            sides = (np.ascontiguousarray(v[:, j]), np.ascontiguousarray(w[:, j]), above[:, j], below[:, j])
            gaussian_both_ways_64(rows.transposed, self.transposed, *sides, self.gamma, rows is self)


class ManyCoordinates(_Fast):
    """Dense points in float32, taken from their mean once, by columns: products, and the rest in one compiled pass.

    Where gamma |x - mean|^2 is so large that float32 products would lose digits, it is left to `Gaussian.fill`.
    """

    ROWS, COLUMNS = 128, 2048  # of a product that stays in cache

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        whole = cut(points, slice(0, self.n), dtype)
        self.mean = whole.mean(axis=0)
        self.transposed = np.empty((whole.shape[1], self.n), dtype)
        np.subtract(whole.T, self.mean[:, None], out=self.transposed)
        self.squares = np.einsum("ij,ij->j", self.transposed, self.transposed)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return count(points) * width(points) * int(np.dtype(dtype).itemsize)

    def fill(self, A: Points, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.exponential import gaussian_rows_from_dots_32

        values = np.empty((min(self.ROWS, count(A)), min(self.COLUMNS, part.stop - part.start)), self.dtype)
        for start in range(0, count(A), self.ROWS):
            rows = cut(A, slice(start, start + self.ROWS), self.dtype) - self.mean
            squares = np.einsum("ij,ij->i", rows, rows)
            if not self.gamma * float(squares.max()) <= HEAVY:
                super().fill(A[start : start + self.ROWS], out, at[start : start + self.ROWS], part, side)
                continue
            for left in range(part.start, part.stop, self.COLUMNS):
                right = min(part.stop, left + self.COLUMNS)
                dots = values[: len(rows), : right - left]
                np.matmul(rows, self.transposed[:, left:right], out=dots)
                places = at[start : start + self.ROWS]
                gaussian_rows_from_dots_32(dots, squares, self.squares[left:right], self.gamma, out, places, left)


class ZerosAndOnes(_Fast):
    """Points of zeros and ones, such as categories in one-hot code: 64 coordinates to a word, distances by counting."""

    MOST = 1024
    cheap = True

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.words = self.pack(cut(points, slice(0, self.n), dtype))
        self.table = np.exp(-self.gamma * np.arange(width(points) + 1))

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return 8 * count(points) * -(-width(points) // 64)

    @staticmethod
    def pack(A: Points) -> Array:
        """Bits by word and point."""
        from .._core.bits import pack_dense, pack_sparse

        words = np.zeros((-(-A.shape[1] // 64), A.shape[0]), np.uint64)
        if is_sparse(A):
            ones = A.data != 0
            if not ones.all():
                A = A.copy()
                A.eliminate_zeros()
            pack_sparse(A.indptr, A.indices, words)
        else:
            pack_dense(A, words)
        return words

    def ready(self, A: Points) -> Any:
        """Bits, or the points as they are where they are not zeros and ones."""
        whole = cut(A, slice(0, count(A)), self.dtype)
        return self.pack(whole) if _all_zeros_and_ones(whole) else A

    def products(self, A: Points, v: Array, side: int) -> Array:
        return super().products(A, v, side) if _all_zeros_and_ones(A) else Prepared.products(self, A, v, side)

    def fill(self, A: Any, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.bits import rows_of_counts

        if getattr(A, "dtype", None) != np.uint64:
            super().fill(A, out, at, part, side)
            return
        rows_of_counts(A, self.words, self.table.astype(self.dtype), out, at, part.start, part.stop)

    def add_up(self, rows: ZerosAndOnes, v: Array, out: Array, part: slice) -> None:
        from .._core.bits import sums_of_counts

        sums_of_counts(rows.words, np.ascontiguousarray(v), self.words, self.table, out, part.start, part.stop)


def fast_columns(points: Points, dtype: Any) -> type[_Fast] | None:
    """The way that suits these points, if there is one."""
    whole = points
    while isinstance(whole, Chosen):
        whole = whole.points
    if width(whole) <= ZerosAndOnes.MOST and _all_zeros_and_ones(whole):
        return ZerosAndOnes
    if is_sparse(whole):
        return None
    if width(whole) <= FewCoordinates.MOST:
        return FewCoordinates
    return ManyCoordinates if np.dtype(dtype) == np.float32 else None


def _all_zeros_and_ones(X: Points) -> bool:
    values = X.data if is_sparse(X) else X
    return all(bool(((part == 0) | (part == 1)).all()) for part in (values[:100], values))  # most are refused at once
