"""Small problems: NumPy's loops against the compiled ones, and the Newton steps that follow them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import SVC, SVR, Problem, solve
from mercer._core import pairs, small, working_set
from mercer._core.distances import centre_both, distances_from_dots
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.losses import EpsilonInsensitive, Hinge, SquaredHinge
from mercer.solution import Status
from mercer.solvers import Decomposition
from mercer.solvers.free import newton_steps

pytestmark = pytest.mark.digits

LOSSES = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)]


GAUSSIAN = Gaussian(0.2)


def a_problem(n=120, loss=LOSSES[0], C=10.0, kernel=GAUSSIAN, **more):
    generator = np.random.default_rng(n)
    X = generator.normal(size=(n, 3))
    y = np.sign(X[:, 0] + 0.5 * generator.normal(size=n))
    return Problem.of(kernel, X, X[:, 0] if isinstance(loss, EpsilonInsensitive) else y, loss, C, **more)


def arrays_of(problem):
    """What pair descent takes, at the beginning."""
    t, K = problem.terms, np.array(problem.gram)
    return K, K.diagonal() + t.r, t.q.copy(), np.zeros(problem.n), t.lo, t.hi, t.eps


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("n", [2, 63, 200])
def test_steps_are_the_same_to_the_last_bit(loss, n):
    here, there = (arrays_of(a_problem(n, loss)) for _ in range(2))
    found = small.pair_steps(*here, 1e-6, 4000)
    assert found == pairs.pair_steps(*there, 1e-6, 4000)
    assert found[1] <= 1e-6
    assert_array_equal(here[2], there[2])
    assert_array_equal(here[3], there[3])


def test_a_pause_between_steps_changes_no_bit(monkeypatch):
    whole, cut = (arrays_of(a_problem()) for _ in range(2))
    steps, _ = small.pair_descent(*whole, 1e-6, 4000)
    monkeypatch.setattr(small, "_STEPS", 7)
    monkeypatch.setattr(small, "_PATIENCE", 0.002)  # compiled from some step on
    monkeypatch.setattr(small, "_spent", [0.0])
    assert small.pair_descent(*cut, 1e-6, 4000)[0] == steps
    assert small._spent[0] > 0.002
    assert_array_equal(whole[3], cut[3])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_loops_between_rounds(loss):
    problem = a_problem(loss=loss)
    t, generator, n = problem.terms, np.random.default_rng(1), problem.n
    beta = np.clip(generator.normal(size=n) * 20, t.lo, t.hi)
    beta[::7] = 0.0
    F, K, places = generator.normal(size=n), generator.normal(size=(n, n)), np.flatnonzero(beta)
    for loops in (small, working_set):
        rise, fall, moved, block = np.empty(n), np.empty(n), F.copy(), np.zeros((n, n))
        ends = loops.extremes(F, beta, t.lo, t.hi, t.eps, rise, fall)
        gap = loops.shares(F, beta, t.r, t.eps, t.lo, t.hi, 0.3)
        loops.subtract_rows(moved, K, places, beta[places], 3, n - 5, 2)
        loops.gather(K, places, places[::2], block)
        if loops is small:
            expected = ends, gap, rise, fall, moved, block
        else:
            for one, other in zip(expected, (ends, gap, rise, fall, moved, block), strict=True):
                assert_allclose(one, other, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_distances(shift):
    generator = np.random.default_rng(0)
    A, B = (generator.normal(size=(n, 5)) + shift for n in (30, 40))
    B[:10] = A[:10]
    B[10:20] = A[10:20] + 1e-7
    found, squares = np.empty((30, 40)), (np.zeros(30), np.zeros(40))
    small.fill_squared_distances(A, B, found)
    assert_allclose(found, ((A[:, None] - B) ** 2).sum(-1), rtol=1e-11)
    a, b = centre_both(A, B, *squares)
    expected = a @ b.T
    distances_from_dots(A, B, *squares, expected)
    assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_newton_steps_gain_and_stay_within_bounds(bias, loss, dtype):
    problem = a_problem(loss=loss, C=100.0, bias=bias)
    K, diag, F, beta, lo, hi, eps = arrays_of(problem)
    if bias:
        small.pair_steps(K, diag, F, beta, lo, hi, eps, 1e-9, 60)
    else:  # some are free
        beta[:] = np.clip(np.where(np.arange(problem.n) % 2, 0.01, -0.01), lo, hi)
        F -= problem.terms.r * beta + K @ beta
    total, before = beta.sum(), problem.dual(beta)
    K, diag, F = K.astype(dtype), diag.astype(dtype), F.astype(dtype)
    for _ in range(20):
        left = newton_steps(K, diag, F, beta, lo, hi, eps, bias, most=1000, work=1e9)
        assert left < 1e9
        assert ((lo <= beta) & (beta <= hi)).all()
        if bias:
            assert beta.sum() == pytest.approx(total, abs=1e-9 * np.abs(beta).max())
        after = problem.dual(beta)
        assert after >= before - 1e-6 * abs(before)
        before = after
    t = problem.terms
    single = dtype == np.float32
    assert_allclose(F, t.q - t.r * beta - problem.gram.product64(beta), atol=1e-3 if single else 1e-8)


def test_newton_steps_know_their_limits():
    arrays = arrays_of(a_problem())
    small.pair_steps(*arrays, 1e-9, 60)
    before = arrays[3].copy()
    assert newton_steps(*arrays, True, most=3, work=1e9) < 1e9  # too many are free
    assert newton_steps(*arrays, True, most=1000, work=10.0) < 0.0  # too much work
    assert_array_equal(arrays[3], before)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=3, coef0=1), Gaussian(0.01)], ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("n", [100, 400])
def test_large_c_where_steps_of_pairs_would_take_minutes(kernel, loss, n):
    problem = a_problem(n, loss, 1e4, kernel)
    solution = solve(problem, Decomposition(), tol=1e-8, time_limit=60)
    assert solution.status is Status.CONVERGED
    assert solution.iterations < 100
    assert problem.certify(solution.beta, solution.b).relative_gap <= 1e-7  # on which QP solvers give up


@pytest.mark.parametrize("machine", [SVC(), SVC("linear"), SVC("poly"), SVR()], ids=repr)
def test_bits_do_not_depend_on_what_is_compiled_by_now(machine, monkeypatch):
    problem = a_problem(100)
    X, y = problem.gram.points, problem.y
    answers = []
    for patience in (np.inf, -1.0):
        monkeypatch.setattr(small, "_PATIENCE", patience)
        machine.fit(X, y)
        answers.append([machine.dual_coef_, machine.intercept_, machine.predict(X)])
    for slow, fast in zip(*answers, strict=True):
        assert_array_equal(slow, fast)
