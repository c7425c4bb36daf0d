"""time_limit is a limit: by a clock of counted work, every machine ends in time, with an answer that is of use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    SVC,
    SVR,
    KernelLogistic,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    OneClassSVM,
    limits,
    load,
    rounds,
    save,
)
from mercer.costs import Costs
from mercer.driver import solve
from mercer.estimators import fitting, machine, ridge_path
from mercer.gram import DenseGram, LinearGram, PointsGram, dense
from mercer.kernels import FromFeatures, FromFunction, Gaussian
from mercer.limits import NEVER, Deadline, OutOfTimeError, check_limits, require, until, within
from mercer.losses import Hinge, Logistic, SquaredHinge
from mercer.parallel import for_each
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import (
    CoordinateDescent,
    Decomposition,
    Iterate,
    Newton,
    NystromNewton,
    Solver,
    coordinate,
    decomposition,
    in_time,
    qp,
)
from mercer.solvers.base import Work
from mercer.solvers.descent import CoordinatePasses
from mercer.solvers.landmarks import Growing, InFeatures
from mercer.solvers.least_squares import LeastSquares
from mercer.solvers.newton.in_points import InPoints
from mercer.solvers.ridge import in_features, ridge_auto

SLACK = 1.1, 0.5  # what is promised: the limit, a tenth of it, and half a second


class Clock:
    """Seconds that pass when somebody reads the clock, or when work is counted."""

    def __init__(self, tick: float = 0.0) -> None:
        self.seconds, self.tick = 100.0, tick

    def __call__(self) -> float:
        self.seconds += self.tick
        return self.seconds


@pytest.fixture
def ticking(monkeypatch):
    """A clock on which every look takes a millisecond, and a multiplication of matrices therefore about 2e-11 s."""
    clock = Clock(0.001)
    monkeypatch.setattr(limits, "clock", clock)
    return clock


@pytest.fixture
def counted(monkeypatch):
    """A clock that only values of this kernel move: 1e-5 seconds each."""
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)

    def gaussian(x, z):
        clock.seconds += 1e-5
        return float(np.exp(-0.5 * ((x - z) @ (x - z))))

    return clock, FromFunction(gaussian)


def data(n=600):
    """Points of two classes, which no constant and no line tells apart."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


def problem_of(n=600, loss=None):
    X, y = data(n)
    gram = DenseGram.compute(Gaussian(0.5), X)
    return Problem(gram, y, C=10.0) if loss is None else Problem(gram, y, loss, 10.0)


MACHINES = {
    "SVC": lambda kernel, t: SVC(kernel, C=10.0, time_limit=t),
    "SVC, subgradient": lambda kernel, t: SVC(kernel, C=10.0, solver="subgradient", time_limit=t),
    "SVC, stochastic": lambda kernel, t: SVC(kernel, C=10.0, solver="stochastic_subgradient", time_limit=t),
    "SVC, qp": lambda kernel, t: SVC(kernel, C=10.0, solver="qp", time_limit=t),
    "SVR": lambda kernel, t: SVR(kernel, C=10.0, time_limit=t),
    "logistic": lambda kernel, t: KernelLogistic(kernel, C=10.0, time_limit=t),
    "logistic, newton": lambda kernel, t: KernelLogistic(kernel, C=10.0, solver="newton", time_limit=t),
    "ridge": lambda kernel, t: KernelRidge(kernel, random_state=0, time_limit=t),
    "ridge, loo": lambda kernel, t: KernelRidge(kernel, alpha="loo", random_state=0, time_limit=t),
    "ridge, conjugate gradients": lambda kernel, t: KernelRidge(
        kernel, solver="conjugategradient", random_state=0, time_limit=t
    ),
    "ridge, landmarks": lambda kernel, t: KernelRidge(
        kernel, solver="nystrom(landmarks=400)", random_state=0, time_limit=t
    ),
    "perceptron": lambda kernel, t: KernelPerceptron(kernel, time_limit=t),
}


def explained(machine, X, y):
    """The part of the targets that f gets right, beyond what a constant does: 0 for a constant, 1 at best."""
    return 1.0 - np.mean((machine.predict(X) - y) ** 2) / np.mean((y - y.mean()) ** 2)


@pytest.mark.parametrize("name", MACHINES)
def test_slow_kernels_end_in_time_with_an_answer(name, counted):
    clock, kernel = counted
    X, y = data()
    limit = 1.0 if name == "perceptron" else 0.4  # seconds; all values once take 3.6
    began = clock.seconds
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine = MACHINES[name](kernel, limit).fit(X, y)
    assert clock.seconds - began <= SLACK[0] * limit + SLACK[1]
    assert machine.certificate_.status is Status.OUT_OF_TIME
    assert explained(machine, X, y) > 0.25


def test_the_time_that_a_first_attempt_leaves_is_used(counted):
    clock, kernel = counted
    X, y = data()
    problem = Problem(PointsGram(kernel, X, "2GB"), np.where(y > y.mean(), 1.0, -1.0), C=10.0)

    @dataclass(frozen=True)
    class Hopeful(Solver, names=()):
        def first_work(self, problem):
            return Work(values=0.3 / problem.gram.value_seconds)

        def iterates(self, problem, start):
            clock.seconds += 0.5
            raise OutOfTimeError
            yield

    began = clock.seconds
    solution = solve(problem, Hopeful(), time_limit=1.0)
    assert "too short for a first answer" in solution.reason
    assert clock.seconds - began > 0.7
    assert solution.iterations > 1


def test_more_time_is_a_better_answer(counted):
    _, kernel = counted
    X, y = data()
    primals = []
    for limit in (0.2, 2.0):
        with pytest.warns(ConvergenceWarning):
            primals.append(SVC(kernel, C=10.0, time_limit=limit).fit(X, y).certificate_.primal)
    best = SVC(Gaussian(0.5), C=10.0, tol=1e-10).fit(X, y).certificate_.primal
    assert best < primals[1] < 1.01 * best < primals[0]


def test_one_class_in_time(counted):
    clock, kernel = counted
    X, _ = data(300)
    began = clock.seconds
    with pytest.warns(ConvergenceWarning, match="out of time"):
        OneClassSVM(kernel, nu=0.1, time_limit=0.4).fit(X)
    assert clock.seconds - began <= SLACK[0] * 0.4 + SLACK[1]


def test_one_class_where_there_is_time_for_nothing(counted, monkeypatch):
    """The first answer that is allowed, with what landmarks know of it: its own values would take 7 s."""
    clock, kernel = counted

    def late(self, problem, start):
        raise OutOfTimeError
        yield

    monkeypatch.setattr(Growing, "iterates", late)
    X, _ = data(1200)
    began = clock.seconds
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine = OneClassSVM(kernel, nu=0.5, time_limit=0.05).fit(X)
    assert clock.seconds - began <= 2.0  # two looks at a sample
    assert len(machine.support_) == 600 and machine.certificate_.rounding > 0.0


def test_an_answer_through_landmarks_is_saved_and_loaded(counted, tmp_path):
    X, y = data()
    with pytest.warns(ConvergenceWarning):
        machine = SVC(Gaussian(0.5), C=10.0, solver="qp", time_limit=1e-3).fit(X, y)
    save(machine, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").decision_function(X), machine.decision_function(X))


# What cannot be finished is not begun.


def forbidden(*args, **settings):
    raise AssertionError("it was begun")


def test_a_factor_is_not_begun_without_time_for_it(ticking, monkeypatch):
    problem = problem_of(900, Logistic())
    monkeypatch.setattr(InPoints, "solve", forbidden)
    solution = solve(problem, Newton(), time_limit=0.03)  # the factor takes 9 ms, as half of this has less some looks
    assert solution.status is Status.OUT_OF_TIME and solution.beta.any()
    assert isinstance(solution.solver, Growing) and "time is too short" in solution.reason


def test_an_interior_point_method_is_not_begun_without_time_for_it(ticking, monkeypatch):
    monkeypatch.setattr(qp, "_minimise", forbidden)
    solution = solve(problem_of(), "qp", time_limit=0.5)
    assert "time is too short" in solution.reason
    assert solution.certificate.primal < 0.5 * problem_of().best_constant[1]


def test_a_qp_solver_is_told_the_time_that_is_left():
    with until(Deadline.after(7.0)):
        assert 0.0 < qp._time_limit("clarabel")["time_limit"] <= 7.0 and qp._time_limit("cvxopt") == {}
    assert qp._time_limit("clarabel") == {}


def test_an_eigendecomposition_is_not_begun_without_time_for_it(ticking, monkeypatch):
    monkeypatch.setattr(ridge_path, "exact_path", forbidden)
    X, y = data()
    ridge = KernelRidge(Gaussian(0.5), alpha="loo", time_limit=0.1, tol=1.0).fit(X, y)
    assert "landmarks" in ridge.path_.method and explained(ridge, X, y) > 0.25
    assert ridge.loo_residuals_.shape == (600,)


def test_the_grid_of_given_values_in_time(ticking, monkeypatch):
    monkeypatch.setattr(ridge_path, "exact_path", forbidden)
    X, y = data()
    ridge = KernelRidge("precomputed", alpha="loo", time_limit=0.1, tol=1.0).fit(Gaussian(0.5)(X), y)
    assert "landmarks" in ridge.path_.method


def test_newton_steps_are_not_begun_without_time_for_them(ticking, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 200)).astype(np.float32)
    problem = Problem(LinearGram(X), np.sign(X[:, 0] + rng.normal(size=400)), C=1e4)
    assert solve(problem, CoordinateDescent()).status is Status.CONVERGED
    monkeypatch.setattr(coordinate, "ProximalPoint", forbidden)
    solution = solve(problem, CoordinateDescent(), time_limit=0.02)
    assert solution.status is Status.OUT_OF_TIME and solution.beta.any()


def linear_data():
    """More features than a factor has time for; the targets are a sum of some of them."""
    X = np.random.default_rng(0).normal(size=(600, 200)) * np.linspace(0.1, 3.0, 200)
    return X, X[:, :20].sum(axis=1) + 0.1 * np.random.default_rng(1).normal(size=600)


@pytest.mark.parametrize(("multiplication", "rows"), [(1e-6, 0), (1e-9, 550)])
def test_ridge_in_features_without_time_for_all_normal_equations(multiplication, rows, ticking, monkeypatch):
    monkeypatch.setattr(ridge_auto, "flop_seconds", lambda: multiplication)
    seen = []
    counted = in_features.moments

    def some(stream, *rest):
        seen.append(stream.n)
        return counted(stream, *rest)

    monkeypatch.setattr(in_features, "moments", some)
    X, y = linear_data()
    began = ticking.seconds
    ridge = KernelRidge("linear", time_limit=0.101 if rows else 0.5, random_state=0, tol=1e-3, bias=True).fit(X, y)
    assert ticking.seconds - began <= 0.6
    assert 0.9 * rows <= ridge.solution_.solver.sample <= rows and seen == [ridge.solution_.solver.sample] * bool(rows)
    assert ridge.certificate_.converged and explained(ridge, X, y) > 0.99


def test_few_landmarks_have_one_round_each(counted, monkeypatch):
    _, kernel = counted
    sizes, grown = [], ridge_auto.growing

    def seen(*given):
        for size in grown(*given):
            sizes.append(size)
            yield size

    monkeypatch.setattr(ridge_auto, "growing", seen)
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="out of time"):
        ridge = KernelRidge(kernel, tol=1e-12, random_state=0, time_limit=0.8).fit(X, y)
    assert len(sizes) >= 2 and max(sizes) < 600 and ridge.n_iter_ <= 1 + len(sizes)


def test_more_landmarks_take_more_passes_and_are_done_in_time(counted):
    """With 8 of them the preconditioner is made of some of the rows, with 60 of all."""
    _, kernel = counted
    X, y = data(3000)
    with pytest.warns(ConvergenceWarning, match="out of time"):
        ridge = KernelRidge(kernel, bias=True, random_state=0, time_limit=4.0).fit(X, y)
    assert np.count_nonzero(ridge.dual_coef_) >= 30


def test_features_are_computed_once_where_time_is_short(counted):
    clock, _ = counted
    clock.tick = 1e-4

    def phi(points):
        clock.seconds += 1e-5 * len(points)
        return np.column_stack([points, points[:, :1] * points[:, 1:]])

    X, y = data(3000)
    with pytest.warns(ConvergenceWarning):
        machine = SVC(FromFeatures(phi), C=10.0, tol=1e-15, time_limit=0.3).fit(X, y)
    assert isinstance(machine.solution_.solver, InFeatures) and explained(machine, X, y) > 0.9


@pytest.mark.parametrize(("kernel", "left"), [("linear", 0.8), (Gaussian(0.5), 0.9), ("linear", 0.5)])
def test_linear_machines_have_time_to_keep_their_answer(kernel, left, monkeypatch):
    """They read all points after it; about as often as before it, which is what is measured."""
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)
    seen, fitted = [], machine.fit_machines

    def admitted(*given):
        clock.seconds += 0.1 if left >= 0.8 else 0.3

    def watched(*given, deadline, **rest):
        seen.append(deadline.left())
        return fitted(*given, deadline=deadline, **rest)

    monkeypatch.setattr(machine, "advise", admitted)
    monkeypatch.setattr(machine, "fit_machines", watched)
    SVC(kernel, time_limit=1.0).fit(*data(100))
    assert seen == pytest.approx([left])


# The loop around a solver.


class Rounds(Solver):
    """Rounds of equal length; each gives an answer, the first one of use after `late` of them. No rival takes over."""

    hurried = True

    def __init__(self, clock, length, late=0):
        self.clock, self.length, self.late, self.begun = clock, length, late, 0

    def iterates(self, problem, start):
        while True:
            self.begun += 1
            for _ in range(10):  # pieces
                self.clock.seconds += 0.1 * self.length
                check_limits()
            yield Iterate(np.where(self.begun > self.late, 0.01, 0.0) * problem.y)


def test_a_round_that_would_not_end_in_time_is_not_begun(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)
    solver = Rounds(clock, 0.4)
    solution = solve(problem_of(), solver, time_limit=1.0)
    assert solution.status is Status.OUT_OF_TIME and solver.begun == 2 and solution.iterations == 2


def test_a_certificate_is_made_once_where_time_is_out(monkeypatch):
    """Its rounding is said, and not taken away by float64 values, which would take as long again."""
    clock, asked, examined = Clock(), [], rounds.examine
    monkeypatch.setattr(limits, "clock", clock)

    def seen(*given, tol=np.inf, **rest):
        asked.append(tol)
        return examined(*given, tol=tol, **rest)

    monkeypatch.setattr(rounds, "examine", seen)
    assert solve(problem_of(), Rounds(clock, 0.4), time_limit=1.0).status is Status.OUT_OF_TIME
    assert asked == [np.inf] * len(asked)
    solve(problem_of(), tol=1e-3)
    assert asked[-1] == 1e-3


class Rivalled(Rounds):
    """The same, and others may take over."""

    hurried = False


def test_an_answer_by_half_of_the_time_or_another_method(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)
    solver = Rivalled(clock, 0.2, late=100)
    monkeypatch.setattr(Rounds, "first_work", lambda self, problem: Work(flops=1e6))
    monkeypatch.setattr("mercer.costs.flop_seconds", lambda: 3e-7)
    solution = solve(problem_of(), solver, time_limit=1.0)
    assert clock.seconds == pytest.approx(100.52, abs=0.03)  # one piece more than half
    assert solution.solver == Decomposition() and "time is too short for a first answer" in solution.reason
    assert solution.status is Status.CONVERGED


def test_a_poor_answer_at_half_of_the_time_has_a_rival(monkeypatch):
    """Which begins where another round would end too late, and has the rest."""
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)
    solver = Rivalled(clock, 0.15)
    solution = solve(problem_of(), solver, time_limit=1.0)
    assert solver.begun == 3 and solution.solver == Decomposition()
    assert solution.status is Status.CONVERGED and "by half of the time better than" in solution.reason


@pytest.mark.parametrize(("part", "landmarks", "begun"), [(0.5, 2, 10), (0.97, 2, 10), (0.0, 100, 5)])
def test_a_rival_that_is_no_better_gives_the_time_back(part, landmarks, begun, monkeypatch):
    """The answer of the solver is a part of the best one; that of the rival is made of so many landmarks."""
    problem, clock, tried = problem_of(), Clock(), []
    best = solve(problem).beta
    monkeypatch.setattr(limits, "clock", clock)

    class Part(Rivalled):
        def iterates(self, problem, start):
            for iterate in super().iterates(problem, start):
                yield Iterate(part * best + (1.0 - part) * iterate.beta)

    def few(problem, solver, share=1.0):
        tried.extend([solver] if share < 1.0 else [])
        return Growing(landmarks)

    monkeypatch.setattr(in_time, "cheaper", few)
    solver = Part(clock, 0.1)
    solution = solve(problem, solver, time_limit=1.05)
    assert solver.begun == begun and len(tried) == (part < 0.9)  # so near to the best, nobody is tried
    assert isinstance(solution.solver, Growing if part == 0.0 else Part)


@pytest.mark.parametrize(("constant", "bias"), [(0.0, True), (1.0, False)])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_least_squares_are_the_rival_of_few_passes(loss, constant, bias, monkeypatch):
    """With many features, the answer of the first passes raises the dual, and is worse than that of least squares."""
    generator, clock, passes = np.random.default_rng(0), Clock(1e-3), CoordinatePasses.round
    X = generator.normal(size=(600, 80))
    y = np.sign(X[:, 0] + 2.0 * generator.normal(size=600))
    problem = Problem(LinearGram(X, constant), y, loss, 10.0, bias)

    def slow(descent):
        clock.seconds += 0.3
        passes(descent)

    best = solve(problem, tol=1e-6).certificate.primal
    monkeypatch.setattr(CoordinatePasses, "round", slow)
    few = solve(problem, CoordinateDescent(newton=False), max_iter=3).certificate.primal
    monkeypatch.setattr(limits, "clock", clock)
    began = clock.seconds
    solution = solve(problem, CoordinateDescent(newton=False), time_limit=1.0)
    assert isinstance(solution.solver, LeastSquares) and "by half of the time better" in solution.reason
    assert solution.status is Status.OUT_OF_TIME and clock.seconds - began <= 1.0 + clock.tick
    assert best <= solution.certificate.primal < few


def test_after_least_squares_the_answer_gets_better_still():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 60))
    y = np.sign(X[:, 0] + 2.0 * generator.normal(size=500))
    problem = Problem(LinearGram(X), y, Hinge(), 1.0)
    best = solve(problem, tol=1e-6).certificate
    iterates = [
        (i.dual + i.gap, i.dual) for _, i in zip(range(60), LeastSquares().iterates(problem, None), strict=False)
    ]
    primals, duals = map(np.array, zip(*iterates, strict=True))
    assert (np.diff(primals) <= 1e-9).all() and (duals <= best.primal).all()
    fair = primals[duals == 0.0][-1]
    assert primals[-1] - best.dual < 0.6 * (fair - best.dual) and duals[-1] > 0.5 * best.dual


def test_a_poor_answer_costs_hardly_more_than_a_constant(monkeypatch):
    """Few points of one class among many, which no line tells apart: f = b is nearly the best. A part of the answer
    costs as much, and still tells which way f goes.
    """
    generator, clock, passes = np.random.default_rng(0), Clock(), CoordinatePasses.round
    X = generator.normal(size=(2000, 200))
    y = np.where(np.arange(2000) % 10 == 0, 1.0, -1.0)
    problem = Problem(LinearGram(X), y, Hinge(), 1.0)

    def slow(descent):
        clock.seconds += 0.3
        passes(descent)

    monkeypatch.setattr(CoordinatePasses, "round", slow)
    monkeypatch.setattr(limits, "clock", clock)
    solution = solve(problem, CoordinateDescent(newton=False), time_limit=1.0)
    assert solution.status is Status.OUT_OF_TIME and solution.beta.any() and solution.certificate.dual > 0.0
    assert max(step.primal for step in solution.history) > 1.1 * problem.best_constant[1]
    assert solution.certificate.primal <= 1.001 * problem.best_constant[1]


def test_blocks_of_a_round_end_before_another_one_would_be_late(monkeypatch):
    """What they have moved counts, though the round is not done; and no other round is begun."""
    clock, core = Clock(), decomposition.core
    monkeypatch.setattr(limits, "clock", clock)

    class Slow:
        def __getattr__(self, name):
            return getattr(core, name)

        def pair_descent(self, *arguments):
            return 0, np.inf

        def settle_cells(self, K, problems, bias, most):
            core.settle_cells(K, problems, bias, most)
            problems[0][6][0, :2] = 0.0, most  # not done, though all steps were taken
            clock.seconds += 0.4

    monkeypatch.setattr(decomposition, "core", Slow())
    X, y = data(2100)
    problem = Problem(PointsGram(Gaussian(0.5), X, "1GB", dtype=np.float32), y, C=1e4)
    descent, W = decomposition.Descent(problem, np.zeros(2100), 2048), np.arange(500)
    K = descent.shard.block(W)
    small = descent._small(W, len(K))
    with until(Deadline.after(1.0)):
        descent._descend_by_blocks(W, K, small, 1e-9)
        assert clock.seconds == pytest.approx(100.8) and small.beta.any()
        with pytest.raises(OutOfTimeError):
            descent._descend_by_blocks(W, K, small, 1e-9)


def test_one_slow_look_does_not_make_a_certificate_dear(monkeypatch):
    """Others may use the machine while the time of a kernel value is measured: some rows tell."""
    clock = Clock(1e-3)
    monkeypatch.setattr(limits, "clock", clock)
    monkeypatch.setattr(PointsGram, "value_seconds", 1e-3)
    X, y = data(1000)
    problem = Problem(PointsGram(Gaussian(0.5), X, "1GB"), y)
    costs, everybody = Costs(problem), np.ones(1000)
    assert costs.seconds(everybody, None) == 1000.0
    assert not costs.too_long(everybody, None, 100.0)
    assert costs.too_long(everybody, None, 0.01)


def test_values_are_not_computed_without_time_for_what_follows(monkeypatch):
    """K of 2,000 points would serve no Newton step."""
    monkeypatch.setattr(limits, "clock", Clock(1e-6))
    monkeypatch.setattr(dense, "flop_seconds", lambda: 1e-9)  # 2.6 s for a step
    monkeypatch.setattr(dense, "square_of", forbidden)
    X, y = data(2000)
    machine = KernelLogistic(Gaussian(0.5), tol=0.1, time_limit=2.0).fit(X, y)
    assert isinstance(machine.solution_.solver, NystromNewton)


def test_the_last_answer_stands_where_a_round_is_broken_off(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(limits, "clock", clock)

    class Longer(Rounds):
        def iterates(self, problem, start):
            for iterate in super().iterates(problem, start):
                yield iterate
                self.length *= 5.0

    solver = Longer(clock, 0.2)
    solution = solve(problem_of(), solver, time_limit=1.0)
    assert solution.status is Status.OUT_OF_TIME and np.abs(solution.beta).max() == 0.01
    assert solver.begun == 2 and clock.seconds <= 101.0 + 0.1  # the second was broken off after a piece


# Deadlines.


def test_deadlines(ticking):
    end = Deadline.after(1.0)
    assert end.limited and end.seconds == pytest.approx(1.0, abs=0.01) and not end.passed()
    assert end.part(0.5).at < end.at and end.earlier(0.25).at == end.at - 0.25
    assert NEVER.left() == np.inf and NEVER.part(0.1) is NEVER and not NEVER.passed()
    check_limits()
    require(1e9)  # nobody is in a hurry
    with until(end):
        require(0.5)
        with pytest.raises(OutOfTimeError):
            require(1.5)
        assert within(None).at == within(5.0).at == end.at and within(0.1).at < end.at
        ticking.seconds += 1.0
        assert end.left() == 0.0
        with pytest.raises(OutOfTimeError):
            check_limits()
        with until(NEVER):
            check_limits()


@pytest.mark.parametrize("threads", [1, 2])
def test_no_task_is_begun_after_the_deadline(ticking, threads):
    done = []

    def work(task):
        done.append(task)
        if task == 3:
            ticking.seconds += 10.0

    with until(Deadline.after(5.0)), pytest.raises(OutOfTimeError):
        for_each(range(100), work, threads)
    assert len(done) <= 4 + threads


def test_every_class_has_its_share_of_the_time(ticking):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + 4.0 * np.array([np.cos(a), np.sin(a)]) for a in range(6)])
    y = np.repeat(np.arange(6), 60)
    with pytest.warns(ConvergenceWarning):
        machine = LinearSVC(C=100.0, tol=1e-13, time_limit=0.3).fit(X, y)
    assert (np.abs(machine.coef_).max(axis=1) > 0).all() and machine.score(X, y) > 0.8


def test_the_first_class_has_two_shares_of_the_time(monkeypatch):
    """It finds landmarks for all of them."""
    clock, given, solved = Clock(), [], fitting.solve

    def seen(problem, *rest, time_limit, **settings):
        given.append(time_limit)
        clock.seconds += time_limit
        return solved(problem, *rest, **settings)

    monkeypatch.setattr(limits, "clock", clock)
    monkeypatch.setattr(fitting, "solve", seen)
    X, _ = data(60)
    KernelLogistic(time_limit=6.0).fit(X, np.arange(60) % 5)
    assert_allclose(given, [2.0, 1.0, 1.0, 1.0, 1.0])
