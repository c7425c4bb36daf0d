"""Small problems: distances in NumPy, and Newton steps after those of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mercer import Problem, solve
from mercer._core import reference
from mercer.columns import padded
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.kernels.pairwise import squared_distances
from mercer.losses import EpsilonInsensitive, Hinge, SquaredHinge
from mercer.solution import Status
from mercer.solvers import Decomposition
from mercer.solvers.newton.free_coefficients import newton_steps

pair_descent = reference.pair_descent

LOSSES = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)]


GAUSSIAN = Gaussian(0.2)


def a_problem(n=120, loss=LOSSES[0], C=10.0, kernel=GAUSSIAN, **more):
    generator = np.random.default_rng(n)
    X = generator.normal(size=(n, 3))
    y = np.sign(X[:, 0] + 0.5 * generator.normal(size=n))
    return Problem.of(kernel, X, X[:, 0] if isinstance(loss, EpsilonInsensitive) else y, loss, C, **more)


def arrays_of(problem):
    """What pair descent takes, at the beginning: padded with points that cannot move."""
    t, n = problem.terms, problem.n
    width = padded(n)

    def row(values):
        out = np.zeros(width)
        out[:n] = values
        return out

    K = np.zeros((width, width))
    K[:n, :n] = problem.gram
    return K, row(K.diagonal()[:n] + t.r), row(t.q), row(0.0), row(t.lo), row(t.hi), row(t.eps)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("kinds", [(np.asarray, np.asarray), (csr_array, csr_array), (np.asarray, csr_array)])
def test_distances(shift, kinds):
    """About twelve digits, of neighbours too and far from the origin, dense or sparse."""
    generator = np.random.default_rng(0)
    A, B = (generator.normal(size=(n, 5)) + shift for n in (30, 40))
    B[:10] = A[:10]
    B[10:20] = A[10:20] + 1e-7
    found = squared_distances(kinds[0](A), kinds[1](B))
    assert_allclose(found, ((A[:, None] - B) ** 2).sum(-1), rtol=1e-11)
    assert found[3, 3] == 0.0


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_newton_steps_gain_and_stay_within_bounds(bias, loss, dtype):
    problem = a_problem(loss=loss, C=100.0, bias=bias)
    K, diag, F, beta, lo, hi, eps = arrays_of(problem)
    n = problem.n
    if bias:
        pair_descent(K, diag, F, beta, lo, hi, eps, 1e-9, 60)
    else:  # some are free
        beta[:] = np.clip(np.where(np.arange(beta.size) % 2, 0.01, -0.01), lo, hi)
        F[:n] -= problem.terms.r * beta[:n]
        F -= K @ beta
    total, before = beta.sum(), problem.dual(beta[:n])
    K, diag, F = K.astype(dtype), diag.astype(dtype), F.astype(dtype)
    for _ in range(20):
        left = newton_steps(K, diag, F, beta, lo, hi, eps, bias, most=1000, work=1e9)
        assert left < 1e9
        assert ((lo <= beta) & (beta <= hi)).all()
        if bias:
            assert beta.sum() == pytest.approx(total, abs=1e-9 * np.abs(beta).max())
        after = problem.dual(beta[:n])
        assert after >= before - 1e-6 * abs(before)
        before = after
    t = problem.terms
    single = dtype == np.float32
    expected = t.q - t.r * beta[:n] - problem.gram.product64(beta[:n])
    assert_allclose(F[:n], expected, atol=1e-3 if single else 1e-8)


def test_newton_steps_know_their_limits():
    arrays = arrays_of(a_problem())
    pair_descent(*arrays, 1e-9, 60)
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
