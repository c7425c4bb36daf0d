"""The driver: tolerance, limits, clock, history, callback, Ctrl-C, status. A solver only yields iterates."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np

from .examination import examine, may_be_inseparable
from .interrupt import interruptible
from .parallel import helpers_kept
from .problem import Problem
from .solution import Certificate, Solution, Status, Step
from .solvers import Iterate, Solver, choose
from .solvers import solver as as_solver
from .solvers.base import full_round
from .types import Array

_ROUNDS = 2_000  # full ones: the most work, where no number of rounds is given
_AIM = 0.7  # of the tolerance: rounding in the values of a solver takes some
_SINGLE_FROM = 1e-5  # tolerances of at least this allow float32 kernel values in the certificate
_PROMPT = 0.5  # seconds that a certificate may take after Ctrl-C
_BETTER = 0.99  # an earlier iterate is given back where its objective was below this part of the last one's
_RESERVE = 0.2  # of the time limit, at most, is kept for the certificate
_LARGEST = 1e153  # objectives hold squares of sum C_i |phi(x_i)|, which must be within float64
_PROBE = 256  # rows of a certificate that are timed, to know what all of them will take


@np.errstate(under="ignore")
def solve(
    problem: Problem,
    solver: Solver | str | None = None,
    *,
    tol: float = 1e-4,
    max_iter: int | None = None,
    time_limit: float | None = None,
    start: Array | Solution | None = None,
    callback: Callable[[Step], Any] | None = None,
) -> Solution:
    """Solve to a relative gap of `tol`, proved by a certificate.

    Ends after `max_iter` rounds (None: the work of 2,000 full ones, however small the memory makes them) or
    `time_limit` seconds, at Ctrl-C, or where `callback(step)` returns True, with the best answer so far and an honest
    status. `start` is a Solution, or coefficients, to go on from.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"solve takes a Problem, such as Problem.of(kernel, X, y), not {type(problem).__name__}.")
    _require_limits(tol, max_iter, time_limit, callback)
    chosen, reason = choose(problem) if solver is None else (as_solver(solver), "")
    chosen.check(problem)
    _require_in_range(problem)
    run = _Run(problem, tol, max_iter, time_limit, callback)
    beta = start.beta if isinstance(start, Solution) else start
    with interruptible() as interrupt, nullcontext() if chosen.factors else helpers_kept():
        generator = chosen.iterates(problem, beta)
        scores: Array | None = None
        while True:
            try:
                iterate = generator.send(scores)
            except StopIteration:
                run.status = chosen.exhausted
                break  # the last iterate was certified, and is the last word
            scores = run.take(iterate, interrupt.asked)
            if run.status is not None:
                break
    return run.solution(chosen, reason)


def _require_limits(tol: Any, max_iter: Any, time_limit: Any, callback: Any) -> None:
    """Raise for limits that make no sense."""
    if not isinstance(tol, Real) or not float(tol) >= 0.0:
        raise ValueError(f"tol, a relative gap, must be a number >= 0, not {tol!r}.")
    if max_iter is not None and not (isinstance(max_iter, Integral) and int(max_iter) >= 1):
        raise ValueError(f"max_iter, the most rounds, must be None or a whole number, 1 or more, not {max_iter!r}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) >= 0.0):
        raise ValueError(f"time_limit must be None or a number of seconds >= 0, not {time_limit!r}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of a Step, which may return True to end it, not {callback!r}.")


def _require_in_range(problem: Problem) -> None:
    """Raise where objectives would overflow."""
    C, length = float(problem.C.max()), float(np.sqrt(np.abs(problem.gram.diag()).max()))
    if not float(problem.C.sum()) * max(length, 1.0) <= _LARGEST:
        raise ValueError(
            f"Objectives overflow with C = {C:.1g} on points of length {length:.1g}: make C smaller, or scale the data."
        )


class _Run:
    """One solve as it goes: what has been seen, and whether to go on (status None)."""

    def __init__(
        self,
        problem: Problem,
        tol: float,
        max_iter: int | None,
        time_limit: float | None,
        callback: Callable[[Step], Any] | None,
    ) -> None:
        self.problem, self.tol, self.max_iter, self.callback = problem, tol, max_iter, callback
        self.began = perf_counter()
        self.deadline = None if time_limit is None else self.began + time_limit
        self.status: Status | None = None
        self.work = 0.0
        self.history: list[Step] = []
        self.aim = _AIM * tol  # what the solver's own gap must be before a certificate is worth its while
        self.beta, self.b, self.scale = np.zeros(problem.n), 0.0, 1.0
        self.dual_beta: Array | None = None
        self.weights: Array | None = None
        self.certificate: Certificate | None = None
        self.best_primal, self.best_beta = np.inf, self.beta
        self.probed_seconds, self.probed_support = 0.0, 0
        # A float64 pass over rows that were computed in float32 takes more than a quarter of the time of the fit.
        self.single = tol >= _SINGLE_FROM

    def take(self, iterate: Iterate, interrupted: bool) -> Array | None:
        """Look at an iterate; K beta is given back where it was recomputed."""
        step = self._measure(iterate)
        self.work = step.iteration * full_round(self.problem.n) if iterate.work is None else iterate.work
        self.history.append(step)
        if step.primal < self.best_primal and not iterate.partial:
            self.best_primal, self.best_beta = step.primal, iterate.beta.copy()
        stop = self._why_stop(step, iterate.beta, interrupted)
        hopeless = may_be_inseparable(self.problem, iterate.beta, iterate.scores)
        good = step.relative_gap <= self.aim and not iterate.partial
        if not (stop or iterate.done or hopeless or good):
            return None
        scores = self._certify(iterate, stop)
        certificate = self.certificate
        assert certificate is not None
        if certificate.status in (Status.INFEASIBLE, Status.INDEFINITE):
            self.status = certificate.status
        elif certificate.relative_gap <= self.tol:
            self.status = Status.CONVERGED
        elif stop:
            self.status = stop
        seen = step.relative_gap  # below 0, where rounding hides it from the solver
        self.aim = 0.3 * (min(self.aim, seen) if seen > 0.0 else self.aim)
        return scores

    def _measure(self, iterate: Iterate) -> Step:
        """The objective as the solver sees it."""
        if iterate.gap is not None and iterate.dual is not None:
            return self._step(iterate, iterate.dual + iterate.gap, iterate.dual)
        problem, scores = self.problem, iterate.scores
        if scores is None:
            scores = problem.gram @ iterate.beta
        b = problem.best_bias(scores) if iterate.b is None else iterate.b
        primal = problem.primal(iterate.beta, b, scores)
        if iterate.dual_beta is not None:
            dual = problem.dual(iterate.dual_beta) if iterate.dual is None else iterate.dual
        else:
            dual = problem.dual(iterate.beta, scores)
            if iterate.dual is not None:  # the gap is a sum over points, each as good as its own score; the dual is not
                primal, dual = iterate.dual + (primal - dual), iterate.dual
        return self._step(iterate, primal, dual)

    def _step(self, iterate: Iterate, primal: float, dual: float) -> Step:
        seconds = perf_counter() - self.began
        return Step(len(self.history) + 1, primal, dual, int(np.count_nonzero(iterate.beta)), seconds)

    def _why_stop(self, step: Step, beta: Array, interrupted: bool) -> Status | None:
        if interrupted or (self.callback is not None and self.callback(step) is True):
            return Status.INTERRUPTED
        rounds = self.work / full_round(self.problem.n) if self.max_iter is None else step.iteration
        if rounds >= (self.max_iter or _ROUNDS):
            return Status.OUT_OF_ITERATIONS
        if self.deadline is not None:
            reserve = min(self._certificate_seconds(beta), _RESERVE * (self.deadline - self.began))
            if perf_counter() + reserve >= self.deadline:
                return Status.OUT_OF_TIME
        return None

    def _certificate_seconds(self, beta: Array) -> float:
        """What a float64 certificate of this answer will take: from a few of its rows; with features, as a round."""
        if self.problem.gram.design is not None:
            before = self.history[-2].seconds if len(self.history) > 1 else 0.0
            return self.history[-1].seconds - before
        support = max(1, int(np.count_nonzero(beta)))
        if support > 1.5 * self.probed_support:  # timed anew as the answer grows
            rows = np.linspace(0, self.problem.n - 1, min(_PROBE, self.problem.n)).astype(int)
            start = perf_counter()
            self.problem.gram.recompute(beta, rows)
            self.probed_seconds = (perf_counter() - start) * self.problem.n / rows.size
            self.probed_support = support
        return self.probed_seconds * support / self.probed_support

    def _certify(self, iterate: Iterate, stop: Status | None) -> Array:
        """Recompute everything; where there is no time left for that, check the solver's values on a sample."""
        now = perf_counter()
        held = None
        if stop in (Status.INTERRUPTED, Status.OUT_OF_TIME):
            left = _PROMPT if stop is Status.INTERRUPTED or self.deadline is None else self.deadline - now
            if self._certificate_seconds(iterate.beta) > left and iterate.dual_beta is iterate.weights is None:
                held = iterate.scores
        beta, dual_beta, weights = iterate.beta, iterate.dual_beta, iterate.weights
        if (stop or iterate.done) and held is None and self.best_primal < _BETTER * self.history[-1].primal:
            # An earlier f was better; the latest bound is the best.
            beta, dual_beta, weights = self.best_beta, iterate.beta if dual_beta is None else dual_beta, None
        certificate, scores, b = examine(
            self.problem, beta, None, dual_beta, single=self.single, scores=held, weights=weights, tol=self.tol
        )
        if (stop or iterate.done) and self._worse_than_nothing(certificate):
            if certificate.dual > 0.0 or self.problem.mass:  # else zeros are as good a dual point
                dual_beta = iterate.beta if dual_beta is None else dual_beta
            else:
                dual_beta = None
            beta, weights = np.zeros(self.problem.n), None  # rounding errors have made it worse than none at all
            certificate, scores, b = examine(self.problem, beta, None, dual_beta, status=certificate.status)
        self.single = self.single and certificate.rounding > 0.0
        self.beta, self.b, self.certificate = beta.copy(), b, certificate
        self.dual_beta = None if dual_beta is None else dual_beta.copy()
        self.weights = None if weights is None else weights.copy()
        self.scale = self.problem.loss.feasible_scale(self.problem.y, scores + b)
        return scores if stop or beta is iterate.beta else self.problem.gram.recompute(iterate.beta)

    def _worse_than_nothing(self, certificate: Certificate) -> bool:
        """Whether f = b alone would do better."""
        good = certificate.relative_gap <= self.tol
        return not good and certificate.primal > self.problem.nothing[1]

    def solution(self, solver: Solver, reason: str) -> Solution:
        """The answer as it stands."""
        assert self.certificate is not None
        assert self.status is not None
        scale = self.scale if np.isfinite(self.scale) else 1.0
        status = self.status if self.problem.gram.doubt is None else Status.INDEFINITE
        certificate = replace(self.certificate, status=status)
        seconds = perf_counter() - self.began
        return Solution(
            scale * self.beta, scale * self.b, certificate, tuple(self.history), seconds, solver, reason,
            self.dual_beta, self.work, self.weights,
        )  # fmt: skip
