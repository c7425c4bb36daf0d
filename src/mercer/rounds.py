"""Rounds of a solver within limits: clock, history, callback, Ctrl-C, status.

OneColumn: of a problem with one beta; SeveralColumns: of problems with a column for each target.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from . import limits
from .costs import PROBE, Costs, best_part, cheaply_checked
from .examination import Near, examine
from .inseparable import may_be_inseparable
from .limits import Deadline, Interrupt, OutOfTimeError, StoppedError, heeded, now, stopped_by, until
from .losses import HardMargin
from .parallel import crew_kept, one_blas_thread
from .problem import Problem, require_in_range
from .solution import Certificate, Joint, Solution, Status, Step
from .solvers import Iterate, Solver
from .solvers.base import WHOLE, Raw
from .solvers.in_time import in_time
from .solvers.ridge.ridge_auto import ridge_in_time
from .types import Array

_AIM = 0.7  # of the tolerance: rounding in the values of a solver takes some
SMALL, FINE = 100, 1e-13  # so few points are worth this gap,
_POLISH = 10  # if so many rounds reach it
_SINGLE_FROM = 1e-5  # tolerances of at least this allow float32 kernel values in the certificate
_PROMPT = 0.3  # seconds that a certificate may take after Ctrl-C
_BETTER = 0.99  # an earlier iterate is given back where its objective was below this part of the last one's
_RESERVE = 0.2  # of the time limit, at most, is kept for the certificate
_GRACE = 0.05  # of the time limit, a certificate may end later
_HELD = ("beta", "scores", "dual_beta", "weights")  # arrays of an iterate
_AGAIN = 0.9  # a round is begun only if there is time for this part of what the shorter of the last two took
ROUNDS = 2_000  # full ones: the most work, where no number of rounds is given
_READ, _MOST_READ = 5, 10_000  # times n; at most: so many rows of K are read in the pair steps of a full round
_NO_LIMIT = nullcontext()


def full_round(n: int) -> float:
    """The work of a round with a full working set: its rows of K are computed, and read in some steps of pairs."""
    return float(WHOLE * (n + min(_READ * n, _MOST_READ)))


@dataclass(eq=False)
class Run:
    """One solve as it goes: rounds of a solver within limits, and whether to go on (status None)."""

    problem: Any
    tol: float
    max_iter: int | None
    deadline: Deadline
    callback: Callable[[Step], Any] | None
    interrupt: Interrupt
    began: float = field(default_factory=now)
    followed: float = 0.0  # since when the solver at hand is followed
    by: Solver | None = None  # who has taken the place of the solver
    status: Status | None = None
    last: Any = None  # the best answer, should time run out in the middle of a round
    certified: bool = False  # whether there is a certificate
    history: list[Step] = field(default_factory=list)
    keep: Callable[[Array], Any] | None = None
    polish: int = 0  # rounds in which the aim is almost that of rounding, for one answer whatever the tolerance

    def take(self, iterate: Any) -> Array | None:
        """Look at an iterate; K beta is given back where it was recomputed."""
        raise NotImplementedError

    def certify(self, iterate: Any, stop: Status | None) -> Any:
        """Certify the iterate, and see whether that is the end."""
        raise NotImplementedError

    def break_off(self) -> None:
        """Ctrl-C in the middle of a round: the answer of the one before counts."""
        raise NotImplementedError

    def ready(self, solver: Solver) -> Solver:
        """The solver to follow."""
        raise NotImplementedError

    def follow(self, solver: Solver, start: Array | None) -> None:
        """Take iterates until there is a reason to stop. The status remains None, where there was no answer in time."""
        problem, limited = self.problem, self.deadline.limited
        generator = in_time(problem, solver, start) if limited else solver.iterates(problem, start)
        scores: Array | None = None
        self.followed = now() - self.began
        with nullcontext() if solver.factors else one_blas_thread(), crew_kept(), stopped_by(self.interrupt):
            while self.status is None:
                try:
                    with self._in_time() if limited else _NO_LIMIT:
                        iterate = generator.send(scores)
                        unknown = isinstance(iterate, Iterate) and iterate.scores is None
                        if unknown and (iterate.gap is None or iterate.dual is None):
                            iterate = replace(iterate, scores=self.problem.gram @ iterate.beta)
                    scores = self.take(iterate)
                except StopIteration:
                    if self.last is None and not self.certified:  # not one iterate
                        return
                    if not self.certified:
                        self.certify(self.last, Status.OUT_OF_TIME)
                    self.status = self.status or (self.by or solver).exhausted
                except OutOfTimeError:
                    if self.last is None:
                        return
                    self.certify(self.last, Status.OUT_OF_TIME)
                except StoppedError:
                    self.break_off()

    def _in_time(self) -> AbstractContextManager[Any]:
        """A context with the deadline of a round."""
        return until(self.deadline if self.last is None else self.deadline.earlier(self._reserve(self.last)))

    def _reserve(self, iterate: Any) -> float:
        """The time that is kept for the certificate."""
        return 0.0

    def _told(self, primal: float, dual: float, support: int, raw: Raw | None = None) -> bool:
        """Take note of a round, as the solver sees it; whether somebody wants us to stop."""
        step = Step(len(self.history) + 1, primal, dual, support, limits.clock() - self.began)
        if raw is not None:
            step = replace(step, raw=raw.value, beta=None if raw.beta is None else raw.beta.copy(), b=raw.b)
        self.history.append(step)
        return self.callback is not None and self.callback(step) is True


@dataclass(eq=False)
class OneColumn(Run):
    """A Problem: one beta and b."""

    problem: Problem

    def __post_init__(self) -> None:
        problem = self.problem
        require_in_range(problem.C, problem.gram.diag())
        whole = problem.gram if problem.gram.whole is None else problem.gram.whole
        self.polish = _POLISH if self.max_iter is None and whole.n <= SMALL else 0
        self.work, self.values_before, self.full = 0.0, problem.gram.values, full_round(problem.n)
        self.hard = isinstance(problem.loss, HardMargin)
        self.aim = _AIM * self.tol  # what the solver's own gap must be before a certificate is worth its while
        self.beta, self.b, self.scale = np.zeros(problem.n), 0.0, 1.0
        self.dual_beta: Array | None = None
        self.weights: Array | None = None
        self.certificate: Certificate | None = None
        self.doubt: str | None = None
        self.best_primal, self.best_beta = np.inf, self.beta
        self.costs = Costs(problem)

    def ready(self, solver: Solver) -> Solver:
        """The same, once it is known whether the kernel is in doubt."""
        try:
            with until(self.deadline) if self.deadline.limited else _NO_LIMIT, stopped_by(self.interrupt):
                self.doubt = self.problem.gram.doubt
        except StoppedError:  # f is a constant now, whose gap holds with any kernel
            self.break_off()
        return solver

    def break_off(self) -> None:
        """Ctrl-C in the middle of a round: the answer of the one before counts, or none at all (a constant f)."""
        if self.last is None:
            if self.problem.mass:
                raise KeyboardInterrupt  # zeros are no answer, and any other beta takes long to examine
            zeros = np.zeros(self.problem.n)
            self.last = Iterate(zeros, zeros)
        self.certify(self.last, Status.INTERRUPTED)

    def keep_what_is_left(self) -> None:
        """Nobody can compute K beta: the last answer, with the objectives that its solver saw."""
        assert self.last is not None
        self.status, self.certificate = Status.WORKERS_LOST, self.history[-1].unexamined(self.problem.n)
        self.beta, self.b, self.dual_beta, self.weights = self.last.beta, self.last.b or 0.0, None, None

    def certify(self, iterate: Iterate, stop: Status | None) -> Array:
        """Certify the iterate, and see whether that is the end; K beta is given back."""
        with stopped_by(None if stop else self.interrupt):  # what is begun is finished
            scores = self._certified_scores(iterate, stop)
        assert self.certificate is not None
        self.status = self.certificate.proved(self.tol) or stop
        return scores

    def take(self, iterate: Iterate) -> Array | None:
        """Look at an iterate; K beta is given back where it was recomputed."""
        if iterate.gap is not None and iterate.dual is not None:
            primal, dual = iterate.dual + iterate.gap, iterate.dual
        else:
            primal, dual = self._measured(iterate)
        self.work = (len(self.history) + 1) * self.full if iterate.work is None else iterate.work
        fresh, self.by = iterate.by is not self.by, iterate.by
        held: Any = {name: values.copy() for name in _HELD if (values := getattr(iterate, name)) is not None}
        kept = replace(iterate, **held)  # valid while the solver goes on
        if iterate.beta.any():
            self.last = kept
        if self.keep is not None:
            self.keep(kept.beta)
        if primal < self.best_primal and not iterate.partial:
            self.best_primal, self.best_beta = primal, kept.beta
        told = self._told(primal, dual, int(np.count_nonzero(iterate.beta)), iterate.raw)
        stop = self._why_stop(iterate, told, fresh)
        size = max(abs(primal), abs(dual))
        seen = (primal - dual) / size if 0.0 < size < np.inf else primal - dual  # the relative gap
        hopeless = self.hard and may_be_inseparable(self.problem, iterate.beta, iterate.scores)
        aim = FINE if len(self.history) < self.polish else self.aim
        good = seen <= aim and not iterate.partial
        if not (stop or iterate.done or hopeless or good):
            return None
        if stop is None and self.deadline.limited:
            late = self.costs.too_long(iterate.beta, iterate.dual_beta, self.deadline.left())
            stop = Status.OUT_OF_TIME if late else None
        scores = self.certify(iterate, stop)
        self.aim = 0.3 * (min(self.aim, seen) if seen > 0.0 else self.aim)  # below 0, where rounding hides it
        return scores

    def _measured(self, iterate: Iterate) -> tuple[float, float]:
        """Primal and dual value, where the solver does not give both."""
        problem, scores = self.problem, iterate.scores
        assert scores is not None
        b = problem.best_bias(scores) if iterate.b is None else iterate.b
        primal = problem.primal(iterate.beta, b, scores)
        if iterate.dual_beta is not None:
            dual = problem.dual(iterate.dual_beta) if iterate.dual is None else iterate.dual
        else:
            dual = problem.dual(iterate.beta, scores)
            if iterate.dual is not None:  # the gap is a sum over points, each as good as its own score; the dual is not
                primal, dual = iterate.dual + (primal - dual), iterate.dual
        return primal, dual

    def _why_stop(self, iterate: Iterate, told: bool, fresh: bool) -> Status | None:
        if told or self.interrupt.asked:
            return Status.INTERRUPTED
        rounds = self.work / self.full if self.max_iter is None else len(self.history)
        if rounds >= (self.max_iter or ROUNDS):
            return Status.OUT_OF_ITERATIONS
        if not self.deadline.limited:
            return None
        if self.last is None:
            return Status.OUT_OF_TIME if self.deadline.passed() else None
        times = [self.followed, *(step.seconds for step in self.history)][-3:]
        shorter = min(after - before for before, after in pairwise(times))  # of the last two rounds
        again = 0.0 if fresh else _AGAIN * shorter
        late = self._reserve(iterate) + again >= self.deadline.left()
        return Status.OUT_OF_TIME if late else None

    def _reserve(self, iterate: Iterate) -> float:
        """The time that is kept for the certificate."""
        if not self.deadline.limited:
            return 0.0
        seconds = self.costs.seconds(iterate.beta, iterate.dual_beta)
        if seconds <= _RESERVE * self.deadline.seconds:
            return seconds
        return min(seconds * PROBE / self.problem.n, _RESERVE * self.deadline.seconds)  # only a sample is checked

    def _certified_scores(self, iterate: Iterate, stop: Status | None) -> Array:
        """Recompute everything; where there is no time left for that, check the solver's values on a sample."""
        held, fetched = None, None if iterate.fetch is None else iterate.fetch()
        if fetched is not None:
            iterate = replace(iterate, scores=fetched[0], error=fetched[1], behind=False)
        sudden = stop in (Status.INTERRUPTED, Status.OUT_OF_TIME) and self.problem.gram.design is None
        if sudden and iterate.scores is not None:  # with features, a certificate is two passes
            left = _PROMPT
            if stop is Status.OUT_OF_TIME and self.deadline.limited:
                left = max(self.deadline.left(), _GRACE * self.deadline.seconds)
            if self.costs.seconds(iterate.beta, iterate.dual_beta) > left:
                held, iterate = cheaply_checked(self.problem, iterate)
        beta, dual_beta, weights = iterate.beta, iterate.dual_beta, iterate.weights
        if (stop or iterate.done) and held is None and self._was_better(stop):
            # An earlier f was better; the latest bound is the best.
            beta, dual_beta, weights = self.best_beta, iterate.beta if dual_beta is None else dual_beta, None
        gram, near = self.problem.gram, None
        if (iterate.scores is not None or gram.afar) and beta is iterate.beta and gram.design is None:
            scores = None if iterate.behind else iterate.scores
            loose = self.tol >= _SINGLE_FROM and gram.dtype == np.float32
            near = Near(scores, iterate.error, loose, loose and not gram.afar)
        tol = np.inf if sudden else self.tol  # what rounding leaves open is said; there is no time to compute it again
        certificate, scores, b = examine(
            self.problem, beta, None, dual_beta, scores=held, weights=weights, tol=tol,
            near=None if held is not None else near,
        )  # fmt: skip
        scalable = stop is Status.OUT_OF_TIME and not self.problem.mass
        if scalable and self.problem.best_constant[1] <= certificate.primal < np.inf:
            source = beta if beta.any() or dual_beta is None else dual_beta
            part, own = best_part(self.problem, source, scores if source is beta else None)
            others = own if dual_beta is None else np.zeros(self.problem.n)  # what is held is of this dual point
            products = None if held is None else np.column_stack([part * own, others])
            beta, dual_beta, weights = part * source, source if dual_beta is None else dual_beta, None
            certificate, scores, b = examine(self.problem, beta, None, dual_beta, scores=products)
        # Broken off early, it may cost a little more than f = b, and yet tell more than a constant: the dual has risen.
        early = stop is Status.OUT_OF_TIME and 0.0 < certificate.dual < np.inf
        if (stop or iterate.done) and self._worse_than_a_constant(certificate) and not early:
            if certificate.dual > 0.0 or self.problem.mass:
                dual_beta = iterate.beta if dual_beta is None else dual_beta
            else:
                dual_beta = np.zeros(self.problem.n)  # a better dual point
            beta, weights = np.zeros(self.problem.n), None  # rounding errors have made it worse than none at all
            products = None if held is None else np.column_stack([beta, held if dual_beta.any() else beta])
            certificate, scores, b = examine(
                self.problem, beta, None, dual_beta, status=certificate.status, scores=products
            )
        self.beta, self.b, self.certificate = beta.copy(), b, certificate
        self.certified = True
        self.dual_beta = None if dual_beta is None else dual_beta.copy()
        self.weights = None if weights is None else weights.copy()
        self.scale = self.problem.loss.feasible_scale(self.problem.y, scores + b) if self.hard else 1.0
        return scores if stop or beta is iterate.beta else self.problem.gram.recompute(iterate.beta)

    def _was_better(self, stop: Status | None) -> bool:
        """Whether an earlier f was clearly better; where time is out, a constant is not."""
        if not self.history or (stop is Status.OUT_OF_TIME and not self.best_beta.any()):
            return False
        return self.best_primal < _BETTER * self.history[-1].primal

    def _worse_than_a_constant(self, certificate: Certificate) -> bool:
        """Whether f = b alone would do better."""
        good = certificate.relative_gap <= self.tol
        return not good and certificate.primal > self.problem.best_constant[1]

    def solution(self, solver: Solver, reason: str) -> Solution:
        """The answer as it stands."""
        assert self.certificate is not None
        assert self.status is not None
        scale = self.scale if np.isfinite(self.scale) else 1.0
        status = self.status if self.doubt is None else Status.INDEFINITE
        certificate = replace(self.certificate, status=status)
        seconds = now() - self.began
        dual_beta = self.beta if self.dual_beta is None and scale != 1.0 else self.dual_beta
        reason = "; ".join(filter(None, [reason, self.last.note if self.last else ""]))
        solver = self.by or solver
        return Solution(
            scale * self.beta, scale * self.b, certificate, tuple(self.history), seconds, solver, reason,
            dual_beta, self.work, self.problem.gram.values - self.values_before, self.weights,
        )  # fmt: skip


class SeveralColumns(Run):
    """A problem with a column for each target, all of them solved at once."""

    best: Any = None

    def ready(self, solver: Any) -> Solver:
        """The solver, or a cheaper one, where time is too short for it."""
        return ridge_in_time(self.problem, solver, self.deadline) if self.deadline.limited else solver

    def take(self, iterate: Any) -> None:
        self.last = iterate
        primal, gap = float(iterate.primal.sum()), float(iterate.gap.sum())
        stop = self._why_stop(None if iterate.working else self._told(primal, primal - gap, iterate.size))
        if stop is not None or (iterate.done and not iterate.working):
            self.certify(iterate, stop)

    def _why_stop(self, told: bool | None) -> Status | None:
        if told or self.interrupt.asked:
            return Status.INTERRUPTED
        if told is not None and len(self.history) >= (self.max_iter or ROUNDS):
            return Status.OUT_OF_ITERATIONS
        return Status.OUT_OF_TIME if self.deadline.limited and self.deadline.passed() else None

    def certify(self, iterate: Any, stop: Status | None) -> None:
        """Certify each column; the best answer so far is kept."""
        with stopped_by(None):
            iterate = iterate.stopped() if iterate.working else iterate
            if self.best is None or iterate.better(self.best):
                self.best = iterate
            self.certified, enough = True, self.best is iterate and iterate.enough(self.tol)
        self.status = Status.CONVERGED if enough else stop

    def break_off(self) -> None:
        if self.last is None:
            raise StoppedError  # there is nothing to give back
        self.certify(self.last, Status.INTERRUPTED)

    def keep_what_is_left(self) -> None:
        if self.best is None:
            raise
        self.status = Status.WORKERS_LOST

    def solution(self, solver: Solver, reason: str) -> Joint:
        """The answer of each target; others may be the reason for what ended the fit. Where nobody else looks whether
        Ctrl-C has come, each tells.
        """
        assert self.status is not None
        best, seconds, found = self.best, now() - self.began, []
        for j, certificate in enumerate(best.certificates):
            ended, beta, b = certificate.ended(self.status, self.tol, best.doubt), best.beta[:, j], float(best.b[j])
            if self.status is Status.INTERRUPTED and not heeded():
                ended = replace(ended, status=self.status)
            found.append(Solution(beta, b, ended, tuple(self.history), seconds, solver, reason))
        joint = Joint(found)
        joint.found = best
        return joint
