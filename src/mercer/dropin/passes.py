"""Passes of coordinate descent for the hinge loss and its square, as liblinear makes them, and blocks that end them.

A small C needs few passes. They soon tell which coefficients may still move, and when those are few, or passes make
little headway, a block of them goes to its best values at once, as long as the others stay where they are: with all
kernel values of the block, by steps of pairs and Newton steps. Then all points are looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.descent import COLUMNS, HI, LO, MARGIN, SUM, Q, R
from .._core.descent import A as DIAGONAL
from ..amounts import A_DIGIT, LARGEST, ROUNDS
from ..arithmetic import inner
from ..columns import padded_square
from ..gram import Design
from ..kernels import Linear
from ..solution import Certificate, Status, relative
from ..solvers.features_or_kernels import random_words
from ..solvers.nanoseconds import of_a_pass
from ..types import Array
from .hinge import HingeProblem

core = CHOICE.functions
# In a round, over the points in play, over all, and visits: see solvers/descent.py.
_PASSES, _WHOLE_PASSES, _SOME_VISITS, _LEAST_PASS, _SHRINKING = 4, 2, 750, 0.01, 0.25
_MANY, _NEARLY = 0.5, 0.1  # of the points in play are many, or nearly none
_TELLING = 2  # so many rounds tell how fast passes are
_EXACTLY = 1e-4  # of the violation to reach is left within a block
_TIED = 4  # times as many points as columns at most: more cannot all be between their bounds at the end
# Nanoseconds (see solvers/nanoseconds.py) for each value of a block with more columns than points, and with fewer,
# where many answers are nearly as good; and beside.
_PER_VALUE, _PER_VALUE_TIED, _BESIDE, _BESIDE_SPARSE = 5.0, 20.0, 45_000.0, 300_000.0


class Passed(NamedTuple):
    """Where passes have led: the coefficients and the rounds; w (a constant as one column more) and its certificate,
    where that is what was asked for.
    """

    beta: Array
    rounds: int
    w: Array | None = None
    certificate: Certificate | None = None


def by_passes(posed: HingeProblem, tol: float, near: float, most: float, of_many: float) -> Passed:
    """To a relative gap of `tol` and a KKT violation of `near`, with the work of so many visits of points at most;
    other limits hold while many are in play, and twice as many may be where nearly none is.
    """
    descent, enough, n = _Descent(posed), near, posed.y.size
    while descent.visits < (of_many if descent.size > _MANY * n else most if descent.size > _NEARLY * n else 2 * most):
        if descent.worth_a_block(enough):
            descent.settle_block(_EXACTLY * enough)
        else:
            visits = max(_WHOLE_PASSES * n, _PASSES * descent.size, _SOME_VISITS)
            descent.round(min(visits, max(of_many, _WHOLE_PASSES * n)))
        if descent.worst <= enough:
            if descent.gap() <= tol and (found := descent.certified(tol, near))[1].converged:
                return Passed(descent.beta, descent.rounds, *found)
            enough *= A_DIGIT
    return Passed(descent.beta, descent.rounds)


class _Descent:
    """Where the passes stand: beta, w = Z'beta, who is in play, and the largest violation."""

    def __init__(self, posed: HingeProblem) -> None:
        self.posed, (design, y, C, loss) = posed, posed
        n, t = y.size, loss.terms(y, C)
        self.beta, self.w, self.points = np.zeros(n), np.zeros(design.width), np.zeros((n, COLUMNS))
        for place, values in ((Q, t.q), (R, t.r), (LO, t.lo), (HI, t.hi), (DIAGONAL, design.squared_norms + t.r)):
            self.points[:, place] = values
        self.order, self.size, self.numbers = np.arange(n), n, np.array([design.constant, 0.0, 0.0, np.inf])
        self.words, self.worst = random_words(None), np.inf
        self.rounds, self.visits = 0, 0.0
        self.seen: list[tuple[float, float]] = []  # visits and the largest violation after the last rounds
        self.pace = 0.0  # visits that make the violation a tenth, by those

    def round(self, most: float) -> None:
        """Some passes over the points in play; then all are looked at."""
        limits = float(most), _LEAST_PASS * self.beta.size, A_DIGIT, _SHRINKING
        self.size, visits = core.descend_passes(
            self.posed.design.arrays, self.points, self.beta, self.w, self.order[: self.size], self.numbers,
            self.words, limits,
        )  # fmt: skip
        self.rounds, self.visits = self.rounds + 1, self.visits + visits
        self._update_scores()
        self.seen = [*self.seen, (self.visits, self.worst)][-1 - _TELLING :]
        (began, first), (ended, last) = self.seen[0], self.seen[-1]
        if len(self.seen) > 1:
            self.pace = (ended - began) / np.log10(first / last) if 0.0 < last < first else np.inf

    def _update_scores(self) -> None:
        self.f = self.posed.scores(self.w, float(self.numbers[SUM]))
        self.size, self.worst = core.in_play(self.f, self.points, self.beta, self.order, float(self.numbers[MARGIN]))

    def worth_a_block(self, enough: float) -> bool:
        """Whether a block takes no longer than the passes that would be left."""
        if not 1 < self.size <= min(LARGEST.points_exact, _TIED * self.posed.design.width):
            return False
        return self._visits_of_a_block() <= self.pace * float(np.log10(max(self.worst / enough, 1.0 / A_DIGIT)))

    def _visits_of_a_block(self) -> float:
        design = self.posed.design
        value = _PER_VALUE if self.size <= design.width else _PER_VALUE_TIED
        beside = _BESIDE_SPARSE if design.sparse else _BESIDE
        return (value * self.size**2 + beside) * design.n / of_a_pass(design)

    def settle_block(self, violation: float) -> None:
        """The coefficients in play to their best values, to this violation."""
        self.rounds, self.visits = self.rounds + 1, self.visits + self._visits_of_a_block()
        at, design = np.sort(self.order[: self.size]), self.posed.design
        own, some, table = self.beta[at], Design(design.Z[at], design.constant), self.points[at]
        K = padded_square(Linear(), some.Z, exact=True)
        K[: at.size, : at.size] += design.constant
        q = table[:, Q] - (self.f[at] - some.product(own))  # what others contribute stays
        r, lo, hi = (table[:, place].copy() for place in (R, LO, HI))
        found = own.copy(), np.empty(at.size), np.empty((1, 10))
        how = False, float(np.finfo(np.float64).max), violation, ROUNDS.in_vain
        core.settle_parts(K, np.array([at.size]), np.arange(at.size), (q, r, np.zeros(at.size), lo, hi), found, how)
        change = found[0] - own
        self.beta[at] = found[0]
        self.w += some.combination(change)
        self.numbers[SUM] += change.sum()
        self.seen = []
        self.numbers[MARGIN] = _SHRINKING * self.worst
        self._update_scores()

    def gap(self) -> float:
        """The relative gap, as far as the sums that are carried along are right."""
        primal, dual = self._objectives(self.w, float(self.numbers[SUM]), self.f)
        return relative(primal - dual, primal, dual)

    def _objectives(self, w: Array, total: float, f: Array) -> tuple[float, float]:
        losses, conjugates = core.losses_and_conjugates(f, self.points, self.beta)
        square = 0.5 * (inner(w, w) + self.posed.design.constant * total * total)
        return square + losses, 0.0 - square - conjugates

    def certified(self, tol: float, near: float) -> tuple[Array, Certificate]:
        """w anew from the coefficients, and what is proved of it."""
        design = self.posed.design
        w, total = design.combination(self.beta), float(self.beta.sum())
        f = self.posed.scores(w, total)
        primal, dual = self._objectives(w, total, f)
        dual = min(primal, dual)
        _, violation = core.in_play(f, self.points, self.beta, np.empty(f.size, np.intp), np.inf)
        good = relative(primal - dual, primal, dual) <= tol and violation <= near
        status = Status.CONVERGED if good else Status.STALLED
        column = [np.sqrt(design.constant) * total] if design.constant else []
        return np.append(w, column), Certificate(primal, dual, kkt_violation=violation, status=status)
