"""Loops over points one at a time, in every core: products, coordinate descent, stochastic steps, perceptrons."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mercer._core import reference
from mercer._core.descent import COLUMNS, LOGISTIC, MARGIN, SUM, TOTAL, U

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=list(CORES))
native = pytest.mark.parametrize("core", NATIVE.values(), ids=list(NATIVE))
LOSSES = ["hinge", "squared hinge", "epsilon", "logistic"]


def points(n, d, dtype=np.float64, seed=0, part=0.4):
    generator = np.random.default_rng(seed)
    return np.where(generator.random((n, d)) < part, generator.normal(size=(n, d)), 0.0).astype(dtype)


def forms(X):
    """The same rows, as loops take them."""
    S = csr_array(X)
    wide = (S.indptr.astype(np.int64), S.indices.astype(np.int64), S.data)
    return {"dense": (X,), "sparse": (S.indptr.astype(np.int32), S.indices.astype(np.int32), S.data), "wide": wide}


def table(X, loss, seed=1):
    """Terms of a loss for the rows of X, and a feasible beta."""
    generator = np.random.default_rng(seed)
    n = len(X)
    y, C = np.where(generator.random(n) < 0.5, -1.0, 1.0), 0.1 + generator.random(n)
    q, r, eps, lo, hi = y, np.zeros(n), np.zeros(n), np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    if loss == "squared hinge":
        r, lo, hi = 1.0 / C, np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    if loss == "epsilon":
        q, eps, lo, hi = generator.normal(size=n), np.full(n, 0.1), -C, C
    if loss == "logistic":
        r = np.full(n, LOGISTIC)
    out = np.zeros((n, COLUMNS))
    square = (X.astype(np.float64) ** 2).sum(axis=1)
    out[:, :6] = np.stack([q, r, eps, lo, hi, square + 0.5 + np.maximum(r, 0.0)], axis=1)
    beta = 0.3 * C * (y if loss != "epsilon" else generator.normal(size=n))
    return out, np.clip(beta, lo, hi)


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [0, 1, 3, 4, 7, 15, 16, 17, 31, 48, 101])
def test_products(core, dtype, d):
    X, generator = points(21, d, dtype), np.random.default_rng(2)
    w, v, rate = generator.normal(size=d), generator.normal(size=21), generator.random(21)
    v[3] = rate[4] = 0.0
    Z = X.astype(np.float64)
    for rows in forms(X).values():
        out, squares, s = np.full(21, np.nan), np.full(21, np.nan), np.full(21, np.nan)
        core.dots(rows, w, out, 2, 19)
        core.squares(rows, d, squares, 2, 19)
        assert_allclose(out[2:19], Z[2:19] @ w, rtol=1e-13, atol=1e-13)
        assert_allclose(squares[2:19], (Z[2:19] ** 2).sum(axis=1), rtol=1e-14)
        assert np.isnan(out[[0, 1, 19, 20]]).all()
        sums, both = np.ones(d), np.ones(d)
        core.combine(rows, v, sums, 2, 19)
        assert_allclose(sums, 1.0 + Z[2:19].T @ v[2:19], rtol=1e-13, atol=1e-13)
        core.weighted(rows, w, 0.5, rate, s, both, 2, 19)
        assert_allclose(s[2:19], Z[2:19] @ w + 0.5, rtol=1e-13, atol=1e-13)
        assert_allclose(both, 1.0 + Z[2:19].T @ (rate * s)[2:19], rtol=1e-13, atol=1e-12)


def descended(core, rows, X, loss, name="descend"):
    """Where a pass leads, and what it tells."""
    terms, beta = table(X, loss)
    image = X.astype(np.float64).T @ beta
    numbers = np.array([0.5, beta.sum(), 0.1, 0.2])
    order = np.random.default_rng(3).permutation(len(X))
    if name == "kernel":
        K = (X.astype(np.float64) @ X.T).astype(X.dtype)
        image = X.astype(np.float64) @ image
        told = core.descend_kernel(K[order], terms, beta, image, order, numbers)
    elif name == "descend":
        told = core.descend(rows, terms, beta, image, order, numbers)
    else:
        word = np.array([12345], np.uint64)
        told = core.descend_passes(rows, terms, beta, image, order, numbers, word, (150.0, 2.0, 0.1, 0.25))
        order = np.append(order, word.astype(np.int64))
    return beta, image, numbers, order, np.ravel(told)


@every_core
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_are_those_of_the_reference(core, loss, dtype):
    X = points(40, 19, dtype)
    for name, rows in forms(X).items():
        for work in ("descend", "passes"):
            expected = descended(reference, rows, X, loss, work)
            for found, right in zip(descended(core, rows, X, loss, work), expected, strict=True):
                assert_allclose(found, right, rtol=1e-9, atol=1e-10, err_msg=f"{name} {work}")
    expected = descended(reference, None, X, loss, "kernel")
    for found, right in zip(descended(core, None, X, loss, "kernel"), expected, strict=True):
        assert_allclose(found, right, rtol=1e-9, atol=1e-10)


@every_core
@pytest.mark.parametrize("loss", LOSSES)
def test_a_pass_takes_coefficients_to_their_best_values(core, loss):
    """At the least of the objective, as a search on a fine grid finds it; the image stays that of beta."""
    X = points(6, 5)
    terms, beta = table(X, loss)
    order, numbers, image = np.array([4]), np.array([0.5, beta.sum(), 0.0, np.inf]), X.T @ beta
    start = beta.copy()
    assert core.descend((X,), terms, beta, image, order, numbers)[0] == 1
    assert_array_equal(np.delete(beta, 4), np.delete(start, 4))
    assert_allclose(image, X.T @ beta, atol=1e-13)
    assert_allclose(numbers[SUM], beta.sum(), atol=1e-13)
    K = X @ X.T + 0.5

    def objective(s):
        other = np.where(np.arange(6) == 4, s, beta)
        return 0.5 * other @ K @ other + reference.losses_and_conjugates(np.zeros(6), terms, other)[1]

    lo, hi = np.clip(terms[4, 3:5], -3.0, 3.0)
    assert objective(beta[4]) <= min(objective(s) for s in np.linspace(lo, hi, 301)) + 1e-12


@every_core
def test_who_is_in_play(core):
    X = points(50, 7)
    terms, beta = table(X, "epsilon")
    f, order = np.random.default_rng(4).normal(size=50), np.zeros(50, np.int64)
    expected = np.zeros(50, np.int64)
    assert core.in_play(f, terms, beta, order, 0.3) == pytest.approx(reference.in_play(f, terms, beta, expected, 0.3))
    assert_array_equal(order, expected)
    assert core.in_play(f, terms, beta, order, np.inf)[0] == 50


@every_core
def test_random_orders_are_the_same_everywhere(core):
    word, order = np.array([7], np.uint64), np.arange(6)
    core.shuffle(order, word)
    drawn = np.zeros(6, np.int64)
    core.draw(drawn, word)
    mine, expected, others = np.array([7], np.uint64), np.arange(6), np.zeros(6, np.int64)
    reference.shuffle(expected, mine)
    reference.draw(others, mine)
    assert_array_equal(order, expected)
    assert_array_equal(drawn, others)
    assert sorted(order) == list(range(6))
    assert word == mine


@every_core
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_the_way_towards_a_target(core, loss):
    X, generator = points(30, 6), np.random.default_rng(5)
    terms, beta = table(X, loss)
    f = generator.normal(scale=3.0, size=30)
    f[:4] = 0.0, 800.0, -800.0, 1e-300
    assert core.losses_and_conjugates(f, terms, beta) == pytest.approx(
        reference.losses_and_conjugates(f, terms, beta), rel=1e-12
    )
    for free in (True, False):
        ends = []
        for each in (core, reference):
            own, scores, target = np.zeros(30), np.zeros(30), beta.copy()
            b = each.approach(own, scores, 0.1, target, X @ (X.T @ target), terms, free)
            ends.append(np.concatenate([own, scores, [b]]))
        assert_allclose(*ends, rtol=1e-10, atol=1e-12)


def drawn(core, rows, X, loss, kernel=False):
    terms, beta = table(X, loss)
    n = len(X)
    sums, numbers = np.zeros((5, n)), np.array([1.0, 0.0, 0.0, 0.0, beta.sum(), 0.5, 1.0])
    sums[U] = beta
    order = np.random.default_rng(6).integers(0, n, 3 * n)
    steps = 1.0 / np.arange(1.0, order.size + 1.0)
    steps[0], steps[40] = 0.5, 1.0 - 1e-10  # a scale that has to be multiplied out
    if kernel:
        K = (X.astype(np.float64) @ X.T).astype(X.dtype)
        image = X.astype(np.float64) @ (X.astype(np.float64).T @ beta)
        core.draws_kernel(K[order], terms, order, steps, sums, image, numbers)
    else:
        image = X.astype(np.float64).T @ beta
        core.draws(rows, terms, order, steps, sums, image, numbers)
    return sums, image, numbers


@every_core
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_stochastic_steps(core, loss, dtype):
    X = points(25, 17, dtype)
    for name, rows in forms(X).items():
        for found, right in zip(drawn(core, rows, X, loss), drawn(reference, rows, X, loss), strict=True):
            assert_allclose(found, right, rtol=1e-8, atol=1e-8, err_msg=name)
    sums, image, numbers = drawn(core, None, X, loss, kernel=True)
    for found, right in zip((sums, image, numbers), drawn(reference, None, X, loss, kernel=True), strict=True):
        assert_allclose(found, right, rtol=1e-8, atol=1e-8)
    assert_allclose(numbers[TOTAL], sums[U].sum(), rtol=1e-9)


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_perceptrons(core, dtype):
    X, generator = points(40, 9, dtype), np.random.default_rng(7)
    Y, active = np.where(generator.random((3, 40)) < 0.5, -1.0, 1.5), np.array([True, False, True])
    index = generator.permutation(40)
    for name, rows in forms(X).items():
        ends = []
        for each in (core, reference):
            W, b = np.zeros((3, 9)), np.zeros(3)
            made, scores = np.zeros((3, 40), bool), np.zeros((3, 40))
            each.learn(rows, index, Y, W, b, 0.5, 1.0, active, made, scores)
            assert not made[1].any()
            ends.append((W, b, made, scores))
        for found, right in zip(*ends, strict=True):
            assert_allclose(found, right, rtol=1e-9, atol=1e-12, err_msg=name)


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("room", [3, 1000])
def test_a_block_is_learned_until_there_is_no_room(core, dtype, room):
    X, generator = points(33, 9, dtype), np.random.default_rng(8)
    K, Y = X @ X.T, np.where(generator.random((2, 33)) < 0.5, -1.0, 1.0)
    ends = []
    for each in (core, reference):
        F, fresh = np.zeros((2, 33)), np.arange(33) % 3 > 0
        made, scores = np.zeros((2, 33), bool), np.zeros((2, 33))
        told = each.learn_block(K, 1.0, F, Y, np.ones(2, bool), fresh, made, scores, 1, room)
        ends.append((F, fresh, made, scores, told))
    for found, right in zip(*ends, strict=True):
        assert_allclose(found, right, rtol=1e-12, atol=1e-12)
    stop, left = ends[0][-1]
    assert (stop == 33) == (room == 1000)
    assert left == (0 if room == 3 else left)


@every_core
def test_votes(core):
    generator = np.random.default_rng(9)
    K, points_seen = generator.normal(size=(11, 5)), generator.integers(0, 5, 8)
    signs, votes, out = np.sign(generator.normal(size=8)), generator.integers(1, 9, 8).astype(float), np.empty(11)
    core.cast_votes(K, 1.0, points_seen, signs, votes, out)
    f = np.array([sum(signs[s] * (K[:, points_seen[s]] + 1.0) for s in range(t + 1)) for t in range(8)])
    assert_allclose(out, votes @ np.sign(f))


def test_the_same_bits_on_every_level_with_fused_operations():
    for dtype in (np.float32, np.float64):
        X = points(60, 45, dtype, part=0.7)
        for rows in forms(X).values():
            found = []
            for core in FUSED.values():
                results = [part for loss in LOSSES for part in descended(core, rows, X, loss, "passes")]
                results += [part for loss in LOSSES for part in drawn(core, rows, X, loss)]
                results += [part for loss in LOSSES for part in drawn(core, rows, X, loss, kernel=True)]
                terms, beta = table(X, "logistic")
                results.append(np.array(core.losses_and_conjugates(X[:, 0].astype(float), terms, beta)))
                sums, s = np.zeros(45), np.empty(60)
                core.weighted(rows, X[0].astype(float), 0.1, beta, s, sums, 0, 60)
                core.combine(rows, beta, sums, 0, 60)
                found.append([*results, s, sums])
            for other in found[1:]:
                for one, first in zip(other, found[0], strict=True):
                    assert_array_equal(one, first)


def changed(rows, place, value):
    part = rows[place].copy()
    part[5] = value
    return (*rows[:place], part, *rows[place + 1 :])


@native
def test_what_does_not_fit_is_refused(core):
    X = points(8, 5)
    rows, w, out = forms(X)["sparse"], np.ones(5), np.zeros(8)
    terms, beta = table(X, "hinge")
    numbers, order = np.array([0.0, 0.0, 0.0, np.inf]), np.arange(8)
    bad = {
        "dots: a column": lambda: core.dots(changed(rows, 1, 5), w, out, 0, 8),
        "between 0 and 4": lambda: core.dots(changed(rows, 1, -1), w, out, 0, 8),
        "do not fit together": lambda: core.dots(changed(rows, 0, 10_000), w, out, 0, 8),
        "for each row": lambda: core.dots(rows, w, np.zeros(7), 0, 8),
        "not as many rows": lambda: core.dots((X,), w, out, 0, 9),
        "as wide as": lambda: core.dots((X,), np.ones(4), out, 0, 8),
        "an index is not": lambda: core.descend((X,), terms, beta, w, order + 1, numbers),
        "row of 8 numbers": lambda: core.descend((X,), terms[:, :6].copy(), beta, w, order, numbers),
        "numbers must be four": lambda: core.descend((X,), terms, beta, w, order, numbers[:3]),
        "sums must have 5 rows": lambda: core.draws((X,), terms, order, w[:0], np.zeros((4, 8)), w, np.zeros(7)),
    }
    for text, work in bad.items():
        with pytest.raises(ValueError, match=text):
            work()
    for wrong in ((X.astype(np.float16),), (np.asfortranarray(X),), (X, X), (*rows[:2], rows[2].astype(int))):
        with pytest.raises(TypeError, match="rows are"):
            core.dots(wrong, w, out, 0, 8)
    with pytest.raises(TypeError):
        core.dots((X,), w, out.astype(np.float32), 0, 8)
    assert not out.any()
    assert numbers[MARGIN] == np.inf


@native
def test_a_matrix_that_cannot_be_written_to_is_read(core):
    X, out = points(8, 5), np.zeros(8)
    X.flags.writeable = False
    core.dots((X,), np.ones(5), out, 0, 8)
    assert_allclose(out, X.sum(axis=1))
