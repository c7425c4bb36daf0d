"""Piece: a shard whose points are some of a larger problem's. Others may move too: they come as points."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..columns import Columns
from ..kernels import Linear
from ..kernels.pairwise import linear_scores, linear_weights
from ..kernels.points import Chosen, take
from ..losses import Terms
from ..types import Array, Index, Points
from .messages import Ask, Candidates, Summary
from .shard import Shard


class Piece(Shard):
    """The extremes are its own until somebody asks with those of all points."""

    def __init__(self, columns: Columns, terms: Terms, bias: bool, beta: Array, scores: Array) -> None:
        super().__init__(columns, terms, bias, np.zeros(beta.size), 0.0)
        self.stand(beta, scores)
        self.boundless = bool(((terms.r == 0.0) & np.isinf(terms.hi - terms.lo)).any())  # a margin is hard
        self.of_others = 0.0  # by how much a value of points of elsewhere may differ from k

    def stand(self, beta: Array, scores: Array) -> None:
        """Take coefficients, and K beta as it really is."""
        self.all_beta[:] = beta
        self.refresh(scores)

    def answer(self, ask: Ask, points: Points) -> Candidates:
        """Those who violate most, and the share in the gap; `points` are all of this piece."""
        self.top, self.bottom, self.middle = ask.top, ask.bottom, ask.middle
        places = self.worst(min(ask.most, 2 * self.n), ask.kept)  # half of them because they should rise
        rows = take(points, self.columns.at[places])
        share = np.inf if self.boundless else self.gap()
        return Candidates(places, rows, self.F[places], self.F[ask.kept], share)

    def follow(self, points: Points, delta: Array, places: Index, beta: Array) -> float:
        """F -= K delta, for points from anywhere; of these, some are own. By how much the dual rises at those."""
        gain, _ = self._take(places, beta, lambda _: self._subtract_points(points, delta))
        return gain

    def _subtract_points(self, points: Points, delta: Array) -> None:
        """F -= K delta; with the linear kernel by w, which costs no more than to read the points."""
        if delta.size == 0:
            return
        if isinstance(self.columns.kernel, Linear):
            w = linear_weights(points, delta[None])
            self.F -= linear_scores(Chosen(self.columns.X, self.columns.at), w)[:, 0]
        else:
            self.columns.add_points(points, -delta, self.F)
            way = self.columns.way
            self.travel += float(np.abs(delta).sum())
            self.of_others = max(self.of_others, way.error([way.rows(way.prepared(points), np.arange(delta.size))]))

    @property
    def error(self) -> float:
        """By how much F may be wrong at any point: bounds for single points hold for pairs by the larger of the two."""
        if isinstance(self.columns.kernel, Linear):
            return np.inf
        return float(self.travel * max(self.of_others, self._of_own)) if self.travel else 0.0

    @cached_property
    def _of_own(self) -> float:
        """The bound of a value of own points, some at a time where they are not ready."""
        way, X, at = self.columns.way, self.columns.way.prepared(self.columns.X), self.columns.at
        return max(way.error([way.columns(X, at[part])]) for part in self.columns.parts)

    def summary(self, gain: float = 0.0) -> Summary:
        """Where it stands."""
        return Summary(self.top, self.bottom, self.free, self.dual(), gain)
