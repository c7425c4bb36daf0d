"""Coordinate descent by passes (epochs), which take one coefficient after the other to its best value; and what `solve`
is told after them.

A free bias asks for sum beta = 0. That is met by the proximal point method: K + c stands for K, which penalises how
far the bias is from its last value, and after each round the bias moves by c sum beta, until that is 0. What `solve` is
told is always feasible: the side with the larger sum is scaled down.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._core.core import CHOICE
from .._core.descent import CONSTANT, MARGIN, SHIFT, SUM
from ..amounts import A_DIGIT, ROUNDING
from ..arithmetic import inner
from ..limits import now
from ..problem import Problem
from ..types import Array
from .base import Iterate
from .features_or_kernels import Features, Kernels, random_words, table_of
from .nanoseconds import PASSES_PER_DIGIT

core = CHOICE.functions
_PART_OF_DIAGONAL = 0.03  # This part of the mean K_ii is added to K for a free bias.
_MOST_PASSES = 4  # A round is no more than so many passes over all points.
_ROUNDS_MEASURED = 4  # That is found from so many rounds.
_SHRINKING = 0.25  # Points that are optimal by this part of the last pass's largest gain leave until the round ends.


class CoordinatePasses:
    """Where the descent stands: beta, its image (see features_or_kernels.py), the bias, and who is left in play.

    A round, which needs explicit features, is several passes, and points that are optimal by a wide margin are left out
    of all but the first. With `draws`, `one_pass` draws points at random, instead of a new order.
    """

    def __init__(
        self, problem: Problem, rows: Features | Kernels, start: Array | None, seed: int | None, *, draws: bool = False
    ) -> None:
        self.problem, self.rows, self.draws = problem, rows, draws
        n = problem.n
        self.beta = problem.bounds.nearest(np.zeros(n) if start is None else np.array(start, np.float64))
        self.image = rows.image(None if start is None else self.beta)
        # A larger constant moves the bias faster and all else more slowly; with this one, tiny C can move it by 1.
        extra = max(_PART_OF_DIAGONAL * float(rows.diag.mean()), 1.0 / float(problem.C.sum())) if problem.bias else 0.0
        self.extra = extra
        self.numbers = np.array([extra or rows.constant, self.beta.sum(), 0.0, np.inf])
        self.order, self.size = np.arange(n), n
        self.words = random_words(seed)
        self.b, self.first, self.rounds = 0.0, 0.0, 0
        self.best_primal, self.passes, self.passes_per_digit = np.inf, 0.0, PASSES_PER_DIGIT
        self.seen: list[tuple[float, float]] = []  # passes and gaps of the last rounds
        self.idle, self.pass_seconds = False, np.inf

    @cached_property
    def points(self) -> Array:
        """What passes need to know of each point."""
        return table_of(self.problem, self.rows.diag + self.extra)

    def round(self) -> None:
        """Some passes over the points in play; then all of them are looked at."""
        assert isinstance(self.rows, Features)
        n, began = self.problem.n, now()
        self.rounds += 1
        least = A_DIGIT * n  # visits that a pass costs, whoever is left in play
        limits = min(self.rounds, _MOST_PASSES) * float(n), least, A_DIGIT, _SHRINKING
        self.numbers[SHIFT] = self.b
        self.size, visits = self.rows.passes(
            self.points, self.beta, self.image, self.order[: self.size], self.numbers, self.words, limits
        )
        self.pass_seconds = min(self.pass_seconds, (now() - began) * n / max(visits, 1.0))
        self._update_scores()
        self._measure(visits / n)

    def one_pass(self) -> float:
        """One pass over all points, and its largest gain."""
        (core.draw if self.draws else core.shuffle)(self.order, self.words)
        self.numbers[SHIFT] = self.b
        return self.rows.descend(self.points, self.beta, self.image, self.order, self.numbers)

    @property
    def total(self) -> float:
        """sum beta."""
        return float(self.numbers[SUM])

    def moved(self) -> float:
        """What the constant beside K adds to every score."""
        return float(self.numbers[CONSTANT] * self.numbers[SUM])

    def _update_scores(self) -> None:
        """All scores, the next bias, who is in play, and whether there is anything left to gain."""
        self.scores = self.rows.scores(self.image)
        moved = self.moved()
        self.b += moved if self.problem.bias else 0.0
        self.scores += 0.0 if self.problem.bias else moved
        f = self.scores + (self.b + moved) if self.problem.bias else self.scores
        self.size, worst = core.in_play(f, self.points, self.beta, self.order, float(self.numbers[MARGIN]))
        self.first = max(self.first, worst)
        unbalanced = abs(self.total) if self.problem.bias else 0.0
        self.idle = is_idle(worst, self.first, unbalanced, self.beta)

    def _measure(self, passes: float) -> None:
        """The dual value, and how many passes make the gap a tenth."""
        free = self.problem.bias
        f = self.scores + self.b if free else self.scores
        self.dual_beta = balanced(self.beta) if free else self.beta
        losses, conjugates = core.losses_and_conjugates(f, self.points, self.dual_beta)
        norm = dual_norm = inner(self.beta, self.scores) + free * self.rows.constant * self.total**2
        if self.dual_beta is not self.beta:
            dual_norm = self.rows.norm(self.rows.image(self.dual_beta), self.dual_beta)
        self.primal, self.dual = 0.5 * norm + losses, 0.0 - 0.5 * dual_norm - conjugates
        self.best_primal = min(self.best_primal, self.primal)
        self.passes += passes
        self.seen = [*self.seen, (self.passes, self.best_primal - self.dual)][-_ROUNDS_MEASURED:]
        (began, first), (_, last) = self.seen[0], self.seen[-1]
        fallen = np.log10(first / last) if 0.0 < last < first else 0.0
        if len(self.seen) > 1:
            self.passes_per_digit = (self.passes - began) / max(fallen, ROUNDING.of_a_number)

    def iterate(self) -> Iterate:
        """What `solve` is told."""
        return Iterate(
            self.beta, self.scores, self.b, self.dual, done=self.idle, gap=self.primal - self.dual,
            dual_beta=self.dual_beta if self.problem.bias else None,
        )  # fmt: skip


def is_idle(gain: float, first: float, unbalanced: float, beta: Array) -> bool:
    """Whether a gain is rounding beside the first one, and sum beta is near enough to 0."""
    idle = ROUNDING.of_a_difference
    return gain <= idle * first and unbalanced <= idle * float(np.abs(beta).sum())


def best_constant(problem: Problem) -> Iterate:
    """f = b: the least that is to be beaten, and the first iterate of these methods."""
    zeros = np.zeros(problem.n)
    b, primal = problem.best_constant
    return Iterate(zeros, zeros, b, 0.0, gap=primal)


def balanced(beta: Array) -> Array:
    """The coefficients with the larger side, positive or negative, scaled down until the sum is 0."""
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if up == down:
        return beta
    large, small = (1.0, down / up) if up > down else (-1.0, up / down)
    return np.where(large * beta > 0.0, small * beta, beta)
