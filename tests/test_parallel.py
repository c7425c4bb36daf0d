"""Threads: limits are respected, errors and Ctrl-C end the work, forks do not hang."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from mercer import parallel
from mercer.columns import pieces
from mercer.kernels import Gaussian
from mercer.parallel import in_order, shares

X = np.random.default_rng(0).normal(size=(1500, 10))


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_users_limits():
    with threadpool_limits(1, "blas"):
        assert parallel.thread_count() == 1
    assert 1 <= parallel.thread_count() <= parallel.cores()


def test_blas_is_restored():
    Gaussian(1.0)(X)  # loads all that there is to load
    before = blas_threads()
    Gaussian(1.0)(X)
    assert blas_threads() == before
    with parallel.one_blas_thread():
        with parallel.one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("threads", [1, 3])
def test_every_task_once(threads):
    done = []
    parallel.for_each(range(100), done.append, threads)
    assert sorted(done) == list(range(100))


def test_who_waits_holds_nothing():
    """Threads that wait for the next call keep no array of the last one."""
    held = np.ones(1000)
    gone = weakref.ref(held)
    with parallel.one_blas_thread(), parallel.crew_kept():
        parallel.for_each(range(3), partial(np.multiply, held), 3)
        del held
        assert gone() is None


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_work(threads):
    started = []

    def work(task):
        started.append(task)
        if task == 5:
            raise RuntimeError("five")
        time.sleep(0.001)

    before = blas_threads()
    with pytest.raises(RuntimeError, match="five"):
        parallel.for_each(range(10_000), work, threads)
    assert len(started) < 10_000
    assert blas_threads() == before


def test_ctrl_c_ends_the_work():
    before, done = threading.active_count(), []

    def work(task):
        if task == 50:
            os.kill(os.getpid(), signal.SIGINT)  # by whichever thread; the main one is told
        time.sleep(0.001)
        done.append(task)

    with pytest.raises(KeyboardInterrupt):
        parallel.for_each(range(10_000), work, 2)
    assert 40 < len(done) < 10_000
    assert threading.active_count() <= before


def test_threads_that_call_at_once():
    expected = Gaussian(1.0)(X)
    before = blas_threads()
    results: list = []
    callers = [threading.Thread(target=lambda: results.append(Gaussian(1.0)(X))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert len(results) == 4
    assert blas_threads() == before


def _child(queue):
    queue.put(Gaussian(1.0)(X))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork():
    expected = Gaussian(1.0)(X)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_child, args=(queue,))
    with parallel.one_blas_thread():  # a fork in the middle of somebody's work
        child.start()
    result = queue.get()
    child.join(timeout=60)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert child.exitcode == 0


@pytest.mark.digits
def test_the_same_bits_again():
    assert_array_equal(Gaussian(1.0)(X), Gaussian(1.0)(X))
    v = np.random.default_rng(1).normal(size=1500)
    assert_array_equal(Gaussian(1.0).product(X, X, v), Gaussian(1.0).product(X, X, v))


@pytest.mark.parametrize("threads", [1, 3])
def test_results_in_the_order_of_the_tasks(threads):
    assert in_order(range(7), lambda number: number * number, threads) == [n * n for n in range(7)]
    assert in_order([], lambda number: number, threads) == []


def test_pieces_and_shares_cover_everything_once():
    for n in (0, 1, 7, 64, 65):
        for cut in (*(pieces(n, size) for size in (1, 3, 64)), *(shares(n, number) for number in (1, 2, 5))):
            assert [row for part in cut for row in range(n)[part]] == list(range(n))
        assert all(part.stop - part.start <= 3 for part in pieces(n, 3))
        sizes = [part.stop - part.start for part in shares(n, 5)]
        assert len(sizes) == 5 and max(sizes) - min(sizes) <= 1
