"""What answers and certificates take: those that cannot be finished in time are not begun; and what is done then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .amounts import A_DIGIT
from .limits import flop_seconds, now
from .problem import Problem
from .types import Array

if TYPE_CHECKING:
    from .solvers import Iterate, Solver

PROBE = 256  # rows of a certificate, where there is no time for all of them
_TRIFLE = 1e5  # values or multiplications that are not worth a look at the clock
_PARTS = (0.2 ** np.arange(1.0, 6.0)).tolist()  # of an answer that is worse than none, one of which may be better
_PASSES = 1.5  # over features: that of the certificate, and some for the answer that is kept
_DOUBLE = 3.0  # float32 values are computed in the time of a float64 value, at most


def first_seconds(problem: Problem, solver: Solver) -> float:
    """What it takes until the first iterate of a solver that is of use; 0 for a trifle."""
    values, flops = solver.first_work(problem)
    if _is_trifle(problem, values) and flops <= _TRIFLE:
        return 0.0
    seconds = values * problem.gram.value_seconds if values else 0.0
    return seconds + (flops * flop_seconds() if flops else 0.0)


def _is_trifle(problem: Problem, values: float) -> bool:
    """Whether so few kernel values are soon computed: a clock would rather see what else the machine does."""
    kernel = problem.gram.kernel
    return values <= _TRIFLE and not (kernel is not None and kernel.serial)


@dataclass(eq=False)
class Costs:
    """The seconds of a float64 certificate."""

    problem: Problem
    passed: float = 0.0
    """What a pass over features has taken; 0 where that is not known yet."""

    def seconds(self, beta: Array, dual_beta: Array | None) -> float:
        """Of this answer: by what a kernel value takes; with features, by what a pass over them has taken."""
        gram, n = self.problem.gram, self.problem.n
        used = _used(beta, dual_beta)
        support = n if gram.design is not None else max(1, int(np.count_nonzero(used)))
        if _is_trifle(self.problem, n * support):
            return 0.0
        if gram.design is None:
            return gram.value_seconds * (_DOUBLE if gram.dtype == np.float32 else 1.0) * n * support
        if not self.passed:
            start = now()
            gram.recompute(np.asarray(used, np.float64))
            self.passed = _PASSES * (now() - start)
        return self.passed

    def too_long(self, beta: Array, dual_beta: Array | None, left: float) -> bool:
        """Whether it would take more than these seconds. Where a kernel value's time says so, some rows are tried:
        others may have used the machine while it was measured.
        """
        gram, n, seconds = self.problem.gram, self.problem.n, self.seconds(beta, dual_beta)
        if seconds <= left:
            return False
        rows = int(min(PROBE, A_DIGIT * left * n / seconds))
        if gram.design is not None or not 0 < rows < n:
            return True
        start = now()
        gram.recompute(np.asarray(_used(beta, dual_beta), np.float64), np.linspace(0, n - 1, rows).astype(np.intp))
        return (now() - start) * n > left * rows


def _used(beta: Array, dual_beta: Array | None) -> Array:
    """Which coefficients a certificate asks for."""
    return np.asarray(beta != 0.0 if dual_beta is None else (beta != 0.0) | (dual_beta != 0.0))


def cheaply_checked(problem: Problem, iterate: Iterate) -> tuple[Array, Iterate]:
    """K beta as the solver has it; another dual point than beta, whose product with K is not known, is left out:
    zeros are one too, and cost nothing.
    """
    assert iterate.scores is not None
    if iterate.dual_beta is None or problem.mass:
        return iterate.scores, replace(iterate, dual_beta=None)
    zeros = np.zeros(problem.n)
    return np.column_stack([iterate.scores, zeros]), replace(iterate, dual_beta=zeros)


def best_part(problem: Problem, beta: Array, scores: Array | None) -> tuple[float, Array]:
    """The part of beta, soon broken off, that is the best answer, and K beta. Where none is better than nothing, the
    least one costs hardly more, and still tells which way f goes.
    """
    if scores is None:
        scores = problem.gram @ beta if problem.gram.design is not None else np.zeros(problem.n)
    costs = {part: problem.primal(part * beta, problem.best_bias(part * scores), part * scores) for part in _PARTS}
    return min(costs, key=lambda part: costs[part]), scores
