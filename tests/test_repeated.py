"""Equal points with equal targets, merged: the same problem, fewer points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer import SVC, SVR, OneClassSVM, Problem
from mercer.estimators import machine as home
from mercer.estimators import repeated
from mercer.estimators.checks import seldom_equal
from mercer.estimators.repeated import Merged, distinct, merged, numbers_of
from mercer.kernels import Gaussian
from mercer.kernels.points import Domain
from mercer.losses import EpsilonInsensitive, Hinge, Logistic, OneClass, Squared, SquaredHinge
from mercer.problem import Task


def repeats(n: int = 60, of: int = 25, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on a coarse grid, labels that are not always those of their equals, weights."""
    rng = np.random.default_rng(seed)
    index = rng.integers(of, size=n)
    X = rng.normal(size=(of, 3))[index]
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n)


def values(machine: Any, X: np.ndarray) -> np.ndarray:
    """f at these points."""
    return np.asarray(machine.predict(X) if isinstance(machine, SVR) else machine.decision_function(X))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merge whatever can be merged."""
    monkeypatch.setattr(repeated, "_FEWEST", 0)
    monkeypatch.setattr(repeated, "LEFT", 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "columns first", "sparse"])
def test_equal_rows_are_found(form: str, dtype: type) -> None:
    X, y, _ = repeats(3000, 700)
    X = X.astype(dtype)
    X[X < 0] = 0
    expected, where = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    given = {"dense": X, "columns first": np.asfortranarray(X), "sparse": sparse.csr_array(X)}[form]
    first, place = distinct(given, y, numbers_of(given, y))
    assert first.size == len(expected)
    assert (np.diff(first) > 0).all()
    assert np.array_equal(X[first][place], X)
    assert np.array_equal(y[first][place], y)
    for group in range(first.size):
        assert first[group] == np.flatnonzero(where == where[first[group]])[0]


def test_equal_numbers_do_not_make_rows_equal() -> None:
    X = np.array([[1.0], [2.0], [1.0], [2.0]])
    first, place = distinct(X, np.ones(4), np.zeros(4, np.uint64))
    assert np.array_equal(X[first][place], X)
    assert first.tolist() == [0, 1, 3]  # nothing is merged that is not equal, if not all that is


@pytest.mark.parametrize(
    "loss",
    [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1), Squared(), OneClass(), Logistic()],
    ids=lambda loss: type(loss).__name__,
)
def test_the_way_back_keeps_all_values(small: None, loss: Any) -> None:
    X, y, C = repeats()
    mass = 5.0 if isinstance(loss, OneClass) else 0.0
    whole = Task(np.zeros_like(y) if mass else y, loss, C, mass=mass)
    once = merged(X, (whole,), Domain.VECTORS, "1GB")
    assert once is not None
    assert len(once.points) < len(X)
    kernel = Gaussian(0.5)
    few = Problem.of(kernel, once.points, once.task.y, loss, once.task.C, mass=mass)
    solution = mercer.solve(few, tol=1e-6)
    back = once.spread(solution)
    many = Problem.of(kernel, X, whole.y, loss, C, mass=mass)
    certificate = many.certify(back.beta, back.b)
    for name in ("primal", "dual"):
        assert getattr(certificate, name) == pytest.approx(getattr(solution.certificate, name), rel=1e-10, abs=1e-12)
    assert certificate.feasibility <= 1e-12
    assert back.certificate.residuals.sum() == pytest.approx(solution.certificate.residuals.sum())
    sums = np.bincount(once.place, back.beta)
    np.testing.assert_allclose(sums, solution.beta, rtol=1e-12, atol=1e-14)


def test_few_of_equal_points_are_between_bounds(small: None) -> None:
    X, y, _ = repeats()
    whole = Task(y, Hinge(), np.full(y.size, 0.1))
    once = merged(X, (whole,), Domain.VECTORS, "1GB")
    assert once is not None
    solution = mercer.solve(Problem.of(Gaussian(0.5), once.points, once.task.y, C=once.task.C), tol=1e-6)
    alpha = np.abs(once.spread(solution).beta)
    between = (alpha > 0) & (alpha < 0.1)
    together = np.abs(solution.beta)
    assert between.sum() <= ((together > 0) & (together < once.task.C)).sum()
    assert np.bincount(once.place, between).max() <= 1


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(
    "machine", [SVC(C=3), SVC(C=0.1, class_weight={1.0: 2.0}), SVR(C=2), OneClassSVM(nu=0.3)], ids=str
)
def test_machines_give_the_same_answer(small: None, machine: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weight = repeats(200, 50)
    given = sparse.csr_array(X) if form == "sparse" else X
    y = None if isinstance(machine, OneClassSVM) else y
    machine.set_params(tol=1e-8)
    machine.fit(given, y, sample_weight=weight)
    f, certificate = values(machine, X), machine.certificate_
    assert len(machine.solution_.beta) == len(certificate.residuals) == len(X)
    judged = mercer.certify(machine, given, y, sample_weight=weight)
    assert judged.relative_gap <= 1e-7
    assert judged.primal == pytest.approx(certificate.primal, rel=1e-9)
    monkeypatch.setattr(home, "merged", lambda *_: None)
    machine.fit(given, y, sample_weight=weight)
    np.testing.assert_allclose(f, values(machine, X), atol=2e-3)
    assert machine.certificate_.primal == pytest.approx(certificate.primal, rel=1e-7)


def test_a_hard_margin_and_its_proof(small: None) -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    machine = SVC(C=float("inf")).fit(X, [0, 0, 1, 1])
    assert machine.certificate_.converged
    with np.errstate(all="ignore"):
        machine.fit(X, [0, 1, 1, 1])
    proof = machine.certificate_.proof
    assert proof is not None
    assert proof.weights.shape == (4,)
    assert proof.weights.sum() == pytest.approx(2.0)


def test_nothing_is_merged_where_it_is_not_worth_it() -> None:
    X, y, C = repeats(5000, 40)
    task = Task(y, Hinge(), C)
    assert isinstance(merged(X, (task,), Domain.VECTORS, "1GB"), Merged)
    assert merged(X, (task, task), Domain.VECTORS, "1GB") is None
    assert merged(X, (task,), Domain.VALUES, "1GB") is None
    assert merged(X, (task,), Domain.VECTORS, "900kB") is None
    assert merged(X[:3000], (Task(y[:3000], Hinge(), C[:3000]),), Domain.VECTORS, "1GB") is None
    X = np.random.default_rng(0).normal(size=X.shape)
    assert merged(X, (task,), Domain.VECTORS, "1GB") is None


def test_who_names_a_solver_gets_the_points_as_given(small: None) -> None:
    X, y, _ = repeats()
    machine = SVC(solver="decomposition").fit(X, y)
    alpha = np.abs(machine.solution_.beta)
    assert alpha.size == len(X)
    alike = SVC().fit(X, y)
    assert np.abs(np.abs(alike.solution_.beta) - alpha).max() > 1e-3  # there the first of equal ones are filled up


@pytest.mark.parametrize("form", ["differ", "first entries repeat", "rows repeat", "sparse"])
def test_first_entries_tell_only_what_is_so(form: str) -> None:
    X = np.random.default_rng(1).normal(size=(5000, 3))
    X[:, 0] = np.round(X[:, 0], 1) if form == "first entries repeat" else X[:, 0]
    X = X[np.random.default_rng(2).integers(2500, size=5000)] if form == "rows repeat" else X
    points = sparse.csr_array(X) if form == "sparse" else X
    task = Task(np.sign(X[:, 1]), Hinge(), np.ones(5000))
    assert seldom_equal(points) == (form == "differ")  # nobody need number the rows
    assert (merged(points, (task,), Domain.VECTORS, "1GB") is None) == (form != "rows repeat")


def test_objects_that_have_no_order_are_not_sorted() -> None:
    objects = np.array([[{"a"}, 1], ["b", None]] * 20, dtype=object)
    assert not seldom_equal(objects) and not seldom_equal(np.zeros((5, 0))) and not seldom_equal(["a", "b"])
