"""Least squares of y - f, by conjugate gradients in explicit features: a fair answer for any loss, and soon found.

Each step is two passes over the features. After few of them the objective is nearer to the best possible than after as
many passes of coordinate descent, whose coefficients raise the dual while their primal value is still poor. Then the
answer goes towards those of stochastic steps, for as long as there is time.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from typing import ClassVar

import numpy as np

from .._core.core import CHOICE
from ..amounts import TOLERANCE
from ..arithmetic import inner
from ..limits import check_limits
from ..problem import Problem
from ..solution import Status
from ..types import Array
from .base import Iterate, Solver, require_features
from .conjugate_gradients import USUAL_STEPS, Carried, one_column
from .features_or_kernels import table_of
from .stochastic import StochasticSubgradient


@dataclass(frozen=True)
class LeastSquares(Solver):
    """The answer where time is short, of a problem with explicit features: towards least squares, and then towards each
    answer of stochastic steps, as far as that helps with the loss.
    """

    exhausted: ClassVar[Status] = Status.OUT_OF_TIME
    hurried: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        require_features(self, problem, problem.gram.design)

    def iterates(self, problem: Problem, start: Array | None) -> Generator[Iterate, Array | None, None]:
        core, design = CHOICE.functions, problem.gram.design
        points, zeros = table_of(problem, design.squared_norms), np.zeros(problem.n)
        beta, scores, (b, _) = zeros.copy(), zeros.copy(), problem.best_constant
        fair = (Iterate(target, held, dual=0.0, dual_beta=zeros) for target, held in _least_squares(problem))
        steps, primal = StochasticSubgradient(random_state=0).iterates(problem, None), np.inf
        for targets in (fair, steps):
            for target in targets:
                b = core.approach(beta, scores, b, target.beta, target.scores, points, problem.bias)
                losses, _ = core.losses_and_conjugates(scores + b, points, zeros)
                before, primal = primal, 0.5 * inner(beta, scores) + losses
                yield Iterate(beta, scores, b, target.dual, gap=primal - target.dual, dual_beta=target.dual_beta)
                if targets is fair and before - primal <= TOLERANCE * primal:
                    break


def _least_squares(problem: Problem) -> Generator[tuple[Array, Array], None, None]:
    """Better and better beta, and K beta.

    With w = Z'beta, e = column sum beta and f = Z w + column e, where K = Z Z' + column^2, w and e of the answer solve
    (w, e) + (Z, column)'C f = (Z, column)'C t. beta is carried along, so that w and e stay its combinations.
    """
    design, C = problem.gram.design, problem.C
    column, d = sqrt(design.constant), design.width

    f = np.zeros(problem.n)

    def of_points(v: Array) -> Array:
        check_limits()
        return np.append(design.combination(v), column * v.sum())

    def apply(v: Array) -> Array:
        check_limits()
        f[:] = design.dots(v[:d]) + column * v[d]
        return v + of_points(C * f)

    start = C * (problem.y - problem.bias * problem.y.mean())
    wanted, c, beta, none = of_points(start), Carried(start), np.zeros(problem.n), np.zeros(problem.n)
    for place in islice(one_column(wanted, apply, np.copy), USUAL_STEPS):
        if place.stuck:
            return
        c.follow(place, f, C, none)
        beta += place.step * c.direction
        yield beta, c.f
