"""Rounds of a solver of problems with a column for each target, all of them solved at once."""

from __future__ import annotations

from typing import Any

from .limits import NEVER, StoppedError, looking, now, until
from .rounds import ROUNDS, Run
from .solution import Joint, Solution, Status, Step
from .solvers import Solver
from .solvers.ridge.ridge_auto import affords, cheaper_ridge


class SeveralColumns(Run):
    """A problem with a column for each target, all of them solved at once."""

    best: Any = None

    def first_share(self, solver: Any) -> float:
        return float(affords(self.problem, solver, self.deadline))

    def cheaper(self, solver: Any) -> Solver:
        return cheaper_ridge(self.problem, solver, self.deadline)

    def take(self, iterate: Any) -> None:
        self.last = iterate
        stop = self._why_stop(None if iterate.working else self._step(*iterate.objective()))
        if stop is not None or (iterate.done and not iterate.working):
            self.judge(iterate, stop)

    def _why_stop(self, step: Step | None) -> Status | None:
        told = step is not None and self._told(step)
        if told or self.interrupt.asked:
            return Status.INTERRUPTED
        if step is not None and step.iteration >= (self.max_iter or ROUNDS):
            return Status.OUT_OF_ITERATIONS
        return Status.OUT_OF_TIME if self.deadline.passed() else None

    def judge(self, iterate: Any, stop: Status | None) -> None:
        """Certify each column; the best answer so far is kept."""
        with looking(None), until(NEVER):
            iterate = iterate.stopped() if iterate.working else iterate
            if self.best is None or iterate.better(self.best):
                self.best = iterate
            self.judged, enough = True, self.best is iterate and iterate.enough(self.tol)
        self.status = Status.CONVERGED if enough else stop

    def break_off(self) -> None:
        if self.last is None:
            raise StoppedError  # there is nothing to give back
        self.judge(self.last, Status.INTERRUPTED)

    def keep_what_is_left(self) -> None:
        if self.best is None:
            raise
        self.status = Status.WORKERS_LOST

    def solution(self, solver: Solver, reason: str) -> Joint:
        """The answer of each target; others may be the reason for what ended the fit."""
        assert self.status is not None
        beta, b = self.best.columns()
        seconds, found = now() - self.began, []
        for j, certificate in enumerate(self.best.certificates):
            ended = certificate.ended(self.status, self.tol, self.best.doubt)
            found.append(Solution(beta[:, j], float(b[j]), ended, tuple(self.history), seconds, solver, reason))
        return Joint(found, self.best)
