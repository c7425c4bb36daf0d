"""Points prepared for the Gaussian: dense ones, or of zeros and ones; a compiled way for each."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ..types import Array, Points
from .evaluate import Prepared, cut
from .pairwise import dense
from .points import Chosen, count, is_sparse, width

_LARGEST_SINGLE = 1e32  # float32 goes on to 3e38: squares of differences, and sums of them, have room


class _Fast(Prepared):
    """Columns of a Gaussian, with compiled `fill` and `add_up`."""

    adds_up = True

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.gamma = float(kernel.gamma)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        """The memory that the columns take."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        return self.bytes_for(self.points, self.dtype)

    def alike(self, A: Points) -> Prepared:
        return type(self)(self.kernel, A, self.dtype)

    def as_rows(self) -> Any:
        """All of these points, made ready."""
        return self.rows_of(np.arange(self.n))

    def products(self, A: Points, v: Array, side: int) -> Array:
        if not self.takes(A):
            return super().products(A, v, side)
        if v.ndim == 1 or v.shape[1] == 1:  # k(a, z) = k(z, a): A as columns
            out = np.empty(count(A))
            self.alike(A).add_up(self.as_rows(), np.ravel(v), out, slice(0, count(A)))
            return out.reshape(count(A), *v.shape[1:])
        out = np.empty((count(A), v.shape[1]))
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


class GaussianColumns(NamedTuple):
    """All that compiled loops have to know of the columns; see _core/gaussian.py."""

    points: Array
    levels: Array
    gamma: float
    way: int


class _Panels(_Fast):
    """Points packed in panels: no pass through memory between distances and exponentials."""

    columns: Packed
    gaussian: Any
    centre: Any = None  # what the points are taken from
    own_rows: Packed | None = None  # the same points as rows, once they were asked for

    def _chosen(self, index: Any, size: int) -> Packed:
        from .._core.gaussian import pack_again

        length = -(-len(index) // size)
        points = np.empty((length, self.columns.points.shape[1], size), self.dtype)
        chosen = Packed(points, np.empty((length, size), self.dtype))
        pack_again(*self.columns, index, *chosen)
        return chosen

    def rows_of(self, index: Any) -> Packed:
        from .._core.gaussian import GROUP

        return self._chosen(index, GROUP)

    def columns_of(self, index: Any) -> _Panels:
        other = copy(self)
        other.points, other.n, other.own_rows = Chosen(self.points, index), len(index), None
        other.columns = self._chosen(index, self.unit)
        other.gaussian = self.gaussian._replace(**other.columns._asdict())
        return other

    def fill(self, A: Packed, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.gaussian import gaussian_rows

        Z, levels, gamma, way = self.gaussian
        gaussian_rows(*A, Z, levels, gamma, way, out, at, part.start, part.stop)

    def add_up(self, rows: Packed, v: Array, out: Array, part: slice) -> None:
        from .._core.gaussian import gaussian_sums

        v = np.ascontiguousarray(v)
        Z, levels, gamma, way = self.gaussian
        gaussian_sums(*rows, Z, levels, gamma, way, v, out, part.start, part.stop)

    def as_rows(self) -> Packed:
        if self.own_rows is None:
            self.own_rows = self.rows_of(np.arange(self.n))
        return self.own_rows

    def as_rows_of(self, columns: Prepared) -> Any:
        alike = isinstance(columns, type(self)) and columns.centre is self.centre
        return self.as_rows() if alike else super().as_rows_of(columns)

    def both_ways(self, rows: Any, v: Array, w: Array, above: Array, below: Array) -> None:
        from .._core.gaussian import gaussian_both_ways

        if v.shape[1] > (1 if self.dtype == np.float32 else 2):
            super().both_ways(rows, v, w, above, below)
            return
        packed: Packed = rows.as_rows_of(self)
        Z, levels, gamma, way = self.gaussian
        for j in range(v.shape[1]):
            x, y = np.ascontiguousarray(v[:, j]), np.ascontiguousarray(w[:, j])
            gaussian_both_ways(*packed, Z, levels, gamma, way, x, y, above[:, j], below[:, j], rows is self)


class Dense(_Panels):
    """Dense points, taken from their mean (float32)."""

    MOST_DOUBLE = 128  # coordinates; with more, float64 distances are faster by matrix products
    MOST_CHEAP, MOST_CHEAPEST = 128, 64
    FEW = 24  # with more, sums of products are no worse than sums of differences

    def __init__(self, kernel: Any, points: Points, dtype: Any, centre: Array | None = None) -> None:
        from .._core.gaussian import DIFFERENCES, PANEL, PRODUCTS, mean

        super().__init__(kernel, points, dtype)
        single = self.dtype == np.float32  # in float64, differences: no digit is lost
        self.unit = PANEL[self.dtype.itemsize]
        self.cheap, self.cheapest = width(points) <= self.MOST_CHEAP, width(points) <= self.MOST_CHEAPEST
        whole = dense(cut(points, slice(0, self.n), dtype))
        if centre is None:
            centre = mean(whole) if single else np.zeros(whole.shape[1])
        self.centre = centre.astype(self.dtype, copy=False)  # points prepared alike share it
        self.columns = self._pack(whole, self.unit)
        self.gaussian = GaussianColumns(*self.columns, self.gamma, PRODUCTS if single else DIFFERENCES)

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

    def takes(self, A: Points) -> bool:
        return self.dtype != np.float32 or fits_single(self.gamma, A)

    def ready(self, A: Points) -> Packed:
        from .._core.gaussian import GROUP

        return self._pack(dense(cut(A, slice(0, count(A)), self.dtype)), GROUP)

    def alike(self, A: Points) -> Dense:
        return Dense(self.kernel, A, self.dtype, self.centre)

    def precise(self) -> Dense:
        from .._core.gaussian import DIFFERENCES, NEAR, PRODUCTS

        few, far = self.columns.points.shape[1] <= self.FEW, self.columns.levels.mean() < NEAR
        if not (self.gaussian.way == PRODUCTS and few and far):
            return self
        other = copy(self)
        other.gaussian = self.gaussian._replace(way=DIFFERENCES)
        return other

    def pull(self, A: Points, coefficients: Array, T: Array, weight: Array) -> tuple[Array, Array]:
        """K'We and e = T - K coefficients for the rows A, by this thread; columns of T and e are targets."""
        from .._core.gaussian import gaussian_pull

        pulled, e = np.zeros((coefficients.shape[1], self.n)), np.empty(T.T.shape)
        c, t = np.ascontiguousarray(coefficients.T), np.ascontiguousarray(T.T)
        Z, levels, gamma, way = self.gaussian
        gaussian_pull(*self.ready(A), Z, levels, gamma, way, c, t, weight, e, pulled)
        return pulled.T, e.T


class Bits(_Panels):
    """Points of zeros and ones, such as categories in one-hot code, in float32: distances by counting bits."""

    MOST = 31 * 32  # coordinates
    MOST_CHEAPEST = 384

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        from .._core.gaussian import COUNTS, PANEL

        super().__init__(kernel, points, dtype)
        self.unit = PANEL[self.dtype.itemsize]
        self.cheap, self.cheapest = True, width(points) <= self.MOST_CHEAPEST
        self.columns = self._pack(cut(points, slice(0, self.n), dtype), self.unit)
        self.gaussian = GaussianColumns(*self.columns, self.gamma, COUNTS)

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return 2 * TabledBits.bytes_for(points, dtype)

    def _pack(self, A: Points, size: int) -> Packed:
        from .._core.gaussian import pack

        words = np.ascontiguousarray(packed_bits(A).T).view(np.uint32)
        points = np.empty((-(-len(words) // size), words.shape[1], size), np.float32)
        pack(words, np.zeros(words.shape[1], np.uint32), points.view(np.uint32))
        return Packed(points, np.zeros((len(points), size), np.float32))

    def ready(self, A: Points) -> Any:
        """Bits, or the points as they are where they are not zeros and ones."""
        from .._core.gaussian import GROUP

        whole = cut(A, slice(0, count(A)), self.dtype)
        return self._pack(whole, GROUP) if _all_zeros_and_ones(whole) else A

    def alike(self, A: Points) -> Bits:
        return Bits(self.kernel, A, self.dtype)

    def takes(self, A: Points) -> bool:
        return _all_zeros_and_ones(A)

    def fill(self, A: Any, out: Array, at: Any, part: slice, side: int) -> None:
        if isinstance(A, Packed):
            super().fill(A, out, at, part, side)
        else:
            Prepared.fill(self, A, out, at, part, side)


class TabledBits(_Fast):
    """The same in float64: 64 coordinates to a word, and a table of the values, so that each is exact."""

    cheap = True

    def __init__(self, kernel: Any, points: Points, dtype: Any) -> None:
        super().__init__(kernel, points, dtype)
        self.words = packed_bits(cut(points, slice(0, self.n), dtype))
        self.table = np.exp(-self.gamma * np.arange(width(points) + 1))

    @classmethod
    def bytes_for(cls, points: Points, dtype: Any) -> int:
        return 8 * count(points) * -(-width(points) // 64)

    def ready(self, A: Points) -> Any:
        """Bits, or the points as they are where they are not zeros and ones."""
        whole = cut(A, slice(0, count(A)), self.dtype)
        return packed_bits(whole) if _all_zeros_and_ones(whole) else A

    def rows_of(self, index: Any) -> Array:
        return np.ascontiguousarray(self.words[:, index])

    def columns_of(self, index: Any) -> TabledBits:
        other = copy(self)
        other.points, other.n, other.words = Chosen(self.points, index), len(index), self.rows_of(index)
        return other

    def takes(self, A: Points) -> bool:
        return _all_zeros_and_ones(A)

    def fill(self, A: Any, out: Array, at: Any, part: slice, side: int) -> None:
        from .._core.bits import rows_of_counts

        if getattr(A, "dtype", None) != np.uint64:
            super().fill(A, out, at, part, side)
            return
        rows_of_counts(A, self.words, self.table, out, at, part.start, part.stop)

    def add_up(self, rows: Array, v: Array, out: Array, part: slice) -> None:
        from .._core.bits import sums_of_counts

        sums_of_counts(rows, np.ascontiguousarray(v), self.words, self.table, out, part.start, part.stop)


def packed_bits(A: Points) -> Array:
    """Points of zeros and ones as bits, by word and point."""
    from .._core.bits import pack_dense, pack_sparse

    words = np.zeros((-(-A.shape[1] // 64), A.shape[0]), np.uint64)
    if is_sparse(A):
        if not (A.data != 0).all():
            A = A.copy()
            A.eliminate_zeros()
        pack_sparse(A.indptr, A.indices, words)
    else:
        pack_dense(A, words)
    return words


def fits_single(gamma: float, *sets: Points) -> bool:
    """Whether float32 can hold gamma, and the squares of all entries."""
    return 1.0 / _LARGEST_SINGLE < gamma < _LARGEST_SINGLE and all(_squares_fit(X) for X in sets)


def _squares_fit(X: Points) -> bool:
    values = X.data if is_sparse(X) else X
    return values.size == 0 or max(float(values.max()), -float(values.min())) ** 2 < _LARGEST_SINGLE


def fast_columns(points: Points, dtype: Any, gamma: float = 1.0) -> type[_Fast] | None:
    """The way that suits these points, if there is one."""
    whole = points
    while isinstance(whole, Chosen):
        whole = whole.points
    if np.dtype(dtype) == np.float32 and not fits_single(gamma, whole):
        return None
    if width(whole) <= Bits.MOST and _all_zeros_and_ones(whole):
        return Bits if np.dtype(dtype) == np.float32 else TabledBits
    if is_sparse(whole):
        return None
    return Dense if np.dtype(dtype) == np.float32 or width(whole) <= Dense.MOST_DOUBLE else None


def _all_zeros_and_ones(X: Points) -> bool:
    values = X.data if is_sparse(X) else X
    return all(bool(((part == 0) | (part == 1)).all()) for part in (values[:100], values))  # most are refused at once
