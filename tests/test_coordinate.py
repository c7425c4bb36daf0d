"""Coordinate descent: the known answers, for every loss and every kind of bias, dense and sparse; and hard cases."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer

from mercer.driver import solve
from mercer.features import PolynomialMap
from mercer.gram import LinearGram, LowRankGram, design, gram_of
from mercer.kernels import Gaussian, Linear
from mercer.losses import EpsilonInsensitive, HardMargin, Hinge, Logistic, OneClass, Squared, SquaredHinge
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import QP, CoordinateDescent, Decomposition, Newton, coordinate, solver

from . import PATIENCE
from .zoo import WEIGHTS, curve, two_classes

LOSSES = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1), EpsilonInsensitive(0.0), Squared()]
BIASES = {"free": (True, 0.0), "penalised": (False, 1.0), "none": (False, 0.0)}
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
every_bias = pytest.mark.parametrize("bias", BIASES)


def data(loss, n=60):
    return curve(n) if isinstance(loss, EpsilonInsensitive | Squared) else two_classes(n)


def problem_of(loss, bias, C=1.0, n=60, form=np.asarray):
    X, y = data(loss, n)
    free, constant = BIASES[bias]
    return Problem(LinearGram(form(X), constant), y, loss, C, bias=free)


@every_loss
@every_bias
@pytest.mark.parametrize("C", [1e-6, 1.0, WEIGHTS, 1e4], ids=["tiny", "one", "weights", "large"])
def test_the_answer_is_that_of_the_quadratic_program(loss, bias, C):
    problem = problem_of(loss, bias, C)
    found, best = solve(problem, CoordinateDescent(), tol=1e-8), solve(problem, QP(), tol=1e-6)
    assert found.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-5)
    again = problem.certify(found.beta, found.b, found.dual_beta)
    assert again.relative_gap <= 1e-8


@every_loss
@every_bias
def test_passes_alone_reach_it_too(loss, bias):
    problem = problem_of(loss, bias, 0.1)
    found = solve(problem, CoordinateDescent(newton=False), tol=1e-6)
    assert found.status is Status.CONVERGED
    assert (np.diff([step.dual for step in found.history[1:]]) >= -1e-9).all() or problem.bias


@every_loss
@every_bias
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_dense(loss, bias, dtype):
    answers = [
        solve(problem_of(loss, bias, form=form), CoordinateDescent(), tol=1e-9)
        for form in (lambda X: X.astype(dtype), lambda X: csr_array(X.astype(dtype)), lambda X: np.asfortranarray(X))
    ]
    assert all(answer.status is Status.CONVERGED for answer in answers)
    values = [answer.certificate.primal for answer in answers]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert values[0] == pytest.approx(values[2], rel=1e-5)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@every_bias
@pytest.mark.parametrize("shape", [(400, 3), (40, 90), (40, 41)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_few_features_and_few_points(loss, bias, shape, form, monkeypatch):
    monkeypatch.setattr(coordinate, "_newton_step", lambda design, free: 0.0)
    monkeypatch.setattr(design, "_WORTH_A_THREAD", 10)
    generator = np.random.default_rng(1)
    X = generator.normal(size=shape) * (generator.random(shape) < 0.5)
    y = np.where(X[:, 0] + generator.normal(size=shape[0]) > 0, 1.0, -1.0)
    free, constant = BIASES[bias]
    problem = Problem(LinearGram(form(X), constant), y, loss, 2.0, bias=free)
    found, best = solve(problem, CoordinateDescent(), tol=1e-8), solve(problem, QP(), tol=1e-6)
    assert found.status is Status.CONVERGED
    assert found.iterations < 100
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-5)


def test_explicit_features():
    X, y = two_classes(200)
    low = LowRankGram(PolynomialMap().fit_transform(X))
    kernel = Problem(gram_of("poly", X), y, C=3.0)
    found = solve(Problem(low, y, C=3.0), CoordinateDescent(), tol=1e-8)
    assert found.certificate.primal == pytest.approx(solve(kernel, Decomposition(), tol=1e-8).certificate.primal)
    assert_allclose(found.certificate.dual, kernel.dual(found.dual_beta), rtol=1e-9)


def test_the_seed_decides():
    problem = problem_of(Hinge(), "penalised")
    few = {"tol": 1e-12, "max_iter": 4}
    one, same, other = (solve(problem, CoordinateDescent(False, seed), **few).beta for seed in (1, 1, 2))
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_histories_show_primal_and_dual_of_each_pass():
    history = solve(problem_of(Hinge(), "free"), CoordinateDescent(), tol=1e-6).history
    assert all(step.primal >= step.dual for step in history)
    assert history[-1].relative_gap <= 1e-6 < history[0].relative_gap
    assert history[0].dual == 0.0  # f = 0 comes first


def test_a_start_is_taken():
    problem = problem_of(SquaredHinge(), "free", n=300)
    found = solve(problem, CoordinateDescent(), tol=1e-8)
    again = solve(problem, CoordinateDescent(), tol=1e-8, start=found)
    assert again.status is Status.CONVERGED
    assert again.iterations < found.iterations


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_many_float32_features_lose_no_digits(loss, scale):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(2000, 130)).astype(np.float32)
    y = np.where(X @ rng.normal(size=130) + 4.0 * scale * rng.normal(size=2000) > 0, 1.0, -1.0)
    single, double = (
        solve(Problem(LinearGram(points), y, loss, 1.0), CoordinateDescent(), tol=1e-10, max_iter=300)
        for points in (X, X.astype(np.float64))
    )
    assert single.status is double.status is Status.CONVERGED
    assert single.certificate.primal == pytest.approx(double.certificate.primal, rel=1e-9)


CANCER, LABELS = load_breast_cancer(return_X_y=True)
X, Y = two_classes(100)
HARD = {
    "raw features": (CANCER, 2.0 * LABELS - 1),
    "opposite labels": (np.repeat(X, 2, axis=0), np.tile([1.0, -1.0], 100)),
    "constant": (np.ones((30, 2)), Y[:30]),
    "zeros": (np.zeros((30, 2)), Y[:30]),
    "one label": (X, np.ones(100)),
    "one point": (X[:1], np.ones(1)),
    "two points": (X[:2], np.array([1.0, -1.0])),
    "tiny": (X * 1e-8, Y),
    "large": (X * 1e4, Y),
    "mixed": (X * 10.0 ** np.arange(-6, 6, 3), Y),
}


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("case", HARD)
def test_hard_cases_converge(loss, bias, case):
    for C in (1e-6, 1.0, 100.0):
        problem = Problem(LinearGram(HARD[case][0]), HARD[case][1], loss, C, bias=bias)
        assert solve(problem, CoordinateDescent(), time_limit=PATIENCE).status is Status.CONVERGED


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("case", [*HARD, "huge"])
def test_no_answer_is_worse_than_none(loss, bias, case):
    points, y = HARD.get(case, (X * 1e8, Y))
    problem = Problem(LinearGram(points.astype(np.float32)), y, loss, 1e6, bias=bias)
    found = solve(problem, CoordinateDescent(), max_iter=300)
    zeros = np.zeros(problem.n)
    assert found.certificate.primal <= problem.primal(zeros, problem.best_bias(zeros), zeros) * (1 + 1e-4)
    assert found.status in (Status.CONVERGED, Status.OUT_OF_ITERATIONS, Status.STALLED)
    assert problem.certify(found.beta, found.b, found.dual_beta).primal == pytest.approx(found.certificate.primal)


def test_what_it_does_not_serve():
    points, y = two_classes(30)
    linear = LinearGram(points)
    with pytest.raises(ValueError, match=r"needs explicit features.*Decomposition"):
        solve(Problem.of(Gaussian(0.5), points, y), CoordinateDescent())
    with pytest.raises(ValueError, match=r"not HardMargin\(\): take Decomposition"):
        solve(Problem(linear, y, HardMargin()), CoordinateDescent())
    with pytest.raises(ValueError, match="with a mass"):
        solve(Problem(linear, y, OneClass(), mass=3.0), CoordinateDescent())
    assert solver("coordinate_descent(newton=false, random_state=3)") == CoordinateDescent(False, 3)


def test_linear_gram():
    points, _ = two_classes(20)
    v = np.random.default_rng(0).normal(size=(20, 2))
    for form in (np.asarray, csr_array):
        for constant in (0.0, 2.0):
            gram, K = LinearGram(form(points), constant), Linear()(points) + constant
            assert_allclose(gram @ v, K @ v)
            assert_allclose(gram.recompute(v[:, 0], [3, 1]), (K @ v[:, 0])[[3, 1]])
            assert_allclose(gram.diag(), K.diagonal())
            assert_allclose(gram.rows([2, 5]), K[[2, 5]])
            assert_allclose(np.asarray(gram.subset([4, 2])), K[np.ix_([4, 2], [4, 2])])
            Z = gram.features.toarray() if form is csr_array else gram.features
            assert_allclose(Z @ Z.T, K)
            assert gram.astype(np.float32).dtype == np.float32
            assert_allclose(gram.kernel(points), K)
            assert gram.nbytes > 0 and "linear" in repr(gram)


@every_bias
def test_the_logistic_loss(bias):
    problem = problem_of(Logistic(), bias, 2.0)
    found, best = solve(problem, CoordinateDescent(), tol=1e-7), solve(problem, Newton(), tol=1e-8)
    assert found.status is Status.CONVERGED
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-6)
