"""How far off ridge regression may be: deviations in the Gaussian-process reading, and intervals by jackknife+."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from math import ceil

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import mercer
from mercer import KernelRidge
from mercer.estimators import ridge_interval
from mercer.kernels import FromFunction, Gaussian, Linear, Polynomial, Precomputed
from mercer.memory import BudgetError
from mercer.solvers import NystromCG

from .zoo import curve

X, T = curve(40)
SEVERAL = np.column_stack([T, X[:, 0] ** 2])
WEIGHT = np.random.default_rng(5).gamma(1.0, size=len(T)) * (np.arange(len(T)) % 5 > 0)
QUERIES = curve(15, seed=9)[0]

# Deviations.


@pytest.mark.parametrize("targets", [T, SEVERAL], ids=["one", "several"])
def test_deviations_of_gaussian_process_regression(targets):
    """Latent with amplitude=1: that of alpha=lambda. Predictive: that of a kernel with amplitude and white noise."""
    ridge = KernelRidge(Gaussian(sigma=1.3), alpha=0.05).fit(X, targets)
    theirs = GaussianProcessRegressor(RBF(1.3), alpha=0.05, optimizer=None).fit(X, targets)
    mean, deviation = ridge.predict(QUERIES, return_std="latent", amplitude=1)
    their_mean, their_deviation = theirs.predict(QUERIES, return_std=True)
    assert_allclose(mean, their_mean, atol=1e-8)
    assert_allclose(deviation, their_deviation, atol=1e-7)
    amplitude = np.sum(targets * ridge.dual_coef_, axis=0) / len(X)
    assert_allclose(ridge.amplitude_, amplitude, rtol=1e-8)
    assert_allclose(ridge.predict(QUERIES, return_std="latent")[1], deviation * np.sqrt(amplitude))
    for j, a in enumerate(np.atleast_1d(amplitude)):
        noisy = ConstantKernel(a) * RBF(1.3) + WhiteKernel(a * 0.05)
        theirs = GaussianProcessRegressor(noisy, alpha=0.0, optimizer=None).fit(X, targets.reshape(len(X), -1)[:, j])
        ours = ridge.predict(QUERIES, return_std=True)[1].reshape(len(QUERIES), -1)[:, j]
        assert_allclose(ours, theirs.predict(QUERIES, return_std=True)[1], rtol=1e-7)


def test_the_amplitude_can_be_given():
    ridge = KernelRidge(Gaussian(0.3), alpha=0.05).fit(X, SEVERAL)
    one = ridge.predict(QUERIES, return_std=True, amplitude=1)[1]
    assert one.shape == (15, 2)
    both = ridge.predict(QUERIES, return_std=True, amplitude=[4.0, 0.0])[1]
    assert_allclose(both, one * [2.0, 0.0])
    for wrong in ("fitted", -1.0, float("nan"), [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="amplitude must be a number >= 0, or one for each target"):
            ridge.predict(QUERIES, return_std=True, amplitude=wrong)
    with pytest.raises(ValueError, match="False, True or 'latent', not 'noisy'"):
        ridge.predict(QUERIES, return_std="noisy")


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("kernel", "solver"),
    [
        (Gaussian(0.3), "cholesky"),
        (Gaussian(0.3), "conjugategradient"),
        (Polynomial(), "primal"),
        (Gaussian(0.3), "nystrom(landmarks=150)"),
    ],
    ids=str,
)
def test_deviations_cover_new_targets(kernel, solver, bias):
    """Whatever the scale of the targets: 1.96 predictive deviations hold 95% of them, of all solvers."""
    generator = np.random.default_rng(0)
    points = generator.normal(size=(1200, 2))
    t = 50.0 * (points[:, 0] * points[:, 1] + 0.3 * generator.normal(size=1200)) + (200.0 if bias else 0.0)
    ridge = KernelRidge(kernel, alpha="loo", bias=bias, solver=solver, random_state=0).fit(points[:300], t[:300])
    mean, deviation = ridge.predict(points[300:], return_std=True)
    assert 0.92 <= np.mean(np.abs(t[300:] - mean) <= 1.96 * deviation) <= 0.98
    latent = ridge.predict(points[300:], return_std="latent")[1]
    assert_allclose(deviation**2 - latent**2, ridge.amplitude_ * ridge.alpha_)
    assert np.mean(np.abs(t[300:] - mean) <= 1.96 * latent) < 0.7


def test_deviations_far_from_landmarks():
    """What landmarks do not see is kept: far out, the deviation is that of the prior."""
    ridge = KernelRidge(Gaussian(0.3), alpha=0.1, solver=NystromCG(15), random_state=0).fit(X, T)
    exact = KernelRidge(Gaussian(0.3), alpha=0.1).fit(X, T)
    far = np.full((1, 4), 50.0)
    for machine in (ridge, exact):
        assert_allclose(machine.predict(far, return_std=True)[1], np.sqrt(machine.amplitude_ * 1.1), rtol=1e-9)
    ours, theirs = (machine.predict(QUERIES, return_std="latent", amplitude=1)[1] for machine in (ridge, exact))
    assert (ours >= theirs - 1e-6).all()


def test_a_bias_adds_what_is_not_known_of_it():
    """As with a constant feature of a very wide prior."""
    ridge = KernelRidge(Gaussian(0.3), alpha=0.1, bias=True).fit(X, T)
    wide = KernelRidge(Gaussian(0.3) + 1e5, alpha=0.1).fit(X, T)
    ours, theirs = (machine.predict(QUERIES, return_std="latent", amplitude=1)[1] for machine in (ridge, wide))
    assert_allclose(ours, theirs, rtol=1e-3)


def test_float32_points_have_deviations_of_float64():
    """A tiny alpha multiplies what rounding takes from kernel values."""
    single = X.astype(np.float32)
    machines = [KernelRidge(Gaussian(0.3), alpha=1e-6).fit(points, T) for points in (single, single.astype(float))]
    assert_allclose(*(machine.predict(single, return_std="latent")[1] for machine in machines), rtol=1e-9)


def test_deviations_need_points():
    ridge = KernelRidge(Precomputed(), alpha=0.1).fit(Gaussian(0.3)(X), T)
    with pytest.raises(ValueError, match=r"k\(x, x\)"):
        ridge.predict(Gaussian(0.3)(QUERIES, X), return_std=True)
    again = pickle.loads(pickle.dumps(KernelRidge(alpha=0.1).fit(X, T)))
    assert again.predict(QUERIES, return_std=True)[1].shape == (15,)


def test_an_indefinite_kernel_has_no_deviations():
    kernel = FromFunction(lambda x, z: -float(x @ z))
    with pytest.warns(UserWarning, match="positive definite"):
        ridge = KernelRidge(kernel, alpha=0.1).fit(X, T)
    with pytest.raises(ValueError, match="not positive definite on these points"):
        ridge.predict(QUERIES, return_std=True)
    hollow = np.ones((40, 40)) - np.eye(40)
    given = KernelRidge(Precomputed(), alpha=0.1, solver="conjugategradient")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given.fit(hollow, T)
    with pytest.raises(ValueError, match="not positive definite|came to its end"):
        given.predict_interval(hollow)


# Intervals.


def refitted(make, points, targets, weight, queries, coverage):
    """Jackknife+ as it is defined: each point is left out in turn, by a weight of 0."""
    rows = np.flatnonzero(weight)
    low, high = [], []
    for i in rows:
        machine = make().fit(points, targets, sample_weight=np.where(np.arange(len(points)) == i, 0.0, weight))
        residual = np.abs(targets[i] - machine.predict(points[i : i + 1])[0])
        f = machine.predict(queries)
        low.append(f - residual)
        high.append(f + residual)
    rank = ceil(coverage * (rows.size + 1))
    return np.sort(low, axis=0)[rows.size - rank], np.sort(high, axis=0)[rank - 1]


CASES = {
    "factor": (Gaussian(0.3), "cholesky"),
    "conjugate gradients": (Gaussian(0.3), "conjugategradient"),
    "features": (Polynomial(), "primal"),
    "landmarks": (Gaussian(0.3), "nystrom(landmarks=12)"),
    "precomputed": (Precomputed(), None),
}


@pytest.mark.parametrize("weight", [np.ones(len(T)), WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(("bias", "targets"), [(False, T), (True, SEVERAL)], ids=["one", "several, bias"])
@pytest.mark.parametrize("case", CASES)
def test_intervals_are_those_of_refits(case, bias, targets, weight):
    kernel, solver = CASES[case]
    points, queries = X, QUERIES
    if case == "precomputed":
        points, queries = Gaussian(0.3)(X), Gaussian(0.3)(QUERIES, X)
    ridge = KernelRidge(kernel, 0.2, bias=bias, solver=solver, tol=1e-10, random_state=0)
    lower, upper = ridge.fit(points, targets, sample_weight=weight).predict_interval(queries, coverage=0.8)
    if case == "landmarks":  # which stay: z(x) = L^-1 k(landmarks, x) are features
        L, kernel = np.linalg.cholesky(Gaussian(0.3)(ridge.X_fit_)), Linear()
        points, queries = (np.linalg.solve(L, Gaussian(0.3)(ridge.X_fit_, P)).T for P in (X, QUERIES))
    make = lambda: KernelRidge(kernel, 0.2, bias=bias, solver="cholesky")  # noqa: E731
    low, high = refitted(make, points, targets, weight, queries, 0.8)
    assert lower.shape == upper.shape == (len(QUERIES), *targets.shape[1:])
    assert_allclose(lower, low, atol=1e-9)
    assert_allclose(upper, high, atol=1e-9)


def test_intervals_of_a_linear_machine_far_from_the_origin():
    points = np.round(16 * X) / 16  # so that adding 2^20 loses nothing
    for solver in ("primal", "cholesky"):
        near, far = (
            KernelRidge("linear", bias=True, solver=solver).fit(points + away, T).predict_interval(points[:9] + away)
            for away in (0.0, 2.0**20)
        )
        assert_allclose(far, near, atol=1e-6)


@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_intervals_cover_new_targets(noise):
    """Also where the noise is not normal, of which deviations know nothing."""
    generator = np.random.default_rng(1)
    points = generator.uniform(-2, 2, size=(1500, 1))
    e = generator.normal(size=1500) if noise == "normal" else generator.standard_t(1.5, size=1500)
    t = np.sin(2 * points[:, 0]) + 0.2 * e
    ridge = KernelRidge(Gaussian(1.0), alpha=0.3).fit(points[:300], t[:300])
    lower, upper = ridge.predict_interval(points[300:])
    assert 0.87 <= np.mean((lower <= t[300:]) & (t[300:] <= upper)) <= 0.93


def test_many_points_are_left_out_by_a_sample(monkeypatch):
    """In features: the same guarantee from some of the points, the same ones each time."""
    exact = KernelRidge(Polynomial(), 0.2).fit(X, T).predict_interval(QUERIES)
    monkeypatch.setattr(ridge_interval, "MOST", 30)
    some = KernelRidge(Polynomial(), 0.2).fit(X, T)
    lower, upper = some.predict_interval(QUERIES)
    assert len(some._left_out_.residuals) == 30
    assert not np.allclose(lower, exact[0])
    assert_allclose(KernelRidge(Polynomial(), 0.2).fit(X, T).predict_interval(QUERIES), (lower, upper))


def test_coverage_is_checked_and_few_points_bound_nothing():
    ridge = KernelRidge(Gaussian(0.3), 0.1).fit(X[:9], T[:9])
    assert np.isfinite(ridge.predict_interval(QUERIES, 0.9)).all()  # 9 points: the largest of all
    lower, upper = ridge.predict_interval(QUERIES, 0.91)
    assert (lower == -np.inf).all()
    assert (upper == np.inf).all()
    wide, narrow = (np.subtract(*ridge.predict_interval(QUERIES, c)[::-1]) for c in (0.9, 0.5))
    assert (wide >= narrow).all()
    assert (narrow >= 0).all()
    for solver in ("cholesky", "nystrom"):  # without the only point there is no b
        one = KernelRidge(Gaussian(0.3), 0.1, bias=True, solver=solver).fit(X[:1], T[:1])
        assert np.isinf(one.predict_interval(QUERIES, 0.5)).all()
    for wrong in (90, 1.0, 0.4, float("nan"), "0.9", True):
        with pytest.raises(ValueError, match=r"coverage must be a number from 0\.5 to 1"):
            ridge.predict_interval(QUERIES, wrong)


def test_where_there_can_be_no_interval():
    points, t = curve(600)
    sampled = KernelRidge(Gaussian(0.3), 0.1, solver=NystromCG(10, sample=100), random_state=0)
    with pytest.raises(ValueError, match="needs a fit with loo=True"):
        sampled.fit(points, t).predict_interval(QUERIES)
    assert np.isfinite(sampled.set_params(loo=True).fit(points, t).predict_interval(QUERIES)).all()
    pieces = [(points[:300], t[:300]), (points[300:], t[300:])]
    assert np.isfinite(sampled.fit(pieces).predict_interval(QUERIES)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stopped = KernelRidge(Gaussian(0.3), 1e-3, solver="conjugategradient(rank=2)", max_iter=2).fit(points, t)
    with pytest.raises(ValueError, match="came to its end, and this one did not"):
        stopped.predict_interval(QUERIES)
    with pytest.raises(BudgetError, match="Deviations and intervals need a factor of"):
        KernelRidge(solver="conjugategradient", memory="1MB").fit(points, t).predict_interval(QUERIES)


@pytest.mark.parametrize("solver", ["cholesky", "nystrom(landmarks=200)"])
def test_memory_of_deviations_and_intervals(solver):
    """New points are taken in blocks: 10,000 of them with 400 points would be 32 MB."""
    points, t = curve(400)
    ridge = KernelRidge(Gaussian(0.3), 0.1, solver=solver, memory="8MB", random_state=0).fit(points, t)
    many = np.tile(points, (25, 1))
    tracemalloc.start()
    try:
        ridge.predict(many, return_std=True)
        assert tracemalloc.get_traced_memory()[1] < 8e6
        lower, upper = ridge.predict_interval(many)
        assert tracemalloc.get_traced_memory()[1] < 8e6
    finally:
        tracemalloc.stop()
    few = ridge.predict_interval(points[:3])
    assert_allclose([lower[:3], upper[:3]], few, atol=1e-9)


@pytest.mark.parametrize("solver", ["cholesky", "primal", "nystrom(landmarks=12)"])
def test_intervals_of_a_loaded_machine(solver, tmp_path):
    kernel = Polynomial() if solver == "primal" else Gaussian(0.3)
    ridge = KernelRidge(kernel, 0.2, solver=solver, bias=True, random_state=0).fit(X, SEVERAL)
    expected = ridge.predict_interval(QUERIES)
    mercer.save(ridge, tmp_path / "ridge.mercer")
    for again in (mercer.load(tmp_path / "ridge.mercer"), pickle.loads(pickle.dumps(ridge))):
        assert_allclose(again.predict_interval(QUERIES), expected, rtol=1e-9)
    ridge.fit(X[:20], T[:20])  # what was kept of the fit before is not used
    assert_allclose(
        ridge.predict_interval(QUERIES),
        KernelRidge(**ridge.get_params(False)).fit(X[:20], T[:20]).predict_interval(QUERIES),
    )
