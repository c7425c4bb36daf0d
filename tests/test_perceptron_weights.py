"""Perceptrons with sample weights: a mistake on a point counts as often as the point weighs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import linear_model

from mercer import KernelPerceptron, Perceptron, certify
from mercer.kernels import Gaussian, Precomputed
from mercer.solution import Status

from .zoo import XOR, as_sparse

generator = np.random.default_rng(0)
X = generator.normal(size=(60, 3))
y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 * generator.normal(size=60) > 0, 1, -1)
WEIGHT = generator.integers(0, 4, size=60) / 2.0  # a few are 0
THREE = np.where(X[:, 2] > 0.8, 2, y)
MACHINES = [
    Perceptron(max_epochs=7),
    KernelPerceptron("linear", max_epochs=7),
    KernelPerceptron("linear", bias=True, max_epochs=7),
    KernelPerceptron("linear", variant="averaged", max_epochs=7),
    KernelPerceptron("linear", variant="voted", max_epochs=7),
    KernelPerceptron("linear", budget=9, max_epochs=7),
]


@pytest.mark.parametrize("points", [X, as_sparse(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("labels", [y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("machine", [Perceptron(max_epochs=7), KernelPerceptron("linear", max_epochs=7)], ids=repr)
def test_the_same_as_scikit_learn(machine, points, labels):
    theirs = linear_model.Perceptron(max_iter=7, tol=None, shuffle=False, fit_intercept=False)
    theirs.fit(points, labels, sample_weight=WEIGHT)
    ours = machine.fit(points, labels, sample_weight=WEIGHT)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-12)


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_points_without_weight_are_left_out(machine):
    machine.set_params(trace=True).fit(X, THREE, sample_weight=WEIGHT)
    scores, mistakes, trace = machine.decision_function(X), machine.mistakes_, machine.trace_
    kept = np.flatnonzero(WEIGHT)
    assert kept.size < len(X)
    alone = machine.fit(X[kept], THREE[kept], sample_weight=WEIGHT[kept])
    assert_array_equal(scores, alone.decision_function(X))
    assert_array_equal(mistakes[:, kept], alone.mistakes_)
    assert mistakes.shape == (3, 60)
    assert not mistakes[:, WEIGHT == 0].any()
    assert [u.point for u in trace] == [int(kept[u.point]) for u in alone.trace_]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_equal_weights_scale_f_and_nothing_else(machine):
    plain = machine.fit(X, y)
    scores, mistakes, certificate = plain.decision_function(X), plain.mistakes_, plain.certificate_
    scaled = machine.fit(X, y, sample_weight=np.full(60, 0.25))
    assert_array_equal(scaled.mistakes_, mistakes)
    factor = 1.0 if getattr(machine, "variant", "") == "voted" else 0.25
    assert_allclose(scaled.decision_function(X), factor * scores)
    assert_allclose([scaled.certificate_.lower, scaled.certificate_.upper], [certificate.lower, certificate.upper])


def test_the_certificate_counts_with_the_weights():
    for machine in (Perceptron(eta=0.5, max_epochs=7), KernelPerceptron("linear", max_epochs=7)):
        machine.fit(X, y, sample_weight=WEIGHT)
        a = machine.mistakes_ * WEIGHT
        f = (a * y) @ X
        certificate = machine.certificate_
        assert_allclose(certificate.upper, np.linalg.norm(f) / a.sum())
        kept = WEIGHT > 0
        assert_allclose(certificate.lower, (y * (X @ f))[kept].min() / np.linalg.norm(f))
        assert_allclose(certify(machine, X[kept], y[kept]).upper, certificate.upper)
        step = machine.solution_.history[-1]
        assert_allclose(step.dual, 0.5 / certificate.upper**2)
        assert machine.solution_.beta.shape == (60,)


@pytest.mark.parametrize("machine", [Perceptron(), KernelPerceptron("linear")], ids=repr)
def test_a_weighted_proof(machine):
    """Whichever the weights are, the mistakes of a round add up to zero; a point without weight is not in the proof."""
    points, sides = np.vstack([XOR[0], [[5.0, 5.0]]]), np.append(XOR[1], -1.0)
    certificate = machine.fit(points, sides, sample_weight=[1.0, 2.0, 0.5, 1.0, 0.0]).certificate_
    assert certificate.status is Status.INFEASIBLE
    weights = certificate.proof.weights
    assert weights.shape == (5,)
    assert weights[4] == 0.0
    assert_allclose((weights * sides) @ points, 0.0, atol=1e-12)
    assert_allclose(weights.sum(), 1.0)


@pytest.mark.parametrize("variant", ["plain", "averaged", "voted"])
def test_weights_of_precomputed_points(variant):
    K = Gaussian(0.5)(X)
    ours = KernelPerceptron(Precomputed(), variant).fit(K, y, sample_weight=WEIGHT)
    plain = KernelPerceptron(Gaussian(0.5), variant).fit(X, y, sample_weight=WEIGHT)
    assert_allclose(ours.decision_function(K), plain.decision_function(X))
    assert_array_equal(ours.support_, plain.support_)
    assert_allclose(ours.certificate_.upper, plain.certificate_.upper)


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_a_weighted_stream_is_one_pass(machine):
    once = machine.set_params(max_epochs=1).fit(X, y, sample_weight=WEIGHT)
    scores, mistakes = once.decision_function(X), once.mistakes_
    stream = type(machine)(**machine.get_params(deep=False))
    counted = []
    for start in range(0, 60, 25):
        part = slice(start, start + 25)
        stream.partial_fit(X[part], y[part], classes=[-1, 1], sample_weight=WEIGHT[part])
        counted.append(stream.mistakes_)
    assert_allclose(stream.decision_function(X), scores)
    assert_array_equal(np.concatenate(counted), mistakes)


def test_weights_that_make_no_sense():
    for machine in (Perceptron(), KernelPerceptron("linear")):
        for wrong in (-WEIGHT, np.full(60, np.nan), WEIGHT[:5], np.zeros(60)):
            with pytest.raises(ValueError, match="weight"):
                machine.fit(X, y, sample_weight=wrong)
        with pytest.raises(ValueError, match="only one class"):
            machine.fit(X, y, sample_weight=(y > 0).astype(float))
