"""SVC and SVR with the linear kernel on data as it comes: columns of any size, far from the origin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine

import mercer
from mercer import SVC, SVR, KernelLogistic, LinearSVC, Problem, certify, solve
from mercer.gram import LinearGram
from mercer.losses import EpsilonInsensitive, Hinge, SquaredHinge
from mercer.solution import Status
from mercer.solvers import QP, CoordinateDescent, Decomposition

CANCER, CANCER_Y = load_breast_cancer(return_X_y=True)
WINE, WINE_Y = load_wine(return_X_y=True)


def regression(n=600):
    """Columns with standard deviations from 0.01 to 1,000, none of them around 0."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 6))
    y = Z @ rng.normal(size=6) + rng.normal(size=n)
    return 10.0 ** np.arange(-2, 4) * (Z + rng.normal(scale=5, size=6)), y


def offset(n=300):
    """Two classes that overlap, and a column of 1e6 -+ 1."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(n, 3))
    y = Z[:, 0] + Z[:, 2] + 0.5 * rng.normal(size=n) > 0
    return Z + np.array([0.0, 0.0, 1e6]), y


def assert_balanced(machine, C):
    assert (np.abs(machine.dual_coef_) <= C * (1 + 1e-12)).all()
    assert_allclose(machine.dual_coef_.sum(), 0.0, atol=1e-12 * C * machine.dual_coef_.size)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
class TestUnscaled:
    def test_classes(self, C):
        machine = SVC("linear", C=C, tol=1e-6).fit(CANCER, CANCER_Y)
        assert machine.certificate_.converged
        assert_balanced(machine, C)
        assert_allclose(machine.coef_, machine.dual_coef_ @ machine.support_vectors_, rtol=1e-6, atol=1e-6)

    def test_pairs_of_classes(self, C):
        machine = SVC("linear", C=C, tol=1e-6).fit(WINE, WINE_Y)
        assert all(certificate.converged for certificate in machine.certificates_)
        assert certify(machine, WINE, WINE_Y).relative_gap < 2e-6

    def test_targets(self, C):
        X, y = regression()
        machine = SVR("linear", C=C, tol=1e-6).fit(X, y)
        assert machine.certificate_.converged
        assert_balanced(machine, C)
        assert certify(machine, X, y).relative_gap < 2e-6


def test_unscaled_as_by_a_quadratic_program():
    X, y = regression(60)
    problem = Problem.of("linear", X, y, EpsilonInsensitive(0.1), 0.01)
    ours = SVR("linear", C=0.01, tol=1e-8).fit(X, y).certificate_
    assert ours.primal == pytest.approx(solve(problem, QP(), tol=1e-6).certificate.primal, rel=1e-5)


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_far_from_the_origin(C, tmp_path):
    X, y = offset()
    near = X - [0.0, 0.0, 1e6]
    far, same = SVC("linear", C=C, tol=1e-8).fit(X, y), SVC("linear", C=C, tol=1e-8).fit(near, y)
    assert far.certificate_.converged
    assert_allclose(far.coef_, same.coef_, rtol=1e-3, atol=1e-5)
    assert_allclose(far.decision_function(X), same.decision_function(near), rtol=1e-3, atol=1e-3)
    assert certify(far, X, y).relative_gap < 1e-6
    assert far.solution_.b == far.intercept_[0]
    mercer.save(far, tmp_path / "far.mercer")
    loaded = mercer.load(tmp_path / "far.mercer")
    assert (loaded.decision_function(X) == far.decision_function(X)).all()
    assert certify(loaded, X, y).relative_gap < 1e-6


def test_single_precision_and_weights_far_from_the_origin():
    X, y = offset()
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    machine = SVC("linear", C=10.0, tol=1e-6).fit(np.float32(X), y, weight)
    assert machine.certificate_.converged
    assert certify(machine, np.float32(X), y, weight).relative_gap < 2e-6


def test_without_a_bias_points_stay_where_they_are():
    X, y = offset()
    machine = SVC("linear", bias=False, max_iter=50, tol=0.5).fit(X, y)
    assert machine.intercept_ == 0.0
    assert_allclose(machine.coef_, machine.dual_coef_ @ machine.support_vectors_, rtol=1e-9)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
@pytest.mark.parametrize(
    "machine", [KernelLogistic("linear", tol=1e-6), LinearSVC(loss="logistic", tol=1e-6), LinearSVC(tol=1e-6)], ids=repr
)
def test_points_far_from_the_origin(machine, far):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 6))
    y = X @ generator.normal(size=6) + 0.5 * generator.normal(size=400) > 0
    near = machine.fit(X, y).certificate_
    moved = machine.fit(X + far, y)
    assert moved.certificate_.converged
    assert moved.certificate_.primal == pytest.approx(near.primal, rel=1e-5)
    assert certify(moved, X + far, y).relative_gap < 2e-6
    assert moved.score(X + far, y) > 0.9


class TestTheWay:
    def test_by_points_where_that_is_worth_it(self):
        machine = SVC("linear").fit(CANCER, CANCER_Y)
        assert isinstance(machine.solution_.solver, CoordinateDescent)
        assert machine.solution_.reason == "30 features describe K exactly"

    def test_by_pairs_where_that_is_fast(self):
        scaled = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
        assert isinstance(SVC("linear").fit(scaled, CANCER_Y).solution_.solver, Decomposition)

    @pytest.mark.parametrize("named", ["decomposition", "qp"])
    def test_the_solver_that_was_named(self, named):
        X, y = WINE[:60], WINE_Y[:60] == 0
        y[:20] = False
        machine = SVC("linear", C=0.01, solver=named, tol=1e-5).fit(X, y)
        ours = SVC("linear", C=0.01, tol=1e-5).fit(X, y)
        assert machine.solution_.solver == mercer.solvers.solver(named)
        assert machine.certificate_.primal == pytest.approx(ours.certificate_.primal, rel=1e-4)

    def test_a_small_budget_leaves_no_room_for_copies(self):
        X, y = regression(3000)
        small = SVR("linear", C=1e-6, memory="300kB").fit(X, y)
        assert isinstance(small.solution_.solver, Decomposition)
        with pytest.raises(ValueError, match="at least"):
            SVR("linear", memory="1kB").fit(X, y)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)])
@pytest.mark.parametrize("bias", [True, False])
def test_feasible_coordinate_descent(loss, bias):
    X, y = offset(200)
    problem = Problem(LinearGram(X - X.mean(axis=0)), np.where(y, 1.0, -1.0), loss, 10.0, bias=bias)
    found = solve(problem, "coordinate_descent(feasible=true)", tol=1e-8)
    assert found.status is Status.CONVERGED
    assert found.dual_beta is None
    assert problem.feasibility(found.beta) < 1e-12
    best = solve(problem, Decomposition(), tol=1e-8)
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-6)
    gaps = [step.primal - step.dual for step in found.history[3:]]
    assert gaps[-1] <= min(gaps)


@pytest.mark.parametrize("classes", [2, 3])
def test_coordinate_descent_by_name(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-0.5, 0.5][: classes - 1])
    settings = {"kernel": "linear", "C": 3.0, "tol": 1e-8}
    machine, other = (SVC(**settings, solver=name).fit(X, y) for name in ("coordinate_descent", "decomposition"))
    assert machine.certificate_.converged and certify(machine, X, y).relative_gap < 1e-7
    assert_allclose(machine.coef_, other.coef_, atol=1e-3)
    with pytest.raises(ValueError, match="needs explicit features"):
        SVC("rbf", solver="coordinate_descent").fit(X, y)


def test_what_rounding_leaves_is_said_soon():
    X, y = offset(400)
    problem = Problem(LinearGram(1e4 * (X - X.mean(axis=0))), np.where(y, 1.0, -1.0), C=100.0)
    found = solve(problem, CoordinateDescent(), tol=1e-15)
    assert found.status is Status.STALLED
    assert found.iterations < 500
    assert found.certificate.relative_gap < 1e-4
