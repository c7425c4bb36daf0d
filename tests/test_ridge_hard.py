"""Ridge regression on data that other solvers fail on, and ceilings: each fit ends with an honest status."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelRidge
from mercer.estimators import IndefiniteKernelWarning
from mercer.kernels import Constant, FromFunction, Gaussian, Linear, Polynomial
from mercer.solution import Status
from mercer.solvers import Cholesky, cholesky, triangular
from mercer.solvers.cholesky import fill_columns
from mercer.solvers.weights import factored

GENERATOR = np.random.default_rng(0)
BLOB = GENERATOR.normal(size=(200, 3))
TARGET = np.sin(BLOB[:, 0]) + 0.1 * GENERATOR.normal(size=200)
CASES = {
    "duplicates": (Gaussian(0.5), 1e-12, np.repeat(BLOB[:50], 4, axis=0), TARGET),
    "all points equal": (Gaussian(0.5), 1e-12, np.ones((200, 3)), TARGET),
    "tiny lambda": (Gaussian(0.01), 1e-12, BLOB, TARGET),
    "nearly constant kernel": (Gaussian(1e-9), 1e-10, BLOB, TARGET),
    "constant kernel": (Constant(1.0), 1e-12, BLOB, TARGET),
    "huge values": (Polynomial(3), 1.0, 1e5 * BLOB, TARGET),
    "tiny values": (Linear(), 1e-12, 1e-8 * BLOB, TARGET),
    "huge targets": (Gaussian(0.5), 0.1, BLOB, 1e12 * TARGET),
    "targets of zero": (Gaussian(0.5), 0.1, BLOB, 0.0 * TARGET),
    "one point": (Gaussian(0.5), 0.1, BLOB[:1], TARGET[:1]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("solver", [None, "cholesky", "conjugategradient", "nystrom(landmarks=50)"])
@pytest.mark.parametrize("bias", [False, True])
def test_ends_with_the_truth(name, solver, bias):
    kernel, alpha, X, t = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ridge = KernelRidge(kernel, alpha, bias=bias, solver=solver, random_state=0).fit(X, t)
    certificate = ridge.certificate_
    assert certificate.status in (Status.CONVERGED, Status.STALLED)
    assert certificate.converged == (certificate.relative_gap <= ridge.tol)
    assert np.isfinite(ridge.predict(X)).all()
    assert np.isfinite(certificate.relative_residual)
    if certificate.converged and solver in (None, "cholesky"):
        J = 0.5 * np.sum((ridge.predict(X) - t) ** 2)
        assert J <= certificate.primal * (1 + 1e-6) + 1e-9 * np.sum(t**2)


def test_float32_gives_way():
    """So ill-conditioned that the float32 factor fails, or leads nowhere: the float64 one takes its place."""
    X = np.random.default_rng(1).normal(size=(1600, 2))
    t = np.sin(X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ridge = KernelRidge(Gaussian(0.05), 1e-9, solver=Cholesky("float32")).fit(X, t)
    assert ridge.certificate_.relative_residual < 1e-4
    assert np.abs(ridge.predict(X) - t).max() < 1e-3


def test_an_indefinite_kernel_is_said_to_be_one():
    def bent(x, z):
        return float(np.tanh(x @ z - 1.0))

    with pytest.warns(IndefiniteKernelWarning):
        ridge = KernelRidge(FromFunction(bent), alpha=5.0).fit(list(BLOB[:60]), TARGET[:60])
    assert ridge.certificate_.status is Status.INDEFINITE


@pytest.mark.parametrize("solver", ["cholesky", "conjugategradient", "nystrom(landmarks=500)"])
def test_a_time_limit_ends_a_fit(solver):
    X = np.random.default_rng(0).normal(size=(9000, 5))
    t = np.sin(X[:, 0])
    KernelRidge(Gaussian(0.1), 0.1, solver=solver).fit(X[:1600], t[:1600])
    with pytest.warns(ConvergenceWarning, match="out of time"):
        ridge = KernelRidge(Gaussian(0.1), 1e-6, solver=solver, time_limit=1e-4).fit(X, t)
    assert ridge.certificate_.status is Status.OUT_OF_TIME
    assert ridge.certificate_.relative_gap > 1e-6


def test_limits_of_rounds_and_memory():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        KernelRidge(Gaussian(0.1), 1e-6, solver="conjugategradient(rank=1)", max_iter=2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="The factor of 2000 points"):
        KernelRidge(Gaussian(0.1), solver="cholesky", memory="1MB").fit(X, X[:, 0])
    small = KernelRidge(Gaussian(0.1), memory="1MB").fit(X, X[:, 0])
    assert "factor would take" in small.solution_.reason


def test_ctrl_c_stops_a_factor(monkeypatch):
    def ring(gram, r, start, stop, out):
        if start == 500:
            signal.raise_signal(signal.SIGINT)
        assert start <= 500
        fill_columns(gram, r, start, stop, out)

    monkeypatch.setattr(triangular, "_PANEL", 100)
    monkeypatch.setattr(cholesky, "fill_columns", ring)
    X = np.random.default_rng(0).normal(size=(1000, 10))
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        ridge = KernelRidge(Gaussian(0.1), 0.1, solver="cholesky").fit(X, X[:, 0])
    assert ridge.certificate_.status is Status.INTERRUPTED
    assert 0.0 < ridge.certificate_.relative_gap < 1.0
    assert not ridge.dual_coef_[500:].any()  # the answer of the points whose part of the factor was ready


@pytest.mark.parametrize("kernel", ["rbf(gamma=1)", "linear"])
def test_targets_may_be_huge_while_their_squares_are_numbers(kernel):
    assert KernelRidge(kernel).fit(BLOB, 1e140 * TARGET).certificate_.converged
    with pytest.raises(ValueError, match=r"Squares of y overflow, for the largest is \de\+200: divide y by it"):
        KernelRidge(kernel).fit(BLOB, 1e200 * TARGET / np.abs(TARGET).max())


def test_wrong_settings():
    for settings in ({"alpha": 0.0}, {"alpha": "much"}, {"bias": 2}, {"solver": "qp"}, {"loo": "yes"}, {"tol": 0.0}):
        with pytest.raises(ValueError, match=r"KernelRidge|qp|QP"):
            KernelRidge(**settings).fit(BLOB, TARGET)
    with pytest.raises(ValueError, match="there is no precision"):
        Cholesky("float16")
    with pytest.raises(ValueError, match="loo needs a factor"):
        KernelRidge(loo=True, solver="conjugategradient").fit(BLOB, TARGET)
    with pytest.raises(ValueError, match="explicit features"):
        KernelRidge(solver="primal").fit(BLOB, TARGET)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_a_matrix_without_a_factor_ends_with_an_error(value: float) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="has no Cholesky factor"):
        factored(np.array([[1.0, 0.0], [0.0, 1.0]]) + np.where(np.eye(2) > 0, 0.0, value), 0.0)
