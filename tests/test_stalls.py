"""Problems on which steps of pairs crawl: default settings solve them, or say that they stall, with bounded work."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, SVR, LinearSVC, OneClassSVM, Problem, rounds, solve
from mercer.estimators import ScaleWarning
from mercer.gram import DenseGram, LowRankGram, PointsGram
from mercer.io import ModelError
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.expansion import expansion_of
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.rounds import full_round
from mercer.solution import Status
from mercer.solvers import Decomposition, Iterate, Solver
from mercer.solvers.rank import features_up_to_rounding

from .zoo import two_classes


def far_away(n, offset=1000.0, d=2, seed=0):
    """Points around (offset, offset, ...), of which the first coordinate nearly tells the class."""
    R = np.random.default_rng(seed)
    X = R.normal(size=(n, d)) + offset
    return X, np.where(X[:, 0] - offset + 0.1 * R.normal(size=n) > 0, 1.0, -1.0)


def exactly(kernel, A, B, m):
    """k(x, z) - k(x, m) - k(m, z) + k(m, m) in fractions."""

    def k(x, z):
        dots = sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0))
        return (Fraction(kernel.gamma) * dots + Fraction(kernel.coef0)) ** kernel.degree

    A, B, m = ([[Fraction(float(v)) for v in x] for x in points] for points in (A, B, [m]))
    m = m[0]
    return [[k(x, z) - k(x, m) - k(m, z) + k(m, m) for z in B] for x in A]


# Polynomial kernels around the mean.


@pytest.mark.parametrize(
    ("kernel", "d", "offset"),
    [
        (Polynomial(3), 2, 1000.0),
        (Polynomial(2, gamma=0.5, coef0=0.0), 3, -50.0),
        (Polynomial(5, gamma=2.0, coef0=3.0), 1, 1000.0),
        (Polynomial(1, coef0=2.0), 4, 1e6),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_around_the_mean_are_the_kernel_up_to_what_a_free_bias_takes(kernel, d, offset, dtype):
    X = far_away(6, offset, d)[0].astype(dtype)
    expansion = expansion_of(kernel, X, 500)
    Z, truth = expansion(X), np.array(exactly(kernel, X, X, expansion.centre), float)
    assert Z.dtype == np.float64
    assert_allclose(Z @ Z.T, truth, rtol=0, atol=4e-15 * np.abs(truth).max())
    plain = np.array(kernel(X.astype(float), X.astype(float)))
    if kernel.degree > 2:  # what the values themselves have lost
        assert np.abs(truth).max() < 1e-4 * plain.max()


def test_kernels_without_an_expansion():
    X = np.ones((5, 40))
    assert expansion_of(Gaussian(), X, 500) is None
    assert expansion_of(Polynomial(3), X, 500) is None  # 12,340 features
    assert expansion_of(Polynomial(2, coef0=-1.0), X[:, :2], 500) is None
    assert expansion_of(Polynomial(2), csr_array(X), 5000) is None
    assert expansion_of(Polynomial(9), np.full((5, 1), 1e200), 500) is None


@pytest.mark.parametrize("n", [150, 2000])
def test_a_cubic_kernel_on_points_around_1000(n):
    X, y = far_away(n)
    machine = SVC("poly(degree=3)").fit(X, y)
    certificate, solution = machine.certificate_, machine.solution_
    assert certificate.status is Status.CONVERGED and certificate.relative_gap <= machine.tol
    assert machine.n_iter_ < 200 and solution.work <= 200 * full_round(n)
    assert machine.score(X, y) > 0.95
    # What is certified is what `predict` computes: w is that of the certificate, and hinge losses are those of f.
    w = machine._expanded.weights[0]
    primal = 0.5 * w @ w + np.maximum(0.0, 1.0 - y * machine.decision_function(X)).sum()
    assert certificate.primal == pytest.approx(primal, rel=1e-9)
    if n > 150:
        return
    # In fractions: the dual value of the coefficients as they are, and the norm of w by its values at points.
    beta, m = [Fraction(v) for v in machine.dual_coef_[0]], machine._expanded.expansion.centre
    K = exactly(machine.kernel_, machine.support_vectors_, machine.support_vectors_, m)
    norm = sum(a * b * k for a, row in zip(beta, K, strict=True) for b, k in zip(beta, row, strict=True))
    assert float(sum(abs(b) for b in beta) - norm / 2) == pytest.approx(certificate.dual, rel=1e-6)
    assert abs(float(sum(beta))) < 1e-14


def test_the_bias_is_that_of_the_kernel_itself():
    X, y = far_away(120, 3.0)
    X = 10.0 * X
    for bias in (True, False):
        machine = SVC("poly(degree=3)", bias=bias).fit(X, y)
        assert machine._expanded is not None and machine.certificate_.converged
        by_kernel = machine.kernel_(X, machine.support_vectors_) @ machine.dual_coef_[0] + machine.intercept_
        assert_allclose(by_kernel, machine.decision_function(X), atol=1e-3)
        assert machine.solution_.b == machine.intercept_[0]
        assert bias or machine.intercept_[0] == 0.0


def test_several_classes_in_files_in_float32_and_for_sparse_points(tmp_path):
    X, y = load_wine(return_X_y=True)
    X = X[:, :5]
    machine = SVC("poly(degree=2)", C=10.0).fit(X, y)
    assert machine._expanded is not None and machine.certificate_.converged
    scores = machine.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(machine)).decision_function(X), scores)
    mercer.save(machine, tmp_path / "wine.mercer")
    assert_array_equal(mercer.load(tmp_path / "wine.mercer").decision_function(X), scores)
    assert_allclose(machine.decision_function(csr_array(X)), scores)
    single = SVC("poly(degree=2)", C=10.0).fit(X.astype(np.float32), y)
    assert single.certificate_.converged and single._expanded.weights.dtype == np.float64
    again = machine.set_params(kernel="rbf(gamma=0.01)").fit(X, y)
    assert again._expanded is None


@pytest.mark.parametrize(
    "change",
    [
        lambda held: replace(held, weights=held.weights[:, 1:]),
        lambda held: replace(held, biases=held.biases[1:]),
        lambda held: replace(held, weights=held.weights * np.nan),
        lambda held: replace(held, expansion=replace(held.expansion, centre=held.expansion.centre[1:])),
        lambda held: replace(held, expansion=replace(held.expansion, kernel=Polynomial(40))),
    ],
)
def test_files_whose_features_do_not_fit_are_refused(tmp_path, change):
    X, y = far_away(60)
    machine = SVC("poly(degree=3)", tol=0.5).fit(X, y)
    machine._expanded = change(machine._expanded)
    mercer.save(machine, tmp_path / "forged.mercer")
    with pytest.raises(ModelError, match=r"weights|centre|features"):
        mercer.load(tmp_path / "forged.mercer")


def test_regression_on_raw_columns():
    X, y = load_diabetes(return_X_y=True)
    machine = SVR("poly(degree=2)", C=100.0, max_iter=200).fit(1e3 * X, y)
    assert machine.certificate_.status is Status.CONVERGED
    assert machine.score(1e3 * X, y) > 0.4


# Smooth kernels.


def test_features_that_are_the_kernel_up_to_rounding():
    X = np.random.default_rng(0).normal(size=(200, 1))
    gram = DenseGram.compute(Gaussian(0.3), X)
    low = features_up_to_rounding(gram)
    assert isinstance(low, LowRankGram) and low.design.width < 40
    assert_allclose(np.asarray(low), np.asarray(gram), rtol=0, atol=1e-13)
    assert features_up_to_rounding(DenseGram.compute(Gaussian(1e4), X)) is None  # nearly the identity


def test_smooth_regression_with_many_digits():
    X = np.random.default_rng(0).normal(size=(337, 1))
    machine = SVR("rbf(gamma=0.28)", C=1e5, epsilon=1e-6, tol=1e-2, max_iter=200).fit(X, X[:, 0])
    assert machine.certificate_.status is Status.CONVERGED
    assert machine.solution_.work < 100 * full_round(337)
    assert "by LAPACK" in machine.solution_.reason
    assert (np.abs(machine.dual_coef_) <= 1e5).all()


@pytest.mark.speed
def test_work_in_blocks_is_counted_by_their_free_coefficients():
    """Nearly all coefficients are free, and more than a Newton step takes: it is not counted as if it had taken all."""
    X = np.random.default_rng(0).normal(size=(3000, 2))
    machine = SVR("rbf(gamma=0.3)", C=1e6, epsilon=1e-4).fit(X, np.sin(X).sum(axis=1))
    assert machine.certificate_.converged and machine.solution_.work < 500 * full_round(3000)


# Work.


@dataclass(frozen=True)
class Small(Solver, names=()):
    """Rounds of so much work each; after so many of them, the answer."""

    work: float
    rounds: int = 2_500

    def iterates(self, problem, start):
        nothing = np.zeros(problem.n)
        for number in range(self.rounds):
            yield Iterate(nothing, nothing, work=self.work * number)
        yield from Decomposition().iterates(problem, start)


def test_small_rounds_do_not_use_up_the_limit():
    """As where memory has room for few rows: more rounds, each of less work."""
    X, y = two_classes(40)
    problem = Problem.of(Gaussian(2.0), X, y)
    found = solve(problem, Small(0.5 * full_round(40)))
    assert found.status is Status.CONVERGED and found.iterations > 2_500
    found = solve(problem, Small(2.0 * full_round(40)))
    assert found.status is Status.OUT_OF_ITERATIONS and found.iterations == 1_001
    found = solve(problem, Small(0.0), max_iter=7)
    assert found.status is Status.OUT_OF_ITERATIONS and found.iterations == 7


def test_the_limit_of_work(monkeypatch):
    monkeypatch.setattr(rounds, "ROUNDS", 0.01)
    X, y = two_classes(400)
    found = solve(Problem.of(Gaussian(2.0), X, y, C=100.0), Decomposition(working_set=16), tol=1e-9)
    assert found.status is Status.OUT_OF_ITERATIONS
    assert 0.01 <= found.work / full_round(400) < 1.0
    assert "raise max_iter" in str(found)


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)])
def test_stalled_means_three_rounds_without_a_gain(loss):
    X, y = two_classes(60)
    for C in (1.0, 1e3):
        found = solve(Problem.of(Gaussian(0.5), X, y, loss, C), Decomposition(), tol=0.0)
        assert found.status in (Status.STALLED, Status.CONVERGED)
        assert found.certificate.relative_gap < 1e-9
        if found.status is Status.STALLED:
            duals = [step.dual for step in found.history[-4:]]
            assert len(duals) == 4
            assert max(np.diff(duals)) <= 1e-13 * abs(duals[-1])


R = np.random.default_rng(3)
BLOB = R.normal(size=(120, 3))
NOISY = np.where(BLOB[:, 0] + R.normal(size=120) > 0, 1.0, -1.0)
CANCER, TUMOUR = load_breast_cancer(return_X_y=True)
HARD = {
    "raw columns, cubic": (SVC("poly(degree=3)", C=100.0), CANCER[:150], TUMOUR[:150]),
    "raw columns, linear": (SVC("linear", C=1e6), CANCER[:200], TUMOUR[:200]),
    "noise, huge C": (SVC("rbf(gamma=0.001)", C=1e8), BLOB, NOISY),
    "contradictions": (SVC("rbf(gamma=1)", C=1e10), np.repeat(BLOB[:30], 4, axis=0), np.tile([0, 1], 60)),
    "degree 5 around 1000": (SVC("poly(degree=5)", C=1e-2), BLOB[:, :1] + 1000.0, NOISY),
    "no bias around 1000": (SVR("poly(degree=2,gamma=2,coef0=0)", C=600.0, bias=False), BLOB[:, :1] + 1000.0, NOISY),
    "smooth, tiny epsilon": (SVR("rbf(gamma=0.1)", C=1e6, epsilon=0.0), BLOB, np.sin(BLOB).sum(axis=1)),
    "six scales": (LinearSVC(C=1.0, loss="hinge"), BLOB * [1e-6, 1.0, 1e6], NOISY),
    "one class, raw": (OneClassSVM("poly(degree=3)"), CANCER[:100], None),
}


@pytest.mark.parametrize("name", HARD)
def test_default_settings_end_with_bounded_work(name):
    machine, X, y = HARD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ScaleWarning)
        machine.fit(X, y)
    certificate, solution = machine.certificate_, machine.solution_
    assert certificate.status in (Status.CONVERGED, Status.STALLED, Status.OUT_OF_ITERATIONS)
    assert certificate.converged == (certificate.relative_gap <= machine.tol)
    assert 0.0 < solution.work <= 2_100 * full_round(len(X))
    if certificate.status is Status.STALLED:
        assert "scale the data, or raise tol" in str(certificate)


@pytest.mark.parametrize("seed", [1, 3, 8, 14])
def test_pairs_take_over_where_steps_in_few_features_stall(seed):
    """Values from 1e-3 to 1e8, C = 1000: the features of the kernel lead nowhere, and the kernel itself does."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.uniform(-2.2, 2.2, size=(30, 2)), 2)
    y = np.where(generator.random(30) < 0.5, 1, -1)
    machine = SVC("poly(degree=5, gamma=5, coef0=0)", C=1000).fit(X, y)
    assert machine.certificate_.converged
    pairs = SVC("poly(degree=5, gamma=5, coef0=0)", C=1000, solver="decomposition").fit(X, y)
    assert machine.certificate_.primal <= pairs.certificate_.primal * (1 + 1e-4)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_a_sum_of_two_kernels_of_very_different_sizes(scale):
    R = np.random.default_rng(0)
    X = scale * R.normal(size=(256, 6))
    y = np.sign(X[:, 0] * X[:, 1] + 0.5 * scale**2 * R.normal(size=256))
    machine = SVC("2*rbf(gamma=2.4e-5) + linear", C=5e5).fit(X, y)  # K has more than n / 3 eigenvalues that matter
    assert machine.certificate_.status is Status.CONVERGED and machine.certificate_.relative_gap <= 1e-4


def test_float64_values_take_over_once_float32_ones_are_seen_to_mislead(monkeypatch):
    """Whoever believes to be near by float32 values, and is not, has no use for more of them: each certificate costs a
    pass over all that matters.
    """
    generator, examined = np.random.default_rng(0), []
    X = generator.normal(size=(3000, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * generator.normal(size=3000) > 0.0, 1.0, -1.0)
    examine = rounds.examine

    def counted(*posed, **how):
        found = examine(*posed, **how)
        examined.append(found[0].relative_gap)
        return found

    monkeypatch.setattr(rounds, "examine", counted)
    gram = PointsGram(Gaussian(gamma=0.01), X, "2GB", dtype=np.float32)
    solution = solve(Problem(gram, y, Hinge(), 1000.0), "decomposition", tol=1e-6)
    assert solution.certificate.converged
    assert examined[0] > 1e-6
    assert len(examined) == 2
