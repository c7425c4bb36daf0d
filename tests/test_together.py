"""Problems on one matrix in one native call: the answers and certificates of `solve`, and nothing else is lost."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, SVR, solve
from mercer.estimators import together
from mercer.gram import DenseGram, PointsGram
from mercer.kernels import Gaussian, Linear
from mercer.losses import EpsilonInsensitive, Hinge, SquaredHinge

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 4))
CLASSES = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-1.0, -0.3, 0.3, 1.0])
GRAM = DenseGram.compute(Gaussian(gamma=0.3), X)


def settled(gram, posed, tol, stop):
    found = [None] * len(posed)
    together.settle(gram, posed, tol, found.__setitem__, stop)
    return found


def tasks(loss, bias=True):
    first = [np.flatnonzero((CLASSES == i) | (CLASSES == j)) for i in range(5) for j in range(i)]
    targets = [np.where(CLASSES[rows] == CLASSES[rows].min(), -1.0, 1.0) for rows in first]
    return [
        together.Task(y, loss, np.linspace(0.5, 5.0, y.size), bias, rows=rows)
        for y, rows in zip(targets, first, strict=True)
    ]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.2)], ids=repr)
def test_each_answer_is_that_of_solve(loss, bias):
    posed = tasks(loss, bias)
    for task, found in zip(posed, settled(GRAM, posed, 1e-8, lambda: False), strict=True):
        problem = task.problem(GRAM)
        other = solve(problem, tol=1e-8)
        assert found.certificate.converged
        assert found.certificate.primal == pytest.approx(other.certificate.primal, rel=3e-8)
        again = problem.certify(found.beta, found.b)
        assert again.primal == pytest.approx(found.certificate.primal, rel=1e-12)
        assert again.dual == pytest.approx(found.certificate.dual, rel=1e-12)
        assert again.kkt_violation == pytest.approx(found.certificate.kkt_violation, abs=1e-12)
        np.testing.assert_allclose(again.residuals, found.certificate.residuals, atol=1e-10)


def test_what_pairs_do_not_settle_is_left_to_the_solver():
    hard = [together.Task(np.sign(X[:, 0]), Hinge(), np.full(240, 1e7))]
    assert settled(GRAM, hard, 1e-14, lambda: False) == [None]
    y = np.where(CLASSES > 2, 1, 0)
    assert SVC("rbf(gamma=1e-3)", C=1e5).fit(X, y).certificate_.converged


def test_points_that_are_not_held_as_a_matrix_are_settled_too():
    gram, posed = PointsGram(Gaussian(gamma=0.3), X, "2GB", dtype=np.float32), tasks(Hinge())
    for task, found in zip(posed, settled(gram, posed, 1e-4, lambda: False), strict=True):
        again = task.problem(GRAM).certify(found.beta, found.b)
        assert again.relative_gap <= 1e-4
        assert again.primal == pytest.approx(found.certificate.primal, rel=1e-9)
        assert again.dual == pytest.approx(found.certificate.dual, rel=1e-9)
    sparse = PointsGram(Gaussian(gamma=0.3), sp.csr_matrix(X), "2GB", dtype=np.float32)
    assert set(settled(sparse, posed, 1e-4, lambda: False)) == {None}


def test_a_matrix_that_is_doubtful_or_loses_digits_is_left_to_the_solver():
    posed = tasks(Hinge())
    assert set(settled(DenseGram.compute(Linear(), X), posed, 1e-4, lambda: False)) == {None}
    assert set(settled(DenseGram.of_matrix(GRAM.matrix), posed, 1e-4, lambda: False)) == {None}
    single = DenseGram.compute(Gaussian(gamma=0.3), X, dtype=np.float32)
    assert set(settled(single, posed, 1e-4, lambda: False)) == {None}


def test_who_says_stop_is_obeyed():
    assert set(settled(GRAM, tasks(Hinge()), 1e-4, lambda: True)) == {None}
    assert SVC(time_limit=30.0).fit(X, CLASSES).certificate_.converged


def test_many_classes_take_one_round_each_and_the_answer_is_the_same_as_one_at_a_time():
    machine = SVC(C=3.0).fit(X, CLASSES)
    one = SVC(C=3.0, solver="decomposition", tol=1e-9).fit(X, CLASSES)
    assert machine.n_iter_ == 1
    assert all("one native call" in solution.reason for solution in machine.solution_)
    np.testing.assert_allclose(machine.pairwise_decision_function(X), one.pairwise_decision_function(X), atol=5e-2)
    assert (machine.predict(X) == one.predict(X)).mean() > 0.99


def test_regression_too():
    machine = SVR(C=3.0).fit(X, np.sin(X[:, 0]))
    assert "one native call" in machine.solution_.reason
    assert machine.certificate_.relative_gap <= 1e-4
