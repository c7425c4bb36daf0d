"""Several problems on one Gram matrix: its form, and the loop over the problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np

from ..driver import solve
from ..gram import DenseGram, Gram, LazyGram
from ..interrupt import interruptible
from ..kernels import Kernel
from ..kernels.evaluate import SCRATCH
from ..kernels.points import Domain, count, is_sparse
from ..losses import Loss
from ..memory import format_bytes, parse_bytes
from ..problem import Problem
from ..progress import Watch
from ..solution import Solution, Status
from ..solvers import Solver
from ..solvers.decomposition import feasible_start
from ..types import Array, Index, Points

_PRECISE = 1500  # up to so many points, kernel values are float64 from the start
_ONE_PIECE = 2048  # up to so many points, a single problem needs all of K soon
_SMALL, _FINE, _ROUNDS = 100, 1e-13, 10  # so few points are worth this gap, if so many rounds reach it
_SHARE = 0.5  # of the memory that a dense matrix may take: the problems need some too


@dataclass(frozen=True, eq=False)
class Task:
    """A problem on some of the points of a shared Gram matrix; on all of them where rows is None."""

    y: Array
    loss: Loss
    C: Array
    bias: bool = True
    mass: float = 0.0
    rows: Index | None = None
    name: str = ""

    def problem(self, gram: Gram) -> Problem:
        """The problem itself."""
        own = gram if self.rows is None else gram.subset(self.rows)
        return Problem(own, self.y, self.loss, self.C, self.bias, self.mass)


def training_gram(kernel: Kernel, X: Points, memory: int | float | str, *, shared: bool = False) -> Gram:
    """The Gram matrix to train on: dense where much of it will be asked for and it fits well, else row by row.

    Values are float64 for few points and float32 for many: solvers refine their answer in float64 in either case.
    """
    if kernel.domain is Domain.VALUES:
        return DenseGram.compute(kernel, X, "dense: the values were given")
    n, budget = count(X), parse_bytes(memory)
    dtype = np.dtype(np.float64 if n <= _PRECISE or not _squares_fit_in_single(X) else np.float32)
    size = n * n * dtype.itemsize
    if (shared or n <= _ONE_PIECE) and size + SCRATCH <= _SHARE * budget:
        return DenseGram.compute(kernel, X, f"dense: {format_bytes(size)} of {format_bytes(budget)}", dtype)
    return LazyGram(kernel, X, budget, f"lazy: dense would need {format_bytes(size)}", dtype)


def _squares_fit_in_single(X: Points) -> bool:
    """Whether float32 can hold the squares of the largest entries; objects are no concern of ours."""
    values = X.data if is_sparse(X) else X
    if getattr(getattr(values, "dtype", None), "kind", "") != "f" or values.size == 0:
        return True
    return 1e-16 < max(float(values.max()), -float(values.min())) < 1e16


def fit_machines(
    gram: Gram,
    tasks: Sequence[Task],
    solver: Solver | None,
    *,
    tol: float,
    max_iter: int,
    deadline: float | None,
    watch: Watch,
) -> list[Solution]:
    """Solve every problem. Ctrl-C, the deadline (of the clock perf_counter) or a watch ends all of them.

    Problems that were not begun by then are answered by a constant f, with that status and an honest certificate.
    """
    solutions: list[Solution] = []
    stop: Status | None = None
    with interruptible() as interrupt:
        for number, task in enumerate(tasks):
            problem = task.problem(gram)
            left = None if deadline is None else max(0.0, deadline - perf_counter())
            if number > 0 and stop is None and left == 0.0:
                stop = Status.OUT_OF_TIME
            if stop is not None:
                solutions.append(not_begun(problem, stop))
                continue
            callback = partial(watch.round, number)
            solution = solve(problem, solver, tol=tol, max_iter=max_iter, time_limit=left, callback=callback)
            solutions.append(polished(problem, solution) if solver is None and gram.n <= _SMALL else solution)
            if watch.done(number, solution) or interrupt.asked or solution.status is Status.INTERRUPTED:
                stop = Status.INTERRUPTED
    return solutions


def polished(problem: Problem, solution: Solution) -> Solution:
    """The answer to a small problem, improved almost to rounding: that costs a few milliseconds.

    Points that are repeated, and points with that weight, then give one answer, whatever the tolerance.
    """
    if not solution.certificate.converged:
        return solution
    finer = solve(problem, tol=_FINE, max_iter=_ROUNDS, start=solution)
    if not finer.certificate.relative_gap < solution.certificate.relative_gap:
        return solution
    certificate = replace(finer.certificate, status=Status.CONVERGED)
    return replace(solution, beta=finer.beta, b=finer.b, certificate=certificate)


def not_begun(problem: Problem, status: Status) -> Solution:
    """The coefficients that a solver would have started from."""
    beta = feasible_start(problem, None)
    certificate, _, b = problem.examine(beta, status=status)
    return Solution(beta, b, certificate)
