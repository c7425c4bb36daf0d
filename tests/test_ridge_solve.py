"""Ridge regression under the one loop: limits, history, callback, Ctrl-C, status; a certificate per column."""

import os
import signal
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelRidge, certify, solve
from mercer.estimators import certifying
from mercer.kernels import Gaussian, Linear
from mercer.params import random_generator
from mercer.shards.engine import WorkersLostError
from mercer.solution import Status
from mercer.solvers import Cholesky, ConjugateGradient, NormalEquations, NystromCG
from mercer.solvers.ridge.posed import of_arrays
from mercer.solvers.ridge.ridge_auto import MoreLandmarks

X = np.random.default_rng(0).normal(size=(1700, 3))
T = np.column_stack([np.sin(X[:, 0]), X[:, 1] + 2.0, np.zeros(1700)])
SOLVERS = [Cholesky(), ConjugateGradient(), NormalEquations(), NystromCG(60, sample=300)]


def posed(solver, **rest):
    kernel = Linear() if isinstance(solver, NormalEquations) else Gaussian(0.5)
    data = of_arrays(X, T, np.ones(1700), True, 10**9)
    return replace(data, kernel=kernel, penalty=0.1, generator=random_generator(0), **rest)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_certificate_for_each_column(solver):
    solutions = solve(posed(solver), solver, tol=1e-6)
    machine = KernelRidge(posed(solver).kernel, 0.1, bias=True, solver=solver, random_state=0).fit(X, T)
    for one, theirs in zip(solutions, machine.solution_, strict=True):
        assert one.status is Status.CONVERGED and one.certificate.relative_gap <= 1e-6
        assert one.iterations == len(one.history) >= 1 and one.solver == solver
        assert_allclose(one.certificate.primal, theirs.certificate.primal, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_rounds_are_told_and_may_be_ended(solver):
    seen = []
    solutions = solve(posed(solver), solver, tol=0.0, callback=lambda step: seen.append(step) or len(seen) == 1)
    assert len(seen) == 1 and solutions[0].history == tuple(seen)
    assert solutions[0].status in (Status.INTERRUPTED, Status.CONVERGED)
    assert {one.status for one in solve(posed(solver), solver, tol=-0.0, max_iter=1)} <= {
        Status.OUT_OF_ITERATIONS, Status.CONVERGED,
    }  # fmt: skip


def test_ctrl_c_ends_a_ridge_regression_with_its_best_answer():
    calls = count()

    def ring(step):
        if next(calls) == 0:
            os.kill(os.getpid(), signal.SIGINT)

    solutions = solve(posed(ConjugateGradient(rank=5)), ConjugateGradient(rank=5), tol=1e-12, callback=ring)
    assert solutions[0].status is Status.INTERRUPTED and len(solutions[0].history) == 1
    assert np.isfinite(solutions[0].certificate.primal)


def test_ctrl_c_is_told_of_every_target_whatever_its_gap():
    solutions = solve(posed(Cholesky()), Cholesky(), tol=0.5, callback=lambda step: os.kill(os.getpid(), signal.SIGINT))
    assert {one.status for one in solutions} == {Status.INTERRUPTED}
    assert max(one.certificate.relative_gap for one in solutions) <= 0.5


def test_without_time_there_are_landmarks():
    solutions = solve(posed(Cholesky()), Cholesky(), time_limit=1e-9)
    assert isinstance(solutions[0].solver, MoreLandmarks) and "time is too short" in solutions[0].reason
    assert solutions[0].status is Status.OUT_OF_TIME and solutions[0].certificate.dual == 0.0


def test_workers_that_are_lost_leave_the_best_answer(monkeypatch):
    """What was measured stands; before anything was, the error is raised."""
    from mercer.solvers.ridge import in_features

    solver, calls, measured = NystromCG(60, sample=100), count(), in_features.measured

    def lost(*arguments):
        if next(calls) >= 2:  # the choice of landmarks measures too
            raise WorkersLostError("gone")
        return measured(*arguments)

    monkeypatch.setattr(in_features, "measured", lost)
    solutions = solve(posed(solver), solver, tol=1e-13)
    assert solutions[0].status is Status.WORKERS_LOST and np.isfinite(solutions[0].certificate.primal)
    with pytest.raises(WorkersLostError):
        solve(posed(solver), solver, tol=1e-13)


def test_certify_asks_what_fit_has_made(monkeypatch):
    """The same checks, weights, kernel and centre: `_training` of the machine."""
    machine, calls = KernelRidge("linear", 0.1, bias=True).fit(X + 1e6, T), []
    training = KernelRidge._training
    monkeypatch.setattr(certifying.KernelRidge, "_training", lambda *given: calls.append(1) or training(*given))
    assert certify(machine, X + 1e6, T).relative_gap <= 1e-6 and len(calls) == 1
