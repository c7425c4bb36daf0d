"""Decomposition of points that are spread over blocks: the same working sets and steps of pairs (SMO), here, and each
round an exchange with all blocks.

References: as of decomposition.py.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from ..amounts import ROUNDING
from ..problem import Problem
from ..shards.afar import SpreadGram
from ..shards.spread import Spread
from ..types import Array, DType, Index
from .base import Iterate, Work
from .decomposition import Decomposition, Descent


class SpreadDescent(Descent):
    """A descent whose shard lies with the blocks."""

    shard: Spread  # type: ignore[assignment]

    def _take(self, dtype: DType, beta: Array) -> None:
        gram = self.problem.gram
        assert isinstance(gram, SpreadGram)
        if hasattr(self, "shard"):
            self.close()
        self.shard = Spread(gram, dtype, self.problem.terms, self.problem.bias, beta)
        self._begin()

    def close(self) -> None:
        self.shard.close()

    def through_features(self) -> Generator[Iterate, Array | None, None]:
        """Features would need all points here."""
        yield from ()

    def iterate(self) -> Iterate:
        """K beta stays with the blocks until a certificate needs it; the gap is the sum of their shares."""
        shard = self.shard
        shard.name(self._wanted())
        gap, scores = (self._gap_of_margin(), self._scores_that_meet()) if self.hard else (shard.gap(), None)
        return Iterate(
            shard.all_beta, scores, shard.middle, self.dual, done=self._at_floor(), gap=gap, work=shard.work,
            note=self.note, fetch=partial(shard.scores, shard.round),
        )  # fmt: skip

    def _gap_of_margin(self) -> float:
        """At most so much: f is divided by the least margin, which the extreme slopes tell within their violation."""
        shard = self.shard
        least = 1.0 - max(shard.top - shard.middle, shard.middle - shard.bottom)
        return self.dual * (1.0 / (least * least) - 1.0) if least > 0.0 else np.inf

    def _scores_that_meet(self) -> Array | None:
        """K beta, where the classes seem to meet: then there is no margin, which is to be proved."""
        shard, total = self.shard, float((self.shard.beta * self.shard.terms.q).sum())
        norm = 2.0 * (total - shard.dual())
        found = shard.scores(shard.round) if total > 0.0 and norm <= ROUNDING.of_a_sum * total**2 * self.size else None
        return None if found is None else found[0]

    def _working_set(self) -> Index:
        return self.shard.candidates(self._wanted())

    def _wanted(self) -> int:
        """The points of a working set: half as many more, where more coefficients than that are free. As many where
        values are dear: blocks keep no rows, and so a point that moves twice costs its values twice.
        """
        limit = self.working_set
        return min(limit + (limit // 2 if self.shard.free > limit else 0), self.largest)


@dataclass(frozen=True)
class SpreadDecomposition(Decomposition, names=()):
    """Steps of pairs (SMO) on working sets of so many points, gathered from blocks."""

    descent: ClassVar[type[Descent]] = SpreadDescent

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not isinstance(problem.gram, SpreadGram):
            raise TypeError("SpreadDecomposition is for points that are spread over blocks: see mercer.distributed.")

    def first_work(self, problem: Problem) -> Work:
        """Nobody knows yet how fast the blocks are."""
        return Work()
