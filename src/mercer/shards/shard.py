"""Shard: a block of points, their terms, their coefficients beta and F = q - r beta - K beta, the negative slope of the
smooth part of the dual. What a solver sees; it asks and tells:

    candidates(q)       the points that violate most, half of them from the last time (a working set)
    block(W)            K of these points
    move(W, beta)       new coefficients: F -= (K + r) (beta - old)
    gap()               how far from the best answer, by F as it stands
    refresh(scores)     F from K beta as it really is
    shrink(margin), restore()   who is in play
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.reference import CHUNK
from ..columns import Columns
from ..losses import Terms
from ..parallel import for_each
from ..types import Array, Index
from .rows import Rows

core = CHOICE.functions
_WORTH_THREADS = 2_000_000  # values; smaller sums stay in one thread


class Gap(NamedTuple):
    """How far from the best answer: the gap and the dual value, the bias, by how much slopes are in the wrong order
    (the violation), and how many coefficients are between their bounds.
    """

    gap: float
    dual: float
    b: float
    violation: float
    free: int


def padded(n: int) -> int:
    """The length of the arrays of n points and one more: an odd number of chunks, since rows a power of two apart would
    meet in the same few lines of cache.
    """
    return -(-(n + 1) // CHUNK) * CHUNK | CHUNK


class Shard:
    """Some points in play; rows of K are kept within so many bytes, where values are not cheap."""

    def __init__(self, columns: Columns, terms: Terms, bias: bool, beta: Array, memory: float = 2e9) -> None:
        self.columns, self.terms, self.bias, self.n, self.memory = columns, terms, bias, columns.n, memory
        self.beta = beta
        self.F = terms.q - terms.r * beta
        self.rows = None if columns.cheap else Rows(columns, columns.diag.size, memory)
        self.last, self.scratch = np.empty(0, np.int64), np.empty(0, columns.dtype)
        support = np.flatnonzero(beta)
        if support.size:
            columns.add(columns.at[support], -beta[support], self.F)
        self.top, self.bottom, self.free = self._look()

    def _look(self) -> tuple[float, float, int]:
        t = self.terms
        top, bottom, free = core.extremes(self.F, self.beta, t.eps, t.lo, t.hi)
        return (top, bottom, free) if self.bias else (max(top, 0.0), min(bottom, 0.0), free)

    @property
    def violation(self) -> float:
        """By how much the largest slope that may rise is above the smallest that may sink."""
        return self.top - self.bottom

    def candidates(self, q: int) -> Index:
        """Half of the last working set, and the worst of the others: as many that should rise as should sink."""
        if self.n <= q:
            return np.arange(self.n)
        t, taken = self.terms, np.zeros(self.n, np.uint8)
        kept = self.last[-(q // 2) :] if q >= 4 else self.last[:0]
        taken[kept] = 1
        chosen = np.empty(q - kept.size, np.int64)
        size = core.choose(self.F, self.beta, t.eps, t.lo, t.hi, self.top, self.bottom, taken, chosen)
        self.last = np.concatenate([kept, chosen[:size]])
        return np.sort(self.last)

    def block(self, W: Index) -> Array:
        """K of these points, padded with zeros."""
        width = padded(W.size)
        if self.scratch.size < width**2:
            self.scratch = np.empty(width**2, self.columns.dtype)
        K = self.scratch[: width**2].reshape(width, width)
        points = self.columns.at[W]
        if self.rows is not None and self.columns.dear:
            slots = self.rows.slot_of[points]
            others = points[slots < 0]
            own = np.empty((others.size, others.size), self.columns.dtype)
            self.columns.square(others, own)
            core.gather(self.rows.values, slots, W, own, K)
        else:
            self.columns.square(points, K)
        K[W.size :] = 0.0
        K[:, W.size :] = 0.0
        return K

    def move(self, W: Index, beta: Array) -> float:
        """Take new coefficients; by how much the dual has risen."""
        moved = np.flatnonzero(beta != self.beta[W])
        places, beta = W[moved], beta[moved]
        old, before, t = self.beta[places], self.F[places], self.terms
        delta = beta - old
        self.beta[places] = beta
        self.F[places] -= t.r[places] * delta
        self._subtract(places, delta, (t.lo[places] < beta) & (beta < t.hi[places]))
        self.top, self.bottom, self.free = self._look()
        # The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
        kinks = t.eps[places] * (np.abs(beta) - np.abs(old))
        return float((0.5 * delta * (before + self.F[places]) - kinks).sum())

    def _subtract(self, places: Index, delta: Array, free: Array) -> None:
        """F -= K delta. A coefficient at a bound seldom moves again: its row is kept only where values are dear."""
        points, keep = self.columns.at[places], np.zeros(places.size, bool)
        if self.rows is not None:
            keep = free | (self.rows.slot_of[points] >= 0) | self.columns.dear
            for part in np.array_split(np.flatnonzero(keep), keep.sum() // self.rows.count + 1):
                self._subtract_rows(self.rows.get(points[part]), delta[part])
        if not keep.all():
            self.columns.add(points[~keep], -delta[~keep], self.F)

    def _subtract_rows(self, slots: Index, delta: Array) -> None:
        assert self.rows is not None
        values, threads = self.rows.values, getattr(self.columns, "threads", 1)
        pieces = threads if self.n * slots.size >= _WORTH_THREADS else 1
        edges = np.linspace(0, self.n, pieces + 1).astype(int).tolist()

        def task(edge: tuple[int, int]) -> None:
            part = slice(*edge)
            core.add_rows(values[:, part], slots, -delta, self.F[part])

        for_each(list(pairwise(edges)), task, pieces)

    def gap(self) -> Gap:
        """The sum of the shares at the middle of what the slopes leave for the bias."""
        t = self.terms
        b = 0.5 * (self.top + self.bottom) if self.bias else 0.0
        gap = core.shares(self.F, self.beta, t.r, t.eps, t.lo, t.hi, b)
        dual = float((0.5 * self.beta * (t.q + self.F) - t.eps * np.abs(self.beta)).sum())
        return Gap(gap, dual, b, self.violation, self.free)
