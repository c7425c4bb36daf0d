"""Kernel ridge regression: known answers, the identities of the dual representation, oracles, and certificates."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn import kernel_ridge, linear_model

from mercer import KernelRidge, Problem, certify, solve
from mercer.kernels import FromFeatures, FromFunction, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from mercer.losses import Squared
from mercer.solution import Status
from mercer.solvers import Cholesky, ConjugateGradient, Decomposition, NormalEquations, NystromCG

from .zoo import KERNELS, common_letters, curve, words

X, T = curve(80)
SEVERAL = np.column_stack([T, X[:, 0] ** 2, np.ones(len(T))])
WEIGHT = np.random.default_rng(5).gamma(1.0, size=len(T)) * (np.arange(len(T)) % 5 > 0)
QUERIES = curve(30, seed=9)[0]
SINGLE = X.astype(np.float32)


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


EXPLICIT = [
    Linear(),
    Polynomial(2, 0.5, 1.0),
    Polynomial(3, 1.0, 0.0),
    Linear() + 1,
    FromFeatures(lambda x: [1.0, x[0], x[1] * x[2]]),
]


@pytest.mark.parametrize("points", [X, SINGLE, csr_array(X)], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize("sample", [0, 30])
@pytest.mark.parametrize("bias", [False, True])
def test_normal_equations_of_some_rows_lead_to_the_answer_for_all(points, sample, bias):
    settings = {"kernel": "linear", "alpha": 0.3, "bias": bias, "tol": 1e-9}
    exact = KernelRidge(**settings).fit(points, SEVERAL, sample_weight=WEIGHT)
    ridge = KernelRidge(**settings, solver=NormalEquations(sample=sample), random_state=0)
    ridge.fit(points, SEVERAL, sample_weight=WEIGHT)
    assert ridge.certificate_.converged
    assert_allclose(ridge.coef_, exact.coef_, atol=1e-4)
    assert_allclose([c.primal for c in ridge.certificates_], [c.primal for c in exact.certificates_], rtol=1e-8)


def test_a_sample_is_a_number_of_rows():
    with pytest.raises(ValueError, match="sample"):
        NormalEquations(sample=-1)


@pytest.mark.parametrize("kernel", EXPLICIT, ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_primal_gives_the_predictions_of_the_dual(kernel, weight, bias):
    settings = {"kernel": kernel, "alpha": 0.3, "bias": bias}
    primal = KernelRidge(**settings).fit(X, SEVERAL, sample_weight=weight)
    dual = KernelRidge(**settings, solver="cholesky").fit(X, SEVERAL, sample_weight=weight)
    assert isinstance(primal.solution_[0].solver, NormalEquations)
    assert "fewer than" in primal.solution_[0].reason
    assert_allclose(primal.predict(QUERIES), dual.predict(QUERIES), atol=1e-8)
    assert_allclose(primal.dual_coef_, dual.dual_coef_, atol=1e-8)
    assert_allclose(primal.intercept_, dual.intercept_, atol=1e-8)
    assert primal.certificate_.converged
    assert_allclose([c.primal for c in primal.certificates_], [c.primal for c in dual.certificates_], atol=1e-9)
    assert certify(primal, X, SEVERAL, sample_weight=weight).relative_gap < 1e-9
    _, primal_std = primal.predict(QUERIES, return_std=True)
    _, dual_std = dual.predict(QUERIES, return_std=True)
    assert_allclose(primal_std, dual_std, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kernel", EXPLICIT, ids=repr)
def test_the_primal_predicts_in_float64_whatever_it_is_given(kernel):
    machines = (KernelRidge(kernel, 0.3, solver=solver).fit(SINGLE, T) for solver in ("primal", "cholesky"))
    assert_allclose(*(machine.predict(SINGLE[:30]) for machine in machines), atol=1e-8)


def test_linear_coefficients():
    ridge = KernelRidge(Linear(), alpha=0.7, bias=True).fit(X, T)
    theirs = linear_model.Ridge(alpha=0.7).fit(X, T)
    assert_allclose(ridge.coef_, theirs.coef_, atol=1e-10)
    assert_allclose(ridge.intercept_, theirs.intercept_, atol=1e-10)
    sparse = KernelRidge(Linear(), alpha=0.7).fit(csr_array(X), SEVERAL)
    assert_allclose(sparse.coef_, linear_model.Ridge(alpha=0.7, fit_intercept=False).fit(X, SEVERAL).coef_, atol=1e-10)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.3), Gaussian(0.1) + Linear()], ids=repr)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n", [80, 1700])
def test_conjugate_gradients(kernel, bias, n):
    points, t = curve(n)
    weight = np.random.default_rng(2).uniform(0.1, 3.0, n)
    settings = {"kernel": kernel, "alpha": 0.1, "bias": bias}
    exact = KernelRidge(**settings, solver="cholesky").fit(points, t, sample_weight=weight)
    ours = KernelRidge(**settings, solver=ConjugateGradient(), tol=1e-10).fit(points, t, sample_weight=weight)
    assert ours.certificate_.relative_residual <= 1e-10
    assert_allclose(ours.dual_coef_, exact.dual_coef_, atol=1e-6)
    assert ours.n_iter_ > 1
    loose = KernelRidge(**settings, solver="conjugategradient(rank=5)", tol=1e-3).fit(points, t, sample_weight=weight)
    assert 1e-10 < loose.certificate_.relative_residual <= 1e-3


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_all_points_as_landmarks(bias, weight):
    settings = {"kernel": Gaussian(0.3), "alpha": 0.1, "bias": bias}
    exact = KernelRidge(**settings).fit(X, SEVERAL, sample_weight=weight)
    ours = KernelRidge(**settings, solver="nystrom", random_state=0).fit(X, SEVERAL, sample_weight=weight)
    assert_allclose(ours.predict(QUERIES), exact.predict(QUERIES), atol=1e-6)
    assert_allclose([c.primal for c in ours.certificates_], [c.primal for c in exact.certificates_], atol=1e-6)
    assert ours.certificate_.full_residual < 1e-5
    assert "full problem" in str(ours.certificate_)
    deviations = [machine.predict(QUERIES, return_std=True)[1] for machine in (ours, exact)]
    assert_allclose(*deviations, atol=1e-5)
    assert certify(ours, X, SEVERAL, sample_weight=weight).relative_gap < 1e-6


@pytest.mark.parametrize("selection", ["errors", "rpcholesky", "uniform"])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.2)], ids=repr)
@pytest.mark.parametrize("sample", [None, 300])
def test_landmarks(selection, kernel, sample):
    """The best f over landmarks, from the normal equations written out."""
    points, targets = landmark_data()
    solver = NystromCG(landmarks=60, selection=selection, sample=sample)
    ridge = KernelRidge(kernel, alpha=0.05, bias=True, solver=solver, tol=1e-9, random_state=0).fit(points, targets)
    L = ridge.X_fit_
    assert L.shape == (60, 4)
    G, ones = kernel(points, L), np.ones((len(points), 1))
    design = np.hstack([G, ones])
    penalty = np.zeros((61, 61))
    penalty[:60, :60] = 0.05 * kernel(L)
    c = np.linalg.solve(design.T @ design + penalty, design.T @ targets)
    assert_allclose(ridge.predict(QUERIES), kernel(QUERIES, L) @ c[:60] + c[60], atol=1e-5)
    assert ridge.certificate_.converged
    assert ridge.certificate_.full_residual > 0
    J = 0.5 * ((design @ c - targets) ** 2).sum(axis=0) + 0.5 * np.einsum("ij,ik,kj->j", c, penalty, c)
    assert_allclose([part.primal for part in ridge.certificates_], J, rtol=1e-7)


def test_landmarks_go_where_the_errors_are():
    """Most points are where the target is smooth; what is rough in a corner takes landmarks there."""
    generator = np.random.default_rng(0)
    points = np.concatenate([generator.normal(size=(2000, 2)), generator.uniform(6, 9, size=(200, 2))])
    t = np.where(points[:, 0] > 5, np.sin(5 * points[:, 0]) * np.sin(5 * points[:, 1]), 0.1 * points[:, 0])
    fits = {
        selection: KernelRidge(
            Gaussian(5.0), alpha=0.01, solver=NystromCG(100, selection=selection), random_state=0
        ).fit(points, t)
        for selection in ("errors", "uniform")
    }
    costs = {selection: fit.certificate_.primal for selection, fit in fits.items()}
    assert costs["errors"] < 0.5 * costs["uniform"]
    constant = KernelRidge(Gaussian(5.0), bias=True, solver=NystromCG(100), random_state=0).fit(points, np.ones(len(t)))
    assert_allclose(constant.predict(points[:5]), 1.0)
    assert len(np.unique(constant.X_fit_, axis=0)) == 100


def landmark_data(n=2500):
    points, t = curve(n)
    return points, np.column_stack([t, points[:, 0] + 3.0])


def test_data_in_pieces(tmp_path):
    points, targets = landmark_data()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(points)) * (np.arange(len(points)) % 7 > 0)
    settings = {"kernel": Gaussian(0.3), "alpha": 0.05, "tol": 1e-9, "random_state": 0}
    settings |= {"solver": NystromCG(landmarks=60)}
    parts = [slice(start, start + 800) for start in range(0, len(points), 800)]
    pieces = [(points[part], targets[part], weight[part]) for part in parts]
    listed = KernelRidge(**settings).fit(pieces)
    called = KernelRidge(**settings).fit(lambda: iter(pieces))
    assert_allclose(listed.predict(QUERIES), called.predict(QUERIES))
    whole = KernelRidge(**settings).fit(points, targets, sample_weight=weight)
    L = listed.X_fit_  # other landmarks, so the normal equations are written out
    G = Gaussian(0.3)(points, L)
    c = np.linalg.solve((weight * G.T) @ G + 0.05 * Gaussian(0.3)(L), (weight * G.T) @ targets)
    assert_allclose(listed.predict(QUERIES), Gaussian(0.3)(QUERIES, L) @ c, atol=1e-5)
    with pytest.raises(ValueError, match="read only once"):
        KernelRidge(**settings).fit(iter(pieces))
    with pytest.raises(ValueError, match="needs landmarks"):
        KernelRidge(solver="cholesky").fit(pieces)
    with pytest.raises(ValueError, match=r"\(X, y\)"):
        KernelRidge(**settings).fit([(points,)])
    with pytest.raises(ValueError, match="no pieces"):
        KernelRidge(**settings).fit(lambda: iter([]))
    stored = np.lib.format.open_memmap(tmp_path / "points.npy", "w+", np.float64, points.shape)
    stored[:] = points
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    again = KernelRidge(**settings).fit(mapped, targets, sample_weight=weight)
    assert_allclose(again.predict(QUERIES), whole.predict(QUERIES))


# Leave-one-out.


def left_out(make, points, targets, weight):
    """Each point left out in turn, and predicted."""
    out = np.empty_like(targets)
    for i in range(len(points)):
        keep = np.arange(len(points)) != i
        machine = make().fit(points[keep], targets[keep], sample_weight=weight[keep])
        out[i] = targets[i] - machine.predict(points[i : i + 1])[0]
    return out


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial()], ids=repr)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("targets", [T, SEVERAL], ids=["one", "several"])
def test_leave_one_out_against_brute_force(kernel, bias, targets):
    points, targets, weight = X[:40], targets[:40], WEIGHT[:40]
    make = partial(KernelRidge, kernel, 0.2, bias=bias)
    expected = left_out(make, points, targets, weight)
    ridge = make(loo=True).fit(points, targets, sample_weight=weight)
    assert_allclose(ridge.loo_residuals_, expected, atol=1e-7)
    dual = make(loo=True, solver="cholesky").fit(points, targets, sample_weight=weight)
    assert_allclose(dual.loo_residuals_, expected, atol=1e-7)
    path = make().path(points, targets, [0.1, 0.2, 0.4], sample_weight=weight)
    errors = (weight[:, None] * expected.reshape(40, -1) ** 2).sum(axis=0) / weight.sum()
    assert_allclose(path.errors[1], errors, rtol=1e-6, atol=1e-12)


def test_leave_one_out_through_landmarks():
    """The landmarks stay while points are left out: weights of 0 do the same."""
    points, t = curve(60)
    settings = {"kernel": Gaussian(0.3), "alpha": 0.2, "bias": True}
    ridge = KernelRidge(**settings, solver=NystromCG(20), loo=True, random_state=0).fit(points, t)
    L = ridge.X_fit_
    K, G = Gaussian(0.3)(L), Gaussian(0.3)(points, L)
    Z = G @ np.linalg.inv(np.linalg.cholesky(K)).T
    plain = KernelRidge(Linear(), alpha=0.2, bias=True, loo=True).fit(Z, t)
    assert_allclose(ridge.loo_residuals_, plain.loo_residuals_, atol=1e-6)
    path = KernelRidge(**settings, solver=NystromCG(20), random_state=0).path(points, t, [0.2])
    assert_allclose(path.errors[0, 0], np.mean(plain.loo_residuals_**2), rtol=1e-5)
    assert "landmarks" in path.method


def test_alpha_from_leave_one_out():
    alphas = np.geomspace(1e-4, 1e2, 20)
    ridge = KernelRidge(Gaussian(0.3), alpha="loo", alphas=alphas).fit(X, T)
    assert ridge.alpha_ == ridge.path_.best
    assert ridge.alpha_ in alphas
    errors = [np.mean(KernelRidge(Gaussian(0.3), a, loo=True).fit(X, T).loo_residuals_ ** 2) for a in alphas]
    assert_allclose(ridge.path_.errors[:, 0], errors, rtol=1e-8)
    assert ridge.alpha_ == alphas[np.argmin(errors)]
    assert_allclose(np.mean(ridge.loo_residuals_**2), min(errors))
    assert "best alpha" in str(ridge.path_)
    assert KernelRidge(alpha="loo").fit(X, SEVERAL).path_.errors.shape == (50, 3)
    with pytest.raises(ValueError, match="alphas must be"):
        KernelRidge().path(X, T, [0.0])
