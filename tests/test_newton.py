"""Newton's method, exact and with landmarks: against a general optimiser, against each other, and on ugly data."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from mercer.amounts import LARGEST
from mercer.driver import solve
from mercer.gram import LowRankGram, PointsGram, gram_of
from mercer.kernels import Constant, Gaussian, Laplacian, Linear, Polynomial, Precomputed
from mercer.losses import Hinge, Logistic, Squared
from mercer.problem import Problem
from mercer.solution import Status
from mercer.solvers import Newton, NystromNewton, choose, landmarks, solver
from mercer.solvers.newton import in_points

from . import PATIENCE
from .zoo import PROBLEMS, as_sparse, curve, two_classes

SMOOTH = [specimen for specimen in PROBLEMS if specimen.make().loss.smooth]
every_smooth_problem = pytest.mark.parametrize("specimen", SMOOTH, ids=str)


@every_smooth_problem
def test_newton_reaches_the_answer(specimen):
    problem = specimen.make()
    solution = solve(problem, Newton(), tol=1e-12)
    assert solution.status is Status.CONVERGED
    assert problem.certify(solution.beta, solution.b).relative_gap <= 1e-12
    assert (np.diff([step.primal for step in solution.history]) <= 1e-12 * solution.certificate.primal).all()
    assert all(step.gap >= -1e-9 * step.primal for step in solution.history)
    K = np.asarray(problem.gram)
    assert_allclose(
        solution.beta, -problem.C * problem.loss.slope(problem.y, K @ solution.beta + solution.b), atol=1e-5
    )


@every_smooth_problem
def test_a_general_optimiser_finds_the_same(specimen):
    problem = specimen.make()
    values, vectors = np.linalg.eigh(np.asarray(problem.gram))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))

    def objective(v):
        w, b = v[:-1], v[-1] if problem.bias else 0.0
        f = Z @ w + b
        g = problem.C * problem.loss.slope(problem.y, f)
        value = w @ w / 2 + problem.C @ problem.loss.value(problem.y, f)
        return value, np.append(w + Z.T @ g, g.sum() if problem.bias else 0.0)

    best = minimize(
        objective, np.zeros(problem.n + 1), jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000}
    )
    solution = solve(problem, Newton(), tol=1e-12)
    assert solution.certificate.primal == pytest.approx(best.fun, rel=1e-9)
    assert_allclose(np.asarray(problem.gram) @ solution.beta, Z @ best.x[:-1], atol=1e-5)


@every_smooth_problem
def test_damage_is_caught(specimen):
    problem = specimen.make()
    solution = solve(problem, Newton(), tol=1e-12)
    for wrong in (1.5 * solution.beta, 0.5 * solution.beta, -solution.beta, solution.beta[::-1]):
        assert problem.certify(wrong).relative_gap > 1e-5
        assert problem.certify(wrong, solution.b).relative_gap > 1e-5


def test_features_factors_and_gradients_agree():
    X, y = two_classes(300)
    problem = Problem.of(Linear(), X, y, Logistic(), 3.0)
    dense = Problem(gram_of(Precomputed(), X @ X.T), y, Logistic(), 3.0)
    sparse = Problem.of(Linear(), as_sparse(X), y, Logistic(), 3.0)
    lazy = Problem(PointsGram(Linear(), X, "10MB"), y, Logistic(), 3.0)
    assert isinstance(problem.gram, LowRankGram)
    solutions = [solve(p, Newton(), tol=1e-10) for p in (problem, dense, sparse, lazy)]
    for solution in solutions:
        assert solution.status is Status.CONVERGED
        assert_allclose(X.T @ solution.beta, X.T @ solutions[0].beta, atol=1e-5)
        assert solution.b == pytest.approx(solutions[0].b, abs=1e-5)


def test_float32_points():
    X, y = two_classes(400)
    X = X.astype(np.float32)
    for kernel in (Gaussian(0.3), Linear()):
        problem = Problem.of(kernel, X, y, Logistic(), 2.0)
        assert solve(problem, Newton(), tol=1e-9).status is Status.CONVERGED


def test_as_many_landmarks_as_points_are_exact():
    X, y = two_classes(150)
    problem = Problem.of(Gaussian(0.3), X, y, Logistic(), 2.0)
    exact, seen = solve(problem, Newton(), tol=1e-8), solve(problem, NystromNewton(150), tol=1e-6)
    assert seen.status is Status.CONVERGED
    assert seen.certificate.primal == pytest.approx(exact.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("landmarks", [1, 20, 60])
def test_the_certificate_of_landmarks_is_of_the_full_problem(landmarks):
    X, y = two_classes(300)
    problem = Problem.of(Gaussian(0.3), X, y, Logistic(), 1.0)
    best = solve(problem, Newton(), tol=1e-10).certificate
    solution = solve(problem, NystromNewton(landmarks), tol=1e-10)
    assert solution.status is Status.APPROXIMATE
    assert "landmarks" in str(solution)
    assert 0 < solution.support.size <= landmarks
    assert solution.certificate.dual <= best.dual * (1 + 1e-9)
    assert solution.certificate.primal >= best.primal * (1 - 1e-9)
    K = Gaussian(0.3)(X)
    f = K @ solution.beta + solution.b
    primal = solution.beta @ K @ solution.beta / 2 + np.log(1 + np.exp(-y * f)).sum()
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-9)
    if landmarks == 60:
        assert solution.certificate.relative_gap < 0.1
    again = solve(problem, NystromNewton(landmarks), tol=1e-10)
    assert_array_equal(again.beta, solution.beta)


def test_landmarks_are_found_once_for_all_problems_and_then_forgotten(monkeypatch):
    calls = []
    original = landmarks.pivoted_cholesky
    monkeypatch.setattr(landmarks, "pivoted_cholesky", lambda *a, **k: calls.append(1) or original(*a, **k))
    X, y = two_classes(100)
    gram = gram_of(Gaussian(0.3), X)
    for C in (1.0, 2.0):
        solve(Problem(gram, y, Logistic(), C), NystromNewton(10))
    assert len(calls) == 1
    solve(Problem(gram, y, Logistic(), 1.0), NystromNewton(11))
    assert len(calls) == 2
    held = len(landmarks._factors)
    del gram
    gc.collect()
    assert len(landmarks._factors) < held


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", [True, False])
def test_landmarks_without_room_for_their_rows(dtype, bias):
    X, y = two_classes(700)
    X = X.astype(dtype)
    gram = PointsGram(Gaussian(0.3), X, "1MB")
    problem = Problem(gram, y, Logistic(), 2.0, bias=bias)
    chosen = NystromNewton(50)
    assert chosen._streams(problem) and not chosen._streams(Problem(gram_of(Gaussian(0.3), X), y, Logistic()))
    solution = solve(problem, chosen, tol=1e-8)
    assert solution.status is Status.APPROXIMATE and 0 < solution.support.size <= 50
    K, c, own = Gaussian(0.3)(X.astype(float)), solution.beta, solution.support
    slope = 2.0 * Logistic().slope(y, K @ c + solution.b)  # no f over the same landmarks is better
    assert np.abs(K[own] @ slope + K[np.ix_(own, own)] @ c[own]).max() < 1e-3 * np.abs(K[own] @ np.abs(slope)).max()
    assert solution.b == pytest.approx(problem.best_bias(K @ c), abs=1e-5)
    assert solution.certificate.primal == pytest.approx(problem.primal(c, solution.b, K @ c), rel=1e-6)
    assert_array_equal(solve(problem, chosen, tol=1e-8).beta, c)


def test_landmarks_never_fall_as_points_grow():
    counts = []
    for n in (2_000, 20_000, 50_000, 200_000):
        gram = PointsGram(Gaussian(0.3), np.zeros((n, 2), np.float32), "600MB")
        chosen, _ = choose(Problem(gram, np.ones(n), Logistic()))
        counts.append(chosen.landmarks)
    assert counts == sorted(counts) and counts[0] == 1000 and counts[-1] > 2000


def test_systems_by_conjugate_gradients(monkeypatch):
    X, y = two_classes(400)
    for C in (1.0, 100.0):
        exact = solve(Problem.of(Gaussian(0.3), X, y, Logistic(), C), Newton(), tol=1e-9)
        monkeypatch.setattr(in_points, "LARGEST", replace(LARGEST, points_exact=100))
        problem = Problem.of(Gaussian(0.3), X, y, Logistic(), C)
        assert not in_points.points_of(problem.gram).exact
        assert in_points.points_of(problem.gram) is in_points.points_of(problem.gram)  # K in float64 is there once
        solution = solve(problem, Newton(), tol=1e-9)
        assert solution.status is Status.CONVERGED and solution.iterations <= 2 * exact.iterations
        monkeypatch.undo()


def test_the_forms_of_the_systems_agree(monkeypatch):
    rng = np.random.default_rng(3)
    X, W, right = rng.normal(size=(240, 3)), rng.random(240) ** 4, rng.normal(size=(240, 2))
    W[:10] = 0.0  # curvatures underflow
    expected = np.linalg.solve(np.eye(240) + W[:, None] * Gaussian(1.0)(X), right)
    for room in ("1GB", "100kB"):  # K is held, or not
        gram = PointsGram(Gaussian(1.0), X, room) if room == "100kB" else gram_of(Gaussian(1.0), X)
        for factor in (1200, 100):
            monkeypatch.setattr(in_points, "LARGEST", replace(LARGEST, points_exact=factor))
            points = in_points.InPoints(gram)
            assert points.exact == (factor == 1200 and gram.given)
            assert_allclose(points.solve(W, right, 0.0), expected, atol=1e-9)


def test_a_start_saves_rounds():
    X, y = two_classes(200)
    problem = Problem.of(Gaussian(0.3), X, y, Logistic(), 100.0)
    cold = solve(problem, Newton(), tol=1e-8)
    warm = solve(Problem.of(Gaussian(0.3), X, y, Logistic(), 90.0), Newton(), tol=1e-8, start=cold)
    assert warm.status is Status.CONVERGED and warm.iterations < cold.iterations
    with pytest.raises(ValueError, match="A start must be 200 finite coefficients"):
        solve(problem, Newton(), start=np.ones(3))


def test_limits():
    X, y = two_classes(200)
    problem = Problem.of(Gaussian(0.3), X, y, Logistic(), 1e6)
    one = solve(problem, Newton(), max_iter=1)
    assert one.status is Status.OUT_OF_ITERATIONS and one.iterations == 1
    assert solve(problem, Newton(), time_limit=1e-6).status is Status.OUT_OF_TIME
    assert solve(problem, Newton(), callback=lambda step: True).status is Status.INTERRUPTED
    assert one.certificate.dual >= 0.0
    assert solve(problem, Newton(), tol=0.0).status in (Status.STALLED, Status.CONVERGED)


UGLY_X, UGLY_Y = two_classes(30)
UGLY = {
    "opposite labels at one point": (Gaussian(0.5), np.repeat(UGLY_X, 2, axis=0), np.tile([1.0, -1.0], 30)),
    "constant kernel": (Constant(1.0), UGLY_X, UGLY_Y),
    "zero kernel": (Linear(), np.zeros((30, 1)), UGLY_Y),
    "one label": (Gaussian(0.5), UGLY_X, np.ones(30)),
    "one label but for one": (Gaussian(0.5), UGLY_X, np.where(np.arange(30) == 3, -1.0, 1.0)),
    "one point": (Gaussian(0.5), UGLY_X[:1], np.ones(1)),
    "two points": (Laplacian(0.5), UGLY_X[:2], np.array([1.0, -1.0])),
    "huge values": (Polynomial(degree=3), np.array([[99999.0], [99998.0], [-7.0]]), np.array([1.0, -1.0, 1.0])),
    "tiny values": (1e-12 * Gaussian(0.5), UGLY_X, UGLY_Y),
}


@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("C", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("one", [Newton(), NystromNewton(20)], ids=repr)
def test_ugly_problems_end_with_an_honest_status(name, C, one):
    kernel, X, y = UGLY[name]
    for bias in (True, False):
        problem = Problem.of(kernel, X, y, Logistic(), C, bias=bias)
        solution = solve(problem, one, tol=1e-6, time_limit=PATIENCE)
        assert solution.status in (Status.CONVERGED, Status.STALLED, Status.APPROXIMATE)
        if solution.status is Status.CONVERGED:
            assert problem.certify(solution.beta, solution.b, solution.dual_beta).relative_gap <= 1e-6
        if C <= 1.0 and one == Newton() and name != "huge values":
            assert solution.status is Status.CONVERGED


def test_an_indefinite_kernel_ends():
    A = np.random.default_rng(0).normal(size=(30, 30))
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    solution = solve(
        Problem.of(Precomputed(), A + A.T, y, Logistic(), 10.0), Newton(), time_limit=PATIENCE, max_iter=50
    )
    assert solution.status in (Status.INDEFINITE, Status.STALLED, Status.OUT_OF_ITERATIONS)


def test_what_newton_needs():
    X, y = two_classes(20)
    with pytest.raises(ValueError, match=r"Newton needs a loss with a second derivative, and Hinge\(\) has none"):
        solve(Problem.of(Gaussian(0.3), X, y, Hinge()), Newton())
    with pytest.raises(ValueError, match="landmarks must be a whole number, 1 or more"):
        NystromNewton(0)
    assert solver("newton") == Newton() and solver("nystromnewton(landmarks=50)") == NystromNewton(50)
    assert solve(Problem.of(Gaussian(0.3), *curve(20), Squared()), Newton()).iterations == 1


def test_the_choice_says_why():
    X, y = two_classes(60)
    assert choose(Problem.of(Linear(), X, y, Logistic())) == (Newton(), "4 features describe K exactly")
    chosen, reason = choose(Problem.of(Gaussian(0.3), X, y, Logistic()))
    assert chosen == Newton() and "60 points" in reason
    lazy = Problem(PointsGram(Gaussian(0.3), X, "100kB"), y, Logistic())
    chosen, reason = choose(lazy)
    assert chosen == NystromNewton(35) and "landmarks stand for them" in reason
    assert solve(lazy).reason == reason
