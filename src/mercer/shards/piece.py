"""Piece: a shard whose points are some of a larger problem's. Others may move too: they come as points."""

from __future__ import annotations

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

    def stand(self, beta: Array, scores: Array) -> None:
        """Take coefficients, and K beta as it really is."""
        self.all_beta[:] = beta
        self.refresh(scores)

    def answer(self, ask: Ask, points: Points) -> Candidates:
        """Those who violate most, and the share in the gap; `points` are all of this piece."""
        self.top, self.bottom, self.middle = ask.top, ask.bottom, ask.middle
        places = self.worst(min(ask.most, 2 * self.n), ask.kept)  # half of them because they should rise
        rows = take(points, self.columns.at[places])
        return Candidates(places, rows, self.F[places], self.F[ask.kept], self.gap())

    def follow(self, points: Points, delta: Array, places: Index, beta: Array) -> float:
        """F -= K delta, for points from anywhere; of these, some are own. By how much the dual rises at those."""
        gain, _ = self._take(places, beta, lambda _: self._subtract_points(points, delta))
        return gain

    def _subtract_points(self, points: Points, delta: Array) -> None:
        """F -= K delta; with the linear kernel by w, which costs no more than to read the points."""
        if isinstance(self.columns.kernel, Linear):
            w = linear_weights(points, delta[None])
            self.F -= linear_scores(Chosen(self.columns.X, self.columns.at), w)[:, 0]
        else:
            self.columns.add_points(points, -delta, self.F)

    def summary(self, gain: float = 0.0) -> Summary:
        """Where it stands."""
        return Summary(self.top, self.bottom, self.free, self.dual(), gain)
