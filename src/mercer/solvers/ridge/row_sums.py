"""Rows of training data that pass by in pieces, and sums over their features: never more than a few rows at a time.

A row has features g(x): explicit ones, or k(x, l) for landmarks l. All that ridge regression in features needs to know
of the rows are sums over them, such as G'Ce for the errors e = t - G c of coefficients c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from sys import maxsize
from typing import Any, NamedTuple

import numpy as np

from ...amounts import AT_A_TIME
from ...columns import BLOCK, Between, block_between, pieces, rows_held
from ...kernels import Kernel
from ...kernels.points import count, cut, is_sparse, take
from ...limits import check_limits
from ...parallel import for_each, thread_count
from ...types import Array, Points
from ..triangular import forward


class DataPiece(NamedTuple):
    """Some rows: points, targets (a column for each), weights."""

    X: Points
    T: Array
    weight: Array

    def rows(self, part: Any) -> DataPiece:
        """Some of these rows."""
        X = self.X[part] if isinstance(part, slice) else take(self.X, part)
        return DataPiece(X, self.T[part], self.weight[part])


@dataclass(frozen=True, eq=False)
class Stream:
    """Pieces that can be read again and again, with n rows in all.

    budget: bytes that a fit may take. afar: who takes sums over rows, where they are elsewhere.
    """

    read: Callable[[], Iterator[DataPiece]]
    n: int
    targets: int
    budget: int = maxsize
    afar: Any = None

    @property
    def values(self) -> int:
        """How many values of features a pass may hold at a time."""
        return AT_A_TIME.values_within(self.budget)

    def pieces(self) -> Iterator[DataPiece]:
        """All rows, from the first on."""
        for piece in self.read():
            check_limits()
            yield piece

    def only(self, piece: DataPiece) -> Stream:
        """These rows alone."""
        return replace(self, read=lambda: iter([piece]), n=count(piece.X), afar=None)

    def with_ones(self) -> Stream:
        """The same with one more target, which is 1 everywhere."""

        def read() -> Iterator[DataPiece]:
            for X, T, weight in self.read():
                yield DataPiece(X, np.column_stack([T, np.ones(len(T))]), weight)

        return replace(self, read=read, targets=self.targets + 1)


class RowsOfFeatures:
    """g(x): explicit features of a kernel, or its values at landmarks."""

    def __init__(self, kernel: Kernel, landmarks: Points | None, size: int) -> None:
        self.kernel, self.landmarks, self.size = kernel, landmarks, size

    def of(self, X: Points, dtype: Any) -> Callable[[slice, Any], Any]:
        """g of some rows of X, a row for each, by one thread; into a buffer, where there are landmarks."""
        if self.landmarks is None:
            return lambda rows, buffer: self.kernel.features(cut(X, rows, dtype))
        between = Between(self.kernel, X, self.landmarks, dtype)

        def fill(rows: slice, buffer: Array) -> Array:
            out = buffer[: rows.stop - rows.start]
            between.fill(rows, out)
            return out

        return fill

    def block(self, X: Points) -> Any:
        """g(x_i) in float64, on all cores."""
        if self.landmarks is None:
            return self.kernel.features(cut(X, slice(0, count(X)), np.float64))
        return block_between(self.kernel, X, self.landmarks)


def _both(these: Iterable[Any], those: Iterable[Any]) -> list[Any]:
    """Sums over some rows and over others, one by one."""
    return [mine + theirs for mine, theirs in zip(these, those, strict=True)]


class Sums(NamedTuple):
    """Over rows with errors e = t - G c: G'Ce, and the sums of c e^2, c e and c."""

    pulled: Array
    squares: Array
    totals: Array
    mass: float

    def plus(self, other: Sums) -> Sums:
        """Over the rows of both."""
        return Sums(*_both(self, other))


def sums(
    stream: Stream,
    features: RowsOfFeatures,
    coefficients: Array,
    dtype: Any,
    *,
    centre: Array | None = None,
    errors: Array | None = None,
) -> Sums:
    """One pass over the rows; t is the target less its centre, or 0 without one. `errors`, if given, gets e
    of as many targets as it has columns.

    Each thread has rows and a sum of its own, so that the same input on as many threads gives the same bits.
    """
    if stream.afar is not None:
        check_limits()
        return _added(stream.afar.sums(features, coefficients, dtype, centre, errors))
    step = max(1, stream.values // 2 // features.size)
    if features.landmarks is not None:
        step = min(step, rows_held(features.size, dtype))
    seen = 0
    parts = []
    for piece in stream.pieces():
        n = count(piece.X)
        kept = None if errors is None else errors[seen : seen + n]
        parts.append(_sums_of_piece(piece, features, coefficients, dtype, centre, step, kept))
        seen += n
    return _added(parts)


def _sums_of_piece(
    piece: DataPiece, features: RowsOfFeatures, coefficients: Array, dtype: Any, centre: Array | None, step: int,
    errors: Array | None,
) -> Sums:  # fmt: skip
    n = count(piece.X)
    parts, block = pieces(n, step), features.of(piece.X, dtype)
    threads = max(1, min(1 if features.kernel.serial else thread_count(), len(parts)))
    found: list[Any] = [None] * threads

    def work(thread: int) -> None:
        buffer = None if features.landmarks is None else np.empty((step, features.size), dtype)
        own = []
        for rows in parts[thread::threads]:
            check_limits()
            weight, G = piece.weight[rows], block(rows, buffer)
            e = (0.0 if centre is None else piece.T[rows] - centre) - _product(G, coefficients)
            weighted = weight[:, None] * e
            squares = np.einsum("ij,ij->j", weighted, e)
            own.append(Sums(_product(G.T, weighted), squares, weighted.sum(axis=0), float(weight.sum())))
            if errors is not None:
                errors[rows] = e[:, : errors.shape[1]]
        found[thread] = _added(own)

    for_each(range(threads), work, threads)
    return _added(found)


def _added(parts: list[Sums]) -> Sums:
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


def _product(G: Any, V: Array) -> Array:
    """G V in float64."""
    return np.asarray(G @ V.astype(G.dtype, copy=False), np.float64)


class Moments(NamedTuple):
    """Over rows: G'CG, G'C1, G'C(t - centre), the sum of c (t - centre), and that of c."""

    second: Array
    first: Array
    right: Array
    totals: Array
    mass: float

    def plus(self, other: Moments) -> Moments:
        """Over the rows of both."""
        return Moments(*_both(self, other))


def moments(
    stream: Stream, features: RowsOfFeatures, centre: Array, L: Array | None = None
) -> Iterator[Moments | None]:
    """The normal equations of the rows; of L^-1 g(x), where L is given. Yields None while it works, and the sums at
    last.

    BLAS adds half of each G'CG to what is there: new memory would take longer than some of the products.
    """
    from scipy.linalg.blas import dgemm, dsyrk

    if stream.afar is not None:
        yield from stream.afar.moments(features, centre, L)
        return
    step = stream.values // features.size // (1 if L is None else 2)  # a copy
    step = min(step, AT_A_TIME.multiplications // features.size**2)
    second = np.zeros((features.size, features.size), order="F")  # what is on and above the diagonal
    pulled, totals, mass = np.zeros((features.size, 1 + centre.size)), np.zeros(centre.size), 0.0
    for piece in stream.pieces():
        for part in pieces(count(piece.X), max(BLOCK, step)):
            check_limits()
            rows = piece.rows(part)
            T, weight = rows.T - centre, rows.weight
            root, G = np.sqrt(weight)[:, None], features.block(rows.X)
            own = root * np.column_stack([np.ones(len(root)), T])
            if L is not None:
                G = forward(L, G.T).T
            if is_sparse(G):
                G = G.multiply(root).tocsr()
                second += (G.T @ G).toarray()
                pulled += np.asarray(G.T @ own)
            else:
                G = np.ascontiguousarray(G * root)
                second = dsyrk(1.0, G.T, 1.0, second, overwrite_c=1)
                pulled += dgemm(1.0, G.T, own)  # threads of NumPy's BLAS would go on spinning beside the next dsyrk
            totals, mass = totals + weight @ T, mass + float(weight.sum())
            yield None
    whole = np.triu(second) + np.triu(second, 1).T
    yield Moments(whole, pulled[:, 0], pulled[:, 1:], totals, mass)
