"""Design: the rows of explicit features, dense or sparse, as native loops over them take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..amounts import AT_A_TIME
from ..arithmetic import inner
from ..columns import pieces
from ..kernels.points import is_sparse, require_no_overflow
from ..limits import check_limits
from ..parallel import in_order, shares, thread_count
from ..types import Array, Index

core = CHOICE.functions
_WORTH_A_THREAD = 600_000  # entries; with fewer, more time goes into waking it up than into the work
_SPARSE = 3  # An entry of a sparse row takes so many times as long as a dense one.
_SQUARES = 12  # So many entries of a sum of squares are added in the time in which one is read.
_WORTH_TWO_COLUMNS = 200_000  # entries; with fewer, products with several vectors are made by one thread


@dataclass(frozen=True, eq=False)
class Design:
    """Z and a constant c, for K = Z Z' + c. Sums are float64, whatever Z is.

    Parameters
    ----------
    Z : array or CSR matrix of shape (n, m)
        Features; not copied, unless its rows are scattered in memory.
    constant : float, default=0.0
        c, >= 0.
    """

    Z: Any
    constant: float = 0.0

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.Z.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.Z.shape[1])

    @cached_property
    def sparse(self) -> bool:
        """Whether `arrays` are those of a CSR matrix."""
        return is_sparse(self.Z)

    @cached_property
    def entries(self) -> int:
        """The numbers that a pass over all rows reads."""
        return int(self.Z.nnz if self.sparse else self.Z.size)

    @cached_property
    def pairs(self) -> float:
        """Of entries in a row, in the mean."""
        lengths = np.diff(self.arrays[0]).astype(np.float64) if self.sparse else np.array([self.width])
        return float(inner(lengths, lengths)) / max(lengths.size, 1)

    @property
    def work(self) -> int:
        """What a pass over all rows takes, in dense entries."""
        return self.entries * (_SPARSE if self.sparse else 1)

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """(Z,), or where each row begins, columns and values: the rows as native loops take them."""
        return arrays_of(self.Z)

    def part(self, size: int) -> tuple[Array, Design]:
        """Some of the rows, in order: their numbers, and a copy of them; the same ones every time."""
        if size not in self._parts:
            rows = one_of_each(self.n, size)
            self._parts[size] = rows, Design(self.Z[rows], self.constant)
        return self._parts[size]

    @cached_property
    def _parts(self) -> dict[int, tuple[Array, Design]]:
        return {}

    @cached_property
    def squared_norms(self) -> Array:
        """K_ii = |z_i|^2 + c."""
        out = np.empty(self.n)
        self._by_rows(lambda start, stop: core.squares(self.arrays, self.width, out, start, stop))
        require_no_overflow(out)
        return out + self.constant

    def dots(self, w: Array) -> Array:
        """Z w."""
        out, w = np.empty(self.n), np.ascontiguousarray(w, np.float64)
        self._by_rows(lambda start, stop: core.dots(self.arrays, w, out, start, stop))
        return out

    def combination(self, v: Array) -> Array:
        """Z'v = sum_i v_i z_i."""
        v = np.ascontiguousarray(v, np.float64)
        return self._sum_by_rows(lambda out, start, stop: core.combine(self.arrays, v, out, start, stop))

    def weighted(self, w: Array, shift: float, rate: Array, s: Array) -> Array:
        """s <- Z w + shift, and Z'(rate s): the rows are read once."""
        return self._sum_by_rows(
            lambda out, start, stop: core.weighted(self.arrays, w, float(shift), rate, s, out, start, stop)
        )

    def squares(self, rows: Index, weight: Array, single: bool = False) -> tuple[Array, Array]:
        """sum weight z z' over some rows, on and above the diagonal, and sum weight z; `single`: sums over few rows of
        float32 are float32.
        """
        threads = _threads(rows.size * (self.pairs if self.sparse else self.width * (1.0 + self.width / _SQUARES)))
        sums = in_order(
            shares(rows.size, threads), lambda part: self._squares(rows[part], weight[part], single), threads
        )
        (total, ones), *others = sums
        for squares, own in others:
            total += squares
            ones += own
        return total, ones

    def _squares(self, rows: Index, weight: Array, single: bool) -> tuple[Array, Array]:
        out, ones = np.zeros((self.width, self.width)), np.zeros(self.width)
        for part in pieces(rows.size, max(AT_A_TIME.rows, AT_A_TIME.values // self.width)):
            check_limits()
            if self.sparse:
                core.add_sparse_squares(*self.arrays, rows[part], weight[part], out, ones)
            else:
                core.add_dense_squares(*self.arrays, rows[part], weight[part], single, out, ones)
        return out, ones

    def product(self, v: Array) -> Array:
        """K v, of a vector or of each column."""
        if v.ndim == 2:
            threads = thread_count() if self.entries >= _WORTH_TWO_COLUMNS else 1
            return np.stack(in_order(v.T, lambda column: self.product(np.ascontiguousarray(column)), threads)).T
        scores = self.dots(self.combination(v))
        return scores + self.constant * float(v.sum()) if self.constant else scores

    def _sum_by_rows(self, add: Callable[[Array, int, int], None]) -> Array:
        """A sum over all rows, `add` adding those of a piece."""

        def own(start: int, stop: int) -> Array:
            total = np.zeros(self.width)
            add(total, start, stop)
            return total

        first, *others = self._by_rows(own)
        return np.asarray(sum(others, start=first))

    def _by_rows(self, work: Callable[[int, int], Any]) -> list[Any]:
        """What the work gives on pieces of the rows, in order, by all cores where it is worth it."""
        threads = _threads(self.work)
        if threads == 1:
            check_limits()
            return [work(0, self.n)]
        return in_order(shares(self.n, threads), lambda rows: work(rows.start, rows.stop), threads)


def _threads(work: float) -> int:
    """How many are worth waking up, by the entries that are read in this time."""
    most = int(work // _WORTH_A_THREAD)
    return min(thread_count(), most) if most > 1 else 1


def one_of_each(n: int, size: int) -> Index:
    """Of each of so many pieces of n rows, one at random; the same ones every time."""
    ends = np.linspace(0, n, size + 1).astype(np.intp)
    return np.random.default_rng(0).integers(ends[:-1], ends[1:])


def arrays_of(Z: Any) -> tuple[Array, ...]:
    """(Z,), or where each row begins, columns and values of a CSR matrix; copied only where they are not in order."""
    if not is_sparse(Z):
        return (np.ascontiguousarray(np.asarray(Z)),)
    place = np.result_type(Z.indptr, Z.indices)
    parts = (Z.indptr.astype(place, copy=False), Z.indices.astype(place, copy=False), Z.data)
    return tuple(np.ascontiguousarray(part) for part in parts)
