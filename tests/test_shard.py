"""Shard: whatever moves, F = q - r beta - K beta at all points, and what is said of it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import Problem, amounts
from mercer.columns import Columns, GivenColumns, padded
from mercer.kernels import Gaussian, Laplacian
from mercer.losses import EpsilonInsensitive, Hinge, OneClass, SquaredHinge
from mercer.shards import Shard, shard

generator = np.random.default_rng(0)
N = 300
FEW, WIDE = generator.normal(size=(N, 3)), generator.normal(size=(N, 250))
Y = np.where(FEW[:, 0] + 0.3 * generator.normal(size=N) > 0, 1.0, -1.0)
LOSSES = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1), OneClass()]


@pytest.fixture(autouse=True)
def _all_are_many(monkeypatch):
    """Else K of so few points would be held."""
    monkeypatch.setattr(shard, "LARGEST", replace(amounts.LARGEST, points_kept=0))


def a_shard(X=FEW, loss=LOSSES[0], dtype=np.float64, memory=1e9, bias=True):
    kernel = Gaussian(1.0 / X.shape[1])
    problem = Problem.of(kernel, X, FEW[:, 0] if isinstance(loss, EpsilonInsensitive) else Y, loss, 2.0, bias=bias)
    return problem, Shard(Columns(kernel, X.astype(dtype), dtype), problem.terms, bias, np.zeros(N), memory)


def some_beta(shard, W, scale=1.0):
    t = shard.terms
    return np.clip(shard.beta[W] + scale * generator.normal(size=W.size), t.lo[W], t.hi[W])


def is_true(problem, shard, tol=1e-9):
    shard.write()
    t, K = problem.terms, np.asarray(problem.gram)
    exact = t.q - t.r * shard.all_beta - K @ shard.all_beta
    assert_allclose(shard.F, exact[shard.active], atol=tol)
    return exact


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("X", [FEW, WIDE], ids=["cheap", "dear"])
@pytest.mark.parametrize("memory", [1e9, 10 * N * 8], ids=["much", "little"])
def test_moves(X, loss, memory):
    problem, shard = a_shard(X, loss, memory=memory)
    assert (shard.kept is None) == (X is FEW)
    dual = 0.0
    for _ in range(12):
        W = np.sort(generator.permutation(N)[:40])
        risen, length = shard.move(W, some_beta(shard, W))
        dual += risen
        assert length >= 0.0
        is_true(problem, shard)
        assert dual == pytest.approx(problem.dual(shard.all_beta), rel=1e-9, abs=1e-9)
        assert_allclose(shard.scores(), np.asarray(problem.gram) @ shard.all_beta, atol=1e-9)


@pytest.mark.parametrize("X", [FEW, WIDE], ids=["cheap", "dear"])
def test_blocks(X):
    problem, shard = a_shard(X)
    K = np.asarray(problem.gram)
    for size in (1, 63, 200, N):
        W = np.sort(generator.permutation(N)[:size])
        block = shard.block(W)
        assert len(block) == padded(size) and len(block) % 64 == 0 and len(block) > size
        assert_allclose(block[:size, :size], K[np.ix_(W, W)], rtol=1e-9)
        assert not block[size:].any() and not block[:, size:].any()
        shard.move(W, some_beta(shard, W))  # some rows are kept now
        is_true(problem, shard)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES[:3], ids=repr)
def test_the_gap_is_that_of_the_problem(loss, bias):
    problem, shard = a_shard(loss=loss, bias=bias)
    W = np.arange(N)
    shard.move(W, some_beta(shard, W, 0.1))
    scores = np.asarray(problem.gram) @ shard.beta
    expected = problem.primal(shard.beta, shard.middle, scores) - problem.dual(shard.beta, scores)
    lack = 0.0 if not bias else shard.middle * shard.beta.sum()  # beta need not sum up to 0 here
    assert shard.gap() == pytest.approx(expected + lack, rel=1e-9)
    violation = shard.violation if bias else max(shard.top, -shard.bottom)
    assert violation == pytest.approx(problem.violation(shard.beta, scores), rel=1e-9)


def test_points_leave_and_come_back():
    problem, shard = a_shard()
    W = np.arange(0, N, 2)
    shard.move(W, some_beta(shard, W))
    assert not shard.shrink(1e6, 0.9)  # nobody is so far from moving
    margin = -0.5 * shard.violation
    assert shard.shrink(margin, 0.99) and not shard.everyone
    for _ in range(3):
        W = np.sort(generator.permutation(shard.n)[:20])
        shard.move(W, some_beta(shard, W))
        assert shard.stale
        is_true(problem, shard)
    if shard.shrink(-0.8 * shard.violation, 0.99):  # once more
        shard.move(np.arange(5), some_beta(shard, np.arange(5)))
    shard.restore()
    assert shard.everyone and not shard.stale
    is_true(problem, shard)


def test_rows_that_are_kept_keep_everyone_in_play():
    _, shard = a_shard(WIDE)
    assert not shard.shrink(-1e6, 1.0)


@pytest.mark.parametrize("scale", [0.3, 1.0, 30.0])
@pytest.mark.parametrize("X", [FEW, WIDE, FEW > 0], ids=["cheap", "dear", "bits"])
def test_no_score_is_wrong_by_more_than_is_said_of_it(X, scale):
    """Also of those who had left: far fewer than the sum of all moves times the error of a value would allow."""
    X = (scale * X).astype(np.float32) if X.dtype != bool else X.astype(np.float32)
    kernel = Gaussian(1.0 / X.shape[1])
    problem = Problem.of(kernel, X.astype(np.float64), Y, LOSSES[0], 2.0)
    shard = Shard(Columns(kernel, X, np.float32), problem.terms, True, np.zeros(N), 1e9)
    for number in range(12):
        W = np.sort(generator.permutation(shard.n)[:20])
        shard.move(W, some_beta(shard, W))
        if number == 5:
            shard.shrink(-0.5 * shard.violation, 0.99)
    scores, errors = shard.caught_up(shard.travel)
    exact = np.asarray(problem.gram) @ shard.all_beta
    wrong = np.abs(scores - exact)
    assert (wrong <= errors).all() and wrong.max() > 0.0
    assert errors.max() <= 1.1 * shard.travel * shard.whole.errors.largest


def test_what_is_sent_in_is_believed():
    problem, shard = a_shard(dtype=np.float32)
    W = np.arange(N)
    shard.move(W, some_beta(shard, W))
    exact = np.asarray(problem.gram) @ shard.all_beta
    wrong, errors = np.abs(shard.scores() - exact), shard.errors()
    assert (wrong <= errors).all() and wrong.max() > 0.0 and errors.max() < 0.1
    shard.refresh(exact)
    assert_allclose(shard.scores(), exact, rtol=1e-12, atol=1e-12)
    is_true(problem, shard)


def test_without_a_bound_scores_are_exact_until_somebody_moves():
    problem = Problem.of(Laplacian(0.3), FEW, Y, Hinge(), 2.0)
    shard = Shard(Columns(Laplacian(0.3), FEW, np.float64), problem.terms, True, np.zeros(N), 1e9)
    assert not shard.bounded and (shard.errors() == 0.0).all()
    W = np.arange(N)
    shard.move(W, some_beta(shard, W))
    assert (shard.errors() == np.inf).all()


def test_a_start_and_a_scale():
    problem, shard = a_shard()
    beta = np.clip(generator.normal(size=N), problem.terms.lo, problem.terms.hi)
    started = Shard(shard.whole, problem.terms, True, beta.copy(), 1e9)
    is_true(problem, started)
    started.scale(0.5)
    assert_allclose(started.beta, 0.5 * beta)
    is_true(problem, started)


def test_candidates_violate_most():
    _, shard = a_shard()
    chosen = shard.candidates(40)
    assert_array_equal(chosen, np.unique(chosen))
    assert chosen.size <= 40
    again = shard.candidates(40)
    assert np.intersect1d(chosen, again).size >= 20
    assert_array_equal(shard.candidates(N), np.arange(N))


def test_few_points_are_held(monkeypatch):
    monkeypatch.setattr(shard, "LARGEST", replace(amounts.LARGEST, working_set=N))
    problem, held = a_shard(WIDE)
    assert isinstance(held.whole, GivenColumns) and held.kept is None
    counted = held.whole.counted.values
    for _ in range(3):
        W = np.sort(generator.permutation(N)[:50])
        held.block(W)
        held.move(W, some_beta(held, W))
    is_true(problem, held)
    assert held.whole.counted.values == counted <= N * (N + 480) / 2
