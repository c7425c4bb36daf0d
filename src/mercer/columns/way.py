"""Way: how the kernel values of two small sets of points are computed, in one precision.

Points are made ready once, as rows or as columns of a block, and then used many times. What a ready set looks like is
the way's own affair; it has a length, `count`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from math import inf, log2
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from .._core.core import CHOICE
from ..types import Array, DType, Index, Points

core = CHOICE.functions
CURVED = 4.0  # multiply-adds that an exponential or a root costs beside the sum


class Ready(Protocol):
    """A set of points made ready."""

    @property
    def count(self) -> int:
        """The number of points."""


Set = TypeVar("Set", bound=Ready)
MOST_HALVING = log2(np.e) / np.e  # of k log2(1/k), at k = 1/e
Task: TypeAlias = Callable[[], None]


class Errors(NamedTuple):
    """By how much a value k of a column may be wrong, whatever the row: by no more than

    part k + halving k log2(1/k) + rest
    """

    part: Array | float = 0.0
    halving: float = 0.0
    rest: float = inf

    @property
    def largest(self) -> float:
        """The same for any value of any column, where none is above 1: infinite without a bound."""
        return float(np.max(self.part, initial=0.0)) + MOST_HALVING * self.halving + self.rest


class Way(ABC, Generic[Set]):
    """k(a_i, z_t) for rows a_i and columns z_t."""

    dtype: DType
    cost: float
    """What a value costs, in multiply-adds: about the number of coordinates."""
    bytes_a_point: float = 0.0
    """The memory of a point that is ready, beside the point itself."""
    tiles: int = 1
    """Temporaries of the size of a block of values."""
    symmetric: bool = True
    """Whether k(x, z) and k(z, x) are the same to the last digit, wherever they stand in a block."""

    def errors(self, ready: Sequence[Set]) -> Errors:
        """By how much values of these columns may differ; without a bound where nobody has proved one, or values may be
        below 0.
        """
        return Errors()

    def prepared(self, X: Points) -> Points:
        """A set of points as `rows` and `columns` take it."""
        return X

    @abstractmethod
    def rows(self, X: Points, index: Index) -> Set:
        """Some of the points, as rows."""

    @abstractmethod
    def columns(self, X: Points, index: Index) -> Set:
        """Some of the points, as columns."""

    @abstractmethod
    def fill(self, rows: Set, columns: Set, slots: Index, out: Array) -> None:
        """out[slots[i], t] <- k(a_i, z_t)."""

    def filling(self, rows: Set, columns: Set, slots: Index, out: Array) -> Task:
        """`fill`, as something to be called by any thread."""
        return partial(self.fill, rows, columns, slots, out)

    def adding(self, rows: Set, columns: Set, V: Array, out: Array) -> Task:
        """`add`, as something to be called by any thread."""
        return partial(self.add, rows, columns, V, out)

    def add(self, rows: Set, columns: Set, V: Array, out: Array) -> None:
        """out[m, t] += sum_i V[i, m] k(a_i, z_t), in float64."""
        every, values = self._block(rows, columns)
        for v, sums in zip(np.ascontiguousarray(V.T), out, strict=True):
            core.add_rows(values, every, v, sums)

    def add_both(self, rows: Set, columns: Set, v: Array, w: Array, below: Array, above: Array) -> None:
        """below[t] += sum_i v_i k(a_i, z_t) and above[i] += sum_t w_t k(a_i, z_t): each value is used twice."""
        every, values = self._block(rows, columns)
        core.add_rows(values, every, v, below)
        core.add_rows(np.ascontiguousarray(values.T), np.arange(columns.count), w, above)

    def square(self, rows: Set, columns: Set, out: Array) -> None:
        """out <- k of the same points, ready as rows and as columns: symmetric."""
        corner = out[: rows.count, : rows.count]
        self.fill(rows, columns, np.arange(rows.count), corner)
        if not self.symmetric:
            core.mirror(corner, 0, rows.count)

    def _block(self, rows: Set, columns: Set) -> tuple[Index, Array]:
        """The values, and the numbers of their rows."""
        every, values = np.arange(rows.count), np.empty((rows.count, columns.count), self.dtype)
        self.fill(rows, columns, every, values)
        return every, values


AnyWay: TypeAlias = Way[Any]
"""A way, whatever its ready sets are."""
