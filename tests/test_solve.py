"""The driver: tolerance, limits, clock, history, callback, Ctrl-C and status."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.driver import solve
from mercer.kernels import Gaussian, Linear
from mercer.limits import interruptible
from mercer.losses import EpsilonInsensitive, HardMargin, Hinge, OneClass, SquaredHinge
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import QP, Decomposition, Iterate, Solver, decomposition
from mercer.solvers.base import REGISTRY

from . import PATIENCE
from .zoo import THREE_POINTS, curve, two_classes

HINGE = Hinge()
SMALL = Decomposition(working_set=16)  # needs many rounds


@pytest.fixture(autouse=True)
def _cut_small_problems(monkeypatch):
    """Problems that are small enough to be solved whole are cut into working sets too."""
    monkeypatch.setattr(decomposition, "WHOLE", 20)


def overlapping(n=300, C=10.0, loss=HINGE):
    X, y = curve(n) if isinstance(loss, EpsilonInsensitive) else two_classes(n)
    return Problem.of(Gaussian(0.3), X, y, loss, C)


@dataclass(frozen=True)
class Endless(Solver, names=()):
    """Yields zeros for ever, some time apart; in its third round, so many times, somebody presses Ctrl-C."""

    interrupts: int = 0

    def iterates(self, problem, start):
        for number in count(1):
            time.sleep(0.001)
            if number == 3:
                for _ in range(self.interrupts):
                    signal.raise_signal(signal.SIGINT)
            yield Iterate(np.zeros(problem.n), np.zeros(problem.n))


@dataclass(frozen=True)
class Asked(Solver, names=()):
    """Says that it is done, and keeps what it is sent."""

    sent: tuple = ()

    def iterates(self, problem, start):
        for _ in range(2):
            scores = yield Iterate(np.full(problem.n, 0.01) * problem.y, done=True)
            received.append(scores)


received: list = []


def test_the_limit_of_rounds():
    problem = overlapping()
    for rounds in (1, 3):
        solution = solve(problem, SMALL, tol=1e-8, max_iter=rounds)
        assert solution.status is Status.OUT_OF_ITERATIONS
        assert solution.iterations == rounds == solution.history[-1].iteration
        assert problem.certify(solution.beta, solution.b).primal == pytest.approx(solution.certificate.primal)
        assert "raise max_iter" in str(solution)


def test_the_limit_of_time():
    problem = overlapping()
    solution = solve(problem, Endless(), time_limit=0.1)
    assert solution.status is Status.OUT_OF_TIME
    assert solution.seconds > 0.05
    assert solution.certificate.primal == pytest.approx(problem.certify(np.zeros(300)).primal)
    assert solve(problem, SMALL, tol=1e-8, time_limit=0.0).status is Status.OUT_OF_TIME


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ({"tol": -1.0}, ValueError, "tol, a relative gap, must be a number >= 0, not -1.0"),
        ({"tol": "small"}, ValueError, "tol, .*, not 'small'"),
        ({"max_iter": 0}, ValueError, "max_iter, the most rounds, must be None or a whole number, 1 or more, not 0"),
        ({"max_iter": 2.5}, ValueError, "not 2.5"),
        ({"time_limit": -1}, ValueError, "time_limit must be None or a number of seconds >= 0, not -1"),
        ({"time_limit": "1h"}, ValueError, "not '1h'"),
        ({"callback": 3}, TypeError, "callback must be a function of a Step"),
    ],
)
def test_limits_that_make_no_sense(limits, error, message):
    with pytest.raises(error, match=message):
        solve(overlapping(), **limits)


def test_the_callback_sees_every_step_and_can_stop():
    problem, steps = overlapping(), []

    def stop_at_three(step):
        steps.append(step)
        return step.iteration == 3

    solution = solve(problem, SMALL, tol=1e-8, callback=stop_at_three)
    assert solution.status is Status.INTERRUPTED
    assert [step.iteration for step in steps] == [1, 2, 3]
    assert solution.history == tuple(steps)
    steps.clear()
    solution = solve(problem, SMALL, tol=1e-6, callback=lambda step: steps.append(step))
    assert solution.status is Status.CONVERGED
    assert solution.history == tuple(steps)


def test_an_error_in_the_callback_is_raised():
    def fail(step):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve(overlapping(50), callback=fail)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)], ids=repr)
def test_the_history_rises_in_the_dual(loss):
    solution = solve(overlapping(loss=loss), SMALL, tol=1e-6)
    assert solution.iterations > 5
    dual = np.array([step.dual for step in solution.history])
    assert (np.diff(dual) >= -1e-9 * np.abs(dual[1:])).all()
    assert all(step.primal >= step.dual - 1e-9 * abs(step.dual) for step in solution.history)
    assert (np.diff([step.seconds for step in solution.history]) >= 0).all()
    assert solution.history[-1].support == solution.support.size
    assert solution.seconds >= solution.history[-1].seconds


def test_a_warm_start_saves_rounds():
    problem = overlapping()
    cold = solve(problem, SMALL, tol=1e-6)
    again = solve(problem, SMALL, tol=1e-6, start=cold)
    assert again.iterations < 0.3 * cold.iterations
    assert again.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-5)
    assert solve(problem, SMALL, tol=1e-6, start=cold.beta).iterations == again.iterations
    stopped = solve(problem, SMALL, tol=1e-6, max_iter=cold.iterations // 2)
    assert solve(problem, SMALL, tol=1e-6, start=stopped).iterations < cold.iterations
    nearby = solve(overlapping(C=10.1), SMALL, tol=1e-6, start=cold)
    assert nearby.status is Status.CONVERGED
    assert nearby.iterations < solve(overlapping(C=10.1), SMALL, tol=1e-6).iterations


def test_a_start_is_made_feasible_or_refused():
    problem = overlapping(100)
    best = solve(problem, tol=1e-8).certificate.primal
    for start in (np.full(100, 5.0), np.full(100, -1e6), np.random.default_rng(0).normal(size=100)):
        assert solve(problem, tol=1e-8, start=start).certificate.primal == pytest.approx(best, rel=1e-6)
    one_class = Problem.of(Gaussian(0.3), two_classes()[0], np.zeros(60), OneClass(), mass=20.0)
    assert solve(one_class, tol=1e-6, start=np.zeros(60)).status is Status.CONVERGED
    for wrong in (np.zeros(3), np.full(100, np.nan)):
        with pytest.raises(ValueError, match="must be 100 finite coefficients"):
            solve(problem, start=wrong)


@pytest.mark.digits
@pytest.mark.parametrize("solver", [Decomposition(), SMALL, QP()], ids=repr)
def test_the_same_bits_twice(solver):
    for dtype in (np.float32, np.float64):
        X, y = two_classes(200)
        first, second = (solve(Problem.of(Gaussian(0.3), X.astype(dtype), y), solver, tol=1e-6) for _ in range(2))
        assert_array_equal(first.beta, second.beta)
        assert first.b == second.b
        assert first.certificate.primal == second.certificate.primal


def test_a_solver_that_can_do_no_more_has_stalled():
    received.clear()
    problem = overlapping(60)
    solution = solve(problem, Asked())
    assert solution.status is Status.STALLED
    assert_allclose(received[0], problem.gram.product64(0.01 * problem.y))
    assert len(received) == 2
    assert solution.certificate.relative_gap > 1e-4


def test_a_solver_may_be_given_as_text():
    problem = Problem.of(Linear(), *THREE_POINTS, HardMargin())
    assert solve(problem, "qp(solver=clarabel)").solver == QP()
    assert solve(problem, "decomposition(working_set=7)").solver == Decomposition(7)
    assert solve(problem).solver == Decomposition()
    assert "endless" not in REGISTRY


def test_control_c_ends_with_the_answer_so_far():
    solution = solve(overlapping(), Endless(1), time_limit=PATIENCE)
    assert solution.status is Status.INTERRUPTED
    assert solution.iterations == 3
    assert np.isfinite(solution.certificate.primal)
    assert "best answer so far" in str(solution)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_in_the_fast_solver():
    problem = overlapping(600, 1e8)

    def press(step):
        if step.iteration == 2:
            signal.raise_signal(signal.SIGINT)

    solution = solve(problem, SMALL, tol=1e-14, time_limit=PATIENCE, callback=press)
    assert solution.status is Status.INTERRUPTED
    assert solution.iterations == 2
    assert_allclose(problem.certify(solution.beta, solution.b).primal, solution.certificate.primal)


def test_a_second_control_c_raises():
    with pytest.raises(KeyboardInterrupt):
        solve(overlapping(), Endless(2), time_limit=PATIENCE)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert solve(overlapping(60)).status is Status.CONVERGED


def test_nested_contexts_share_one_request():
    with interruptible() as outer:
        signal.raise_signal(signal.SIGINT)
        assert outer.asked
        with interruptible() as inner:
            assert inner is outer
        assert solve(overlapping(60), SMALL, tol=1e-8).status is Status.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_other_handlers_are_left_alone():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(solve(overlapping(60)).status))
    thread.start()
    thread.join()
    assert seen == [Status.CONVERGED]

    def own(number, frame):
        seen.append(number)

    signal.signal(signal.SIGINT, own)
    try:
        with interruptible() as interrupt:
            signal.raise_signal(signal.SIGINT)
            assert not interrupt.asked
        assert signal.getsignal(signal.SIGINT) is own
        assert seen[-1] == signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_indefinite_matrix_proves_nothing():
    X, y = two_classes(60)
    found = solve(Problem.of("precomputed", np.tanh(0.5 * X @ X.T - 1.0), y, C=0.01))
    assert found.status is Status.INDEFINITE
    assert "best possible" not in str(found.certificate)


def test_a_solver_without_an_answer_leaves_a_certificate():
    @dataclass(frozen=True)
    class Silent(Solver, names=()):
        def iterates(self, problem, start):
            yield from ()

    solution = solve(overlapping(100), Silent())
    assert 0.0 <= solution.certificate.dual <= solution.certificate.primal < np.inf
