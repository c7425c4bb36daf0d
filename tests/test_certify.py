"""mercer.certify: how good are the answers of others, and of our own?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import scale

import mercer
from mercer import SVC, SVR, OneClassSVM, certify
from mercer.estimators import IndefiniteKernelWarning
from mercer.kernels import FromFunction, Linear, Precomputed
from mercer.losses import Squared
from mercer.solution import Status

from .zoo import common_letters, vectors, words

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
SEVERAL = np.arange(len(y)) % 3 + 2 * y
T = X[:, 0] + np.sin(X[:, 1])
WEIGHT = np.random.default_rng(0).gamma(1.0, size=len(y)) * (np.arange(len(y)) % 5 > 0)


def half_laplacian(x, z):
    return float(np.exp(-0.5 * np.abs(x - z).sum()))


THEIRS = [
    (svm.SVC(tol=1e-7), y),
    (svm.SVC(kernel="linear", C=0.1, tol=1e-7), y),
    (svm.SVC(kernel="poly", degree=2, coef0=1.0, tol=1e-7), y),
    (svm.SVC(kernel="sigmoid", gamma=1e-3, tol=1e-7), y),
    (svm.SVC(kernel=partial(laplacian_kernel, gamma=0.01), tol=1e-7), y),
    (svm.SVC(gamma="auto", C=5.0, class_weight="balanced", tol=1e-7), y),
    (svm.SVC(C=2.0, class_weight={0: 3.0}, tol=1e-7), SEVERAL),
    (svm.SVR(tol=1e-7), T),
    (svm.SVR(kernel="linear", epsilon=0.5, C=0.01, tol=1e-7), T),
    (svm.OneClassSVM(tol=1e-7), None),
    (svm.OneClassSVM(kernel="poly", coef0=1.0, nu=0.1, tol=1e-7), None),
]


@pytest.mark.parametrize(("estimator", "target"), THEIRS, ids=lambda value: repr(value)[:60])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_answers_of_scikit_learn_are_good(estimator, target, weight):
    certificate = certify(estimator.fit(X, target, sample_weight=weight), X, target, sample_weight=weight)
    assert certificate.relative_gap < 1e-5
    assert certificate.kkt_violation < 1e-3 * max(1.0, abs(certificate.primal))
    assert certificate.feasibility < 1e-9


def test_all_pairs_are_at_hand():
    certificate = certify(svm.SVC().fit(X, SEVERAL), X, SEVERAL)
    assert len(certificate.parts) == 10
    assert certificate.relative_gap == max(part.relative_gap for part in certificate.parts)
    assert "the worst of 10 problems" in str(certificate)
    digits, labels = load_digits(return_X_y=True)
    assert certify(svm.SVC().fit(digits, labels), digits, labels).relative_gap < 0.01


def test_loose_answers_are_seen_to_be_loose():
    loose = certify(svm.SVC(tol=0.5).fit(X, y), X, y)
    assert 1e-4 < loose.relative_gap < 1
    assert loose.relative_gap > certify(svm.SVC(tol=1e-4).fit(X, y), X, y).relative_gap
    assert "of the best possible" in str(loose)


def test_single_precision_of_others_is_repaired():
    machine = svm.SVC(tol=1e-7).fit(X, y)
    machine.dual_coef_ = machine.dual_coef_.astype(np.float32) * np.float32(1 + 1e-6)
    certificate = certify(machine, X, y)
    assert certificate.feasibility < 1e-9
    assert certificate.relative_gap < 1e-4


def test_scikit_learn_intelex():
    intelex = pytest.importorskip("sklearnex.svm")
    assert certify(intelex.SVC(tol=1e-6).fit(X, y), X, y).relative_gap < 1e-4
    assert certify(intelex.SVC(tol=1e-6).fit(X, SEVERAL), X, SEVERAL).relative_gap < 1e-3
    weighted = intelex.SVC(tol=1e-6).fit(X, y, sample_weight=WEIGHT)
    assert certify(weighted, X, y, sample_weight=WEIGHT).relative_gap < 1e-4
    assert certify(intelex.SVR(tol=1e-6).fit(X, T), X, T).relative_gap < 1e-3


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (SVC(), y),
        (SVC(Linear(), bias=False), y),
        (SVC(C=float("inf"), tol=1e-6), y),
        (SVC(class_weight="balanced"), SEVERAL),
        (SVC(multiclass="ovr"), SEVERAL),
        (SVR(), T),
        (OneClassSVM(), None),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_our_own(estimator, target):
    for weight in (None, WEIGHT):
        machine = estimator.fit(X, target, sample_weight=weight)
        certificate = certify(machine, X, target, sample_weight=weight)
        assert certificate.relative_gap <= 1.01 * machine.tol + 1e-9
        assert_allclose(certificate.primal, machine.certificate_.primal, rtol=1e-6)


def test_damage_is_seen():
    machine = SVC().fit(X, y)
    machine.dual_coef_ = machine.dual_coef_.copy()
    machine.dual_coef_[0, :5] = 0.0
    assert certify(machine, X, y).relative_gap > 2 * machine.tol
    shifted = SVC().fit(X, y)
    shifted.intercept_ = shifted.intercept_ + 0.3
    assert certify(shifted, X, y).relative_gap > 1e-3
    for name in ("dual_coef_", "intercept_"):
        broken = SVC().fit(X, y)
        setattr(broken, name, np.full_like(getattr(broken, name), np.nan))
        assert certify(broken, X, y).gap == np.inf


def test_given_values_and_objects():
    K = rbf_kernel(X, gamma=0.02)
    for machine in (svm.SVC(kernel="precomputed", tol=1e-7), SVC(Precomputed(), tol=1e-7)):
        for weight in (None, WEIGHT):
            assert certify(machine.fit(K, y, sample_weight=weight), K, y, sample_weight=weight).relative_gap < 1e-5
    points = words(40)
    labels = [word.count("a") > 1 for word in points]
    assert certify(SVC(FromFunction(common_letters)).fit(points, labels), points, labels).relative_gap < 1e-4


@pytest.mark.parametrize(
    "estimator",
    [
        KernelRidge(kernel="rbf"),
        KernelRidge(alpha=0.1, kernel="rbf", gamma=0.01),
        KernelRidge(kernel="poly", degree=2),
        KernelRidge(alpha=2.0),
        KernelRidge(kernel="laplacian", gamma=0.02),
        KernelRidge(kernel=half_laplacian),
    ],
    ids=lambda estimator: str(getattr(estimator.kernel, "__name__", estimator.kernel)),
)
def test_kernel_ridge(estimator):
    rows = slice(0, 200)
    for weight in (None, WEIGHT[rows]):
        fitted = estimator.fit(X[rows], T[rows], sample_weight=weight)
        certificate = certify(fitted, X[rows], T[rows], sample_weight=weight)
        assert certificate.relative_gap < 1e-8
        f, w = fitted.predict(X[rows]), 1.0 if weight is None else weight
        K = fitted._get_kernel(X[rows])
        norm = fitted.dual_coef_ @ K @ fitted.dual_coef_
        J = 0.5 * np.sum(w * (f - T[rows]) ** 2) + 0.5 * fitted.alpha * norm
        assert_allclose(certificate.primal, J, rtol=1e-6)


def test_kernel_ridge_of_several_targets():
    targets = np.column_stack([T, -2 * T, X[:, 3]])
    machine = KernelRidge(alpha=[0.1, 1.0, 10.0], kernel="rbf").fit(X, targets)
    certificate = certify(machine, X, targets)
    assert len(certificate.parts) == 3 and certificate.relative_gap < 1e-8
    K = rbf_kernel(X)
    assert certify(KernelRidge(kernel="precomputed").fit(K, T), K, T).relative_gap < 1e-8
    with pytest.raises(ValueError, match="training"):
        certify(machine, X, T)
    with pytest.raises(ValueError, match="alpha > 0"):
        certify(
            KernelRidge(alpha=0.0, kernel="rbf", gamma=1.0).fit(vectors(9), np.arange(9.0)), vectors(9), np.arange(9.0)
        )


def test_other_data_than_that_of_the_training():
    for machine in (svm.SVC().fit(X, y), SVC().fit(X, y)):
        for rows in (slice(0, 100), slice(0, 560)):
            with pytest.raises(ValueError, match="fitted on 569 points"):
                certify(machine, X[rows], y[rows])
        assert certify(machine, X[::-1], y[::-1]).relative_gap > 0.01
        assert certify(machine, X, 1 - y).relative_gap > 0.1
        with pytest.raises(ValueError, match="classes"):
            certify(machine, X, y + 1)
        with pytest.raises(ValueError, match="weight 0"):
            certify(machine, X, y, sample_weight=WEIGHT)
    with pytest.raises(NotFittedError):
        certify(SVC(), X, y)
    with pytest.raises(TypeError, match="not NuSVC"):
        certify(svm.NuSVC().fit(X, y), X, y)


def test_ten_thousand_rows():
    many, labels = make_classification(10_000, 20, random_state=0)
    assert certify(svm.SVC(tol=1e-2).fit(many[:, :5], labels), many[:, :5], labels).relative_gap < 0.05


def test_names():
    assert mercer.certify is certify and callable(mercer.solve) and mercer.Problem.__name__ == "Problem"
    found = mercer.solve(mercer.Problem.of("rbf", X, T, Squared()))
    assert found.certificate.converged


def test_a_damaged_intercept_beside_landmarks_is_seen():
    X = np.random.default_rng(0).normal(size=(60, 2))
    ridge = mercer.KernelRidge(alpha=0.1, bias=True, solver="nystrom(landmarks=10)", random_state=0).fit(X, X[:, 0])
    sound = certify(ridge, X, X[:, 0])
    ridge.intercept_ += 0.5
    damaged = certify(ridge, X, X[:, 0])
    assert sound.relative_gap < 1e-6
    assert_allclose(damaged.gap - sound.gap, 0.5 * 60 * 0.5**2)
    ridge.bias = False
    with pytest.raises(ValueError, match="intercept_ must be 0"):
        certify(ridge, X, X[:, 0])


def test_an_indefinite_kernel_proves_nothing():
    theirs = svm.SVC(kernel="sigmoid", tol=1e-7).fit(X, y)
    certificate = certify(theirs, X, y)
    assert certificate.status is Status.INDEFINITE
    assert "best possible" not in str(certificate)
    with pytest.warns(IndefiniteKernelWarning):
        ours = SVC("precomputed").fit(sigmoid_kernel(X), y)
    assert certify(ours, sigmoid_kernel(X), y).status is Status.INDEFINITE


@pytest.mark.parametrize("targets", [None, 2])
def test_a_linear_ridge_far_from_the_origin_is_judged_as_it_was_fitted(targets):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X @ rng.normal(size=(4, targets or 1)) + 0.1 * rng.normal(size=(200, targets or 1))
    y = y if targets else y[:, 0]
    machine = mercer.KernelRidge("linear", alpha=0.1, bias=True).fit(X + 1e6, y)
    assert mercer.certify(machine, X + 1e6, y).relative_gap < 1e-8


def test_a_constant_is_judged_by_its_own_dual_point():
    """With a tiny C and one class against the rest, nothing beats f = b, and zeros prove nothing of it."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(np.arange(300) % 10 == 0, 1, -1)
    machine = SVC(C=1e-7).fit(X, y)
    machine.solution_ = replace(machine.solution_, beta=np.zeros(300), dual_beta=machine.solution_.beta)
    machine.dual_coef_ = np.zeros_like(machine.dual_coef_)
    assert certify(machine, X, y).relative_gap < 1e-3
