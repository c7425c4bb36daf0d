"""Where classes cannot be separated, the proof is shown, and can be checked: the points where their hulls meet."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import SVC, KernelPerceptron, Perceptron
from mercer.solution import Status

from .zoo import XOR, as_sparse

HARD = float("inf")
X, y = XOR
SHIFTED = np.vstack([X + 100.0, [[300.0, 300.0], [301.0, 300.0]]])
THREE = np.array([1, 1, 2, 2, 3, 3])
generator = np.random.default_rng(0)
CLOUD, SIDES = generator.normal(size=(40, 3)), np.sign(generator.normal(size=40))


def checked(proof, points, labels):
    """Convex combinations of both classes, which are one point."""
    assert (proof.weights >= 0).all()
    meeting = []
    for side in (1.0, -1.0):
        part = np.where(labels == side, proof.weights, 0.0)
        assert (part > 0).any()
        meeting.append(part @ points / part.sum())
    assert_allclose(*meeting, atol=1e-6 * np.abs(points).max())
    return meeting


@pytest.mark.parametrize("points", [X, as_sparse(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "machine",
    [
        SVC("linear", C=HARD),
        SVC("linear", C=HARD, bias=False),
        Perceptron(),
        Perceptron(bias=True),
        KernelPerceptron("linear"),
    ],
    ids=repr,
)
def test_the_hulls_of_xor_meet_in_the_middle(machine, points):
    certificate = machine.fit(points, y).certificate_
    assert certificate.status in (Status.INFEASIBLE,)
    text = "\n  0.5 x[0] + 0.5 x[1] = (0, 0)\n  0.5 x[2] + 0.5 x[3] = (0, 0)"
    assert text in str(certificate)
    assert "nothing useful" not in certificate.words()
    assert_allclose(checked(certificate.proof, X, y), 0.0, atol=1e-9)
    assert_allclose(certificate.proof.sums, 0.0, atol=1e-9)


def test_a_kernel_shows_the_points_in_its_space():
    twice, sides = np.vstack([X, X[:1]]), np.append(y, -1.0)
    for machine in (SVC("rbf", C=HARD), KernelPerceptron("rbf")):
        text = str(machine.fit(twice, sides).certificate_)
        assert "\n  1 phi(x[0])\n  1 phi(x[4])" in text


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_the_proof_is_in_rows_of_x(multiclass):
    """Of one of several machines, with points that have no weight, far from the origin."""
    machine = SVC("linear", C=HARD, multiclass=multiclass)
    rows = np.array([5, 0, 4, 1, 2, 3])
    weight = np.ones(7)
    weight[6] = 0.0
    points, labels = np.vstack([SHIFTED[rows], [[0.0, 0.0]]]), np.append(THREE[rows], 1)
    certificate = machine.fit(points, labels, sample_weight=weight).certificate_
    assert certificate.status is Status.INFEASIBLE
    assert certificate.proof.weights.shape == (7,)
    assert certificate.proof.weights[6] == 0.0
    checked(certificate.proof, points, certificate.proof.y)
    assert "= (100, 100)" in str(certificate)


def test_many_points_are_not_all_written_out():
    machine = SVC("linear", C=HARD).fit(CLOUD, SIDES)
    proof = machine.certificate_.proof
    checked(proof, CLOUD, SIDES)
    combinations = str(proof).split("\n")[1:]
    for side, line in zip((1.0, -1.0), combinations, strict=True):
        used = np.count_nonzero(proof.weights[side == SIDES] > 1e-9)
        assert line.count("x[") == 4
        assert f"({used - 4} points more)" in line
        shown = np.array([float(number) for number in re.search(r"= [(](.*)[)]", line)[1].split(", ")])
        assert_allclose(shown, np.where(side == SIDES, proof.weights, 0.0) @ CLOUD, rtol=1e-3)


def test_it_is_kept_in_a_file(tmp_path):
    for machine in (SVC("linear", C=HARD), Perceptron()):
        mercer.save(machine.fit(X, y), tmp_path / "xor.mercer")
        assert str(mercer.load(tmp_path / "xor.mercer").certificate_) == str(machine.certificate_)
