"""Passes of coordinate descent for the hinge loss, as liblinear makes them, and Newton steps that end them.

A small C needs few passes. They soon tell which coefficients are between their bounds; the best values of those, as
long as the others stay where they are, solve a small linear system, with which a pass too many is saved.
"""

from __future__ import annotations

import numpy as np

from .._core.core import CHOICE
from .._core.descent import COLUMNS, HI, LO, MARGIN, SUM, Q
from .._core.descent import A as DIAGONAL
from ..amounts import A_DIGIT
from ..solution import Certificate
from ..solvers.features_or_kernels import random_words
from ..types import Array
from .hinge import HingeProblem, best_free, certified, nearly_best_free, roomy

core = CHOICE.functions
# Passes of a round, over the points in play or over all; the rest as in solvers/descent.py.
_PASSES, _WHOLE_PASSES, _LEAST_PASS, _SHRINKING = 4, 2, 0.01, 0.25
_NEARLY = 0.1  # of the points are few
# A Newton step comes after so many visits, and so many of its multiplications for each of theirs; conjugate gradients
# after so many entries were visited, and, where they were in vain, after so many times as many.
_SOME_VISITS, _WORK, _WORK_SPARSE = 1500, 4.0, 40.0
_SOME_ENTRIES, _LATER = 500_000, 1.5


def by_passes(posed: HingeProblem, tol: float, near: float, most: float) -> tuple[Array, Certificate, int]:
    """w, its certificate, and the number of rounds, with so many visits of points at most, or twice as many where few
    are left in play; see `certified`.
    """
    descent, enough, n = _Descent(posed), near, posed.y.size
    while descent.visits < most or (descent.size <= _NEARLY * n and descent.visits < 2 * most):
        descent.round(max(_WHOLE_PASSES * n, _PASSES * descent.size, _SOME_VISITS // 2))
        if descent.worst > enough and descent.since >= _SOME_VISITS:
            descent.newton()
        if descent.worst <= enough:
            found = certified(posed, descent.beta, tol, near)
            if found[1].converged:
                return *found, descent.rounds
            enough *= A_DIGIT
    return *certified(posed, descent.beta, tol, near), descent.rounds


class _Descent:
    """Where the passes stand: beta, w = Z'beta, who is in play, and the largest violation."""

    def __init__(self, posed: HingeProblem) -> None:
        self.posed, (design, y, C) = posed, posed
        n = y.size
        self.beta, self.w, self.points = np.zeros(n), np.zeros(design.width), np.zeros((n, COLUMNS))
        self.points[:, Q], self.points[:, DIAGONAL] = y, design.squared_norms
        self.points[:, LO], self.points[:, HI] = np.minimum(y * C, 0.0), np.maximum(y * C, 0.0)
        self.order, self.size, self.numbers = np.arange(n), n, np.array([design.constant, 0.0, 0.0, np.inf])
        self.words, self.worst = random_words(None), np.inf
        self.rounds, self.visits, self.since = 0, 0.0, 0.0  # visits in all, and since the last Newton step
        self.wait: float = _SOME_ENTRIES  # before the next conjugate gradients

    def round(self, most: int) -> None:
        """Some passes over the points in play; then all are looked at."""
        limits = float(most), _LEAST_PASS * self.beta.size, A_DIGIT, _SHRINKING
        self.size, visits = core.descend_passes(
            self.posed.design.arrays, self.points, self.beta, self.w, self.order[: self.size], self.numbers,
            self.words, limits,
        )  # fmt: skip
        self.rounds, self.visits, self.since = self.rounds + 1, self.visits + visits, self.since + visits
        self._update_scores()

    def _update_scores(self) -> None:
        self.f = self.posed.scores(self.w, float(self.numbers[SUM]))
        margin = float(self.numbers[MARGIN])
        self.size, self.worst = core.in_play(self.f, self.points, self.beta, self.order, margin)

    def newton(self) -> None:
        """The coefficients between their bounds to their best values."""
        design, beta = self.posed.design, self.beta
        entries = self.since * design.entries / design.n
        if roomy(self.posed, beta):
            if entries < self.wait:
                return
            beta = nearly_best_free(self.posed, beta, self.f, self.since)
            self.wait = _SOME_ENTRIES if beta is not self.beta else _LATER * entries
        if beta is self.beta:
            beta = best_free(self.posed, beta, self.f, (_WORK_SPARSE if design.sparse else _WORK) * entries)
        if beta is self.beta:
            return
        self.since, self.beta, self.w = 0.0, beta, design.combination(beta)
        self.numbers[SUM] = beta.sum()
        self._update_scores()
