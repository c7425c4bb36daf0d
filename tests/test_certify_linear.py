"""mercer.certify of scikit-learn's LinearSVC: the problem that liblinear solves, with all its settings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mercer import certify

X, y = load_iris(return_X_y=True)
WEIGHT = np.random.default_rng(0).gamma(1.0, size=150) * (np.arange(150) % 7 > 0)
EXACT = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}
SETTINGS = [
    {},
    {"loss": "hinge", "C": 0.1},
    {"dual": False, "C": 10.0},
    {"fit_intercept": False},
    {"intercept_scaling": 10.0},
    {"class_weight": "balanced"},
    {"class_weight": {0: 2.0, 1: 0.5}},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(("points", "labels"), [(X, y), (csr_matrix(X), (y == 1) * 1)], ids=["three", "two, sparse"])
def test_exact_answers_are_good(points, labels, weight, settings):
    machine = LinearSVC(**EXACT, **settings).fit(points, labels, sample_weight=weight)
    certificate = certify(machine, points, labels, sample_weight=weight)
    assert certificate.relative_gap < 2e-6
    assert certificate.kkt_violation < 1e-3
    assert certificate.feasibility < 1e-9
    assert len(getattr(certificate, "parts", [0])) == len(machine.coef_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_values_are_those_of_its_objective(loss):
    sides = (y == 1) * 1
    machine = LinearSVC(loss=loss, C=0.3, intercept_scaling=2.0, **EXACT).fit(X, sides, sample_weight=WEIGHT)
    machine.coef_ *= 1.3  # not the best answer any more
    w, b = machine.coef_[0], machine.intercept_[0]
    losses = np.maximum(0.0, 1.0 - np.where(sides == 1, 1, -1) * (X @ w + b)) ** (1 if loss == "hinge" else 2)
    certificate = certify(machine, X, sides, sample_weight=WEIGHT)
    assert_allclose(certificate.primal, 0.5 * (w @ w + (b / 2.0) ** 2) + 0.3 * WEIGHT @ losses)
    assert 1e-3 < certificate.relative_gap < 1.0
    machine.coef_ /= 1.3
    assert_allclose(certify(machine, X, sides, sample_weight=WEIGHT).dual, certificate.dual, rtol=1e-9)


def test_an_early_end_is_seen():
    with pytest.warns(UserWarning, match="failed to converge"):
        hasty = make_pipeline(StandardScaler(), LinearSVC(max_iter=2, random_state=0)).fit(X, y)
    certificate = certify(hasty, X, y)
    assert certificate.relative_gap > 1e-4
    assert "against the rest" in str(certificate)


def test_other_problems_and_other_data_are_refused():
    sparse = LinearSVC(penalty="l1", dual=False, **EXACT).fit(X, y)
    with pytest.raises(ValueError, match="solves another problem"):
        certify(sparse, X, y)
    machine = LinearSVC(**EXACT).fit(X, y)
    with pytest.raises(ValueError, match="fitted on 4 features, but X has 3"):
        certify(machine, X[:, :3], y)
    with pytest.raises(ValueError, match="classes"):
        certify(machine, X, y + 1)
    with pytest.raises(ValueError, match="fit_intercept=False, so intercept_ must be 0"):
        certify(machine.set_params(fit_intercept=False), X, y)
