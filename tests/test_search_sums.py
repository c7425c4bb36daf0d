"""Sums of kernel values with few roundings, against fractions; the interval of best biases, against the loss itself."""

from fractions import Fraction

import numpy as np
import pytest

from mercer._core import reference
from mercer._core.reference.left_open import best_biases, rounding
from mercer._core.rounding import last_digits
from mercer.losses import Hinge

from .cores import CORES, FUSED, NATIVE


def posed(n=150, seed=0):
    """K of n points, and coefficients as a solver leaves them: many at a bound, many 0, some free."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = 0.7 * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    beta = rng.choice([-1000.0, 0.0, 1000.0], size=(3, n))
    free = rng.random((3, n)) < 0.3
    beta[free] = 1000.0 * rng.normal(size=np.count_nonzero(free))
    return K, beta


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
@pytest.mark.parametrize("n", [1, 64, 65, 150])
def test_sums_are_those_of_fractions_rounded_nearly_once(core, n):
    K, beta = posed(n)
    beta[0, n // 2 :] = -beta[0, : (n + 1) // 2]  # much is lost where they cancel
    rows, columns = np.arange(n)[::-1].copy(), np.arange(0, n, 7)
    found = np.full((3, columns.size), np.nan)
    core.sum_rows(K, rows, columns, beta[:, ::-1].copy(), True, found)
    root = np.sqrt(K.diagonal())
    bound = rounding(beta, root, np.ones(3, bool))
    for c, row in enumerate(beta):
        for number, j in enumerate(columns):
            truth = sum(Fraction(b) * Fraction(k) for b, k in zip(row, K[:, j], strict=True))
            error = abs(Fraction(found[c, number]) - truth)
            assert error <= bound[c] * root[j] + last_digits(abs(found[c, number]))
            assert error <= Fraction(1.2e-16) * abs(truth) + Fraction(1e-28) * Fraction(np.abs(row).sum())
    exact = found.copy()
    core.sum_rows(K, rows, columns, beta[:, ::-1].copy(), False, found)
    bound = rounding(beta, root, np.zeros(3, bool))
    assert (np.abs(found - exact) <= bound[:, None] * root[columns] + last_digits(np.abs(exact))).all()


@pytest.mark.skipif(len(FUSED) < 2, reason="one level alone")
def test_levels_agree_to_the_last_bit():
    K, beta = posed()
    rows, found = np.arange(150), np.empty((2, len(FUSED), 3, 150))
    for number, core in enumerate(FUSED.values()):
        for twice in (0, 1):
            core.sum_rows(K, rows, rows, beta, bool(twice), found[twice, number])
    assert (found == found[:, :1]).all()


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_rows_and_columns_outside_and_other_shapes_are_refused(core):
    K, beta = posed(20)
    two, out = np.array([3, 19]), np.zeros((3, 2))
    core.sum_rows(K, two, two, beta[:, :2].copy(), True, out)
    assert out == pytest.approx(beta[:, :2] @ K[np.ix_(two, two)], rel=1e-14)
    for rows, columns in ((two + 1, two), (two, two - 4)):
        with pytest.raises(ValueError, match="no such"):
            core.sum_rows(K, rows, columns, beta[:, :2].copy(), True, out)
    with pytest.raises(ValueError, match="a column for each row"):
        core.sum_rows(K, two, two, beta, True, out)
    with pytest.raises(ValueError, match="no smaller"):
        core.rounded(K, np.zeros((19, 20), np.float32))


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_rounded_numbers_have_no_denormal_ones_among_them(core):
    K, _ = posed(20)
    single = np.full((30, 30), 7.0, np.float32)
    K[0, 1] = 1e-39
    core.rounded(K, single)
    K[0, 1] = 0.0
    assert np.array_equal(single[:20, :20], K.astype(np.float32))
    assert (single[20:] == 7.0).all()


def test_the_interval_of_best_biases_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(41) % 2, 1.0, -1.0)
    scores, C = rng.normal(size=(4, 41)), np.abs(rng.normal(size=(4, 41)))
    C[0], C[1] = 1.0, np.where(y > 0, 2.0, 1.0)
    for own in (C, np.full((4, 41), 3.0)):
        check_biases(y, scores, own)


def check_biases(y, scores, C):
    for k in range(len(C)):
        found = best_biases(y, scores[k], C[k])
        assert found == pytest.approx(Hinge().best_bias(y, scores[k], C[k], 0.0), abs=1e-12)


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
@pytest.mark.parametrize("bias", [True, False])
def test_what_is_left_open_is_that_of_the_reference(core, bias):
    rng = np.random.default_rng(1)
    for n in (1, 2, 40):
        folds, cells = 2, 6
        targets = np.concatenate([rng.random((1, n)) + 0.5, rng.choice([-1.0, 1.0], size=(folds, n))])
        weights = np.abs(rng.normal(size=(cells, n))) * (rng.random((cells, n)) < 0.8)
        weights[:4] = weights[:4] > 0.0  # equal ones are counted
        weights[0], weights[1, : n // 2] = 0.0, 0.0
        y = np.repeat(targets[1:], cells // folds, axis=0)
        terms = np.zeros((5, cells, n))
        terms[3], terms[4] = np.minimum(0.0, weights * y), np.maximum(0.0, weights * y)
        beta = np.clip(rng.normal(size=(cells, n)), terms[3], terms[4])
        scores = np.round(rng.normal(size=(cells, n)), 1)  # some are equal
        found = np.abs(rng.normal(size=(cells, 4)))
        found[:, 3] = rng.random(cells) < 0.5
        outs = np.empty((2, cells, 5))
        for one, out in zip((reference, core), outs, strict=True):
            one.left_open(terms, weights, targets, beta, scores, found, out, bias)
        np.testing.assert_allclose(outs[1], outs[0], rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="as many cells"):
        core.left_open(terms, weights, targets[:1], beta, scores, found, outs[0], bias)
