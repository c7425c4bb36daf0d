"""The loop around a solver of ridge regression: limits, clock, Ctrl-C, history, status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from ..limits import NEVER, Deadline, Interrupt, OutOfTimeError, StoppedError, interruptible, looking, now, until
from ..progress import Watch
from ..solution import Solution, Status, Step
from ..solvers.linear import Block, RidgeSolver, System, working
from ..solvers.weights import FeatureProblem, Weights
from .ridge_certificate import RidgeCertificate, certified, objective, of_weights

STOPPED = (StoppedError, OutOfTimeError)
_LESS = 0.999  # of an objective is clearly less, whatever the gaps


class Limits:
    """What a fit has to reach, what may end it before, and what has been seen so far."""

    def __init__(self, tol: float, max_iter: int, deadline: Deadline, watch: Watch) -> None:
        self.tol, self.max_iter, self.deadline, self.watch = tol, max_iter, deadline, watch
        self.hurried = deadline.limited
        self.interrupt = Interrupt()
        self.began = now()
        self.history: list[Step] = []

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """A context in which Ctrl-C and the deadline are reasons to stop, and end a piece of work by an error."""
        with interruptible() as self.interrupt, looking(self.interrupt.look), until(self.deadline):
            yield

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """A context without the deadline: for the least that there must be."""
        kept, self.deadline = self.deadline, NEVER
        try:
            yield
        finally:
            self.deadline = kept

    @contextmanager
    def once(self) -> Iterator[None]:
        """A context of one round: for an answer that need not be the best of its kind."""
        kept, self.max_iter = self.max_iter, min(self.max_iter, len(self.history) + 1)
        try:
            yield
        finally:
            self.max_iter = kept

    def look(self) -> None:
        """Raise where there is a reason to stop: for work that cannot give anything back."""
        if self.why_stop() is not None:
            raise StoppedError

    def why_stop(self) -> Status | None:
        """Ctrl-C, or the end of the time."""
        if self.interrupt.asked:
            return Status.INTERRUPTED
        if self.deadline.passed():
            return Status.OUT_OF_TIME
        return None

    def step(self, primal: float, dual: float, support: int) -> Status | None:
        """Take note of a round, tell whoever watches, and say whether to stop."""
        step = Step(len(self.history) + 1, primal, dual, support, now() - self.began)
        self.history.append(step)
        if self.watch.round(0, step):
            return Status.INTERRUPTED
        if step.iteration >= self.max_iter:
            return Status.OUT_OF_ITERATIONS
        return self.why_stop()


def solve_system(system: System, solver: RidgeSolver, penalty: float, limits: Limits) -> tuple[list[Solution], Block]:
    """The solution for each target, and all of them as the solver gave them.

    Ends where both the relative gap and the relative residual are at most tol. Where rounding keeps the residual above,
    the gap alone decides whether the answer has converged.
    """
    best: tuple[float, Block, list[RidgeCertificate]] | None = None
    blocks, block = solver.blocks(system, limits.tol), working(system)
    status: Status | None = None
    while True:
        try:
            block = next(blocks)
            status = limits.why_stop() if block.working else limits.step(*objective(system, block, penalty), system.n)
        except StopIteration:
            break
        except STOPPED:  # the block before counts
            status = limits.why_stop() or Status.OUT_OF_TIME
        if status is None and not block.final:
            continue
        with looking(None), until(NEVER):
            block = block.best() if block.working and block.best is not None else block
            certificates = certified(system, block, penalty)
        residual = max(certificate.relative_residual for certificate in certificates)
        if best is None or residual <= best[0]:
            best = residual, block, certificates
        if max(residual, *(certificate.relative_gap for certificate in certificates)) <= limits.tol:
            status = Status.CONVERGED
        if status is not None:
            break
    assert best is not None  # every solver yields
    _, block, certificates = best
    seconds = now() - limits.began
    fates = [_fate(certificate, status or Status.STALLED, limits.tol) for certificate in certificates]
    history = tuple(limits.history)
    solutions = [
        Solution(block.beta[:, j], float(block.b[j]), replace(certificate, status=fate), history, seconds, solver)
        for j, (certificate, fate) in enumerate(zip(certificates, fates, strict=True))
    ]
    return solutions, block


def solve_features(
    problem: FeatureProblem, answers: Iterator[Weights], limits: Limits
) -> tuple[Weights, list[RidgeCertificate]]:
    """The best weights, and the certificate of each target: until every relative gap is at most tol.

    Where it ends before anything was measured, the latest weights; the certificate then says that nothing is known.
    """
    best: Weights | None = None
    latest = Weights.unmeasured(problem, np.zeros(problem.size))
    status: Status | None = None
    try:
        for answer in answers:
            if answer.working:
                latest = answer
                status = limits.why_stop()
            else:
                if best is None or (answer.gap <= best.gap).all() or (answer.primal < _LESS * best.primal).all():
                    best = answer
                primal = float(answer.primal.sum())
                status = limits.step(primal, primal - float(answer.gap.sum()), problem.size[0])
                if all(c.relative_gap <= limits.tol for c in of_weights(problem, answer, Status.STALLED, limits.tol)):
                    status = Status.CONVERGED
            if status is not None:
                break
    except STOPPED:
        status = limits.why_stop() or Status.OUT_OF_TIME
    found = latest if best is None else best
    return found, of_weights(problem, found, status or Status.STALLED, limits.tol)


def _fate(certificate: RidgeCertificate, status: Status, tol: float) -> Status:
    """The status of one target: others may be the reason for what ended the fit."""
    if certificate.status is Status.INDEFINITE:
        return certificate.status
    return Status.CONVERGED if certificate.relative_gap <= tol else status
