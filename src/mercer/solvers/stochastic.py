"""The stochastic subgradient method (SGD; Pegasos), in features or in kernel form: one point at a time, a pass (epoch)
over all of them a round.

With s_i = -C_i loss'(f_i) at one point i, drawn at random, a step that follows the subgradient in the mean is

    w <- (1 - step) w + step n s_i z_i,     b <- b + step n s_i.

The answer is the mean of all w from a given pass on, with the bias that is best for it. Its proof is the mean slope of
each point, which is a dual point: honest, but it closes the gap slowly.

With the Automatic rule the step is the one that raises the dual most: beta_i goes to its best value, where the slope at
i and beta_i agree (stochastic dual coordinate ascent: Shalev-Shwartz, Zhang 2013). So steps never have to shrink, and
beta is a proof. Instead of a mean, the answer is taken towards beta after each pass, as far as that helps. On the
problems of the tests the objective is within 1% of the best possible after 100 passes at most.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from .._core.core import CHOICE
from .._core.descent import BIAS, LATE, PASSED, SCALE, SLOPES, STEPS, SUM, SUMS, VISITS, U
from ..amounts import AT_A_TIME
from ..arithmetic import inner
from ..parallel import for_each, thread_count
from ..params import require_integer
from ..problem import Problem
from ..solution import Status
from ..types import Array, Index
from .base import Iterate, Raw, Solver, Work
from .coordinate import require_no_mass
from .descent import CoordinatePasses, balanced, best_constant, is_idle
from .features_or_kernels import Features, random_words, rows_of, table_of
from .steps import FAR, Automatic, StepRule, require_rule
from .subgradient import Path, followed, whole_products

core = CHOICE.functions


@dataclass(frozen=True)
class StochasticSubgradient(Solver):
    """Steps by single points. One round is a pass: n steps; with Automatic, the first round is two of them.

    Parameters
    ----------
    step : StepRule, default=Automatic()
        A step rule; its t counts steps.
    order : {"shuffled", "random"}, default="shuffled"
        Every point once in a pass, or random draws.
    average_from : int, default=1
        The mean of w is taken after so many passes (not with Automatic).
    random_state : int, default=None
        The seed of the order.
    keep : bool, default=False
        Whether the history holds the coefficients after each pass, beside their raw value.
    """

    step: StepRule = Automatic()  # noqa: RUF009 (a frozen value)
    order: str = "shuffled"
    average_from: int = 1
    random_state: int | None = None
    keep: bool = False
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

    def first_work(self, problem: Problem) -> Work:
        return whole_products(problem, 2)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        first = best_constant(problem)
        yield replace(first, raw=self._raw(first.beta, first.b or 0.0, first.gap or 0.0))
        if not isinstance(self.step, Automatic):
            yield from self._draws(problem, start)
            return
        rows, draws = rows_of(problem.gram), self.order == "random"
        descent = CoordinatePasses(problem, rows, start, self.random_state, draws=draws)
        if problem.bias and start is None:
            descent.b = inner(problem.C, problem.y) / float(problem.C.sum())  # a fair first guess
        # With two threads, the next pass of the descent is done while the answer looks at the last one.
        ahead = (
            isinstance(rows, Features) and rows.design.entries > AT_A_TIME.entries_for_a_thread and thread_count() > 1
        )
        answer = _Answer(descent, copies=ahead)
        _advance(descent)  # after one pass any beta is better than 0: only after two is it worth a look
        _advance(descent)
        while True:
            answer.take(descent)
            if ahead and not answer.done:
                together: list[Callable[[], None]] = [answer.approach, partial(_advance, descent)]
                for_each(together, lambda work: work(), 2)
            else:
                answer.approach()
            yield replace(answer.iterate(), raw=self._raw(*answer.raw))
            if answer.done:
                return
            if not ahead:
                _advance(descent)

    def path(self, problem: Problem, steps: int, iterates: bool = False, start: Array | None = None) -> Path:
        """After each pass the raw value of the last w (not of the answer), the best so far and, on request, all w.

        As coefficients beta, with w = sum beta_i phi(x_i), and the method's own biases.
        """
        self.check(problem)
        return followed(self._walk(problem, start), steps, iterates)

    def _walk(self, problem: Problem, start: Array | None) -> Generator[tuple[Array, float, float], None, None]:
        """The last machine of each pass: beta, b, primal value."""
        found = replace(self, keep=True).iterates(problem, start)
        next(found)  # f = b
        for iterate in found:
            raw = iterate.raw
            if raw is not None and raw.beta is not None and raw.b is not None:
                yield raw.beta, raw.b, raw.value

    def absorb(self, problem: Problem, w: Array, b: float) -> tuple[Array, float]:
        """One pass with automatic steps over points that are new, from w and b: what becomes of them.

        The points of the problem, which has explicit features, get coefficients; what came before keeps those it has
        in w. So the dual of all points together rises. A free bias moves as if it were penalised about b.
        """
        rows = rows_of(problem.gram)
        descent = CoordinatePasses(problem, rows, None, self.random_state, draws=self.order == "random")
        descent.image[:] = w
        penalised = rows.constant > 0.0
        if penalised:
            descent.numbers[SUM] = b / rows.constant
        else:
            descent.b = b
        descent.one_pass()
        return descent.image, float(rows.constant * descent.total if penalised else b + descent.moved())

    def _draws(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        for run in self._passes(problem, start):
            if run.diverged():
                yield replace(best_constant(problem), done=True)
                return
            yield replace(run.iterate(), raw=self._raw(*run.machine()))

    def _raw(self, beta: Array, b: float, value: float) -> Raw:
        return Raw(value, beta, b) if self.keep else Raw(value)

    def _passes(self, problem: Problem, start: Array | None) -> Generator[_Passes, None, None]:
        """The run after each pass."""
        run, n, t = _Passes(problem, start), problem.n, 0
        words, order = random_words(self.random_state), np.arange(n)
        for number in range(sys.maxsize):
            if number <= self.average_from:
                run.forget()
            (core.draw if self.order == "random" else core.shuffle)(order, words)
            run.draw(order, self.step.size(np.arange(t + 1, t + n + 1)))
            t += n
            yield run


def _advance(descent: CoordinatePasses) -> None:
    """One pass; then a free bias moves."""
    worst = descent.one_pass()
    descent.first = max(descent.first, worst)
    unbalanced = 0.0
    if descent.problem.bias:
        unbalanced = abs(descent.total)
        descent.b += descent.moved()
    descent.idle = is_idle(worst, descent.first, unbalanced, descent.beta)


class _Answer:
    """After each pass, the best point on the line from the answer so far to beta.

    beta is the best dual point, but it has just been made right for the last points of the pass, and its primal
    objective jumps from pass to pass; that of the answer only falls.
    """

    def __init__(self, descent: CoordinatePasses, copies: bool) -> None:
        self.copies = copies
        self.problem, self.rows, self.points = descent.problem, descent.rows, descent.points
        self.beta, self.b = descent.beta.copy(), self.problem.best_constant[0]
        self.scores = np.zeros(self.problem.n)
        if self.beta.any():
            self.take(descent)
            self.scores = self._scores()
            self.b = self.problem.best_bias(self.scores)

    def take(self, descent: CoordinatePasses) -> None:
        """Remember where the descent stands."""
        self.target, self.image, self.done = descent.beta.copy(), descent.image, descent.idle
        self.target_b = descent.b
        if self.copies:
            self.image = self.image.copy()

    def _scores(self) -> Array:
        """K beta of the target."""
        return self.rows.scores(self.image) + self.rows.constant * float(self.target.sum())

    def approach(self) -> None:
        """Go towards the target as far as that helps; its dual value."""
        free = self.problem.bias
        scores = self._scores()
        self.raw = self.target, self.target_b, self.problem.primal(self.target, self.target_b, scores)
        self.b = core.approach(self.beta, self.scores, self.b, self.target, scores, self.points, free)
        self.dual_beta = balanced(self.target) if free else self.target
        losses, conjugates = core.losses_and_conjugates(self.scores + self.b, self.points, self.dual_beta)
        primal = 0.5 * inner(self.beta, self.scores) + losses
        image = self.rows.image(self.dual_beta) if free else self.image
        norm = self.rows.norm(image, self.dual_beta) + self.rows.constant * float(self.dual_beta.sum()) ** 2
        self.dual = 0.0 - 0.5 * norm - conjugates
        self.gap = primal - self.dual

    def iterate(self) -> Iterate:
        """The answer, and the target, balanced, as its proof."""
        return Iterate(
            self.beta, self.scores, self.b, self.dual, gap=self.gap, done=self.done, dual_beta=self.dual_beta
        )  # fmt: skip


class _Passes:
    """Where the method stands; see `_core/reference/stochastic.py` for what is held."""

    def __init__(self, problem: Problem, start: Array | None) -> None:
        self.problem, self.rows = problem, rows_of(problem.gram)
        n = problem.n
        self.points = table_of(problem, self.rows.diag)
        self.sums = np.zeros((VISITS + 1, n))
        self.sums[U] = 0.0 if start is None else start
        self.image = self.rows.image(self.sums[U])
        self.numbers = np.array([1.0, 0.0, 0.0, 0.0, self.sums[U].sum(), self.rows.constant, float(problem.bias)])
        self.least = float(problem.n * problem.C.max() * (1.0 + np.abs(problem.y).max()))

    def forget(self) -> None:
        """Begin the means anew."""
        self.numbers[PASSED] = self.numbers[STEPS] = 0.0
        self.sums[LATE:] = 0.0

    def draw(self, order: Index, steps: Array) -> None:
        """A step for each point of the order."""
        self.rows.draw(self.points, order, np.asarray(steps, np.float64), self.sums, self.image, self.numbers)

    def diverged(self) -> bool:
        """Whether w has become so large that it will not come back."""
        size = float(np.abs(self.sums[U]).max()) * self.numbers[SCALE]
        self.least = min(self.least, size)
        return not size <= FAR * self.least

    def machine(self) -> tuple[Array, float, float]:
        """The last w: its coefficients, the method's own bias, the objective."""
        beta, b = self.numbers[SCALE] * self.sums[U], float(self.numbers[BIAS]) if self.problem.bias else 0.0
        scores = self.numbers[SCALE] * self.rows.scores(self.image) + self.rows.constant * float(beta.sum())
        return beta, b, self.problem.primal(beta, b, scores)

    def iterate(self) -> Iterate:
        """The mean of w, and the mean slopes as its proof."""
        beta = (self.sums[SUMS] + self.numbers[PASSED] * self.sums[U] - self.sums[LATE]) / self.numbers[STEPS]
        proof = self.problem.bounds.nearest(self.sums[SLOPES] / np.maximum(self.sums[VISITS], 1.0))
        return Iterate(beta, dual_beta=balanced(proof) if self.problem.bias else proof)
