"""KernelLogistic: probabilities against scikit-learn, certificates, weights, classes, limits, landmarks."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier

from mercer import KernelLogistic, certify
from mercer.kernels import FromFunction, Gaussian, Linear, Precomputed
from mercer.solution import Status
from mercer.solvers import Newton, NystromNewton

from .zoo import as_sparse, common_letters, two_classes, words

X, Y = two_classes(150)
NAMES = np.where(Y > 0, "yes", "no")


def peer(C=1.0, **rest):
    return LogisticRegression(C=C, tol=1e-10, max_iter=10_000, **rest)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_probabilities_are_those_of_logistic_regression(C, bias):
    ours = KernelLogistic("linear", C, bias, tol=1e-10).fit(X, NAMES)
    theirs = peer(C, fit_intercept=bias).fit(X, NAMES)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.certificate_.converged and ours.certificate_.relative_gap <= 1e-10


def test_kernel_probabilities_are_those_of_the_features():
    """A Gaussian machine is a linear one in the features of its Gram matrix."""
    values, vectors = np.linalg.eigh(Gaussian(0.3)(X))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))
    ours = KernelLogistic(Gaussian(0.3), 2.0, tol=1e-10).fit(X, Y)
    assert_allclose(ours.predict_proba(X), peer(2.0).fit(Z, Y).predict_proba(Z), atol=1e-5)


def test_several_classes_are_told_from_the_rest():
    points, target = load_iris(return_X_y=True)
    ours = KernelLogistic(Linear(), tol=1e-10).fit(points, target)
    theirs = OneVsRestClassifier(peer()).fit(points, target)
    assert_allclose(ours.predict_proba(points), theirs.predict_proba(points), atol=1e-5)
    assert len(ours.certificates_) == 3 and ours.certificate_.converged
    assert ours.decision_function(points).shape == (150, 3)
    assert (ours.predict(points) == theirs.predict(points)).all()
    assert "against the rest" in str(KernelLogistic().fit(points, target).certificate_)


def test_probabilities_at_any_scale():
    points = np.concatenate([X, 1e6 * X])
    for target in (np.tile(Y, 2), np.tile(np.arange(150) % 3, 2)):
        model = KernelLogistic(Linear(), tol=1e-3).fit(points, target)
        proba, logs = model.predict_proba(1e12 * points), model.predict_log_proba(1e12 * points)
        assert_allclose(proba.sum(axis=1), 1.0)
        assert (proba >= 0).all() and (logs <= 0).all() and np.isfinite(logs).all()


def test_probabilities_are_honest_about_chance():
    """With a kernel that knows nothing, they are the shares of the classes."""
    target = np.repeat([0, 1, 2], [30, 50, 70])
    model = KernelLogistic("constant(value=0)", tol=1e-9).fit(X, target)
    assert_allclose(model.predict_proba(X[:2]), np.tile([0.2, 1 / 3, 7 / 15], (2, 1)), atol=1e-9)


def test_weights_are_repetitions():
    weight = np.random.default_rng(0).integers(0, 4, 150)
    weighted = KernelLogistic(Gaussian(0.3), tol=1e-10).fit(X, Y, weight)
    repeated = KernelLogistic(Gaussian(0.3), tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)
    assert not np.isin(np.flatnonzero(weight == 0), weighted.support_).any()
    balanced = KernelLogistic("linear", class_weight="balanced", tol=1e-10).fit(X[20:], Y[20:])
    assert_allclose(
        balanced.predict_proba(X), peer(class_weight="balanced").fit(X[20:], Y[20:]).predict_proba(X), atol=1e-5
    )
    named = KernelLogistic("linear", class_weight={"yes": 3.0, "no": 1.0}, tol=1e-10).fit(X, NAMES)
    assert_allclose(
        named.predict_proba(X), peer(class_weight={"yes": 3.0, "no": 1.0}).fit(X, NAMES).predict_proba(X), atol=1e-5
    )


def test_points_of_every_kind():
    dense = KernelLogistic(Gaussian(0.3), tol=1e-10).fit(X, Y)
    for kernel, points in ((Gaussian(0.3), as_sparse(X)), (Precomputed(), Gaussian(0.3)(X))):
        other = KernelLogistic(kernel, tol=1e-10).fit(points, Y)
        assert_allclose(other.predict_proba(points), dense.predict_proba(X), atol=1e-6)
    texts = words(60)
    labels = np.array(["many" if text.count("a") > 1 else "few" for text in texts])
    model = KernelLogistic(FromFunction(common_letters), C=10.0).fit(texts, labels)
    assert model.score(texts, labels) > 0.85
    single = KernelLogistic(Gaussian(0.3)).fit(X.astype(np.float32), Y)
    assert_allclose(single.predict_proba(X.astype(np.float32)), dense.predict_proba(X), atol=1e-3)


def test_it_is_certified_again_by_anybody():
    model = KernelLogistic(Gaussian(0.3), tol=1e-6).fit(X, NAMES)
    assert certify(model, X, NAMES).relative_gap <= 2e-6
    model.dual_coef_ = 1.1 * model.dual_coef_
    assert certify(model, X, NAMES).relative_gap > 1e-5
    rough = KernelLogistic(Gaussian(0.3), solver=NystromNewton(100), tol=0.5).fit(X, NAMES)
    assert certify(rough, X, NAMES).relative_gap < 0.3


def test_histories_are_for_pictures():
    steps = KernelLogistic(Gaussian(0.3), C=100.0).fit(X, Y).solution_.history
    primal, dual, gap = np.array([(step.primal, step.dual, step.gap) for step in steps]).T
    assert len(steps) > 3 and (np.diff(primal) <= 0).all() and (dual <= primal * (1 + 1e-9)).all()
    assert_allclose(gap, primal - dual)


def test_many_points_get_landmarks_and_the_reason():
    points, target = two_classes(1200)
    exact = KernelLogistic(Gaussian(0.1), tol=1e-6).fit(points, target)
    assert exact.solution_.solver == Newton() and "K is held" in exact.solution_.reason
    with pytest.warns(ConvergenceWarning, match="KernelLogistic: approximate: landmarks"):
        model = KernelLogistic(Gaussian(0.1), tol=1e-6, memory="4MB").fit(points, target)
    solution = model.solution_
    assert isinstance(solution.solver, NystromNewton) and "landmarks stand for them" in solution.reason
    assert model.support_.size <= solution.solver.landmarks < 300
    assert model.certificate_.primal >= exact.certificate_.primal * (1 - 1e-6)
    assert model.certificate_.dual <= exact.certificate_.dual
    assert model.certificate_.relative_gap < 0.2
    assert np.abs(model.predict_proba(points) - exact.predict_proba(points)).mean() < 0.02


def test_limits_and_settings():
    with pytest.warns(ConvergenceWarning, match="out of iterations"):
        model = KernelLogistic(Gaussian(0.3), C=1e6, max_iter=2).fit(X, Y)
    assert model.certificate_.status is Status.OUT_OF_ITERATIONS
    with pytest.warns(ConvergenceWarning, match="out of time"):
        KernelLogistic(Gaussian(0.3), C=1e6, time_limit=1e-9).fit(X, Y)
    for wrong, message in (
        ({"C": 0.0}, "C must be a finite number greater than 0"),
        ({"C": np.inf}, "C must be a finite number greater than 0"),
        ({"bias": "penalised"}, "bias must be True or False"),
        ({"solver": "decomposition"}, "needs a loss with a quadratic dual"),
        ({"memory": "much"}, "is not an amount of memory"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelLogistic(**wrong).fit(X, Y)
    with pytest.raises(ValueError, match=r"KernelLogistic needs at least two classes.*only one class: 1\.0"):
        KernelLogistic().fit(X, np.ones(150))


def test_it_is_shown_and_searched_and_kept(capsys):
    model = KernelLogistic(Gaussian(0.3), verbose=True).fit(X, Y)
    assert "KernelLogistic  round" in capsys.readouterr().err
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=0, atol=0)
    search = GridSearchCV(
        KernelLogistic(), {"C": [0.1, 10.0], "kernel__gamma": [0.1, 1.0]}, scoring="neg_log_loss", cv=2
    )
    assert search.fit(X, Y).best_score_ < 0.0


def test_interrupted_while_the_matrix_is_formed(monkeypatch):
    formed = KernelLogistic._gram

    def ring(self, training):
        signal.raise_signal(signal.SIGINT)
        return formed(self, training)

    monkeypatch.setattr(KernelLogistic, "_gram", ring)
    X, y = two_classes(200)
    machine = KernelLogistic()
    with pytest.raises(KeyboardInterrupt, match="nothing useful is proved"):
        machine.fit(X, y)
    assert machine.certificate_.status is Status.INTERRUPTED
    assert machine.predict(X).shape == y.shape
