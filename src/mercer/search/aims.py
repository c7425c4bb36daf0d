"""Which labels of some folds are decided, and which gaps would decide the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..types import Array, Index
from .bounds import Interval, LeftOpen, between, right, spread, wanted
from .paths import Posed, Solved

_LESS = 1e-9  # of two accuracies: more than rounding


@dataclass(eq=False)
class Aims:
    """What `solve_all` asks after each round: the gaps that problems should have, and where labels are open."""

    posed: list[Posed]
    root: Array
    """The root of k(x, x) of all points."""
    asked: list[Index]
    """The points that each fold asks for; those with a label come first."""
    truths: list[Index]
    """Their classes."""
    classes: int
    paired: bool
    prune: bool
    """Whether values of C that cannot be the best any more are left as they are: the folds are all that there are."""

    known: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    """Of each fold, which labels are surely right, and which may be: (C, points)."""
    spreads: dict[int, LeftOpen] = field(default_factory=dict)
    ranges: dict[int, Interval] = field(default_factory=dict)
    gaps: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    ended: Array = field(default_factory=lambda: np.zeros(0, bool))
    """Which values of C were left so."""

    def __call__(self, solved: list[Solved], new: Array) -> tuple[Array, Array]:
        for k in np.flatnonzero(new.any(axis=1)).tolist():
            self.spreads[k] = spread(self.posed[k], solved[k], self.root)
        for fold, truth in enumerate(self.truths):
            if new[:, fold].any():
                before, root = self.ranges.get(fold), self.root[self.asked[fold]]
                found = between(self.spreads, solved, fold, root, new[:, fold], before)
                labels = replace(found, low=found.low[:, :, : truth.size], high=found.high[:, :, : truth.size])
                sure, may = right(labels, truth, self.classes, self.paired)
                self.ranges[fold], self.known[fold] = found, (sure, may)
                self.gaps[fold] = wanted(labels, solved, fold, sure != may, self.classes, self.paired)
        gaps, unsure = (np.stack([self.gaps[fold][k] for fold in range(len(self.truths))], axis=1) for k in (0, 1))
        lost, gap = self._lost(gaps.shape[2]), np.stack([one.gap for one in solved])
        self.ended = lost & (unsure | (gap > gaps)).any(axis=(0, 1))
        return np.where(lost, np.inf, gaps), unsure & ~lost

    def _lost(self, many: int) -> Array:
        """Which values of C are surely worse than another one."""
        if not self.prune or not all(truth.size for truth in self.truths):
            return np.zeros(many, bool)
        folds = [self.known[fold] for fold in range(len(self.truths))]
        least, most = (np.mean([known[k].mean(axis=1) for known in folds], axis=0) for k in (0, 1))
        return np.asarray(most < least.max() - _LESS)

    def b(self, fold: int) -> Array:
        """The best biases: (problems, C)."""
        return self.ranges[fold].b
