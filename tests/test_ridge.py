"""Kernel ridge regression: known answers, the identities of the dual representation, oracles, and certificates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import kernel_ridge

from mercer import KernelRidge, Problem, certify, solve
from mercer.kernels import FromFunction, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from mercer.losses import Squared
from mercer.solution import Status
from mercer.solvers import Cholesky, Decomposition

from .zoo import KERNELS, common_letters, curve, words

X, T = curve(80)
SEVERAL = np.column_stack([T, X[:, 0] ** 2, np.ones(len(T))])
WEIGHT = np.random.default_rng(5).gamma(1.0, size=len(T)) * (np.arange(len(T)) % 5 > 0)
QUERIES = curve(30, seed=9)[0]


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.3), Polynomial(), Linear()], ids=repr)
@pytest.mark.parametrize("targets", [T, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_same_as_scikit_learn(kernel, targets, weight):
    ours = KernelRidge(kernel, alpha=0.3).fit(X, targets, sample_weight=weight)
    theirs = kernel_ridge.KernelRidge(alpha=0.3, kernel="precomputed").fit(kernel(X), targets, sample_weight=weight)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-9)
    assert_allclose(ours.predict(QUERIES), theirs.predict(kernel(QUERIES, X)), atol=1e-8)
    assert ours.certificate_.converged
    assert ours.certificate_.relative_residual < 1e-10
    assert certify(ours, X, targets, sample_weight=weight).relative_gap < 1e-12


def test_identities_of_the_dual_representation():
    """w = Phi'a, a = -(w.phi(x) - t) / lambda, and J(w) = J(a) is what the certificate says."""
    alpha, ridge = 0.7, KernelRidge(Linear(), alpha=0.7).fit(X, T)
    a, K = ridge.dual_coef_, X @ X.T
    w = X.T @ a
    assert_allclose(a, -(X @ w - T) / alpha, atol=1e-12)
    assert_allclose(X @ w, ridge.predict(X), atol=1e-12)
    J_w = 0.5 * np.sum((X @ w - T) ** 2) + alpha / 2 * w @ w
    J_a = 0.5 * a @ K @ K @ a - a @ K @ T + 0.5 * T @ T + alpha / 2 * a @ K @ a
    assert_allclose([J_w, J_a, ridge.certificate_.dual], ridge.certificate_.primal, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_an_unpenalised_bias(weight):
    ridge = KernelRidge(Gaussian(0.3), alpha=0.3, bias=True).fit(X, SEVERAL + 1e3, sample_weight=weight)
    C = (np.ones(len(T)) if weight is None else weight) / 0.3
    kept = C > 0
    for j, solution in enumerate(ridge.solution_):
        problem = Problem.of(Gaussian(0.3), X[kept], SEVERAL[kept, j] + 1e3, Squared(), C[kept])
        other = solve(problem, Decomposition(), tol=1e-12)
        assert_allclose(solution.beta, other.beta, atol=1e-5)
        assert_allclose(ridge.dual_coef_[kept, j], solution.beta)
        assert_allclose(solution.b, other.b, atol=1e-5)
        assert solution.certificate.feasibility < 1e-9
    assert_allclose(ridge.predict(QUERIES)[:, 2], 1001.0, atol=1e-9)


def test_the_solver_alone():
    problem = Problem.of(Gaussian(0.3), X, T, Squared(), WEIGHT + 1.0)
    solution = solve(problem, Cholesky(), tol=1e-10)
    assert solution.status is Status.CONVERGED
    assert_allclose(solution.beta, solve(problem, "decomposition", tol=1e-13).beta, atol=1e-6)
    with pytest.raises(ValueError, match="is for ridge regression"):
        solve(Problem.of(Gaussian(0.3), X, np.sign(T)), Cholesky())


@pytest.mark.parametrize("specimen", KERNELS, ids=str)
def test_every_kernel(specimen):
    points, others = specimen.points(40), specimen.points(7, seed=2)
    t = np.sin(np.arange(40))
    ridge = KernelRidge(specimen.kernel, alpha=0.5).fit(points, t)
    K = specimen.kernel(points)
    assert_allclose(ridge.dual_coef_, np.linalg.solve(K + 0.5 * np.eye(40), t), atol=1e-7)
    assert_allclose(ridge.predict(others), specimen.kernel(others, points) @ ridge.dual_coef_, atol=1e-9)


def test_precomputed_values_and_objects():
    K, L = Gaussian(0.3)(X), Gaussian(0.3)(QUERIES, X)
    ours = KernelRidge(Precomputed(), alpha=0.3).fit(K, T, sample_weight=WEIGHT)
    plain = KernelRidge(Gaussian(0.3), alpha=0.3).fit(X, T, sample_weight=WEIGHT)
    assert_allclose(ours.predict(L), plain.predict(QUERIES), atol=1e-10)
    texts = words(30)
    letters = KernelRidge(FromFunction(common_letters), alpha=1.0).fit(texts, [len(text) for text in texts])
    assert_allclose(letters.predict(["abc", "aabbcc"]), [3, 6], atol=0.3)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("bias", [False, True])
def test_panels_and_refinement(precision, bias):
    """More points than one panel holds: the factor of either precision ends at the same answer."""
    points = np.random.default_rng(0).normal(size=(1700, 3))
    t = np.column_stack([np.sin(points[:, 0]), points[:, 1] * points[:, 2]])
    ridge = KernelRidge(Gaussian(0.5), alpha=0.01, bias=bias, solver=Cholesky(precision)).fit(points, t)
    assert ridge.certificate_.relative_residual < 1e-12
    K = Gaussian(0.5)(points)
    assert_allclose(K @ ridge.dual_coef_ + ridge.intercept_ + 0.01 * ridge.dual_coef_, t, atol=1e-11)
    assert (abs(ridge.dual_coef_.sum(axis=0)) < 1e-9).all() or not bias
