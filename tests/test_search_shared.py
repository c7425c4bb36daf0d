"""What the folds and paths of a search share: memory, distances, estimators that scikit-learn has made."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelLogistic, LinearSVC, Search
from mercer.kernels import Gaussian
from mercer.limits import Deadline, OutOfTimeError, until
from mercer.parallel import Together
from mercer.search import sheet
from mercer.search.matrices import Matrices, Rooms


def piped():
    return make_pipeline(StandardScaler(), SVC())


@pytest.mark.parametrize("paths", [1, 2])
def test_with_points_of_their_own_threads_change_nothing(paths):
    X, y = make_moons(150, noise=0.3, random_state=0)
    grid = {"svc__C": [0.1, 10.0, 1000.0], "svc__kernel__gamma": [0.1, 1.0][:paths]}
    one, two = (Search(piped(), grid, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.gaps_, two.gaps_)
    np.testing.assert_array_equal(one.score_bounds_, two.score_bounds_)


def test_memory_is_used_again_and_nobody_waits_for_another_matrix():
    X = np.random.default_rng(0).normal(size=(60, 3))
    rooms = Rooms(2)
    one, two = Matrices(X, rooms), Matrices(X + 1.0, rooms)
    with one.lent(Gaussian(1.0)) as first, two.lent(Gaussian(1.0)) as second:
        assert first.precise is not second.precise
        np.testing.assert_allclose(first.precise, Gaussian(1.0)(X), rtol=1e-13)
    with one.lent(Gaussian(2.0)) as third:
        assert third.precise is second.precise  # that which nobody has used for longest
        with one.lent(Gaussian(1.0)) as again:
            assert again.precise is first.precise
    assert len(rooms.held) == 2
    both = threading.Barrier(2, timeout=60.0)  # met by two threads that fill at the same time

    def fill(room):
        both.wait()

    def work(key):
        with Rooms.lent(rooms, key, 60, fill):
            pass

    threads = [threading.Thread(target=work, args=(key,)) for key in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert not both.broken
    assert {"a", "b"} <= set(rooms.held)


@pytest.mark.parametrize("d", [3, 60])
def test_gaussians_of_few_and_of_many_coordinates(d):
    X = np.random.default_rng(0).normal(size=(500, d))
    matrices = Matrices(X, Rooms(1))
    for gamma in (0.5 / d, 2.0 / d):
        with matrices.lent(Gaussian(gamma)) as matrix:
            np.testing.assert_allclose(matrix.precise, Gaussian(gamma)(X), rtol=1e-12, atol=1e-300)
            np.testing.assert_array_equal(matrix.precise, matrix.precise.T)
            np.testing.assert_array_equal(matrix.single[:500, :500], matrix.precise.astype(np.float32))
    assert (matrices.distances is None) == (d == 3)


def test_tasks_are_shared_and_errors_reach_all():
    done, work = [], Together(range(5))
    work.share(done.append)
    work.share(done.append)
    assert done == list(range(5))
    failing = Together(range(3))

    def fail(task):
        raise OSError(f"task {task}")

    for _ in range(4):
        with pytest.raises(OSError, match="task 0" if not failing.errors else "task"):
            failing.share(fail)
    assert failing.open == 0


def test_who_waits_for_a_task_of_another_hears_the_deadline():
    taken, go_on = threading.Event(), threading.Event()
    together = Together(range(1))

    def long(task):
        taken.set()
        go_on.wait(60)

    other = threading.Thread(target=together.share, args=(long,))
    other.start()
    taken.wait(60)
    try:
        with until(Deadline.after(0.1)), pytest.raises(OutOfTimeError):
            together.share(long)
    finally:
        go_on.set()
        other.join()


def test_an_estimator_is_made_once_for_each_setting(monkeypatch):
    X, y = make_moons(60, noise=0.3, random_state=0)
    made = []
    monkeypatch.setattr(sheet, "clone", lambda one: made.append(type(one).__name__) or clone(one))
    grid = {"svc__C": [0.1, 10.0], "svc__kernel__gamma": [0.1, 1.0]}
    Search(piped(), grid, cv=3, refit=False).fit(X, y)
    assert made.count("Pipeline") == 4 + 3  # and, for each fold, the steps before the machine


def test_newton_steps_of_a_larger_c_come_to_the_end():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.where(np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=400) > 0.0, 1, -1)
    grid = {"C": [0.1, 1, 10, 100, 1000]}
    search = Search(KernelLogistic("rbf(gamma=0.1)"), grid, refit=False, n_jobs=1).fit(X, y)
    assert search.gaps_.max() <= 1e-5


def test_cells_are_asked_by_the_folds_themselves(monkeypatch):
    """Each row of numbers is the array that the folds hold: nothing is copied, and nothing compared."""
    X, y = make_moons(60, noise=0.3, random_state=0)
    asked, compared = [], []
    own = sheet.Sheet.machine
    monkeypatch.setattr(
        sheet.Sheet, "machine", lambda self, *given: asked.append((self, given[1])) or own(self, *given)
    )
    monkeypatch.setattr(sheet, "same", lambda one, other: compared.append(one is other) or one is other)
    Search(LinearSVC(), {"C": [0.1, 1.0]}, cv=3, refit=False).fit(X, y.tolist())
    assert all(any(rows is train for train, _ in one.splits.made) for one, rows in asked)
    assert len(asked) == 2 * 3


def test_points_that_have_no_room_when_dense_are_fitted_one_by_one():
    X, y = make_moons(60, noise=0.3, random_state=0)
    wide = csr_array(np.hstack([X, np.zeros((60, 398))]))
    small, large = (
        Search(LinearSVC(), {"C": [0.1, 1.0]}, cv=3, memory=room, n_jobs=1).fit(wide, y) for room in ("400KB", "4MB")
    )
    assert small.how_.startswith("0 of 6")
    assert large.how_.startswith("6 of 6")
    assert_array_equal(small.cv_results_["mean_test_score"], large.cv_results_["mean_test_score"])
