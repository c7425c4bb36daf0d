"""Rows of training data that pass by in pieces, and sums over their features: never more than a few rows at a time.

A row has features g(x): explicit ones, or k(x, l) for landmarks l. All that ridge regression in features needs to know
of the rows are sums over them, such as G'Ce for the errors e = t - G c of coefficients c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernel
from ..kernels.columns import Dense
from ..kernels.evaluate import cut, fill_rows
from ..kernels.points import count, is_sparse, take
from ..limits import look
from ..parallel import for_each, thread_count
from ..types import Array, Points

_BLOCK = 8_000_000  # values that are multiplied with each other at a time, at most
_TILE = 0.25  # of these are what one thread works on at a time
_FEW = 4  # columns; so few are multiplied one by one, which is faster
_FLOPS = 4_000_000_000  # of normal equations at a time: a fraction of a second
_FUSED = 8  # columns; for so few, values of a Gaussian are used while they are in the cache


class Piece(NamedTuple):
    """Some rows: points, targets (a column for each), weights."""

    X: Points
    T: Array
    weight: Array

    def rows(self, part: Any) -> Piece:
        """Some of these rows."""
        X = self.X[part] if isinstance(part, slice) else take(self.X, part)
        return Piece(X, self.T[part], self.weight[part])


@dataclass(frozen=True, eq=False)
class Stream:
    """Pieces that can be read again and again, with n rows in all.

    values: how many values of features may be held at a time. look: called before each piece; may raise to end a pass.
    afar: who takes sums over rows that are elsewhere, where they are.
    """

    read: Callable[[], Iterator[Piece]]
    n: int
    targets: int
    values: int = _BLOCK
    look: Callable[[], None] = lambda: None
    afar: Any = None

    def pieces(self) -> Iterator[Piece]:
        """All rows, from the first on."""
        for piece in self.read():
            self.look()
            yield piece

    def only(self, piece: Piece) -> Stream:
        """These rows alone."""
        return replace(self, read=lambda: iter([piece]), n=count(piece.X), afar=None)

    def with_ones(self) -> Stream:
        """The same with one more target, which is 1 everywhere."""

        def read() -> Iterator[Piece]:
            for X, T, weight in self.read():
                yield Piece(X, np.column_stack([T, np.ones(len(T))]), weight)

        return replace(self, read=read, targets=self.targets + 1)


def values_within(budget: int) -> int:
    """How many values of features a pass may hold at a time: with a copy of them, a quarter of so many bytes."""
    return min(_BLOCK, budget // (4 * 2 * 8))


class Features:
    """g(x): explicit features of a kernel, or its values at landmarks."""

    def __init__(self, kernel: Kernel, landmarks: Points | None, size: int) -> None:
        self.kernel, self.landmarks, self.size = kernel, landmarks, size
        self._columns: dict[Any, Any] = {}

    def ready(self, dtype: Any) -> Any:
        """The landmarks, made ready once for each precision; None where there are none."""
        dtype = np.dtype(dtype)
        if self.landmarks is not None and dtype not in self._columns:
            columns = self.kernel.prepare(cut(self.landmarks, slice(0, self.size), dtype), dtype)
            self._columns[dtype] = columns.precise()  # what rounding takes from float32 values, later passes must mend
        return self._columns.get(dtype)

    def block(self, X: Points, dtype: Any, buffer: Array | None = None) -> Any:
        """g(x_i), a row for each point, by this thread; into the buffer, if one is given."""
        X = cut(X, slice(0, count(X)), dtype)
        if self.landmarks is None:
            return self.kernel.features(X)
        out = np.empty((count(X), self.size), dtype) if buffer is None else buffer[: count(X)]
        columns = self.ready(dtype)
        columns.fill(columns.ready(X), out, np.arange(count(X)), slice(0, self.size), self.size)
        return out

    def large_block(self, X: Points) -> Any:
        """The same in float64, on all cores."""
        if self.landmarks is None:
            return self.block(X, np.float64)
        out = np.empty((count(X), self.size))
        fill_rows(self.ready(np.float64), X, out, np.arange(count(X)))
        return out


class Sums(NamedTuple):
    """Over rows with errors e = t - G c: G'Ce, and the sums of c e^2, c e and c."""

    pulled: Array
    squares: Array
    totals: Array
    mass: float

    def plus(self, other: Sums) -> Sums:
        """Over the rows of both."""
        added: Any = [mine + theirs for mine, theirs in zip(self, other, strict=True)]  # type: ignore[operator]
        return Sums(*added)


def sums(
    stream: Stream,
    features: Features,
    coefficients: Array,
    dtype: Any,
    *,
    centre: Array | None = None,
    errors: Array | None = None,
) -> Sums:
    """One pass over the rows; t is the target less its centre, or 0 without one. e is kept in `errors`, if given.

    Each thread has rows and a sum of its own, so that the same input on as many threads gives the same bits.
    """
    if stream.afar is not None:
        stream.look()
        return _added(stream.afar.sums(features, coefficients, dtype, centre, errors))
    step = max(8, int(_TILE * stream.values) // features.size)
    features.ready(dtype)
    seen = 0
    parts = []
    for piece in stream.pieces():
        n = count(piece.X)
        kept = None if errors is None else errors[seen : seen + n]
        parts.append(_sums_of_piece(piece, features, coefficients, dtype, centre, step, kept))
        seen += n
    return _added(parts)


def _sums_of_piece(
    piece: Piece, features: Features, coefficients: Array, dtype: Any, centre: Array | None, step: int,
    errors: Array | None,
) -> Sums:  # fmt: skip
    starts = range(0, count(piece.X), step)
    threads = max(1, min(1 if features.kernel.serial else thread_count(), len(starts)))
    found: list[Any] = [None] * threads

    def work(thread: int) -> None:
        buffer = None if features.landmarks is None else np.empty((step, features.size), dtype)
        parts = []
        for start in starts[thread::threads]:
            look()
            rows = piece.rows(slice(start, start + step))
            T = np.zeros((count(rows.X), coefficients.shape[1])) if centre is None else rows.T - centre
            pulled, e = _pulled(features, rows, T, coefficients, dtype, buffer)
            weighted = rows.weight[:, None] * e
            squares = np.einsum("ij,ij->j", weighted, e)
            parts.append(Sums(pulled, squares, weighted.sum(axis=0), float(rows.weight.sum())))
            if errors is not None:
                errors[start : start + step] = e
        found[thread] = _added(parts)

    for_each(range(threads), work, threads)
    return _added(found)


def _added(parts: list[Sums]) -> Sums:
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


def _pulled(
    features: Features, rows: Piece, T: Array, coefficients: Array, dtype: Any, buffer: Array | None
) -> tuple[Array, Array]:
    """G'Ce and e of these rows."""
    columns = features.ready(dtype)
    if isinstance(columns, Dense) and coefficients.shape[1] <= _FUSED:
        return columns.pull(cut(rows.X, slice(0, count(rows.X)), dtype), coefficients, T, rows.weight)
    G = features.block(rows.X, dtype, buffer)
    e = T - _product(G, coefficients.astype(dtype, copy=False))
    return _product(G.T, (rows.weight[:, None] * e).astype(dtype, copy=False)), e


def _product(G: Any, V: Array) -> Array:
    """G V in float64; few columns one by one, which BLAS does faster."""
    if is_sparse(G) or V.shape[1] > _FEW:
        return np.asarray(G @ V, np.float64)
    return np.stack([G @ np.ascontiguousarray(column) for column in V.T], axis=1).astype(np.float64)


class Moments(NamedTuple):
    """Over rows: G'CG, G'C1, G'C(t - centre), the sum of c (t - centre), and that of c."""

    second: Array
    first: Array
    right: Array
    totals: Array
    mass: float

    def plus(self, other: Moments) -> Moments:
        """Over the rows of both."""
        added: Any = [mine + theirs for mine, theirs in zip(self, other, strict=True)]  # type: ignore[operator]
        return Moments(*added)


def moments(
    stream: Stream, features: Features, centre: Array, project: Callable[[Array], Array] | None = None
) -> Iterator[Moments]:
    """What each block of rows adds to the normal equations; of project(g(x)), columns to columns, where it is given."""
    if stream.afar is not None:
        yield from stream.afar.moments(features, centre, project)
        return
    step = min(stream.values // features.size // (1 if project is None else 2), _FLOPS // features.size**2)  # a copy
    step = max(256, step)
    for piece in stream.pieces():
        for start in range(0, count(piece.X), step):
            look()
            rows = piece.rows(slice(start, start + step))
            T, weight = rows.T - centre, rows.weight
            root = np.sqrt(weight)[:, None]
            G = features.large_block(rows.X)
            if project is not None:
                G = project(G.T).T
            if is_sparse(G):
                G = G.multiply(root).tocsr()
                second = (G.T @ G).toarray()
            else:
                G = G * root
                second = G.T @ G
            pulled = np.asarray(G.T @ (root * np.column_stack([np.ones(len(root)), T])))
            yield Moments(second, pulled[:, 0], pulled[:, 1:], weight @ T, float(weight.sum()))
