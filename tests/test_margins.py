"""Newton's method in w for losses of the margin, in every core."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from mercer.losses import Logistic, SquaredHinge

from .cores import CORES, FUSED

every_core = pytest.mark.parametrize("core", CORES.values(), ids=list(CORES))
both_losses = pytest.mark.parametrize("logistic", [False, True], ids=["squared hinge", "logistic"])


def task(n, d, rng, far=0.0):
    X = rng.normal(size=(n, d)) + far
    y = np.where(X[:, 0] - far + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=n)


def answer(core, X, y, C, logistic, bias, most=50, goal=1e-13):
    w, f, found = np.zeros(X.shape[1]), np.zeros(len(X)), np.zeros(4)
    core.descend_margins(X, y, C, (logistic, bias), (goal, most), w, f, found)
    return w, f, found


@every_core
@both_losses
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("n", "d", "size"), [(3, 1, 1.0), (50, 4, 0.01), (200, 9, 100.0), (67, 70, 1.0)])
def test_the_answer_is_the_least(core, logistic, bias, n, d, size):
    X, y, C = task(n, d, np.random.default_rng(n))
    y[:2], C = [-1.0, 1.0], size * C
    w, f, (b, primal, gap, more) = answer(core, X, y, C, logistic, bias)
    assert not more
    assert gap <= 1e-13 * primal
    assert_allclose(f, X @ w, atol=1e-10)
    loss = Logistic() if logistic else SquaredHinge()

    def objective(all_of_them):
        v, e = np.asarray(all_of_them[:d]), all_of_them[d] * bias
        return 0.5 * v @ v + C @ loss.value(y, X @ v + e)

    assert_allclose(primal, objective([*w, b]), rtol=1e-12)
    peer = minimize(objective, np.zeros(d + 1), method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 500_000})
    assert primal <= peer.fun * (1 + 1e-9)
    assert b != 0.0 or not bias


@every_core
@both_losses
def test_b_is_found_where_the_losses_are_flat(core, logistic):
    """Points far away, and a start from which all margins of one label are met by far."""
    X, y, C = task(40, 2, np.random.default_rng(1), far=1e4)
    w, f, found = np.array([0.0, 1.0]), X[:, 1].copy(), np.zeros(4)
    core.descend_margins(X, y, C, (logistic, True), (1e-9, 0), w, f, found)
    loss = Logistic() if logistic else SquaredHinge()
    assert abs((C * loss.slope(y, f + found[0])).sum()) <= 1e-8 * C.sum()
    assert found[3] == 1.0  # no step was allowed, and one would gain


@every_core
def test_steps_in_pieces_come_to_the_same_place(core):
    X, y, C = task(80, 5, np.random.default_rng(2))
    whole = answer(core, X, y, 10 * C, True, True)
    w, f, found = np.zeros(5), np.zeros(80), np.array([0.0, 0.0, 0.0, 1.0])
    for _ in range(50):
        if not found[3]:
            break
        core.descend_margins(X, y, 10 * C, (True, True), (1e-13, 1), w, f, found)
    assert_allclose(w, whole[0], rtol=1e-6)


@every_core
def test_a_step_that_is_no_number_ends_it(core):
    X, y, C = task(20, 3, np.random.default_rng(3))
    w, f, found = np.full(3, np.nan), np.full(20, np.nan), np.zeros(4)
    core.descend_margins(X, y, C, (False, True), (1e-9, 50), w, f, found)
    assert found[3] == 0.0


@both_losses
def test_the_same_bits_on_every_level_with_fused_operations(logistic):
    X, y, C = task(203, 7, np.random.default_rng(4))
    one, *others = [answer(core, X, y, C, logistic, True) for core in FUSED.values()]
    for other in others:
        for first, second in zip(one, other, strict=True):
            assert_array_equal(first, second)
