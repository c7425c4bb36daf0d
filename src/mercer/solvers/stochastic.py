"""The stochastic subgradient method, in features or in kernel form: one point at a time.

With s_i = -C_i loss'(f_i) at one point i, drawn at random, a step that follows the subgradient in the mean is

    w <- (1 - step) w + step n s_i z_i,     b <- b + step n s_i.

The answer is the mean of all w from a given pass on, with the bias that is best for it. Its proof is the mean slope of
each point, which is a dual point: honest, but it closes the gap slowly.

With the Automatic rule the step is the one that raises the dual most: beta_i goes to its best value, where the slope at
i and beta_i agree (stochastic dual coordinate ascent: Shalev-Shwartz, Zhang 2013). No mean is needed then, beta is its
own proof, and steps never have to shrink. On the problems of the tests the objective is within 1% of the best possible
after 100 passes at most.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..params import require_integer
from ..problem import Problem
from ..solution import Status
from ..types import Array
from .base import Iterate, Solver
from .coordinate import require_no_mass
from .descent import Descent, balanced, nothing
from .rows import random_words, rows_of, table_of
from .steps import FAR, Automatic, StepRule, require_rule


@dataclass(frozen=True)
class StochasticSubgradient(Solver):
    """Steps by single points. One round is a pass: n steps.

    step : a step rule; its t counts steps. order : "shuffled", every point once in a pass, or "random" draws.
    average_from : the mean of w is taken after so many passes (not with Automatic).
    """

    step: StepRule = Automatic()  # noqa: RUF009 (a frozen value)
    order: str = "shuffled"
    average_from: int = 1
    random_state: int | None = None
    exhausted: ClassVar[Status] = Status.DIVERGED

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rule(self)
        require_integer(self, "average_from", at_least=0)
        if self.order not in ("shuffled", "random"):
            raise ValueError(f"StochasticSubgradient: order must be 'shuffled' or 'random', not {self.order!r}.")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_no_mass(self, problem)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        yield nothing(problem)
        if not isinstance(self.step, Automatic):
            yield from self._draws(problem, start)
            return
        draws = self.order == "random"
        descent = Descent(problem, rows_of(problem.gram), start, self.random_state, shrink=False, draws=draws)
        while not descent.idle:
            descent.round()
            yield descent.iterate()

    def absorb(self, problem: Problem, w: Array, b: float) -> tuple[Array, float]:
        """One pass with automatic steps over points that are new, from w and b: what becomes of them.

        The points of the problem, which has explicit features, get coefficients; what came before keeps those it has
        in w. So the dual of all points together rises. A free bias moves as if it were penalised about b.
        """
        rows = rows_of(problem.gram)
        descent = Descent(problem, rows, None, self.random_state, shrink=False, draws=self.order == "random")
        descent.image[:] = w
        penalised = rows.constant > 0.0
        if penalised:
            descent.bias[1] = b / rows.constant
        else:
            descent.b = b
        descent.one_pass()
        return descent.image, float(rows.constant * descent.bias[1] if penalised else b + descent.moved())

    def _draws(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        from .._core.descent import draw, shuffle

        run, n, t = _Run(problem, start), problem.n, 0
        words, order = random_words(self.random_state), np.arange(n)
        for number in range(10**9):
            if number <= self.average_from:
                run.forget()
            if self.order == "random":
                draw(order, words)
            else:
                shuffle(order, n, words)
            run.draw(order, self.step.size(np.arange(t + 1, t + n + 1)))
            t += n
            if run.diverged():
                yield replace(nothing(problem), done=True)
                return
            yield run.iterate()


class _Run:
    """Where the method stands; see `_core.stochastic` for what is held."""

    def __init__(self, problem: Problem, start: Array | None) -> None:
        self.problem, self.rows = problem, rows_of(problem.gram)
        n = problem.n
        self.points = table_of(problem, self.rows.diag)
        self.u = np.zeros(n) if start is None else np.array(start, np.float64)
        self.image = self.rows.image(self.u)
        self.late, self.sums, self.slopes, self.visits = (np.zeros(n) for _ in range(4))
        self.numbers = np.array([1.0, 0.0, 0.0, 0.0, self.u.sum()])
        self.least = float(problem.n * problem.C.max() * (1.0 + np.abs(problem.y).max()))

    def forget(self) -> None:
        """Begin the means anew."""
        from .._core.stochastic import PASSED, STEPS

        self.numbers[PASSED] = self.numbers[STEPS] = 0.0
        for sums in (self.late, self.sums, self.slopes, self.visits):
            sums[:] = 0.0

    def draw(self, order: Array, steps: Array) -> None:
        """A step for each point of the order."""
        self.rows.draw(
            self.points, order, steps, self.u, self.image, self.late, self.sums, self.slopes, self.visits,
            self.numbers, self.rows.constant, float(self.problem.bias), 0.0,
        )  # fmt: skip

    def diverged(self) -> bool:
        """Whether w has become so large that it will not come back."""
        from .._core.stochastic import SCALE

        size = float(np.abs(self.u).max()) * self.numbers[SCALE]
        self.least = min(self.least, size)
        return not size <= FAR * self.least

    def iterate(self) -> Iterate:
        """The mean of w, and the mean slopes as its proof."""
        from .._core.stochastic import STEPS, settle

        settle(self.u, self.late, self.sums, self.numbers)
        beta = self.sums / self.numbers[STEPS]
        proof = np.clip(self.slopes / np.maximum(self.visits, 1.0), *self.problem.bounds)
        return Iterate(beta, dual_beta=balanced(proof) if self.problem.bias else proof)
