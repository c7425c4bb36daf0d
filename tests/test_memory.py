"""memory= is a ceiling: bytes that fits and predictions ask for beyond the points and the result."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn.base import clone

from mercer import SVC, SVR, OneClassSVM, limits
from mercer.amounts import AT_A_TIME
from mercer.columns import between
from mercer.driver import solve
from mercer.estimators import multiclass
from mercer.gram import PointsGram
from mercer.kernels import Gaussian
from mercer.kernels.points import squared_norms
from mercer.losses import Hinge
from mercer.problem import Problem
from mercer.solvers import Iterate
from mercer.solvers.auto import cheaper
from mercer.solvers.decomposition import Decomposition
from mercer.solvers.landmarks import Growing

N = 5000


def asked(work):
    """The most bytes that are held at a time while this works, and what it gives."""
    tracemalloc.start()
    try:
        found = work()
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def points(kind):
    rng = np.random.default_rng(0)
    if kind == "sparse":
        X = random_array((N, 4000), density=0.005, format="csr", rng=rng)
        X.data[:] = 1.0
        return X
    return rng.normal(size=(N, 20 if kind == "narrow" else 100))


@pytest.mark.filterwarnings("ignore:.*out of iterations")
@pytest.mark.parametrize("kind", ["narrow", "wide", "sparse"])
@pytest.mark.parametrize("classes", [2, 5, "numbers", "none"])
def test_a_fit_takes_no_more_than_its_memory(kind, classes):
    X, budget = points(kind), 40_000_000 if kind == "sparse" else 20_000_000
    rng = np.random.default_rng(1)
    options = {"kernel": "rbf(gamma=0.02)", "max_iter": 4, "memory": budget}
    machine = {"numbers": SVR, "none": OneClassSVM}.get(classes, SVC)(**options)
    y = rng.normal(size=N) if classes == "numbers" else np.arange(N) % (classes if isinstance(classes, int) else 2)
    clone(machine).fit(X[:100], y[:100])  # what is imported late
    most, _ = asked(lambda: machine.fit(X, y))
    sets = machine.support_vectors_
    result = sets.nbytes if hasattr(sets, "nbytes") else 1.5 * sets.data.nbytes
    assert most - result <= 1.3 * budget


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_votes_of_many_points_take_no_more_than_some_numbers_for_each_class(method, monkeypatch):
    """The scores of all pairs of classes are those of some points at a time."""
    rng = np.random.default_rng(0)
    X, y, many = rng.normal(size=(60, 2)), np.arange(60) % 6, rng.normal(size=(60_000, 2))
    monkeypatch.setattr(multiclass, "AT_A_TIME", replace(AT_A_TIME, temporary_bytes=160_000))  # are counted at a time
    monkeypatch.setattr(between, "SCRATCH", 1_000_000)
    machine = SVC("rbf(gamma=1)").fit(X, y)
    getattr(machine, method)(many[:100])
    most, found = asked(lambda: getattr(machine, method)(many))
    values = machine._decided(machine._scores(many))
    whole = values if method == "decision_function" else machine.classes_[values.argmax(axis=1)]
    np.testing.assert_allclose(found, whole, rtol=1e-9, atol=1e-9)
    assert most <= 3 * values.nbytes + 4_000_000 < (30 + 15) * len(many) * 8  # of both sums of each pair, and its score


def test_squares_of_sparse_points_are_of_some_rows_at_a_time():
    X = random_array((40_000, 1000), density=0.1, format="csr", rng=np.random.default_rng(0))
    most, squares = asked(lambda: squared_norms(X))
    at_once, whole = asked(lambda: X.multiply(X).sum(axis=1))
    assert most <= 0.6 * at_once
    np.testing.assert_array_equal(squares, whole)


def test_landmarks_of_a_part_of_the_points_stay_within_the_memory_of_all():
    rng, budget = np.random.default_rng(0), 10_000_000
    gram = PointsGram(Gaussian(1.0), rng.normal(size=(3000, 3)), budget)
    part = gram.subset(np.arange(2500))
    problem = Problem(part, np.where(np.arange(2500) % 2, 1.0, -1.0), Hinge(), 1.0)
    assert 32 * 2500 * cheaper(problem, Decomposition()).most <= budget


def test_a_rival_makes_do_with_what_a_waiting_solver_leaves(monkeypatch):
    """Once it has found a better answer, it has the memory of the other one."""
    rng, budget, seconds = np.random.default_rng(0), 16_000_000, [100.0]
    n = 6500
    X = rng.normal(size=(n, 50))
    gram = PointsGram(Gaussian(0.02), X, budget, dtype=np.float32)
    problem = Problem(gram, np.where(X[:, 0] + X[:, 1] > 0.0, 1.0, -1.0), Hinge(), 1.0)

    def clock():
        seconds[0] += 0.002
        return seconds[0]

    def waiting(solver, asked_of, start):
        if asked_of is not problem:  # but one that landmarks see
            yield from iterates(solver, asked_of, start)
            return
        held, beta = np.ones(int(gram.rows_memory), np.int8), np.zeros(n)
        beta[:2] = 1e-3 * problem.y[:2]
        while True:
            seconds[0] += 1.0
            yield Iterate(beta, 1e-3 * held[:n].astype(np.float64), 0.0)

    iterates = Decomposition.iterates
    monkeypatch.setattr(Decomposition, "iterates", waiting)
    monkeypatch.setattr(limits, "clock", clock)
    most, solution = asked(lambda: solve(problem, Decomposition(), time_limit=10.0))
    assert isinstance(solution.solver, Growing) and "by half of the time better" in solution.reason
    assert most <= budget
    assert np.count_nonzero(solution.beta) > cheaper(problem, Decomposition(), 0.25).most
