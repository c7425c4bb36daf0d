"""Support vector regression: agreement with scikit-learn, known answers, odd inputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from mercer import SVR
from mercer.kernels import FromFunction, Gaussian, Linear, Precomputed
from mercer.solution import Status

from .zoo import common_letters, needs_callbacks, words

X, t = load_diabetes(return_X_y=True)
X, t = scale(X), scale(t)


@pytest.mark.parametrize(("C", "epsilon"), [(1.0, 0.1), (0.1, 0.0), (20.0, 0.5)])
def test_agrees_with_scikit_learn(C, epsilon):
    ours, theirs = SVR(C=C, epsilon=epsilon, tol=1e-9).fit(X, t), svm.SVR(C=C, epsilon=epsilon, tol=1e-8).fit(X, t)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.dual_coef_.shape == (1, ours.support_.size)
    assert ours.n_support_.tolist() == [ours.support_.size]
    assert ours.certificate_.converged


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_targets_in_their_own_units(C):
    """Targets up to 346: nearer to what a general QP solver finds than scikit-learn, and both within 1e-4."""
    targets = load_diabetes().target
    ours, exact = (SVR(C=C, tol=1e-8, solver=solver).fit(X, targets).predict(X) for solver in (None, "qp"))
    theirs = svm.SVR(C=C, tol=1e-8).fit(X, targets).predict(X)
    assert_allclose(ours, exact, atol=1e-5)
    assert_allclose(ours, theirs, atol=1e-4)
    assert np.abs(ours - exact).max() <= np.abs(theirs - exact).max()
    coarse = SVR(C=C, tol=1e-6).fit(X, targets).predict(X)  # a tolerance is relative, and so are the digits
    assert_allclose(coarse, exact, atol=1e-5 * np.abs(targets).max())


@pytest.mark.parametrize("seed", range(4))
def test_weights(seed):
    generator = np.random.default_rng(seed)
    weight = generator.gamma(1.0, size=t.size) * (generator.random(t.size) < 0.7)
    ours = SVR(Gaussian(0.05), C=2.0, tol=1e-9).fit(X, t, sample_weight=weight)
    theirs = svm.SVR(gamma=0.05, C=2.0, tol=1e-8).fit(X, t, sample_weight=weight)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert ours.solution_.beta.shape == t.shape


def test_linear():
    ours, theirs = SVR("linear", tol=1e-9).fit(X, t), svm.SVR(kernel="linear", tol=1e-8).fit(X, t)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.predict(csr_array(X)), theirs.predict(X), atol=1e-4)
    with pytest.raises(AttributeError):
        SVR().fit(X, t).coef_


def test_a_wide_tube_needs_no_support_vectors():
    machine = SVR(epsilon=2.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert machine.support_.size == 0
    assert_allclose(machine.predict([[0.0], [5.0]]), [1.0, 1.0])
    assert machine.certificate_.primal == machine.certificate_.dual == 0
    assert_allclose(SVR(Linear(), epsilon=2.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_, [[0.0]])


def test_a_line():
    machine = SVR("linear", C=100.0, epsilon=0.0, tol=1e-10).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    assert_allclose(machine.coef_, [[2.0]], atol=1e-6)
    assert_allclose(machine.predict([[10.0]]), [21.0], atol=1e-5)
    assert SVR("linear", bias=False).fit(X, t).intercept_ == 0


def test_given_values_and_objects():
    K = rbf_kernel(X, gamma=0.05)
    ours = SVR(Precomputed(), tol=1e-9).fit(K, t)
    assert_allclose(ours.predict(K[:5]), SVR(Gaussian(0.05), tol=1e-9).fit(X, t).predict(X[:5]), atol=1e-6)
    points = words(40)
    machine = SVR(FromFunction(common_letters), C=10.0).fit(points, [float(word.count("a")) for word in points])
    assert_allclose(machine.predict(["aaa", "bc"]), [3.0, 0.0], atol=0.3)


@needs_callbacks
def test_callbacks(capsys):
    from sklearn.callback import ProgressBar

    machine = SVR().set_callbacks(ProgressBar()).fit(X, t)
    assert "SVR - fit" in capsys.readouterr().out
    assert_array_equal(machine.predict(X), SVR().fit(X, t).predict(X))


def test_copies_and_grids():
    machine = SVR().fit(X, t)
    assert_array_equal(pickle.loads(pickle.dumps(machine)).predict(X), machine.predict(X))
    search = GridSearchCV(SVR(), {"kernel__gamma": [0.01, 0.1], "epsilon": [0.1, 0.3]}, cv=3).fit(X, t)
    assert search.best_score_ > 0.4


def test_verbose(capfd):
    SVR(verbose=True).fit(X, t)
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("SVR  round 1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": float("inf")}, "C must be a finite number greater than 0, not inf"),
        ({"epsilon": -0.1}, "epsilon must be a finite number of at least 0, not -0.1"),
        ({"tol": -1}, "tol must be"),
        ({"bias": 1}, "bias must be True or False"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        SVR(**settings).fit(X, t)


def test_ugly_inputs():
    with pytest.raises(ValueError, match="y"):
        SVR().fit(X, None)
    with pytest.raises(ValueError, match="NaN"):
        SVR().fit(X, np.where(t > 1, np.nan, t))
    assert_allclose(SVR().fit(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0]).predict(np.zeros((1, 2))), [2.5], atol=0.6)
    assert_allclose(SVR().fit([[1.0]], [3.0]).predict([[1.0]]), [3.0], atol=0.11)


def test_out_of_time():
    points = np.random.default_rng(0).normal(size=(3000, 5))
    with pytest.warns(ConvergenceWarning, match="out of time"):
        machine = SVR(C=1e4, tol=1e-8, time_limit=0.001).fit(points, np.sin(points).sum(axis=1))
    assert machine.certificate_.status is Status.OUT_OF_TIME
    assert machine.certificate_.gap > 0
    assert np.isfinite(machine.predict(points)).all()
