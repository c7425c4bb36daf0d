"""The subgradient methods: automatic steps come within 1% in the passes that are stated, and every gap is real."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mercer.amounts import AT_A_TIME
from mercer.driver import solve
from mercer.gram import DenseGram, LinearGram, LowRankGram, gram_of
from mercer.kernels import Gaussian, Linear
from mercer.losses import HardMargin, Hinge, OneClass, Squared
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import (
    Automatic,
    ConstantStep,
    CoordinateDescent,
    InverseSqrt,
    InverseTime,
    StochasticSubgradient,
    Subgradient,
    solver,
    stochastic,
)

from .zoo import PROBLEMS, THREE_POINTS, curve, two_classes

SOFT = [specimen for specimen in PROBLEMS if specimen.make().loss != HardMargin()]
NO_MASS = [specimen for specimen in SOFT if specimen.make().loss != OneClass()]
every_problem = pytest.mark.parametrize("specimen", SOFT, ids=str)
RULES = [Automatic(), ConstantStep(0.05), InverseTime(1.0, 2.0), InverseSqrt(0.3)]


def in_features(problem):
    """The same problem with K = Z Z'."""
    values, vectors = np.linalg.eigh(np.asarray(problem.gram))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    return Problem(LowRankGram(Z), problem.y, problem.loss, problem.C, bias=problem.bias, mass=problem.mass)


def passes_to(history, best):
    """The passes after which the objective was within 1% of the best."""
    return next(step.iteration for step in history if step.primal - best <= 0.01 * abs(best))


@every_problem
def test_automatic_steps_need_fifty_passes(specimen):
    problem = specimen.make()
    best = solve(problem, tol=1e-8).certificate.primal
    for form in (problem, in_features(problem)):
        found = solve(form, Subgradient(), tol=1e-3, max_iter=100)
        assert passes_to(found.history, best) <= 50
        assert found.certificate.primal - best <= 0.01 * abs(best)


@pytest.mark.parametrize("specimen", NO_MASS, ids=str)
@pytest.mark.parametrize("order", ["shuffled", "random"])
def test_stochastic_automatic_steps_need_a_hundred_passes(specimen, order):
    problem = specimen.make()
    best = solve(problem, tol=1e-8).certificate.primal
    for form in (problem, in_features(problem)):
        found = solve(form, StochasticSubgradient(order=order), tol=1e-3, max_iter=101)
        assert passes_to(found.history, best) <= 100  # the first is f = b, the second two passes
        primals = np.array([step.primal for step in found.history[1:]])
        assert (np.diff(primals) <= 1e-9 * np.abs(primals[1:])).all()  # the answer only gets better


@pytest.mark.parametrize("bias", [True, False])
def test_passes_while_the_answer_is_looked_at_change_nothing(bias, monkeypatch):
    X, y = two_classes(300)
    problem = Problem(LinearGram(X), y, Hinge(), 0.5, bias=bias)
    alone = solve(problem, StochasticSubgradient(), tol=1e-9, max_iter=12)
    monkeypatch.setattr(stochastic, "AT_A_TIME", replace(AT_A_TIME, entries_for_a_thread=0))
    monkeypatch.setattr(stochastic, "thread_count", lambda: 2)
    together = solve(problem, StochasticSubgradient(), tol=1e-9, max_iter=12)
    assert [step.primal for step in alone.history] == [step.primal for step in together.history]
    assert_array_equal(alone.beta, together.beta)


@every_problem
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_every_gap_is_real(specimen, rule):
    problem = specimen.make()
    best = solve(problem, tol=1e-8).certificate
    methods = [Subgradient(rule)] + [StochasticSubgradient(rule)] * (not problem.mass)
    for method in methods:
        found = solve(problem, method, tol=1e-6, max_iter=20)
        assert found.status in (Status.CONVERGED, Status.OUT_OF_ITERATIONS, Status.DIVERGED)
        slack = 1e-7 * abs(best.primal)
        for step in found.history:
            assert step.dual <= best.primal + slack and step.primal >= best.dual - slack
        certificate = found.certificate
        assert certificate.dual <= best.primal + slack
        assert certificate.primal >= best.dual - slack
        again = problem.certify(found.beta, found.b, found.dual_beta)
        assert again.primal == pytest.approx(certificate.primal)
        assert again.dual == pytest.approx(certificate.dual)


@pytest.mark.parametrize("rule", [InverseTime(1.0, 100.0), InverseSqrt(0.01), ConstantStep(0.001)], ids=repr)
@pytest.mark.parametrize("form", ["dense", "sparse", "kernel"])
def test_rules_come_near(rule, form):
    X, y = two_classes(200)
    gram = {"dense": LinearGram(X), "sparse": LinearGram(csr_array(X)), "kernel": gram_of(Gaussian(0.1), X)}[form]
    problem = Problem(gram, y, Hinge(), 0.1)
    best = solve(problem, tol=1e-8).certificate.primal
    for method in (StochasticSubgradient(rule, average_from=20), StochasticSubgradient(rule, "random", 20)):
        found = solve(problem, method, tol=1e-9, max_iter=200)
        assert found.certificate.primal == pytest.approx(best, rel=0.02)
        assert np.isfinite(found.certificate.relative_gap)


def test_features_and_kernels_take_the_same_steps():
    X, y = two_classes(50)
    problems = [
        Problem(gram, y, Hinge(), 0.5)
        for gram in (LinearGram(X), LinearGram(csr_array(X)), DenseGram.compute(Linear(), X))
    ]
    assert problems[2].gram.design is None
    for method in (StochasticSubgradient(random_state=3), StochasticSubgradient(InverseTime(1, 50), random_state=3)):
        answers = [solve(problem, method, tol=1e-12, max_iter=7) for problem in problems]
        for other in answers[1:]:
            assert_allclose(other.beta, answers[0].beta, atol=1e-10)


def test_one_step_by_hand():
    X, y = THREE_POINTS
    problem = Problem(LinearGram(X), y, Hinge(), 0.2, bias=False)
    found = solve(problem, Subgradient(ConstantStep(0.25)), tol=0.0, max_iter=2)
    # At f = 0 every slope is -y, so that s = C y, and a quarter of the way to it is 0.05 y.
    assert_allclose(found.dual_beta, 0.05 * y)
    assert found.history[1].dual == pytest.approx(problem.dual(0.05 * y))


def test_the_mean_of_stochastic_steps_by_hand():
    X, y = two_classes(12)
    problem = Problem(LinearGram(X), y, Squared(), 0.3, bias=False)
    rule = InverseTime(0.5, 30.0)
    method = StochasticSubgradient(rule, "random", average_from=1, random_state=5)
    found = solve(problem, method, tol=0.0, max_iter=4)
    from mercer._core.reference import draw
    from mercer.solvers.features_or_kernels import random_words

    words, order, w, t, seen = random_words(5), np.arange(12), np.zeros(4), 0, []
    for number in range(3):
        draw(order, words)
        for i in order:
            t += 1
            step = 0.5 / (t + 30.0)
            s = 0.3 * (y[i] - X[i] @ w)
            w = (1 - step) * w + step * 12 * s * X[i]
            seen += [w] if number >= 1 else []
    assert_allclose(X.T @ found.beta, np.mean(seen, axis=0), rtol=1e-9)


def test_steps_that_are_too_long_are_said_to_be():
    X, t = curve(60)
    problem = Problem.of(Gaussian(0.3), X, t, Squared(), 1000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in (Subgradient(ConstantStep(1.0)), StochasticSubgradient(ConstantStep(0.5))):
            found = solve(problem, method, max_iter=500)
            assert found.status is Status.DIVERGED
            assert "shorter" in str(found.status)
            zeros = np.zeros(60)
            assert found.certificate.primal <= problem.primal(zeros, problem.best_bias(zeros), zeros) * (1 + 1e-12)


def test_steps_of_one_forget_everything():
    X, y = two_classes(40)
    problem = Problem(LinearGram(X), y, Hinge(), 0.01)
    found = solve(problem, StochasticSubgradient(InverseTime(), average_from=0), tol=1e-9, max_iter=30)
    assert np.isfinite(found.beta).all()
    long = solve(problem, StochasticSubgradient(ConstantStep(0.9)), tol=1e-9, max_iter=200)  # scales become tiny
    assert np.isfinite(long.beta).all()


def test_starts_and_seeds():
    X, y = two_classes(100)
    problem = Problem.of(Gaussian(0.3), X, y)
    for method in (Subgradient(), StochasticSubgradient()):
        first = solve(problem, method, tol=1e-3)
        again = solve(problem, method, tol=1e-3, start=first)
        assert again.iterations < first.iterations
    few = {"tol": 0.0, "max_iter": 3}
    one, same, other = (solve(problem, StochasticSubgradient(random_state=seed), **few).beta for seed in (1, 1, 2))
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_lazy_rows():
    X, y = two_classes(300)
    dense, lazy = Problem(gram_of(Gaussian(0.3), X), y), Problem(gram_of(Gaussian(0.3), X, "500kB"), y)
    assert "by rows" in lazy.gram.reason
    for method in (Subgradient(), StochasticSubgradient()):
        values = [solve(problem, method, tol=1e-3).certificate.primal for problem in (dense, lazy)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_texts():
    assert solver("subgradient(step=inverse_time(eta=1,t0=10))") == Subgradient(InverseTime(1, 10))
    assert solver("stochastic_subgradient(step=constant(eta=0.5), order=random)") == StochasticSubgradient(
        ConstantStep(0.5), "random"
    )
    assert solver("subgradient(step=inverse_sqrt)") == Subgradient(InverseSqrt())
    for one in (Subgradient(InverseTime(2.0, 3.0)), StochasticSubgradient(InverseSqrt(), average_from=4)):
        assert solver(repr(one)) == one
    assert Subgradient().with_params(step__memory=5) == Subgradient(Automatic(5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantStep(0), "eta must be a finite number greater than 0"),
        (lambda: InverseTime(1, -1), "t0 must be a finite number of at least 0"),
        (lambda: InverseSqrt(float("nan")), "eta must be"),
        (lambda: Automatic(0), "memory must be a whole number"),
        (lambda: Subgradient("constant"), r"step must be ConstantStep\(\)"),
        (lambda: StochasticSubgradient(0.1), "step must be"),
        (lambda: StochasticSubgradient(order="sorted"), "order must be 'shuffled' or 'random'"),
        (lambda: StochasticSubgradient(average_from=-1), "average_from must be a whole number"),
        (lambda: solver("constant"), "is not a solver"),
        (lambda: solve(Problem.of(Linear(), *THREE_POINTS, HardMargin()), Subgradient()), "hard margin"),
        (lambda: solve(Problem.of(Linear(), *THREE_POINTS, HardMargin()), StochasticSubgradient()), "HardMargin"),
    ],
    ids=range(11),
)
def test_what_makes_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_one_label_one_point_and_no_spread():
    X, y = two_classes(20)
    for points, labels in ((X, np.ones(20)), (X[:1], y[:1]), (np.zeros((20, 2)), y), (np.ones((20, 2)), y)):
        for bias in (True, False):
            problem = Problem(LinearGram(points), labels, Hinge(), 1.0, bias=bias)
            for method in (Subgradient(), StochasticSubgradient(), CoordinateDescent()):
                assert solve(problem, method, tol=1e-3, max_iter=200).status is Status.CONVERGED
