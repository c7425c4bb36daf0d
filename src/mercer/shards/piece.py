"""Piece: what a block knows of a problem on some of its rows: F = q - r beta - K beta, and beta and the terms in brief.

The rows are some of a larger problem's. Others may move too: they come as points. What is in brief is spelled out for
some rows at a time, so that a row takes 8 bytes for its F and little more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from operator import call
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..columns import SCRATCH, pieces
from ..columns.columns import PIECE, sizes
from ..columns.way import AnyWay, Ready
from ..kernels import Linear
from ..kernels.pairwise import linear_scores, linear_weights
from ..kernels.points import Chosen, take
from ..losses import Terms
from ..parallel import for_each, thread_count
from ..types import Array, Index, Points
from .compact import Brief, Coefficients, Rows, size_of, some_of
from .messages import Ask, Begin, Candidates, Summary

core = CHOICE.functions
_STRIP = 2 * 2 * 2 * PIECE  # Numbers of so many rows are spelled out at a time.


class Piece:
    """F, beta and the terms of a problem, for some rows of a block. The extremes are those of these rows alone."""

    beta: Coefficients
    top: float  # the largest slope of what may rise,
    bottom: float  # and the smallest of what may sink
    free: int  # coefficients between their bounds
    dual: float  # its part of the dual value

    def __init__(self, way: AnyWay, X: Points, told: Begin) -> None:
        self.way, self.kernel, self.X, self.rows = way, told.kernel, X, told.rows
        self.terms, self.bias = told.terms, told.bias
        self.n, self.threads, self.own = size_of(told.rows), thread_count(), way.prepared(X)
        self.strips = [slice(part.start, min(part.stop, self.n)) for part in pieces(self.n, _STRIP)]
        self.batch, piece = sizes(way, SCRATCH / 2 / self.threads)
        self.parts = pieces(self.n, piece, threads=self.threads)
        roomy = self.n * way.bytes_a_point <= told.packed
        self.held = [self._columns(part) for part in self.parts] if roomy else None
        self.F, self.travel = np.empty(self.n), 0.0  # `travel` bounds what was added to F since it was exact
        self.of_others = 0.0  # by how much a value with points of other blocks may differ from k
        self.stand(told.beta, None, told.scores)

    def _columns(self, part: slice) -> Any:
        return self.way.columns(self.own, some_of(self.rows, slice(part.start, min(part.stop, self.n))))

    def _spelled_out(self) -> Iterator[tuple[slice, Terms, Array]]:
        """Some rows at a time: terms and coefficients."""
        for strip in self.strips:
            yield strip, self.terms.at(strip), self.beta.at(strip)

    def stand(self, beta: Coefficients, places: Rows | None, scores: Brief) -> None:
        """Take coefficients, and K beta as it really is; at some places, where F is good at the others."""
        self.beta = beta
        if places is None:
            for strip, t, some in self._spelled_out():
                self.F[strip] = t.gradient(some, scores.at(strip))
        else:
            self.F[places] = self.terms.at(places).gradient(beta.at(places), scores.at(slice(0, size_of(places))))
        self._update_extremes()

    def _update_extremes(self) -> None:
        """The extremes of the slopes, how many coefficients are free, and the dual value, by F as it stands."""
        found = []
        for strip, t, beta in self._spelled_out():
            F = self.F[strip]
            dual = float((0.5 * beta * (t.q + F) - t.eps * np.abs(beta)).sum())
            found.append((*core.extremes(F, beta, t.eps, t.lo, t.hi), dual))
        tops, bottoms, free, duals = zip(*found, strict=True)
        self.top, self.bottom, self.free, self.dual = max(tops), min(bottoms), sum(free), sum(duals)
        if not self.bias:
            self.top, self.bottom = max(self.top, 0.0), min(self.bottom, 0.0)

    # One round.

    def answer(self, ask: Ask, points: Points) -> Candidates:
        """Those who violate most, and the share in the gap; `points` are those of the block."""
        ask = replace(ask, top=max(ask.top, self.top), bottom=min(ask.bottom, self.bottom))
        places, share = [], 0.0
        most = min(ask.most, 2 * self.n)  # half of them because they should rise
        for strip, t, beta in self._spelled_out():
            F, taken = self.F[strip], np.zeros(strip.stop - strip.start, np.uint8)
            kept = ask.kept[(ask.kept >= strip.start) & (ask.kept < strip.stop)]
            taken[kept - strip.start] = 1
            if ask.middle is not None:
                share += float(core.shares(F, beta, t.r, t.eps, t.lo, t.hi, ask.middle))
            places.append(strip.start + _worst(F, beta, t, ask, taken, most))
        worst = np.concatenate(places)
        if worst.size > most:
            t, beta = self.terms.at(worst), self.beta.at(worst)
            worst = worst[_worst(self.F[worst], beta, t, ask, np.zeros(worst.size, np.uint8), most)]
        rows = take(points, some_of(self.rows, worst[:0] if ask.wide else worst))
        return Candidates(worst, rows, self.F[worst], self.F[ask.kept], share)

    def follow(self, points: Points, delta: Array, places: Index, beta: Array) -> float:
        """F -= K delta, for points from anywhere; of these, some are own. By how much the dual rises at those."""
        t, old, before = self.terms.at(places), self.beta.at(places), self.F[places]
        self.beta = self.beta.changed(places, beta)
        self.F[places] -= t.r * (beta - old)
        self._subtract(points, delta)
        self._update_extremes()
        # The dual is quadratic: it rises by the mean of its slopes before and after, along what moved.
        kinks = t.eps * (np.abs(beta) - np.abs(old))
        return float((0.5 * (beta - old) * (before + self.F[places]) - kinks).sum())

    def _subtract(self, points: Points, delta: Array) -> None:
        """F -= K delta; with the linear kernel by w, which costs no more than to read the points."""
        if delta.size == 0:
            return
        if isinstance(self.kernel, Linear):
            w = linear_weights(points, delta[None])
            for strip in self.strips:
                self.F[strip] -= linear_scores(Chosen(self.X, some_of(self.rows, strip)), w)[:, 0]
            return
        way, Z, v = self.way, self.way.prepared(points), -delta[:, None]
        for part in pieces(delta.size, self.batch):
            ready = way.rows(Z, np.arange(part.start, min(part.stop, delta.size)))
            self.of_others = max(self.of_others, way.errors([ready]).largest)
            self._add(ready, v[part])
        self.travel += float(np.abs(delta).sum())

    def _add(self, ready: Ready, v: Array) -> None:
        """F += sum_i v_i k(z_i, .); what is not held ready is made so, piece by piece."""
        outs, way, held = [self.F[None, part] for part in self.parts], self.way, self.held
        if held is not None:
            tasks = [way.adding(ready, columns, v, out) for columns, out in zip(held, outs, strict=True)]
            for_each(tasks, call, self.threads)
            return

        def first_ready(number: int) -> None:
            way.adding(ready, self._columns(self.parts[number]), v, outs[number])()

        for_each(range(len(outs)), first_ready, self.threads)

    def scale(self, factor: float) -> float:
        """beta and K beta times a factor, where there are no bounds to keep it. By how much the dual rises."""
        before = self.dual
        for strip in self.strips:
            q = self.terms.q.at(strip)
            self.F[strip] = q - factor * (q - self.F[strip])
        self.beta, self.travel = self.beta.times(factor), self.travel * factor
        self._update_extremes()
        return self.dual - before

    @property
    def error(self) -> float:
        """By how much F may be wrong at any point: bounds for single points hold for pairs by the larger of the two."""
        if isinstance(self.kernel, Linear):
            return np.inf
        return float(self.travel * max(self.of_others, self._of_own)) if self.travel else 0.0

    @cached_property
    def _of_own(self) -> float:
        """The bound of a value of own points, some at a time where they are not ready."""
        held = map(self._columns, self.parts) if self.held is None else self.held
        return max(self.way.errors([columns]).largest for columns in held)

    def summary(self, gain: float = 0.0) -> Summary:
        """Where it stands."""
        return Summary(self.top, self.bottom, self.free, self.dual, gain)


def _worst(F: Array, beta: Array, t: Terms, ask: Ask, taken: Array, most: int) -> Index:
    """At most so many that violate most, without those that are taken."""
    chosen = np.empty(most, np.int64)
    return chosen[: core.choose(F, beta, t.eps, t.lo, t.hi, ask.top, ask.bottom, taken, chosen)]
