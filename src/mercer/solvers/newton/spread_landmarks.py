"""Rows of landmarks (landmark_rows.py) of points that are spread over blocks; and whose landmarks they are."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...amounts import ROUNDING
from ...arithmetic import by_default
from ...columns import block_between
from ...gram import Gram
from ...gram.pivoted import pivoted_cholesky
from ...kernels.points import Chosen, take
from ...limits import check_limits
from ...shards.afar import Share, SpreadPoints, in_order
from ...shards.block import Block, chosen
from ...shards.compact import Rows, in_brief, size_of, some_of
from ...types import Array, Index, Points
from ..triangular import factored
from .landmark_rows import LandmarkRows

_POOL = 8  # So many times as many points as landmarks are looked at.


class SpreadLandmarkRows(LandmarkRows):
    """The same of rows that are spread over blocks: each block adds up its own, and keeps nothing for that."""

    X: SpreadPoints

    def _only(self, rows: Index) -> LandmarkRows:
        return SpreadLandmarkRows(self.kernel, self.X.chosen(rows), self.landmarks, self.L, self.dtype)

    def raw_squares(self, index: Index, weight: Array) -> tuple[Array, Array]:
        parts = self.X.parts_of(index)
        found = self._ask(squares_of_rows, parts, {b: (weight[part.places],) for b, part in parts.items()})
        squares, ones = zip(*found.values(), strict=True)
        return np.asarray(sum(squares)), np.asarray(sum(ones))

    def values(self, c: Array) -> Array:
        parts = self.X.parts
        return in_order(parts, self._ask(values_of_rows, parts, dict.fromkeys(parts, (c,))), self.n)

    def pulled(self, v: Array) -> Array:
        parts = self.X.parts
        found = self._ask(pulled_by_rows, parts, {b: (v[part.places],) for b, part in parts.items()})
        return np.asarray(sum(found.values()))

    def both(self, c: Array, shift: float, rate: Array, s: Array) -> Array:
        parts = self.X.parts
        found = self._ask(both_of_rows, parts, {b: (c, shift, rate[part.places]) for b, part in parts.items()})
        s[:] = in_order(parts, {b: reply[0] for b, reply in found.items()}, self.n)
        return np.asarray(sum(reply[1] for reply in found.values()))

    def _ask(
        self, verb: Callable[..., Any], parts: dict[int, Share], own: dict[int, tuple[Any, ...]]
    ) -> dict[int, Any]:
        check_limits()
        messages = {b: (in_brief(parts[b].rows), *own[b]) for b in parts}
        return self.X.engine.ask(verb, messages, (self.kernel, self.landmarks, self.dtype.name))


def _rows_of(X: Points, told: Any) -> LandmarkRows:
    kernel, landmarks, dtype = told
    return LandmarkRows(kernel, X, landmarks, np.empty((0, 0)), dtype)


@by_default
def squares_of_rows(block: Block, rows: Rows, weight: Array, told: Any) -> tuple[Array, Array]:
    """sum weight_i g_i g_i' and sum weight_i g_i over some rows of a block."""
    return _rows_of(block.X, told).raw_squares(some_of(rows, slice(0, size_of(rows))), weight)


@by_default
def values_of_rows(block: Block, rows: Rows, c: Array, told: Any) -> Array:
    """G c."""
    return _rows_of(chosen(block.X, rows, Chosen), told).values(c)


@by_default
def pulled_by_rows(block: Block, rows: Rows, v: Array, told: Any) -> Array:
    """G'v."""
    return _rows_of(chosen(block.X, rows, Chosen), told).pulled(v)


@by_default
def both_of_rows(block: Block, rows: Rows, c: Array, shift: float, rate: Array, told: Any) -> tuple[Array, Array]:
    """s = G c + shift, and G'(rate s)."""
    s = np.empty(size_of(rows))
    return s, _rows_of(chosen(block.X, rows, Chosen), told).both(c, shift, rate, s)


def landmark_rows(gram: Gram, landmarks: int, seed: int | None) -> tuple[LandmarkRows, Index]:
    """The rows, and which points are landmarks: drawn by randomly pivoted Cholesky from some of the points; once for
    all problems on one Gram matrix.
    """
    key = (landmarks, seed)
    if _rows.get(gram, (None, None))[0] != key:
        generator = np.random.default_rng(seed)
        pool = generator.permutation(gram.n)[: max(_POOL * landmarks, 1)]
        dtype, looked_at = np.dtype(gram.dtype), gram.points[pool] if gram.afar else take(gram.points, pool)
        pivots = pivoted_cholesky(gram.kernel, looked_at, landmarks, generator, np.float32)[1]
        pivots = pivots if pivots.size else np.arange(1)
        chosen, points = pool[pivots], take(looked_at, pivots)
        rounding = ROUNDING.of_a_difference if dtype == np.float64 else sqrt(ROUNDING.of_a_difference)
        jitter = rounding * float(np.abs(gram.diag()).max())  # what rounding may take from K_landmarks
        L = factored(block_between(gram.kernel, points, points), jitter)
        kind = SpreadLandmarkRows if gram.afar else LandmarkRows
        X = gram.points if gram.afar else gram.points[0 : gram.n]
        _rows[gram] = key, (kind(gram.kernel, X, points, L, dtype), chosen)
    return _rows[gram][1]


_rows: WeakKeyDictionary[Gram, tuple[tuple[int, int | None], tuple[LandmarkRows, Index]]] = WeakKeyDictionary()
