"""Sums of kernel values with few roundings, against fractions; the interval of best biases, against the loss itself."""

from fractions import Fraction

import numpy as np
import pytest

from mercer.losses import Hinge
from mercer.search.bounds import best_biases
from mercer.search.sums import exact_rounding, exact_times, rounding, times


def posed(n=150, seed=0):
    """K of n points, and coefficients as a solver leaves them: many at a bound, many 0, some free."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = 0.7 * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    beta = rng.choice([-1000.0, 0.0, 1000.0], size=(3, n))
    free = rng.random((3, n)) < 0.3
    beta[free] = 1000.0 * rng.normal(size=np.count_nonzero(free))
    return K, beta


@pytest.mark.parametrize("n", [1, 64, 65, 150])
def test_sums_are_within_their_bounds_of_the_truth_and_the_exact_ones_far_nearer(n):
    K, beta = posed(n)
    truth = [
        [sum(Fraction(b) * Fraction(k) for b, k in zip(row, K[:, j], strict=True)) for j in range(0, n, 7)]
        for row in beta
    ]
    root = np.sqrt(K.diagonal())
    norm = np.sqrt(np.maximum(np.einsum("ci,ij,cj->c", beta, K, beta), 0.0)) * 1.01
    plain, exact = times(beta, K, 0.7), exact_times(beta, K, 0.7)
    bounds = rounding(beta, root), exact_rounding(beta, root, norm)
    for found, bound in zip((plain, exact), bounds, strict=True):
        for c, row in enumerate(truth):
            for number, value in enumerate(row):
                error = abs(Fraction(found[c, 7 * number]) - value)
                assert error <= bound[c] * root[7 * number]
    assert n < 65 or (bounds[1] < 0.02 * bounds[0]).all()


def test_the_interval_of_best_biases_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(41) % 2, 1.0, -1.0)
    scores, C = rng.normal(size=(4, 41)), np.abs(rng.normal(size=(4, 41)))
    C[0], C[1] = 1.0, np.where(y > 0, 2.0, 1.0)
    low, high = best_biases(y, scores, C)
    for k in range(4):
        assert (low[k], high[k]) == pytest.approx(Hinge().best_bias(y, scores[k], C[k], 0.0), abs=1e-12)
