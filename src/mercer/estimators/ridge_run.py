"""The loop around a solver of ridge regression: limits, clock, Ctrl-C, history, status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np

from ..interrupt import Interrupt, interruptible
from ..progress import Watch
from ..solution import Solution, Status, Step
from ..solvers.linear import Block, RidgeSolver, System
from ..solvers.weights import FeatureProblem, Weights, measured
from .ridge_certificate import RidgeCertificate, certified, objective, of_weights


class Limits:
    """What may end a fit before it is done, and what has been seen so far."""

    def __init__(self, interrupt: Interrupt, max_iter: int, deadline: float | None, watch: Watch) -> None:
        self.interrupt, self.max_iter, self.deadline, self.watch = interrupt, max_iter, deadline, watch
        self.began = perf_counter()
        self.history: list[Step] = []

    def why_stop(self) -> Status | None:
        """Ctrl-C, or the end of the time."""
        if self.interrupt.asked:
            return Status.INTERRUPTED
        if self.deadline is not None and perf_counter() >= self.deadline:
            return Status.OUT_OF_TIME
        return None

    def step(self, primal: float, dual: float, support: int) -> Status | None:
        """Take note of a round, tell whoever watches, and say whether to stop."""
        step = Step(len(self.history) + 1, primal, dual, support, perf_counter() - self.began)
        self.history.append(step)
        if self.watch.round(0, step):
            return Status.INTERRUPTED
        if step.iteration >= self.max_iter:
            return Status.OUT_OF_ITERATIONS
        return self.why_stop()


def solve_system(
    system: System,
    solver: RidgeSolver,
    penalty: float,
    *,
    tol: float,
    max_iter: int,
    deadline: float | None,
    watch: Watch,
) -> tuple[list[Solution], Block]:
    """The solution for each target, and all of them as the solver gave them.

    Ends where both the relative gap and the relative residual are at most tol. Where rounding keeps the residual above,
    the gap alone decides whether the answer has converged.
    """
    best: tuple[float, Block, list[RidgeCertificate]] | None = None
    status: Status | None = None
    with interruptible() as interrupt:
        limits = Limits(interrupt, max_iter, deadline, watch)
        for block in solver.blocks(system, tol):
            status = limits.why_stop() if block.working else limits.step(*objective(system, block, penalty), system.n)
            if status is None and not block.final:
                continue
            if block.working and block.best is not None:
                block = block.best()
            certificates = certified(system, block, penalty)
            residual = max(certificate.relative_residual for certificate in certificates)
            if best is None or residual <= best[0]:
                best = residual, block, certificates
            if max(residual, *(certificate.relative_gap for certificate in certificates)) <= tol:
                status = Status.CONVERGED
            if status is not None:
                break
    assert best is not None  # every solver yields
    _, block, certificates = best
    seconds = perf_counter() - limits.began
    fates = [_fate(certificate, status or Status.STALLED, tol) for certificate in certificates]
    history = tuple(limits.history)
    solutions = [
        Solution(block.beta[:, j], float(block.b[j]), replace(certificate, status=fate), history, seconds, solver)
        for j, (certificate, fate) in enumerate(zip(certificates, fates, strict=True))
    ]
    return solutions, block


def solve_features(
    problem: FeatureProblem,
    answers: Iterator[Weights],
    *,
    tol: float,
    max_iter: int,
    deadline: float | None,
    watch: Watch,
) -> tuple[Weights, list[RidgeCertificate], tuple[Step, ...]]:
    """The best weights, the certificate of each target, and the rounds: until every relative gap is at most tol."""
    best: Weights | None = None
    status: Status | None = None
    with interruptible() as interrupt:
        limits = Limits(interrupt, max_iter, deadline, watch)
        for answer in answers:
            if answer.working:
                status = limits.why_stop()
            else:
                if best is None or (answer.gap <= best.gap).all():
                    best = answer
                primal = float(answer.primal.sum())
                status = limits.step(primal, primal - float(answer.gap.sum()), problem.size[0])
                if all(c.relative_gap <= tol for c in of_weights(problem, answer, Status.STALLED, tol)):
                    status = Status.CONVERGED
            if status is not None:
                break
    if best is None:  # stopped before anything was measured
        best = Weights.of(problem, measured(problem, np.zeros(problem.size)), np.ones(problem.size[1]))
        primal = float(best.primal.sum())
        limits.step(primal, primal - float(best.gap.sum()), problem.size[0])
    return best, of_weights(problem, best, status or Status.STALLED, tol), tuple(limits.history)


def _fate(certificate: RidgeCertificate, status: Status, tol: float) -> Status:
    """The status of one target: others may be the reason for what ended the fit."""
    if certificate.status is Status.INDEFINITE:
        return certificate.status
    return Status.CONVERGED if certificate.relative_gap <= tol else status
