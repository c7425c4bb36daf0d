"""Points prepared for the Gaussian: dense ones, or of zeros and ones; a compiled way for each."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..types import Array, Points
from .evaluate import Prepared, cut
from .pairwise import dense
from .points import Chosen, count, is_sparse, width


class _Fast(Prepared):
    """Columns of a Gaussian, with compiled `fill` and `add_up`."""

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.gamma = float(kernel.gamma)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        """The memory that the columns take."""
        raise NotImplementedError

    @cached_property
    def as_rows(self) -> Any:
        """The same points, made ready to be rows."""
        return self.ready(self.points)

    def as_columns(self, A: Points) -> _Fast:
        """Other points, prepared to be columns where these are rows."""
        return type(self)(self.kernel, A, self.dtype)

    def products(self, A: Points, v: Array, side: int) -> Array:
        if v.ndim == 1 or v.shape[1] == 1:  # k(a, z) = k(z, a): A as columns
            out = np.empty(count(A))
            self.as_columns(A).add_up(self.as_rows, np.ravel(v), out, slice(0, count(A)))
            return out.reshape(count(A), *v.shape[1:])
        out = np.empty((count(A), *v.shape[1:]))  # from the values of some rows at a time
        step = min(count(A), max(1, side * side // self.n))
        values = np.empty((step, self.n), self.dtype)
        for start in range(0, count(A), step):
            rows = min(step, count(A) - start)
            self.fill(self.ready(A[start : start + rows]), values, np.arange(rows), slice(0, self.n), side)
            out[start : start + rows] = values[:rows] @ v
        return out


class Packed(NamedTuple):
    """Points packed by coordinates, and their levels; see _core/gaussian.py."""

    points: Array
    levels: Array


class Dense(_Fast):
    """Dense points, taken from their mean (float32) and packed in panels: no pass through memory between the steps."""

    MOST_DOUBLE = 128  # coordinates; with more, float64 distances are faster by matrix products
    MOST_CHEAP, MOST_CHEAPEST = 128, 24

    def __init__(self, kernel: Any, points: Points, dtype: Any, centre: Array | None = None) -> None:
        from .._core.gaussian import PANEL

        super().__init__(kernel, points, dtype)
        self.by_products = self.dtype == np.float32  # in float64, differences: no digit is lost
        self.unit = PANEL[self.dtype.itemsize]
        self.cheap, self.cheapest = width(points) <= self.MOST_CHEAP, width(points) <= self.MOST_CHEAPEST
        whole = dense(cut(points, slice(0, self.n), dtype))
        if centre is None:
            centre = whole.mean(axis=0, dtype=np.float64) if self.by_products else np.zeros(whole.shape[1])
        self.centre = centre.astype(self.dtype)
        self.columns = self._pack(whole, self.unit)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return (count(points) + 96) * (width(points) + 1) * int(np.dtype(dtype).itemsize)

    def _pack(self, A: Array, size: int) -> Packed:
        from .._core.gaussian import levels, pack

        points = np.empty((-(-len(A) // size), A.shape[1], size), self.dtype)
        packed = Packed(points, np.empty((len(points), size), self.dtype))
        pack(A, self.centre, packed.points)
        levels(packed.points, self.gamma, packed.levels)
        return packed

    def ready(self, A: Points) -> Packed:
        from .._core.gaussian import GROUP

        return self._pack(dense(cut(A, slice(0, count(A)), self.dtype)), GROUP)

    def as_columns(self, A: Points) -> Dense:
        return Dense(self.kernel, A, self.dtype, self.centre)

    def fill(self, A: Packed, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.gaussian import gaussian_rows

        gaussian_rows(*A, *self.columns, self.gamma, self.by_products, out, at, part.start, part.stop)

    def add_up(self, rows: Packed, v: Array, out: Array, part: slice) -> None:
        from .._core.gaussian import gaussian_sums

        v = np.ascontiguousarray(v)
        gaussian_sums(*rows, *self.columns, self.gamma, self.by_products, v, out, part.start, part.stop)

    def both_ways(self, rows: Any, v: Array, w: Array, above: Array, below: Array) -> None:
        from .._core.gaussian import gaussian_both_ways

        if self.dtype == np.float32 or v.shape[1] > 2:
            super().both_ways(rows, v, w, above, below)
            return
        packed = self.ready(rows.points)
        for j in range(v.shape[1]):
            sides = (np.ascontiguousarray(v[:, j]), np.ascontiguousarray(w[:, j]), above[:, j], below[:, j])
            gaussian_both_ways(*packed, *self.columns, self.gamma, self.by_products, *sides, rows is self)

    def pull(self, A: Points, coefficients: Array, T: Array, weight: Array) -> tuple[Array, Array]:
        """K'We and e = T - K coefficients for the rows A, by this thread; columns of T and e are targets."""
        from .._core.gaussian import gaussian_pull

        pulled, e, packed = np.zeros((coefficients.shape[1], self.n)), np.empty(T.T.shape), self.ready(A)
        for c, t, own, out in zip(coefficients.T, T.T, e, pulled, strict=True):
            t = np.ascontiguousarray(t)
            gaussian_pull(*packed, *self.columns, self.gamma, self.by_products, c.copy(), t, weight, own, out)
        return pulled.T, e.T


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

    def add_up(self, rows: Array, v: Array, out: Array, part: slice) -> None:
        from .._core.bits import sums_of_counts

        sums_of_counts(rows, np.ascontiguousarray(v), self.words, self.table, out, part.start, part.stop)


def fast_columns(points: Points, dtype: Any) -> type[_Fast] | None:
    """The way that suits these points, if there is one."""
    whole = points
    while isinstance(whole, Chosen):
        whole = whole.points
    if width(whole) <= ZerosAndOnes.MOST and _all_zeros_and_ones(whole):
        return ZerosAndOnes
    if is_sparse(whole):
        return None
    return Dense if np.dtype(dtype) == np.float32 or width(whole) <= Dense.MOST_DOUBLE else None


def _all_zeros_and_ones(X: Points) -> bool:
    values = X.data if is_sparse(X) else X
    return all(bool(((part == 0) | (part == 1)).all()) for part in (values[:100], values))  # most are refused at once
