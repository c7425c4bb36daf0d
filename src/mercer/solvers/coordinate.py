"""Coordinate descent in the dual, for explicit features: K = Z Z' + c with Z at hand, and nothing of size n x n.

    minimise  1/2 |w|^2 + sum (r_i/2 beta_i^2 - q_i beta_i + eps_i |beta_i|),  w = sum beta_i z_i,  lo <= beta <= hi

One coefficient after the other goes to its best value, in random order; since w is held, that costs one row of Z.
Points that are optimal by a wide margin are left out until the others are solved (shrinking).

A free bias makes it sum beta = 0. That is met by the proximal point method: K + c stands for K, which penalises how far
the bias is from its last value, and the bias moves by c sum beta after each round, until that sum is 0. What is given
to `solve` is always feasible: the side with the larger sum is scaled down.

Passes are cheap and soon come near; the last digits can take thousands of them. Newton steps take over
(see proximal.py), where they promise to be faster: few features, or few free coefficients.

Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan 2008.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..gram import Design
from ..losses import HardMargin
from ..problem import Problem
from ..types import Array, inner
from .base import Iterate, Solver
from .proximal import ProximalNewton

_MOST_PASSES = 4  # over all points, in one round
_LEAST_VISITS = 0.05  # a pass costs at least this part of one over all points
_ENOUGH = 0.1  # a round ends when the largest gain has fallen to this part
_STEPS = 4.0  # Newton steps that gain a digit
_IDLE = 1e-13  # gains below this part of the first are rounding


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """Passes over the points in random order, one coefficient at a time; then, with `newton`, Newton steps."""

    newton: bool = True
    random_state: int | None = None
    needs_quadratic: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_features(self, problem)
        if isinstance(problem.loss, HardMargin) or problem.mass:
            raise ValueError(
                f"CoordinateDescent serves hinge, squared hinge, epsilon-insensitive and squared loss, not "
                f"{problem.loss!r}{' with a mass' if problem.mass else ''}: take Decomposition()."
            )

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        descent = _Descent(problem, start, self.random_state or 0)
        yield Iterate(np.zeros(problem.n), np.zeros(problem.n))  # the least that is to be beaten
        while True:
            descent.round()
            yield descent.iterate()
            if self.newton and descent.slow():
                yield from descent.newton_steps()
            elif descent.idle:
                return


def require_features(solver: Solver, problem: Problem) -> None:
    """Raise where there is no Z with K = Z Z'."""
    if problem.gram.design is None:
        raise ValueError(
            f"{type(solver).__name__} needs explicit features, K = Z Z', which {problem.gram!r} does not have: take "
            "LinearGram, LowRankGram or a kernel with features; or Decomposition(), which needs none."
        )


class _Descent:
    """Where the descent stands: beta, w = Z'beta, and who is left in play."""

    def __init__(self, problem: Problem, start: Array | None, seed: int) -> None:
        from .._core.linear import COLUMNS

        self.problem, self.design = problem, problem.gram.design
        n, t = problem.n, problem.terms
        self.beta = np.clip(np.zeros(n) if start is None else np.array(start, np.float64), t.lo, t.hi)
        self.w = self.design.combination(self.beta)
        diag = self.design.squared_norms
        self.b = 0.0
        # With this much of a constant, a round moves the bias by about the scores of a point, or by 1.
        constant = max(float(diag.mean()), 1.0 / float(problem.C.sum())) if problem.bias else self.design.constant
        self.constant = np.array([constant, self.beta.sum()])
        self.points = np.zeros((n, COLUMNS))
        self.points[:, :6] = np.stack(
            [t.q, t.r, t.eps, t.lo, t.hi, diag + t.r + (constant if problem.bias else 0.0)], axis=1
        )
        self.order, self.size = np.arange(n), n
        self.state = np.array([seed], np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(88172645463325252)
        self.margin, self.first, self.rounds = np.inf, 0.0, 0
        self.idle = False
        self.best_primal, self.gap, self.passes_per_digit = np.inf, np.inf, 0.0

    def round(self) -> None:
        """Some passes over the points in play; then all of them are looked at again."""
        from .._core.linear import dense_pass, in_play, shuffle, sparse_pass

        n, run = self.problem.n, self.design.loop(dense_pass, sparse_pass)
        self.rounds += 1
        self.visits, began = 0.0, 0.0
        while self.visits < min(self.rounds, _MOST_PASSES) * n:
            shuffle(self.order, self.size, self.state)
            self.visits += max(self.size, _LEAST_VISITS * n)
            self.size, worst = run(
                self.points, self.beta, self.w, self.order, self.size, self.constant, self.b, self.margin
            )
            self.margin = worst
            began = began or worst
            if worst <= _ENOUGH * began:
                break
        self.scores = self.design.dots(self.w)
        if self.problem.bias:
            self.b += self.constant[0] * self.constant[1]
        else:
            self.scores += self.constant[0] * self.constant[1]
        now = self.scores + (self.b + self.constant[0] * self.constant[1] if self.problem.bias else 0.0)
        self.size, worst = in_play(now, self.points, self.beta, self.order, self.margin)
        self.first = max(self.first, worst)
        unbalanced = abs(self.constant[1]) if self.problem.bias else 0.0
        self.idle = worst <= _IDLE * self.first and unbalanced <= _IDLE * float(np.abs(self.beta).sum())
        self._measure()

    def _measure(self) -> None:
        """The gap, and how many passes it took to make it a tenth."""
        self.dual_beta = balanced(self.beta) if self.problem.bias else self.beta
        image = self.design.combination(self.dual_beta) if self.problem.bias else self.w
        norm = inner(image, image) + self.design.constant * float(self.dual_beta.sum()) ** 2
        self.dual = -0.5 * norm - float(self.problem.terms.value(self.dual_beta).sum())
        self.best_primal = min(self.best_primal, self.problem.primal(self.beta, self.b, self.scores))
        gap, before = self.best_primal - self.dual, self.gap
        self.gap = gap
        fallen = np.log10(before / gap) if 0.0 < gap < before < np.inf else 0.0
        self.passes_per_digit = self.visits / self.problem.n / max(fallen, 1e-3)

    def iterate(self) -> Iterate:
        """What `solve` is told."""
        if self.problem.bias:
            return Iterate(self.beta, self.scores, self.b, self.dual, done=self.idle, dual_beta=self.dual_beta)
        return Iterate(self.beta, self.scores, 0.0, done=self.idle)

    def slow(self) -> bool:
        """Whether Newton steps would take less time for a digit than passes do."""
        if self.rounds < 2:
            return False
        one_pass = 3.0 * _read(self.design)
        return _STEPS * _newton_step(self.design, self._free()) < self.passes_per_digit * one_pass

    def _free(self) -> int:
        t = self.problem.terms
        return int(np.count_nonzero((self.beta > t.lo) & (self.beta < t.hi)))

    def newton_steps(self) -> Generator[Iterate, Array | None, None]:
        """Newton steps, as long as they help."""
        newton = ProximalNewton(self.design, self.points, self.beta, self.w, self.b, self.problem.bias)
        while True:
            yield self._newton_iterate(newton)
            if newton.stuck:
                break
            newton.advance()
        self.idle = True

    def _newton_iterate(self, newton: ProximalNewton) -> Iterate:
        beta, dual = newton.beta, newton.dual
        if self.problem.bias and newton.total != 0.0:
            beta = balanced(beta)
            image = self.design.combination(beta)
            dual = -0.5 * inner(image, image) - float(self.problem.terms.value(beta).sum())
        return Iterate(newton.v, newton.f - newton.b, newton.b, dual, done=newton.stuck, dual_beta=beta)


def balanced(beta: Array) -> Array:
    """The coefficients with the larger side, positive or negative, scaled down until the sum is 0."""
    up, down = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    if up == down:
        return beta
    large, small = (1.0, down / up) if up > down else (-1.0, up / down)
    return np.where(large * beta > 0.0, small * beta, beta)


def _read(design: Design) -> float:
    """Nanoseconds, about, to read all rows once."""
    return design.entries * (1.0 if design.sparse else 0.25)


def _newton_step(design: Design, free: int) -> float:
    """Nanoseconds, about, of a Newton step with so many free coefficients."""
    side = min(design.width, free)
    row = design.entries / design.n
    build = free * row * row if design.sparse and free > design.width else free * side * row / 16
    return 2.0 * _read(design) + build + side**3 / 60
