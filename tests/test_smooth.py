"""Newton steps in w for the logistic loss: the answers of scikit-learn, whatever the points and the bias are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from mercer import KernelLogistic
from mercer.amounts import AT_A_TIME
from mercer.driver import solve
from mercer.gram import DenseGram, Design, LinearGram, design
from mercer.kernels import Linear
from mercer.losses import Logistic
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import Newton
from mercer.solvers.newton import preconditioner
from mercer.solvers.newton.hessian import Bias
from mercer.solvers.newton.preconditioner import Preconditioner

from .zoo import two_classes


@pytest.fixture(params=["all points", "some points", "no preconditioner"])
def way(request, monkeypatch):
    """What conjugate gradients are preconditioned with."""
    if request.param == "some points":
        monkeypatch.setattr(preconditioner, "PASSES_PER_DIGIT", 0.1)
    if request.param == "no preconditioner":
        monkeypatch.setattr(preconditioner, "_MOST_PASSES", -1.0)


def points(n, d, sparse, rng):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.3 if sparse else 1.0))
    y = np.where(X[:, 0] + X[:, -1] + rng.normal(size=n) > 0.5, 1.0, -1.0)
    return (csr_array(X) if sparse else X), y


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(600, 5), (60, 200)])  # the first begins with some of the points
@pytest.mark.parametrize("bias", ["free", "penalised", "none"])
def test_the_answer_is_that_of_scikit_learn(sparse, n, d, bias):
    X, y = points(n, d, sparse, np.random.default_rng(n))
    problem = Problem(LinearGram(X, float(bias == "penalised")), y, Logistic(), 0.7, bias=bias == "free")
    found = solve(problem, Newton(), tol=1e-10)
    assert found.status is Status.CONVERGED
    assert found.certificate.relative_gap <= 1e-10
    Z = np.column_stack([np.asarray(X @ np.eye(d)), np.ones(n)]) if bias == "penalised" else X
    peer = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000, fit_intercept=bias == "free").fit(Z, y)
    assert_allclose(problem.gram @ found.beta + found.b, peer.decision_function(Z), rtol=1e-4, atol=1e-4)
    primals = [step.primal for step in found.history]
    assert (np.diff(primals) <= 1e-12 * np.abs(primals[1:])).all()
    assert all(step.dual <= found.certificate.primal * (1 + 1e-12) for step in found.history)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("C", [1e-8, 1e8])
def test_extreme_weights_end_with_a_true_certificate(C):
    X, y = two_classes(80)
    found = solve(Problem(LinearGram(X), y, Logistic(), C), Newton(), tol=1e-6, max_iter=200)
    again = solve(Problem(DenseGram.compute(Linear(), X), y, Logistic(), C), Newton(), tol=1e-6, max_iter=200)
    slack = 1e-6 * abs(again.certificate.primal)
    assert found.certificate.primal >= again.certificate.dual - slack
    assert found.certificate.dual <= again.certificate.primal + slack
    assert found.certificate.relative_gap <= 1e-6


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_points_of_any_size(scale):
    X, y = two_classes(40)
    found = solve(Problem(LinearGram(scale * X), y, Logistic(), 1.0), Newton(), tol=1e-3, max_iter=50)
    assert np.isfinite(found.beta).all()
    assert found.certificate.dual <= found.certificate.primal


@pytest.mark.usefixtures("way")
def test_a_start_and_points_with_weights():
    rng = np.random.default_rng(0)
    X, y = points(300, 4, False, rng)
    C = rng.uniform(0.1, 2.0, size=300)
    problem = Problem(LinearGram(X), y, Logistic(), C)
    first = solve(problem, Newton(), tol=1e-3)
    again = solve(problem, Newton(), tol=1e-9, start=first)
    assert again.certificate.relative_gap <= 1e-9
    assert again.history[0].primal <= first.certificate.primal * (1 + 1e-9)
    peer = LogisticRegression(C=1.0, tol=1e-9, max_iter=10_000).fit(X, y, sample_weight=C)
    assert_allclose(problem.gram @ again.beta + again.b, peer.decision_function(X), atol=1e-4)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("size", [1.0, 1e5])
def test_a_wild_start_does_no_harm(bias, size):
    rng = np.random.default_rng(5)
    X, y = points(200, 6, False, rng)
    problem = Problem(LinearGram(100.0 * X, 1.0 - bias), y, Logistic(), 100.0, bias=bias)
    found = solve(problem, Newton(), tol=1e-8, start=size * rng.normal(size=200))
    assert found.status is Status.CONVERGED


def test_a_linear_kernel_holds_nothing_but_the_points():
    X, y = points(400, 3, True, np.random.default_rng(1))
    machine = KernelLogistic("linear + 1", bias=False).fit(X, y)
    assert "3 features" in machine.solution_.reason
    assert machine.certificate_.converged


@pytest.mark.parametrize("C", [0.001, 0.01, 0.1, 100.0])  # passes to the end; passes, then Newton; no passes
def test_many_sparse_features_begin_with_passes(C):
    X, y = points(200, 2000, True, np.random.default_rng(2))
    problem = Problem(LinearGram(X, 1.0), y, Logistic(), C, bias=False)
    found = solve(problem, Newton(), tol=1e-9, max_iter=200)
    assert found.status is Status.CONVERGED
    held = solve(Problem(DenseGram.compute(Linear() + 1, X), y, Logistic(), C, bias=False), Newton(), tol=1e-9)
    assert_allclose(found.certificate.primal, held.certificate.primal, rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bias", ["free", "penalised", "none"])
@pytest.mark.parametrize("drawn", [False, True])
def test_the_preconditioner_is_what_it_says(sparse, bias, drawn, monkeypatch):
    rng = np.random.default_rng(3)
    X, _ = points(500, 6, sparse, rng)
    X = X.astype(np.float32)
    monkeypatch.setattr(preconditioner, "_FEW_PASSES", 0.0 if drawn else np.inf)
    penalty, column = float(bias != "free"), {"free": 1.0, "penalised": 0.5, "none": 0.0}[bias]
    rate = rng.random(500) ** 8
    model = Preconditioner(Design(X, 0.0), Bias(column, penalty))
    r, r_e = rng.normal(size=6), penalty * column
    assert_allclose(model.solve(r, r_e)[0], r)  # nothing is known
    model.spent = np.inf
    model.renew(rate)
    assert (np.count_nonzero(model.weight) < 250) == drawn
    p, p_e = model.solve(r, r_e)
    Z, m = np.asarray(X @ np.eye(6)), model.weight
    s = Z @ p + column * p_e
    if bias == "free":
        s = s - m @ s / m.sum()
    assert_allclose(p + Z.T @ (m * s), r, atol=1e-10)
    assert_allclose(p_e + penalty * column * (m @ s), r_e, atol=1e-10)
    before = m.copy()
    model.renew(2.0 * rate)  # too soon
    assert_allclose(model.weight, before, rtol=0)


def test_heavy_points_are_certain_to_be_drawn():
    rate = np.random.default_rng(4).random(10_000) ** 20
    weight = preconditioner._drawn(rate, 500)
    assert 450 <= np.count_nonzero(weight) <= 550
    assert_allclose(weight.sum(), rate.sum(), rtol=0.02)
    least = weight[weight > 0.0].min()
    assert_allclose(weight[rate > least], rate[rate > least], rtol=0)
    assert_allclose(preconditioner._drawn(np.zeros(100), 10), np.zeros(100), rtol=0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_of_rows(sparse, dtype, monkeypatch):
    """sum weight z z' and sum weight z, whatever the signs, by one thread or several."""
    rng = np.random.default_rng(6)
    X = points(3000, 7, sparse, rng)[0].astype(dtype)
    rows, Z = np.sort(rng.permutation(3000)[:2000]), (X.toarray() if sparse else X).astype(np.float64)
    weight = rng.normal(size=2000)
    monkeypatch.setattr(design, "AT_A_TIME", replace(AT_A_TIME, rows=100))
    for enough in (1, 10**9):
        monkeypatch.setattr(design, "_WORTH_A_THREAD", enough)
        squares, ones = Design(X, 0.0).squares(rows, weight, single=dtype == np.float32)
        expected = Z[rows].T @ (weight[:, None] * Z[rows])
        precise = {"rtol": 1e-4, "atol": 1e-2} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-10}
        assert_allclose(np.triu(squares), np.triu(expected), **precise)
        assert_allclose(ones, weight @ Z[rows], **precise)
    assert not Design(X, 0.0).squares(rows[:0], weight[:0])[0].any()
