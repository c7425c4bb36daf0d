"""Design: the rows of explicit features, dense or sparse, as native loops over them take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..kernels.pairwise import require_no_overflow
from ..kernels.points import is_sparse
from ..parallel import for_each, thread_count
from ..types import Array

core = CHOICE.functions
_WORTH_A_THREAD = 600_000  # entries; with fewer, more time goes into waking it up than into the work
_SPARSE = 3  # times as long takes an entry of a sparse row
_WORTH_TWO_COLUMNS = 200_000  # the same, for products with several vectors


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

    @property
    def sparse(self) -> bool:
        """Whether `arrays` are those of a CSR matrix."""
        return is_sparse(self.Z)

    @property
    def entries(self) -> int:
        """The numbers that a pass over all rows reads."""
        return int(self.Z.nnz if self.sparse else self.Z.size)

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
            ends = np.linspace(0, self.n, size + 1).astype(np.intp)  # from each of so many pieces, one at random
            rows = np.random.default_rng(0).integers(ends[:-1], ends[1:])
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

    def product(self, v: Array) -> Array:
        """K v, of a vector or of each column."""
        if v.ndim == 2:
            columns: list[Any] = [np.ascontiguousarray(column) for column in v.T]

            def work(number: int) -> None:
                columns[number] = self.product(columns[number])

            threads = min(thread_count(), len(columns)) if self.entries >= _WORTH_TWO_COLUMNS else 1
            for_each(range(len(columns)), work, threads)
            return np.stack(columns).T
        scores = self.dots(self.combination(v))
        return scores + self.constant * float(v.sum()) if self.constant else scores

    def _sum_by_rows(self, add: Callable[[Array, int, int], None]) -> Array:
        """A sum over all rows, `add` adding those of a piece."""
        sums: dict[int, Array] = {}

        def work(start: int, stop: int) -> None:
            own = np.zeros(self.width)
            add(own, start, stop)
            sums[start] = own

        self._by_rows(work)
        first, *others = (sums[start] for start in sorted(sums))  # in order: the same bits every time
        return np.asarray(sum(others, start=first))

    def _by_rows(self, work: Callable[[int, int], None]) -> None:
        """Do the work on pieces of the rows, by all cores where it is worth it."""
        pieces = min(thread_count(), self.work // _WORTH_A_THREAD) if self.work >= 2 * _WORTH_A_THREAD else 1
        if pieces == 1:
            work(0, self.n)
            return
        cuts = [self.n * k // pieces for k in range(pieces + 1)]
        for_each(pairwise(cuts), lambda rows: work(*rows), pieces)


def arrays_of(Z: Any) -> tuple[Array, ...]:
    """(Z,), or where each row begins, columns and values of a CSR matrix; copied only where they are not in order."""
    if not is_sparse(Z):
        return (np.ascontiguousarray(np.asarray(Z)),)
    place = np.result_type(Z.indptr, Z.indices)
    parts = (Z.indptr.astype(place, copy=False), Z.indices.astype(place, copy=False), Z.data)
    return tuple(np.ascontiguousarray(part) for part in parts)
