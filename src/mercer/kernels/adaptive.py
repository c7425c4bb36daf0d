"""Kernels that know the scale of the data: a parameter may be a word, for which `resolve` finds a number.

It is found from how far apart points are. Means are over all pairs (x, z) drawn from the points, each row as often as
its weight says: a weight of 2 counts as two rows. Sums are NumPy's own, not those of BLAS, whose last digits depend on
the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from ..parallel import for_each, thread_count
from ..params import require_number
from ..types import Array, Points
from .base import Kernel
from .points import count, is_sparse, overflow_checked_later, row_weights, take, vectors

_SAMPLE = 1000  # points, evenly spaced, where every pair is looked at
_STRIP = 100  # of them at a time
_ROWS = 4096  # X may be large, and temporaries are to be small


class Adaptive(Kernel, names=()):
    """A kernel with one scale for all columns: gamma or length_scale, a number > 0 or a word.

    A kernel of your own writes `size`. Gamma is 1 over it, a length scale is the size itself.
    """

    adapts: ClassVar[str] = "gamma"
    words: ClassVar[tuple[str, ...]] = ("scale", "median")

    def __post_init__(self) -> None:
        super().__post_init__()
        value = getattr(self, self.adapts)
        if not isinstance(value, str):
            require_number(self, self.adapts, above=0)
        elif value not in self.words:
            words = ", ".join(repr(word) for word in self.words[:-1])
            raise ValueError(
                f"{type(self).__name__}: {self.adapts} must be a number > 0, {words} or {self.words[-1]!r}, "
                f"not {value!r}."
            )

    def size(self, word: str, X: Points, weight: Array) -> float:
        """What the word stands for: a typical distance of points, as the kernel measures it; 0 where all are one."""
        raise NotImplementedError(
            f"{type(self).__name__} must say how far apart points are: def size(self, word, X, weight)."
        )

    def require_resolved(self) -> None:
        if isinstance(getattr(self, self.adapts), str):
            raise ValueError(
                f"{self!r} waits for training data: call kernel.resolve(X) first, or give {self.adapts} as a number."
            )

    def resolve(self, X: Points, sample_weight: Any = None) -> Self:
        """See Kernel.resolve; rows of weight 0 do not count, and a weight of 2 counts as two rows."""
        word = getattr(self, self.adapts)
        if not isinstance(word, str):
            return self
        X = vectors(X)
        self.check(X, "X")
        weight = np.ones(count(X)) if sample_weight is None else row_weights(sample_weight, count(X))
        size = self.size(word, X, weight)
        if size == 0.0:  # all points are one: any number gives the same kernel
            size = 1.0
        if not isfinite(size) or not isfinite(1.0 / size):
            raise ValueError(f"{self.adapts}={word!r} overflows on this data: its values are too large or too small.")
        return replace(self, **{self.adapts: 1.0 / size if self.adapts == "gamma" else size})  # type: ignore[type-var]


def variance(X: Points, weight: Array) -> float:
    """The variance of all entries."""
    total = float(weight.sum() * X.shape[1])
    with overflow_checked_later():
        if is_sparse(X):  # most entries are 0
            mean = float((weight * (X @ np.ones(X.shape[1]))).sum()) / total
            return max(float((weight * (X.multiply(X) @ np.ones(X.shape[1]))).sum()) / total - mean * mean, 0.0)
        mean = float((weight * X.sum(axis=1, dtype=np.float64)).sum()) / total
        return _square_sum(X, mean, weight) / total


def mean_square(X: Points, weight: Array) -> float:
    """The mean of |x - z|^2: twice the sum of the columns' variances."""
    total = float(weight.sum())
    with overflow_checked_later():
        if is_sparse(X):
            mean, squares = (np.asarray(weight @ part).ravel() / total for part in (X, X.multiply(X)))
            return 2.0 * float(np.maximum(squares - mean * mean, 0.0).sum())
        starts = range(0, len(X), _ROWS)
        strips = (slice(start, start + _ROWS) for start in starts)
        mean = sum((weight[strip, None] * X[strip]).sum(axis=0) for strip in strips) / total
        return 2.0 * _square_sum(X, mean, weight) / total


def _square_sum(X: Array, centre: Array | float, weight: Array) -> float:
    """The sum of w_i |x_i - centre|^2."""
    squares = np.empty(len(X))
    for start in range(0, len(X), _ROWS):
        part = np.subtract(X[start : start + _ROWS], centre, dtype=np.float64)
        squares[start : start + _ROWS] = np.einsum("ij,ij->i", part, part)
    return float((weight * squares).sum())


def mean_absolute(X: Points, weight: Array) -> float:
    """The mean of |x - z|_1. In each column, sorted: a gap between neighbours is in every pair with one point on either
    side of it.
    """
    total, found = float(weight.sum()), 0.0
    alike = np.cumsum(weight) if weight.min() == weight.max() else None  # then no order of weights is needed
    columns = X.tocsc() if is_sparse(X) else X
    with overflow_checked_later():
        for j in range(X.shape[1]):
            if is_sparse(X):
                values, below = _sorted(*_stored(columns, j, weight, total))
            elif alike is None:
                values, below = _sorted(columns[:, j], weight)
            else:
                values, below = np.sort(columns[:, j]).astype(np.float64), alike
            below = below[:-1]
            found += float((np.diff(values) * (below * (total - below))).sum())
        return 2.0 * found / total**2


def _sorted(values: Array, weight: Array) -> tuple[Array, Array]:
    """The values in order, and the weight up to each."""
    order = np.argsort(values)
    return values[order].astype(np.float64), np.cumsum(weight[order])


def _stored(columns: Points, j: int, weight: Array, total: float) -> tuple[Array, Array]:
    """The values of a sparse column with their weights, all zeros as one."""
    part = slice(columns.indptr[j], columns.indptr[j + 1])
    own = weight[columns.indices[part]]
    return np.append(columns.data[part], 0.0), np.append(own, total - own.sum())


def mean_distance(distances: Callable[[Points, Points], Array], X: Points, weight: Array) -> float:
    """The mean of any distance, over pairs of some of the points."""
    values, weights, total = _pairs(distances, X, weight)
    return 2.0 * float(values @ weights) / total**2


def median_distance(distances: Callable[[Points, Points], Array], X: Points, weight: Array) -> float:
    """The median of any distance, over pairs of some of the points that are not equal; 0 where all are."""
    values, weights, _ = _pairs(distances, X, weight)
    return weighted_median(values[values > 0], weights[values > 0])


def _pairs(distances: Callable[[Points, Points], Array], X: Points, weight: Array) -> tuple[Array, Array, float]:
    """The distance of each pair of the points, or of so many of them, its weight, and the weight of these points."""
    kept = np.flatnonzero(weight)
    if kept.size > _SAMPLE:
        kept = kept[np.linspace(0, kept.size - 1, _SAMPLE).astype(int)]
    points, own = take(X, kept).astype(np.float64), weight[kept]
    starts = range(0, kept.size, _STRIP)
    values: list[Array] = [np.empty(0)] * len(starts)
    weights = list(values)

    def work(strip: int) -> None:
        rows = slice(starts[strip], starts[strip] + _STRIP)
        with overflow_checked_later():
            block = distances(points[rows], points[rows.start :])
        above = np.triu(np.ones(block.shape, np.bool_), 1)
        values[strip], weights[strip] = block[above], np.outer(own[rows], own[rows.start :])[above]

    for_each(range(len(starts)), work, min(thread_count(), len(starts)))
    return np.concatenate(values), np.concatenate(weights), float(own.sum())


def weighted_median(values: Array, weights: Array) -> float:
    """The middle one, of two the mean; 0 where there are none."""
    if values.size == 0:
        return 0.0
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    low, high = np.searchsorted(cumulated, cumulated[-1] * np.array([0.5 - 1e-12, 0.5 + 1e-12]))
    return float(values[order[low]] + values[order[min(high, order.size - 1)]]) / 2.0


def median_norm(X: Points, weight: Array) -> float:
    """The median of |x|^2 over the points that are not 0; 0 where all are."""
    squares = np.empty(count(X))
    with overflow_checked_later():
        for start in range(0, count(X), _ROWS):
            part = X[start : start + _ROWS].astype(np.float64)
            part = part.multiply(part) if is_sparse(X) else part * part
            squares[start : start + _ROWS] = np.asarray(part.sum(axis=1)).ravel()
    kept = (squares > 0) & (weight > 0)
    return weighted_median(squares[kept], weight[kept])
