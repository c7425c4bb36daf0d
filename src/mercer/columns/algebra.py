"""Sums, products and other rules of ready kernels: each part is computed its own way, as fast as alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from ..kernels import Normalized
from ..kernels.pairwise import raise_to
from ..types import Array, Index, Points
from .way import AnyWay, Ready, Way

_TILES = 3  # Temporaries of the size of a block: its values once more, and two results on the way.


@dataclass(frozen=True, eq=False)
class InParts:
    """The same points, ready for each part."""

    parts: tuple[Ready, ...]
    count: int


class Combined(Way[InParts]):
    """A kernel made of others, value by value."""

    def __init__(self, parts: Sequence[AnyWay]) -> None:
        self.parts, self.dtype = tuple(parts), parts[0].dtype
        self.cost = sum(part.cost for part in parts) + 1.0
        self.bytes_a_point = sum(part.bytes_a_point for part in parts)
        self.tiles = 2 + max(part.tiles for part in parts)
        self.symmetric = all(part.symmetric for part in parts)

    def prepared(self, X: Points) -> Points:
        return tuple(part.prepared(X) for part in self.parts)

    def rows(self, X: Points, index: Index) -> InParts:
        ready = tuple(part.rows(own, index) for part, own in zip(self.parts, X, strict=True))
        return InParts(ready, index.size)

    def columns(self, X: Points, index: Index) -> InParts:
        ready = tuple(part.columns(own, index) for part, own in zip(self.parts, X, strict=True))
        return InParts(ready, index.size)

    def fill(self, rows: InParts, columns: InParts, slots: Index, out: Array) -> None:
        self.parts[0].fill(rows.parts[0], columns.parts[0], slots, out)
        every, other = np.arange(rows.count), np.empty((rows.count, columns.count), self.dtype)
        for part, a, z in zip(self.parts[1:], rows.parts[1:], columns.parts[1:], strict=True):
            part.fill(a, z, every, other)
            self._combine(out, slots, other)

    def _combine(self, out: Array, slots: Index, other: Array) -> None:
        raise NotImplementedError


class Added(Combined):
    """k1 + k2: sums over points are taken of each alone."""

    def _combine(self, out: Array, slots: Index, other: Array) -> None:
        out[slots] += other

    def add(self, rows: InParts, columns: InParts, V: Array, out: Array) -> None:
        for part, a, z in zip(self.parts, rows.parts, columns.parts, strict=True):
            part.add(a, z, V, out)

    def add_both(self, rows: InParts, columns: InParts, v: Array, w: Array, below: Array, above: Array) -> None:
        for part, a, z in zip(self.parts, rows.parts, columns.parts, strict=True):
            part.add_both(a, z, v, w, below, above)


class Multiplied(Combined):
    """k1 k2."""

    def _combine(self, out: Array, slots: Index, other: Array) -> None:
        out[slots] *= other


class _Around(Way[Ready]):
    """Another way, whose points are made ready as it makes them."""

    def __init__(self, inner: AnyWay, dtype: DTypeLike) -> None:
        self.inner, self.dtype = inner, np.dtype(dtype)
        self.cost, self.bytes_a_point, self.tiles = inner.cost + 1.0, inner.bytes_a_point, _TILES + inner.tiles
        self.symmetric = inner.symmetric

    def prepared(self, X: Points) -> Points:
        return self.inner.prepared(X)

    def rows(self, X: Points, index: Index) -> Ready:
        ready: Ready = self.inner.rows(X, index)
        return ready

    def columns(self, X: Points, index: Index) -> Ready:
        ready: Ready = self.inner.columns(X, index)
        return ready


class Changed(_Around):
    """A number times a kernel, or a power of it."""

    def __init__(self, inner: AnyWay, factor: float = 1.0, exponent: int = 1) -> None:
        super().__init__(inner, inner.dtype)
        self.factor, self.exponent = factor, exponent

    def fill(self, rows: Ready, columns: Ready, slots: Index, out: Array) -> None:
        self.inner.fill(rows, columns, slots, out)
        values = out[slots]
        raise_to(values, self.exponent)
        values *= self.dtype.type(self.factor)
        out[slots] = values

    def add(self, rows: Ready, columns: Ready, V: Array, out: Array) -> None:
        if self.exponent == 1:
            self.inner.add(rows, columns, self.factor * V, out)
        else:
            super().add(rows, columns, V, out)


@dataclass(frozen=True, eq=False)
class Weighed:
    """Points that are ready, and 1 / sqrt(k(x, x)) of each."""

    points: Ready
    scale: Array
    count: int


class Cosines(Way[Weighed]):
    """k(x, z) / sqrt(k(x, x) k(z, z))."""

    def __init__(self, kernel: Normalized, inner: AnyWay) -> None:
        self.kernel, self.inner, self.dtype = kernel, inner, inner.dtype
        self.cost, self.tiles, self.symmetric = inner.cost + 1.0, _TILES + inner.tiles, inner.symmetric
        self.bytes_a_point = inner.bytes_a_point + 2.0 * self.dtype.itemsize

    def prepared(self, X: Points) -> Points:
        return self.inner.prepared(X), self.kernel.scale(X, self.dtype)

    def rows(self, X: Points, index: Index) -> Weighed:
        return Weighed(self.inner.rows(X[0], index), X[1][index], index.size)

    def columns(self, X: Points, index: Index) -> Weighed:
        return Weighed(self.inner.columns(X[0], index), X[1][index], index.size)

    def fill(self, rows: Weighed, columns: Weighed, slots: Index, out: Array) -> None:
        self.inner.fill(rows.points, columns.points, slots, out)
        out[slots] *= np.multiply.outer(rows.scale, columns.scale)  # one product: symmetric to the last digit


class Rounded(_Around):
    """The values of a more precise way."""

    def fill(self, rows: Ready, columns: Ready, slots: Index, out: Array) -> None:
        every, values = np.arange(rows.count), np.empty((rows.count, columns.count), self.inner.dtype)
        self.inner.fill(rows, columns, every, values)
        out[slots] = values
