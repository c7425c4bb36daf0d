"""The subgradient method, in features or in kernel form.

At beta, with scores K beta and the bias that is best for them, the slopes of the loss give a dual point s: s_i is minus
C_i times the slope at f_i. The subgradient of the objective is w - Z's, so that a step along it is

    beta <- (1 - step) beta + step s.

Every beta is a mean of dual points and so is one itself: its dual value is a true bound, whatever the step rule. Primal
values may rise from step to step; the best beta so far is what is given back, and the best bound so far is its proof.

With the Automatic rule the next beta is the best of all combinations of beta and the last dual points: a small
quadratic program, as in bundle (cutting plane) methods (Joachims 2006, Teo et al. 2010). On the problems of the tests
the objective is within 1% of the best possible after 50 passes at most.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core.core import CHOICE
from ..amounts import ROUNDING, ROUNDS
from ..columns import padded
from ..losses import HardMargin
from ..problem import Problem, feasible_start
from ..solution import Status
from ..types import Array
from .base import Iterate, Raw, Solver, Work
from .steps import FAR, Automatic, StepRule, require_rule


@dataclass(frozen=True)
class Subgradient(Solver):
    """Steps along subgradients by a step rule; the best iterate is the answer. One round is one pass.

    Parameters
    ----------
    step : StepRule, default=Automatic()
        A step rule.
    keep : bool, default=False
        Whether the history holds the coefficients of each step, beside its raw value.
    """

    step: StepRule = Automatic()  # noqa: RUF009 (a frozen value)
    keep: bool = False

    exhausted: ClassVar[Status] = Status.DIVERGED

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rule(self)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_soft(self, problem)

    def first_work(self, problem: Problem) -> Work:
        return whole_products(problem, 1)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        best_primal, best_dual, size = np.inf, -np.inf, 0.0
        for beta, scores, b, primal, dual in self._walk(problem, start):
            if primal < best_primal:
                best_primal, answer = primal, (beta.copy(), scores.copy(), b)
            if dual > best_dual:
                best_dual, proof = dual, beta.copy()
            size = size or abs(primal) + float(problem.C.sum())
            diverged = not abs(primal) <= FAR * size
            raw = Raw(primal, beta, b) if self.keep else Raw(primal)
            yield Iterate(*answer, best_dual, dual_beta=proof, done=diverged, raw=raw)
            if diverged:
                return

    def path(self, problem: Problem, steps: int, iterates: bool = False, start: Array | None = None) -> Path:
        """The raw value of each step, the best so far and, on request, the coefficients and biases themselves."""
        self.check(problem)
        return followed(((beta, b, primal) for beta, _, b, primal, _ in self._walk(problem, start)), steps, iterates)

    def _walk(
        self, problem: Problem, start: Array | None
    ) -> Generator[tuple[Array, Array, float, float, float], None, None]:
        """Where the method stands, step by step: beta, K beta, b, primal and dual value."""
        beta = feasible_start(problem, start)
        scores = problem.gram @ beta
        hull = _Hull(problem, self.step.memory) if isinstance(self.step, Automatic) else None
        t = 0
        while True:
            b, s = problem.dual_point(scores)
            yield beta, scores, b, problem.primal(beta, b, scores), problem.dual(beta, scores)
            t += 1
            image = problem.gram @ s
            if hull is not None:
                beta, scores = hull.best(beta, scores, s, image)
            else:
                step = float(self.step.size(t))
                beta, scores = beta + step * (s - beta), scores + step * (image - scores)


class Path(NamedTuple):
    """The steps of a method: the objective at each, the least so far, and the machines where they were asked for.

    beta: a row for each step, f = sum beta_i k(x_i, .) + b; None where only values are kept.
    """

    values: Array
    best: Array
    beta: Array | None = None
    b: Array | None = None


def followed(walk: Iterator[tuple[Array, float, float]], steps: int, iterates: bool) -> Path:
    """The first so many machines of a walk: coefficients, bias, objective."""
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"steps must be a whole number of at least 1, not {steps!r}.")
    found = [(beta.copy() if iterates else beta, b, primal) for beta, b, primal in islice(walk, steps)]
    values = np.array([primal for _, _, primal in found])
    if not iterates:
        return Path(values, np.minimum.accumulate(values))
    return Path(values, np.minimum.accumulate(values), np.stack([f[0] for f in found]), np.array([f[1] for f in found]))


def whole_products(problem: Problem, number: int) -> Work:
    """So many products with all of K, where its values have to be computed."""
    computed = problem.gram.design is None and not problem.gram.given
    return Work(values=number * problem.n**2 if computed else 0.0)


def require_soft(solver: Solver, problem: Problem) -> None:
    """Raise for a hard margin: its loss has no slopes."""
    if isinstance(problem.loss, HardMargin):
        raise ValueError(
            f"{type(solver).__name__} needs a loss with slopes, which a hard margin has not: take Decomposition()."
        )


class _Hull:
    """The last dual points, and the best combination of them and beta.

    A combination's quadratic part is exact; the rest of h, convex, is no more than that of its parts.
    """

    def __init__(self, problem: Problem, memory: int) -> None:
        self.problem, self.memory = problem, memory
        self.points: list[Array] = []
        self.images: list[Array] = []

    def best(self, beta: Array, scores: Array, s: Array, image: Array) -> tuple[Array, Array]:
        """beta and K beta of the combination with the largest dual value, once s has joined."""
        self.points = [*self.points, s][-self.memory :]
        self.images = [*self.images, image][-self.memory :]
        M, KM = np.stack([beta, *self.points]), np.stack([scores, *self.images])
        quadratic = self.problem.loss.quadratic
        curved = KM + self.problem.terms.r * M if quadratic else KM
        G = M @ curved.T
        h = np.array([float(self.problem.conjugates(row).sum()) for row in M])
        if quadratic:
            h -= 0.5 * ((M * M) @ self.problem.terms.r)
        weight = _on_simplex(0.5 * (G + G.T), h)
        return weight @ M, weight @ KM


def _on_simplex(G: Array, h: Array) -> Array:
    """The a >= 0 with sum 1 and the least 1/2 a'Ga + h'a, from a = (1, 0, 0, ...)."""
    m = h.size
    width = padded(m)

    def row(values: Any = 0.0) -> Array:
        out = np.zeros(width)
        out[:m] = values
        return out

    K = np.zeros((width, width))
    K[:m, :m] = G
    a = row()
    a[0] = 1.0
    tol = ROUNDING.of_a_difference * (float(np.abs(h).max() + np.abs(G).max()) or 1.0)
    lo, hi, eps = row(), row(1.0), row()
    CHOICE.functions.pair_descent(K, row(G.diagonal()), row(-h - G[0]), a, lo, hi, eps, tol, ROUNDS.in_vain * m)
    weight = np.maximum(a[:m], 0.0)
    return np.asarray(weight / weight.sum())
