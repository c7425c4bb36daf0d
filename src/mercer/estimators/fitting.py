"""Several problems on one Gram matrix: its form, and the loop over the problems."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..amounts import AT_A_TIME, LARGEST, SHARE
from ..columns import SCRATCH
from ..driver import solve
from ..examination import examine
from ..gram import DenseGram, Gram, LinearGram, PointsGram, unformed
from ..kernels import Linear
from ..kernels.points import Domain, count, nbytes, squared_norms, squares_fit_in_single, take, width
from ..limits import Deadline, Interrupt, interruptible
from ..losses import HardMargin
from ..memory import format_bytes, parse_bytes
from ..parallel import for_each, one_blas_thread, thread_count
from ..problem import Task, feasible_start
from ..progress import Watch
from ..solution import Solution, Status, Step
from ..solvers import CoordinateDescent, Solver
from ..solvers.base import WHOLE
from ..types import Array, Points
from .tasks import Training
from .together import settle

_POINTS_FOR_A_THREAD = 300  # With smaller problems, threads would only wait for each other.
_SOON = WHOLE // 2  # Points, up to which steps of pairs soon solve a problem of a linear kernel,
_EASY = 100.0  # where C |x|^2 is no more than this.
_LEAST_SECONDS = 0.02  # For each of many problems.
_SHARE = 0.5  # of the memory that a dense matrix may take: the problems need some too


def training_gram(machine: Any, training: Training) -> Gram:
    """The Gram matrix that a machine trains on: dense for few points, else by rows.

    With few coordinates it is the points alone, where that is worth it: then columns of very different sizes, as in
    data that was not scaled, are no trouble. Else values are float64 for few points and float32 for many: solvers
    refine their answer in float64 in either case.
    """
    kernel, X, tasks, solver = training.kernel, training.points, training.tasks, machine._solver()
    if kernel.domain is Domain.VALUES:
        return DenseGram.of_matrix(X, checked=True)
    n, budget = count(X), parse_bytes(machine.memory)
    if isinstance(kernel, Linear):
        worth = solver is None and nbytes(X) <= SHARE.little * budget and _worth_features(X, tasks)
        if worth or isinstance(solver, CoordinateDescent):  # which needs the points themselves
            return LinearGram(X)
    several = solver is None and len(tasks) > 1
    precise = n <= (WHOLE if several else LARGEST.points_exact) or not squares_fit_in_single(X)
    dtype = np.dtype(np.float64 if precise else np.float32)
    size = n * n * dtype.itemsize
    if n <= WHOLE and size + SCRATCH <= _SHARE * budget:
        return DenseGram.compute(kernel, X, f"dense: {format_bytes(size)} of {format_bytes(budget)}", dtype)
    return PointsGram(kernel, X, budget, f"by rows: dense would need {format_bytes(size)}", dtype)


def _worth_features(X: Points, tasks: Sequence[Task]) -> bool:
    """Whether steps in w serve all problems, and are faster than steps of pairs: with few features, and many points or
    a large C |x|^2.
    """
    if any(task.mass or not task.loss.quadratic or isinstance(task.loss, HardMargin) for task in tasks):
        return False
    if min(len(task.y) for task in tasks) <= width(X):
        return False
    size = float(squared_norms(X).mean())
    return any(len(task.y) > _SOON or float(task.C.mean()) * size > _EASY for task in tasks)


def fit_machines(
    gram: Gram,
    tasks: Sequence[Task],
    solver: Solver | None,
    *,
    tol: float,
    max_iter: int | None,
    deadline: Deadline,
    watch: Watch | None = None,
    starts: Sequence[Array] | None = None,
    kept: Any = None,
) -> list[Solution]:
    """Solve every problem, each from its start. Ctrl-C, the deadline or a watch ends them; each has an equal share of
    the time that is left, and the first, which finds landmarks for all of them, two. A Checkpoint that is `kept` has
    starts, and is given the coefficients of each round.

    Problems that were not begun by then are answered by a constant f, with that status and an honest certificate.
    """
    with interruptible() as interrupt:
        fitting = _Fitting(gram, tasks, solver, tol, max_iter, deadline, watch, interrupt, kept)
        starts = starts if kept is None else kept.betas
        small = min([len(task.y) for task in tasks]) <= WHOLE
        if small and solver is None and max_iter is None and starts is None:
            fitting.at_once()
        fitting.one_by_one(starts)
    found = [fitting.solutions[number] for number in range(len(tasks))]
    if kept is not None:
        kept.write([solution.beta for solution in found])
    return found


@dataclass(eq=False)
class _Fitting:
    """Several problems on one matrix, and the answers so far, by their numbers."""

    gram: Gram
    tasks: Sequence[Task]
    solver: Solver | None
    tol: float
    max_iter: int | None
    deadline: Deadline
    watch: Watch | None
    interrupt: Interrupt
    kept: Any = None
    solutions: dict[int, Solution] = field(default_factory=dict)
    stop: list[Status] = field(default_factory=list)
    constants: dict[Any, Solution] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)

    def at_once(self) -> None:
        """Those that are settled by one native call for many."""

        def take(number: int, solution: Solution) -> None:
            self._keep(number, solution, self._told(number, solution.history[0]))

        settle(self.gram, self.tasks, self.tol, take, self._ended)

    def _ended(self) -> bool:
        return bool(self.stop) or self.interrupt.asked or (self.deadline.limited and self.deadline.passed())

    def _told(self, number: int, step: Step) -> bool:
        """Tell of a round; whether we are told to stop."""
        if self.watch is None:
            return False
        with self.lock:
            return self.watch.round(number, step)

    def one_by_one(self, starts: Sequence[Array] | None) -> None:
        """The others: large ones on all cores, small ones several at a time, each on one core."""
        left = [number for number in range(len(self.tasks)) if number not in self.solutions]
        if not left:
            return
        small, threads = _side_by_side(self.gram, self.tasks) if len(self.tasks) > 1 else (set(), 1)
        blas = isinstance(self.gram, LinearGram) or (self.solver is not None and self.solver.factors)  # its threads
        with nullcontext() if blas else one_blas_thread():
            for number in left:
                if number not in small:
                    self._solve(number, starts, 1)
            if small:
                several = partial(self._solve, starts=starts, threads=threads)
                for_each([number for number in left if number in small], several, threads)

    def _solve(self, number: int, starts: Sequence[Array] | None, threads: int) -> None:
        """One problem, where there is time for it."""
        task, deadline = self.tasks[number], self.deadline
        left = deadline.left() if deadline.limited else None
        if number > 0 and left == 0.0:
            self.stop.append(Status.OUT_OF_TIME)
        if self.interrupt.asked and not task.mass:  # else zeros are no answer: `solve` raises
            self.stop.append(Status.INTERRUPTED)
        if self.stop:
            self.solutions[number] = self._constant(task, self.stop[0])
            return
        if left is not None:
            turns, own = -(-(len(self.tasks) - len(self.solutions)) // threads), 1 + (number == 0)
            share = left * own / (turns - 1 + own)
            left = min(left, max(share, _LEAST_SECONDS))  # with less, none of them would have an answer
        solution = solve(
            task.problem(self.gram), self.solver, tol=self.tol, max_iter=self.max_iter, time_limit=left,
            start=None if starts is None else starts[number],
            callback=None if self.watch is None else partial(self._told, number),
            keep=None if self.kept is None else partial(self.kept.keep, number),
        )  # fmt: skip
        self._keep(number, solution, solution.certificate.status is Status.INTERRUPTED)

    def _constant(self, task: Task, status: Status) -> Solution:
        """The answer of a problem that was not begun: one for all that have the same labels and weights."""
        if task.mass:
            return not_begun(task, self.gram, status)
        key = status, task.loss, task.bias, task.y.tobytes(), task.C.tobytes()
        if key not in self.constants:
            self.constants[key] = not_begun(task, self.gram, status)
        return self.constants[key]

    def _keep(self, number: int, solution: Solution, told: bool) -> None:
        """Take an answer; whoever has `told` us to stop, or tells us now, ends the rest."""
        with self.lock:
            self.solutions[number] = solution
            if (self.watch is not None and self.watch.done(number, solution)) or self.interrupt.asked or told:
                self.stop.append(Status.INTERRUPTED)
            elif solution.certificate.status is Status.WORKERS_LOST:
                self.stop.append(Status.WORKERS_LOST)


def _side_by_side(gram: Gram, tasks: Sequence[Task]) -> tuple[set[int], int]:
    """Which problems are solved several at a time, each by one thread, and by how many threads."""
    if gram.afar:
        return set(), 1
    linear = isinstance(gram, LinearGram)  # problems on it share nothing but the points
    shared = [task.rows is None and not gram.given for task in tasks]  # rows kept for all in turn
    small = {i for i, task in enumerate(tasks) if linear or (task.n <= 2 * LARGEST.points_held and not shared[i])}
    if linear:
        busy = gram.design.work > AT_A_TIME.entries_for_a_thread
    else:
        busy = sum([tasks[number].n for number in small]) > _POINTS_FOR_A_THREAD * len(small)
    return small, thread_count() if busy and len(small) > 1 else 1


def not_begun(task: Task, gram: Gram, status: Status) -> Solution:
    """The coefficients that a solver would have started from, certified without forming a matrix."""
    problem = task.problem(gram)
    if task.mass and not gram.afar:
        index = np.arange(gram.n) if task.rows is None else task.rows
        problem = replace(task, rows=None).problem(unformed(gram.kernel, take(gram.points, index)))
    beta = feasible_start(problem, None)
    certificate, _, b = examine(problem, beta, status=status)
    return Solution(beta, b, certificate)
