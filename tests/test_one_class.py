"""One-class machines: agreement with scikit-learn, the meaning of nu, odd inputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import OneClassSVM
from mercer.kernels import FromFunction, Gaussian, Precomputed

from .zoo import common_letters, vectors, words

X = vectors(200)


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
def test_agrees_with_scikit_learn(nu):
    ours, theirs = OneClassSVM(nu=nu, tol=1e-10).fit(X), svm.OneClassSVM(nu=nu, tol=1e-9).fit(X)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-4)
    assert_allclose(ours.offset_, theirs.offset_, atol=1e-4)
    assert_allclose(ours.dual_coef_.sum(), nu * len(X))
    clear = np.abs(theirs.decision_function(X)) > 1e-4
    assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


@pytest.mark.parametrize("seed", range(3))
def test_weights(seed):
    generator = np.random.default_rng(seed)
    weight = generator.gamma(1.0, size=200) * (generator.random(200) < 0.7)
    ours = OneClassSVM(Gaussian(0.1), nu=0.3, tol=1e-10).fit(X, sample_weight=weight)
    theirs = svm.OneClassSVM(gamma=0.1, nu=0.3, tol=1e-9).fit(X, sample_weight=weight)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("nu", [0.01, 0.2, 0.7])
def test_the_meaning_of_nu(nu):
    machine = OneClassSVM(nu=nu, tol=1e-10).fit(X)
    assert np.mean(machine.predict(X) == -1) <= nu + 1e-12
    assert machine.support_.size >= nu * len(X)


def test_all_of_it():
    machine = OneClassSVM(nu=1.0).fit(X)  # every coefficient is at its bound: the mean of the points in feature space
    assert_allclose(machine.dual_coef_, 1.0)
    assert_allclose(machine.score_samples(X), machine.kernel_(X).sum(axis=1))


def test_forms_of_input():
    expected = OneClassSVM(Gaussian(0.1), tol=1e-10).fit(X).decision_function(X)
    assert_allclose(
        OneClassSVM("rbf(gamma=0.1)", tol=1e-10).fit(csr_array(X)).decision_function(X), expected, atol=1e-6
    )
    K = rbf_kernel(X, gamma=0.1)
    given = OneClassSVM(Precomputed(), tol=1e-10).fit(K)
    assert_allclose(given.decision_function(K), expected, atol=1e-6)
    assert pickle.loads(pickle.dumps(given)).offset_ == given.offset_
    points = words(30)
    assert set(OneClassSVM(FromFunction(common_letters)).fit(points).predict(points)) <= {-1, 1}
    assert make_pipeline(StandardScaler(), OneClassSVM(nu=0.1)).fit_predict(X).shape == (200,)
    assert OneClassSVM("linear").fit(X + 5).coef_.shape == (1, 4)


@pytest.mark.parametrize("nu", [0, 1.1, -1, "half", None])
def test_settings(nu):
    with pytest.raises(ValueError, match="nu must be a number with 0 < nu <= 1"):
        OneClassSVM(nu=nu).fit(X)


def test_ugly_inputs():
    for points in (np.zeros((3, 2)), [[1.0]], np.eye(4)):
        machine = OneClassSVM().fit(points)
        assert machine.certificate_.converged
        assert machine.predict(points).shape == (len(points),)
    with pytest.raises(ValueError, match="NaN"):
        OneClassSVM().fit([[np.nan], [1.0]])


@pytest.mark.parametrize("n", [300, 3000])
def test_points_around_the_origin(n):
    """No half-space has them on one side of the origin: the best objective is 0, up to rounding."""
    machine = OneClassSVM("linear").fit(np.random.default_rng(0).normal(size=(n, 20)))
    certificate = machine.certificate_
    assert certificate.converged
    assert certificate.primal == certificate.dual == 0.0


def test_what_is_proved_is_kept():
    """Where f = b is better than what was found, the bound is still that of what was found."""
    X = np.random.default_rng(0).normal(size=(3000, 20))
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        certificate = OneClassSVM("linear", nu=0.01, max_iter=1, tol=1e-10).fit(X).certificate_
    assert certificate.primal == 0.0
    assert -100.0 < certificate.dual < 0.0
