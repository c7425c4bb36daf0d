"""Loops over all points, rows that are kept, and sparse sums: every core against the reference and the formulas."""

import numpy as np
import pytest
import scipy.sparse

from mercer._core import reference
from mercer._core.forms import Summed

from .cores import CORES, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)


def state(n, seed=0, eps=0.1, r=0.2):
    """F, beta, r, eps, lo, hi of n points, some of them at their bounds."""
    rng = np.random.default_rng(seed)
    lo, hi = -rng.random(n), rng.random(n)
    beta = np.clip(rng.normal(size=n), lo, hi)
    beta[::5] = 0.0
    return rng.normal(size=n), beta, np.full(n, r), np.full(n, eps), lo, hi


@every_core
@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_extremes_and_shares(core, n):
    F, beta, r, eps, lo, hi = state(n)
    assert core.extremes(F, beta, eps, lo, hi) == reference.extremes(F, beta, eps, lo, hi)
    for curvature in (r, np.zeros(n)):
        gap = core.shares(F, beta, curvature, eps, lo, hi, 0.3)
        assert gap == pytest.approx(reference.shares(F, beta, curvature, eps, lo, hi, 0.3), rel=1e-12)
        assert gap >= 0.0


@every_core
def test_a_share_is_what_the_best_coefficient_would_gain(core):
    F, beta, r, eps, lo, hi = state(40)
    grid = np.linspace(0.0, 1.0, 20_001)[:, None]
    g = F + r * beta - 0.3
    s = lo + grid * (hi - lo)
    value = g * s - 0.5 * r * s * s - eps * np.abs(s)
    own = g * beta - 0.5 * r * beta * beta - eps * np.abs(beta)
    assert core.shares(F, beta, r, eps, lo, hi, 0.3) == pytest.approx((value.max(axis=0) - own).sum(), rel=1e-4)


@every_core
def test_the_worst_are_chosen_and_none_twice(core):
    F, beta, _, eps, lo, hi = state(5000)
    top, bottom, _ = core.extremes(F, beta, eps, lo, hi)
    for limit in (2, 64, 300):
        taken, chosen = np.zeros(5000, np.uint8), np.full(limit, -1)
        taken[:100] = 1
        size = core.choose(F, beta, eps, lo, hi, top, bottom, taken, chosen)
        assert 0 < size <= limit
        assert np.unique(chosen[:size]).size == size
        assert chosen[:size].min() >= 100
        assert taken.sum() == 100 + size
        expected_taken, expected = np.zeros(5000, np.uint8), np.full(limit, -1)
        expected_taken[:100] = 1
        assert reference.choose(F, beta, eps, lo, hi, top, bottom, expected_taken, expected) == size
        np.testing.assert_array_equal(chosen, expected)


@every_core
@pytest.mark.parametrize("curvature", [0.0, 0.4])
def test_an_account_sums_up_the_objectives(core, curvature):
    _, beta, r, eps, lo, hi = state(300, r=curvature)
    rng = np.random.default_rng(1)
    q, scores, dual_scores, share = rng.normal(size=300), rng.normal(size=300), rng.normal(size=300), np.empty(300)
    got = core.account(q, r, eps, lo, hi, beta, dual_scores, scores, 0.2, share)
    expected_share = np.empty(300)
    expected = reference.account(q, r, eps, lo, hi, beta, dual_scores, scores, 0.2, expected_share)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    np.testing.assert_allclose(share, expected_share, rtol=0, atol=1e-14)
    assert share.min() >= -1e-14


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_added_up_in_float64(core, dtype):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 1100)).astype(dtype)
    for count in (0, 1, 3, 4, 9):
        slots, v, out = rng.integers(0, 20, count), rng.normal(size=count), np.ones(1030)
        core.add_rows(rows, slots, v, out)
        np.testing.assert_allclose(out, 1.0 + v @ rows[slots, :1030].astype(float), rtol=0, atol=1e-13)


@every_core
@pytest.mark.parametrize("held", [0, 7, 30])
def test_a_block_is_gathered_from_rows_and_from_the_block_of_the_others(core, held):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(100, 100)).astype(np.float32)
    K += K.T
    W = np.sort(rng.choice(100, 30, replace=False))
    kept = rng.permutation(30)[:held]
    rows, slots = np.zeros((40, 105), np.float32), np.full(30, -1)
    slots[kept] = rng.permutation(40)[:held]
    rows[slots[kept], :100] = K[W[kept]]
    others = W[slots < 0]
    own = K[np.ix_(others, others)].copy()
    out = np.full((30, 35), np.nan, np.float32)
    core.gather(rows, slots, W, own, out)
    np.testing.assert_array_equal(out[:, :30], K[np.ix_(W, W)])


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("way", [Summed.PRODUCTS, Summed.DISTANCES, Summed.MINIMA, Summed.CHI2, Summed.CHI2_DISTANCES])
def test_sparse_points_meet_where_both_have_an_entry(core, dtype, way):
    A = scipy.sparse.random_array((6, 40), density=0.2, rng=np.random.default_rng(0), dtype=dtype).tocsr()
    Z = scipy.sparse.random_array((50, 40), density=0.3, rng=np.random.default_rng(1), dtype=dtype).tocsr()
    x, z = A.toarray().astype(float)[:, None], Z.toarray().astype(float)
    both = np.maximum(x + z, 1e-300)
    term = {
        Summed.PRODUCTS: x * z,
        Summed.DISTANCES: np.abs(x - z) - x - z,
        Summed.MINIMA: np.minimum(x, z),
        Summed.CHI2: x * z / both,
        Summed.CHI2_DISTANCES: (x - z) ** 2 / both - x - z,
    }[way]
    out, inverted = np.full((8, 50), np.nan, dtype), Z.tocsc()
    slots = np.arange(6)[::-1] + 1
    parts = [(M.indptr.astype(np.int32), M.indices.astype(np.int32), M.data) for M in (A, inverted)]
    core.sparse_sums(*parts[0], *parts[1], int(way), slots, out)
    np.testing.assert_allclose(out[slots], term.sum(axis=2), rtol=0, atol=40 * np.finfo(dtype).eps)
    assert np.isnan(out[[0, 7]]).all()


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_numbers_that_point_outside_are_refused(core):
    start, place, value = np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.ones(2)
    by_start, by_place, by_value = np.array([0, 1, 2], np.int32), np.array([0, 1], np.int32), np.ones(2)
    out, slots = np.zeros((1, 2)), np.array([0])
    good = [start, place, value, by_start, by_place, by_value, 0, slots, out]
    core.sparse_sums(*good)
    for argument, worse in [
        (0, [0, 3]), (0, [1, 2]), (1, [0, 2]), (1, [-1, 0]), (3, [0, 2, 1]), (3, [0, 1, 9]), (4, [0, 2]), (4, [-1, 0]),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="sparse_sums"):
            core.sparse_sums(*(np.array(worse, np.int32) if i == argument else a for i, a in enumerate(good)))
    rows, v = np.ones((3, 4)), np.ones(1)
    with pytest.raises(ValueError, match="slots"):
        core.add_rows(rows, np.array([3]), v, np.zeros(4))
    with pytest.raises(ValueError, match="add_rows"):
        core.add_rows(rows, np.array([0]), v, np.zeros(5))
    with pytest.raises(ValueError, match="W"):
        core.gather(rows, np.array([0]), np.array([4]), rows, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="own"):
        core.gather(rows, np.array([-1]), np.array([0]), np.zeros((0, 0)), np.zeros((1, 1)))
