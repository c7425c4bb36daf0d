"""K by its kernel and its points: values are computed when they are asked for, within a number of bytes."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np

from ..columns import SCRATCH, Columns, Kept, pieces
from ..columns.choose import way_of
from ..columns.columns import Counted
from ..kernels import Kernel, Linear, Sum
from ..kernels.points import Domain, common_dtype, count, diagonal
from ..memory import BudgetError, format_bytes, parse_bytes
from ..parallel import cores, thread_count
from ..types import Array, Points
from .dense import DenseGram
from .gram import Aim, Gram, Part, Parts, as_factor, as_index
from .linear import LinearGram, constant_beside_linear

_BOOKS = 4 * 8  # bytes a row: which row is where, and since when; the diagonal
_LEAST_ROWS = 3  # that are held
_READY = 0.25  # of the memory is for points made ready,
_BLOCKS = 0.125  # and for blocks of values; the rest is for rows


class _ByColumns(Gram):
    """What is ready of the points, in each precision that was asked for."""

    _columns: dict[Any, Columns]

    @property
    def values(self) -> int:  # type: ignore[override]
        """See Gram.values."""
        return sum([columns.counted.values for columns in self._columns.values()])

    def from_points(self) -> Columns:
        return self.columns(self.dtype)

    def __matmul__(self, v: Array) -> Array:
        return self.recompute(as_factor(v, self.n), dtype=self.dtype)


class PointsGram(_ByColumns):
    """Values computed when they are asked for; `rows` keeps the latest ones. See `gram_of`, which admits points.

    Parameters
    ----------
    kernel : Kernel
        k.
    X : array or list of n points
        The x_i.
    budget : int, float or str
        Bytes, or text such as "2GB", that may be used.
    reason : str, default="by rows: asked for"
        Why this form was chosen.
    dtype : dtype, default=None
        float32 or float64; None: that of the points.
    shares : int, default=1
        The budget is one of so many equal shares of the memory.
    """

    n = 0
    dtype: Any = None
    exact = False
    """Whether float64 values are to have all digits of small distances."""

    def __init__(
        self,
        kernel: Kernel,
        X: Points,
        budget: int | float | str,
        reason: str = "by rows: asked for",
        dtype: Any = None,
        shares: int = 1,
    ) -> None:
        self.kernel, self.reason, self.shares = kernel, reason, shares
        self.budget: int = parse_bytes(budget)
        kernel.check(X, "X")
        self.points, self.n, self.dtype = X, count(X), np.dtype(dtype or common_dtype(X))
        row, books = self.n * self.dtype.itemsize, _BOOKS * self.n
        least = books + _LEAST_ROWS * row
        if self.budget < least:
            raise BudgetError(
                f"A memory budget of {format_bytes(shares * self.budget)} is too small for rows of {self.n} values: "
                f"at least {format_bytes(shares * least)} is needed."
            )
        self.room = int(min(Gram.room, _BLOCKS * self.budget))
        self.scratch = int(min(SCRATCH, _BLOCKS * self.budget))
        self._diag: Array | None = None
        self._columns: dict[Any, Columns] = {}
        self._lock = threading.Lock()  # several machines may share the rows that are kept

    def __reduce__(self) -> Any:
        return type(self), (self.kernel, self.points, self.budget, self.reason, self.dtype, self.shares)

    def columns(self, dtype: Any) -> Columns:
        """See Gram.columns; made ready once."""
        dtype = np.dtype(dtype)
        with self._lock:
            if dtype not in self._columns:
                room = _READY * self.budget
                exact = self.exact and dtype == np.float64
                way = way_of(self.kernel, (self.points,), dtype, exact=True) if exact else None
                self._columns[dtype] = Columns(self.kernel, self.points, dtype, thread_count(), room, self.scratch, way)
            return self._columns[dtype]

    @cached_property
    def rows_memory(self) -> float:  # type: ignore[override]
        """See Gram.rows_memory: what is left beside points that are ready, books, blocks and the rows of one answer."""
        columns = self.columns(self.dtype)
        ready, at_least = self.n * columns.way.bytes_a_point, columns.least_scratch
        books = _BOOKS * self.n + self.room + max(self.scratch, at_least)
        left = self.budget - books - (ready if ready <= _READY * self.budget else 0.0)
        row = self.n * self.dtype.itemsize
        most = int(max(_LEAST_ROWS, left // row))
        return float((most - min(self.n, max(1, most // 4))) * row)

    @property
    def batch(self) -> int:
        """The most rows of one answer: one for three that are kept."""
        kept = int(self.rows_memory) // (self.n * self.dtype.itemsize)
        return int(min(self.n, max(1, (kept - 1) // 3)))

    @property
    def nbytes(self) -> int:
        kept = self.__dict__.get("_kept")
        return 0 if kept is None else int(kept.values.nbytes)

    def diag(self) -> Array:
        if self._diag is None:
            self._diag = diagonal(self.kernel, self.points)
        return self._diag.copy()

    @cached_property
    def _kept(self) -> Kept:
        return Kept(self.columns(self.dtype), self.rows_memory)

    def rows(self, index: Any) -> Array:
        """See Gram.rows; the latest are kept."""
        index = as_index(index, self.n)
        if index.size > self.batch:
            raise ValueError(
                f"{index.size} rows at once are more than the memory budget of {format_bytes(self.budget)} has room "
                f"for: ask for at most {self.batch} at a time."
            )
        out = np.empty((index.size, self.n), self.dtype)
        for part in pieces(index.size, self._kept.count):
            with self._lock_of_rows:
                np.take(self._kept.values, self._kept.get(index[part]), axis=0, out=out[part], mode="clip")
        if self.kernel.symmetric:
            out[np.arange(index.size), index] = self.diag()[index]
        return out

    @cached_property
    def _lock_of_rows(self) -> threading.Lock:
        return threading.Lock()

    def astype(self, dtype: Any) -> PointsGram:
        if self.dtype == dtype:
            return self
        return PointsGram(self.kernel, self.points, self.budget, self.reason, dtype, self.shares)

    def subset(self, index: Any) -> PointsPart:
        return PointsPart(self, as_index(index, self.n))

    @property
    def value_seconds(self) -> float:
        """See Columns."""
        return self.columns(self.dtype).value_seconds

    def settle(self, parts: Parts, how: Aim) -> bool:
        return self.kernel.bounded and self.dtype == np.float32 and self.columns(self.dtype).settle(parts, how)


class PointsPart(Part, _ByColumns):
    """Some points of such a matrix; what is ready of them is the whole one's."""

    whole: PointsGram

    @property
    def rows_memory(self) -> float:  # type: ignore[override]
        """Its share, where several are at work at a time."""
        return self.whole.rows_memory / cores()

    @cached_property
    def _columns(self) -> dict[Any, Columns]:  # type: ignore[override]
        return {}

    def columns(self, dtype: Any) -> Columns:
        dtype = np.dtype(dtype)
        if dtype not in self._columns:
            self._columns[dtype] = self.whole.columns(dtype).narrow(self.index, thread_count())
            self._columns[dtype].counted = Counted()
        return self._columns[dtype]

    def diag(self) -> Array:
        return np.asarray(self.whole.diag()[self.index])

    def rows(self, index: Any) -> Array:
        places = self.places(index)
        rows = [self.whole.rows(places[part])[:, self.index] for part in pieces(places.size, self.whole.batch)]
        return np.concatenate([np.empty((0, self.n), self.dtype), *rows])

    def astype(self, dtype: Any) -> PointsPart:
        return PointsPart(self.whole.astype(dtype), self.index)


def unformed(kernel: Kernel, X: Points, budget: float = np.inf) -> Gram:
    """A Gram matrix of which nobody will ask more than products from the points: it holds next to nothing."""
    if kernel.domain is Domain.VALUES:
        return DenseGram.compute(kernel, X)
    constant = constant_beside_linear(kernel) if isinstance(kernel, Linear | Sum) else None
    if constant is not None:
        return LinearGram(X, constant)
    return PointsGram(kernel, X, min(budget, 100_000_000 + 100 * 8 * count(X)))
