"""Dense points, packed by coordinates for native tiles; and points of zeros and ones, packed as bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np
from numpy.typing import DTypeLike

from .._core.forms import Form, Map, Summed
from .._core.reference import GROUP, HEAVY, PANEL, SPAN
from ..amounts import AT_A_TIME
from ..kernels.pairwise import dense
from ..kernels.points import is_sparse
from ..types import Array, Index, Points
from .way import CURVED, Errors, Task, Way, core

_FAR = 20.0  # halvings of k, beyond which errors of the distance hardly matter
_SUMMED = GROUP + 2.0  # roundings of a weight, and of the sum over a group
_ROUNDED = 9.0  # roundings on the way from coordinates to t, beside those of the sum
_BY_BITS = 1.5  # half of them, where the sum is a count: of the factor and of two products, and none of levels
_DRIFT = _POLYNOMIAL = 4.0  # see `errors`


@dataclass(frozen=True, eq=False)
class Packed:
    """Points by coordinates, and a level for each (see _core/forms.py)."""

    values: Array
    levels: Array
    count: int


class Tiles(Way[Packed]):
    """A form of packed points. `centre` is subtracted; a level is `factor` times the squared length of what is left."""

    tiles = 0

    def __init__(self, form: Form, centre: Array, factor: float, dtype: DTypeLike) -> None:
        self.form, self.centre, self.factor, self.dtype = form, centre, float(factor), np.dtype(dtype)
        self.tiled = form, centre, float(factor)  # as native functions take it that pack points themselves
        self.roundings = min(centre.size, SPAN) + centre.size / SPAN + _ROUNDED
        self.cost = centre.size * (1.0 if form.way == Summed.PRODUCTS else 2.0) + CURVED
        self.panel = PANEL * np.dtype(np.float32).itemsize // self.dtype.itemsize
        self.bytes_a_point = float((centre.size + 1) * self.dtype.itemsize)
        self.symmetric = form.way != Summed.CHI2  # a z / (a + z) is taken without overflow

    def errors(self, ready: Sequence[Packed]) -> Errors:
        """Of 2^t, t = l_i + l_j + factor s: what rounding does to the coordinates, the sum and the levels.

        With u the unit roundoff and T roundings one after the other, t is wrong by at most T u (|l_i| + |l_j|). The
        roots of |l_i|, |l_j| and |t| are the sides of a triangle, so that |l_i| <= 2 |l_j| + 2 |t|; nor is |l_i| beyond
        the limit. A row that is goes by differences: then it is T u |t|, and 4 u sqrt(|t| |l_j|) <= 2 u (|t| + |l_j|)
        for the rounding of coordinates. Values of t < -FAR, with columns so far away, are wrong by no more than 2^-FAR
        of the largest part. The polynomial for 2^t adds 4 u, and sums over a group of rows 10 u at most.
        """
        if self.form.map != Map.EXPONENTIAL or self.form.way not in (Summed.PRODUCTS, Summed.SQUARES, Summed.COUNTS):
            return Errors()
        unit, heavy = float(np.finfo(self.dtype).eps) / 2.0, HEAVY[self.dtype.itemsize]
        level = np.concatenate([-part.levels[: part.count] for part in ready]).astype(np.float64)
        far = (sqrt(heavy) + sqrt(_FAR)) ** 2  # Of light rows, who is farther has a value below 2^-FAR.
        level = np.append(level, max(far, level.max(initial=0.0)))  # the last one stands for those so far away
        near = np.minimum(level, far)
        drift = np.minimum(2.0 * level, _DRIFT * np.sqrt(_FAR * level))
        of_t = np.maximum(self.roundings * np.minimum(3.0 * near, heavy + near), drift)
        part, halving = unit * (log(2.0) * of_t + _POLYNOMIAL + _SUMMED), 2.0 * unit * log(2.0) * self.roundings
        first = float(part.max()) + _FAR * halving
        if first >= 1.0:  # millions of coordinates: the bound says nothing
            return Errors()
        part, halving = part / (1.0 - first), halving / (1.0 - first)  # what is of second order
        return Errors(part[:-1], halving, 2.0**-_FAR * float(part[-1]))

    def prepared(self, X: Points) -> Points:
        return X if is_sparse(X) else np.ascontiguousarray(X)

    def columns(self, X: Points, index: Index) -> Packed:
        return self.rows(X, index, self.panel)

    def rows(self, X: Points, index: Index, size: int = GROUP) -> Packed:
        """So many points, coordinate by coordinate, and then so many more."""
        out = np.empty((-(-index.size // size), self.centre.size, size), self.dtype)
        levels = np.empty(len(out) * size, self.dtype)
        if not isinstance(X, np.ndarray):  # sparse: only what is packed is made dense
            X, index = X[index].toarray(), np.arange(index.size)
        core.pack(X, index, self.centre, self.factor, out, levels)
        return Packed(out, levels, index.size)

    def filling(self, rows: Packed, columns: Packed, slots: Index, out: Array) -> Task:
        return partial(core.fill, rows.values, rows.levels, columns.values, columns.levels, self.form, slots, out)

    def adding(self, rows: Packed, columns: Packed, V: Array, out: Array) -> Task:
        return partial(core.add, rows.values, rows.levels, columns.values, columns.levels, self.form, V, out)

    def fill(self, rows: Packed, columns: Packed, slots: Index, out: Array) -> None:
        self.filling(rows, columns, slots, out)()

    def add(self, rows: Packed, columns: Packed, V: Array, out: Array) -> None:
        self.adding(rows, columns, V, out)()

    def add_both(self, rows: Packed, columns: Packed, v: Array, w: Array, below: Array, above: Array) -> None:
        core.add_both(rows.values, rows.levels, columns.values, columns.levels, self.form, v, w, below, above)

    def square(self, rows: Packed, columns: Packed, out: Array) -> None:
        core.square(rows.values, rows.levels, columns.values, columns.levels, self.form, rows.count, out)


class Bits(Tiles):
    """Points of zeros and ones: where they differ is counted, as many coordinates at a time as a number has bits.

    A bit for each coordinate, in whole numbers of the size of the dtype.
    """

    def __init__(self, form: Form, words: int, dtype: DTypeLike) -> None:
        super().__init__(form, np.zeros(words), 0.0, dtype)
        self.cost, self.roundings = 2.0 * words + CURVED, _BY_BITS

    def prepared(self, X: Points) -> Array:
        size, octets = self.dtype.itemsize, -(-X.shape[1] // np.iinfo(np.uint8).bits)
        words = np.zeros((X.shape[0], -(-octets // size) * size), np.uint8)
        step = max(1, AT_A_TIME.entries_for_a_thread // max(X.shape[1], 1))
        for start in range(0, X.shape[0], step):  # sparse points are dense here, a few at a time
            words[start : start + step, :octets] = np.packbits(dense(X[start : start + step]) != 0, axis=1)
        return words.view(f"u{size}")

    def rows(self, X: Points, index: Index, size: int = GROUP) -> Packed:
        packs = -(-index.size // size)
        words = np.zeros((packs * size, X.shape[1]), X.dtype)
        words[: index.size] = X[index]
        values = np.ascontiguousarray(words.reshape(packs, size, -1).transpose(0, 2, 1)).view(self.dtype)
        return Packed(values, np.zeros(packs * size, self.dtype), index.size)
