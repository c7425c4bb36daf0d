"""Losses: their conjugates, their dual terms and their best bias, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from mercer._core.core import CHOICE
from mercer.losses import (
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    Logistic,
    Loss,
    OneClass,
    Squared,
    SquaredHinge,
    violation,
)
from mercer.losses.base import finite_interval
from mercer.losses.quadratic import crossing

from .zoo import LOSSES, labels

N = 15
SCORES = np.linspace(-4.0, 4.0, 65)  # with every kink of the losses in the zoo among them
SLOPES = np.linspace(-3.0, 3.0, 49)
GRID = np.linspace(-400.0, 400.0, 64_001)  # of the scores over which a supremum is sought

every_loss = pytest.mark.parametrize("specimen", LOSSES, ids=str)
every_soft_loss = pytest.mark.parametrize("specimen", [s for s in LOSSES if s.loss != HardMargin()], ids=str)
every_quadratic_loss = pytest.mark.parametrize("specimen", [s for s in LOSSES if s.loss.quadratic], ids=str)


def pairs(specimen, values):
    """Every target of the specimen with every one of the values."""
    y, v = np.meshgrid(np.unique(specimen.targets(N)), values)
    return y.ravel(), v.ravel()


def weights(seed=0, n=N):
    return np.random.default_rng(seed).uniform(0.1, 3.0, n)


def objective(specimen, y, scores, C, mass, b):
    """sum C_i loss(y_i, scores_i + b) + mass b, from the formula."""
    return sum(c * specimen.formula(t, s + b) for t, s, c in zip(y, scores, C, strict=True)) + mass * b


@every_loss
def test_the_value_is_the_formula(specimen):
    y, u = pairs(specimen, SCORES)
    assert_allclose(specimen.loss.value(y, u), [specimen.formula(t, s) for t, s in zip(y, u, strict=True)])


@every_soft_loss
def test_the_slope_is_a_subgradient(specimen):
    y, u = pairs(specimen, SCORES)
    value, slope = specimen.loss.value(y, u), specimen.loss.slope(y, u)
    for other in SCORES:
        assert (specimen.loss.value(y, np.full_like(u, other)) >= value + slope * (other - u) - 1e-12).all()


@every_loss
def test_fenchel_young(specimen):
    y, u = pairs(specimen, SCORES)
    value = specimen.loss.value(y, u)
    for v in SLOPES:
        assert (value + specimen.loss.conjugate(y, np.full_like(u, v)) >= u * v - 1e-12).all()
    inside = np.isfinite(value)
    slope = specimen.loss.slope(y, u)
    touched = value + specimen.loss.conjugate(y, slope) - u * slope
    assert_allclose(touched[inside], 0.0, atol=1e-12)


@every_loss
def test_the_conjugate_is_the_supremum(specimen):
    y, v = pairs(specimen, SLOPES)
    conjugate = specimen.loss.conjugate(y, v)
    brute = np.array(
        [(s * GRID - specimen.loss.value(np.full_like(GRID, t), GRID)).max() for t, s in zip(y, v, strict=True)]
    )
    finite = np.isfinite(conjugate)
    assert_allclose(conjugate[finite], brute[finite], atol=1e-3)
    assert (brute[~finite] > 10.0).all()  # it grows with the grid


@every_quadratic_loss
def test_the_dual_terms_are_the_conjugate(specimen):
    y, C = specimen.targets(N), weights()
    terms = specimen.loss.terms(y, C)
    for array in (terms.q, terms.r, terms.eps, terms.lo, terms.hi):
        assert array.shape == (N,)
    assert (terms.r >= 0).all() and (terms.eps >= 0).all() and (terms.lo <= terms.hi).all()
    lo, hi = np.maximum(terms.lo, -9.0), np.minimum(terms.hi, 9.0)
    for part in np.linspace(0.0, 1.0, 11):
        s = lo + part * (hi - lo)
        s = np.clip(s, terms.lo, terms.hi)
        v = np.clip(-s / C, -terms.hi / C, -terms.lo / C)
        assert_allclose(terms.value(s), C * specimen.loss.conjugate(y, v), atol=1e-9)


def feasible(box, generator):
    """Coefficients, some of them at their bounds, or at 0, where it is one of them."""
    ends = np.stack([np.maximum(box.lo, -9.0), np.zeros(N), np.minimum(box.hi, 9.0)])
    inside = generator.uniform(ends[0], ends[2])
    return box.nearest(np.where(generator.random(N) < 0.5, inside, ends[generator.integers(0, 3, N), np.arange(N)]))


@every_quadratic_loss
@pytest.mark.parametrize("seed", range(4))
def test_losses_shares_and_the_optimality_condition_follow_from_the_terms(specimen, seed):
    """The same as the native accounts, and as the loss itself says."""
    generator = np.random.default_rng(seed)
    y, C, b = specimen.targets(N, seed), weights(seed), generator.normal()
    t, scores = specimen.loss.terms(y, C), 2.0 * generator.normal(size=N)
    beta, f, share = feasible(t.box, generator), scores + b, np.empty(N)
    hard = specimen.loss == HardMargin()
    sums = CHOICE.functions.account(*t.rows, beta, scores, scores, b, share)
    if not hard:
        assert_allclose(t.losses(f), C * specimen.loss.value(y, f), atol=1e-12)
        assert_allclose(-t.best(f), C * specimen.loss.slope(y, f), atol=1e-12)
        assert_allclose(t.shares(beta, f), share, atol=1e-12)
        assert (t.shares(beta, f) >= -1e-12).all()
        assert_allclose(t.shares(t.best(f), f), 0.0, atol=1e-12)
    rise, fall = t.slopes(beta, t.gradient(beta, scores))
    assert_allclose(np.nan_to_num([rise.max(), fall.min()], posinf=1e30, neginf=-1e30), sums[3:5])
    for bias in (True, False):
        assert t.violation(beta, scores, bias) == pytest.approx(violation(sums[3], sums[4], bias))
    assert t.box.outside(beta) == sums[5] == 0.0
    moved = beta + generator.normal(size=N)
    assert t.box.outside(moved) == CHOICE.functions.account(*t.rows, moved, scores, scores, b, share)[5]
    assert_array_equal(t.box.free(beta), (t.lo < beta) & (beta < t.hi))
    assert_array_equal(t.at(slice(3, 5)).rows, t.rows[:, 3:5])


@every_loss
def test_the_conjugate_is_finite_within_its_bounds_alone(specimen):
    y, C = specimen.targets(N), weights()
    lo, hi = specimen.loss.bounds(y, C)
    assert lo.shape == hi.shape == (N,) and (lo <= hi).all()
    for part in np.linspace(0.0, 1.0, 11):
        beta = np.clip((1 - part) * np.maximum(lo, -9.0) + part * np.minimum(hi, 9.0), lo, hi)
        assert np.isfinite(specimen.loss.conjugate(y, -beta / C)).all()
    for outside in (lo - 1e-6, hi + 1e-6):
        beyond = np.isfinite(outside)
        assert np.isinf(specimen.loss.conjugate(y, -np.where(beyond, outside, 0.0) / C)[beyond]).all()


@every_soft_loss
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_the_best_bias_minimises(specimen, seed, tied):
    generator = np.random.default_rng(seed)
    y, C = specimen.targets(N, seed), np.ones(N) if tied else weights(seed)
    scores = generator.integers(-2, 3, N) / 4 if tied else generator.normal(size=N)
    low, high = specimen.loss.best_bias(y, scores, C, specimen.mass)
    assert low <= high
    least = min(objective(specimen, y, scores, C, specimen.mass, b) for b in np.linspace(-8, 8, 2001))
    for b in (low, 0.5 * (low + high), high):
        assert objective(specimen, y, scores, C, specimen.mass, b) <= least + 1e-9
    best = objective(specimen, y, scores, C, specimen.mass, 0.5 * (low + high))
    for b in (low - 1e-3, high + 1e-3):  # the interval is the whole of it
        assert objective(specimen, y, scores, C, specimen.mass, b) > best + 1e-9


@every_soft_loss
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), size=st.sampled_from([1e-6, 1.0, 1e6]))
def test_halving_finds_the_same_bias(specimen, seed, n, size):
    generator = np.random.default_rng(seed)
    y, C = specimen.targets(n, seed), generator.uniform(0.1, 3.0, n)
    scores = size * generator.normal(size=n)
    mass = 0.4 * C.sum() if specimen.mass else 0.0
    direct = specimen.loss.best_bias(y, scores, C, mass)
    assert_allclose(direct, Loss.best_bias(specimen.loss, y, scores, C, mass), rtol=1e-7, atol=1e-9 * max(1.0, size))


def test_the_bias_of_a_plateau_is_its_whole():
    y, scores, C = np.array([1.0, -1.0]), np.zeros(2), np.ones(2)
    assert Hinge().best_bias(y, scores, C, 0.0) == (-1.0, 1.0)
    assert Hinge().best_bias(y, 5 * y, C, 0.0) == (-4.0, 4.0)
    assert SquaredHinge().best_bias(y, 5 * y, C, 0.0) == (-4.0, 4.0)
    assert HardMargin().best_bias(y, 5 * y, C, 0.0) == (-4.0, 4.0)
    assert EpsilonInsensitive(0.5).best_bias(np.zeros(2), scores, C, 0.0) == (-0.5, 0.5)
    assert OneClass().best_bias(y, np.array([1.0, 3.0]), C, 1.0) == (-3.0, -1.0)
    assert_allclose(Loss.best_bias(SquaredHinge(), y, 5 * y, C, 0.0), (-4.0, 4.0))


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin()], ids=repr)
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_the_bias_of_one_label_is_the_end_of_a_half_line(loss, label):
    y = np.full(3, label)
    low, high = loss.best_bias(y, np.array([0.0, 0.5, -0.5]), np.ones(3), 0.0)
    assert low == high == 1.5 * label
    assert loss.value(y, np.array([0.0, 0.5, -0.5]) + low).sum() == 0.0


def test_the_bias_of_a_hard_margin_makes_the_least_margin_largest():
    y, scores = np.array([1.0, 1.0, -1.0]), np.array([0.3, 2.0, -0.1])
    middle = np.mean(HardMargin().best_bias(y, scores, np.ones(3), 0.0))
    margins = [(y * (scores + b)).min() for b in np.linspace(-3, 3, 601)]
    assert (y * (scores + middle)).min() >= max(margins) - 1e-12
    assert HardMargin().feasible_scale(y, scores + middle) == pytest.approx(1 / 0.2)
    assert HardMargin().feasible_scale(y, -scores) == np.inf
    assert Hinge().feasible_scale(y, scores) == 1.0


def test_weights_count():
    y, scores = np.array([1.0, 1.0, -1.0]), np.zeros(3)
    for loss, even, heavy in ((Hinge(), 1.0, -1.0), (SquaredHinge(), 1 / 3, -2 / 3)):
        for C, b in ((np.ones(3), even), (np.array([1.0, 1.0, 10.0]), heavy)):
            assert_allclose(loss.best_bias(y, scores, C, 0.0), (b, b))
    t = np.array([0.0, 0.0, 4.0])
    assert_allclose(Squared().best_bias(t, scores, np.array([1.0, 1.0, 2.0]), 0.0), (2.0, 2.0))
    assert_allclose(EpsilonInsensitive(0.0).best_bias(t, scores, np.array([1.0, 1.0, 5.0]), 0.0), (4.0, 4.0))


def test_a_quantile_of_the_scores_is_the_offset_of_one_class():
    scores = np.arange(10.0)
    low, high = OneClass().best_bias(np.zeros(10), scores, np.ones(10), 3.5)
    assert low == high == -3.0
    assert OneClass().best_bias(np.zeros(10), scores, np.ones(10), 3.0) == (-3.0, -2.0)


def test_logistic_against_scipy():
    rng = np.random.default_rng(0)
    u, y = rng.normal(scale=9.0, size=300), np.sign(rng.normal(size=300))
    u[:8] = 0.0, 1e-300, 40.0, -40.0, 800.0, -800.0, 1e300, -1e300
    assert_allclose(Logistic().value(y, u), np.logaddexp(0.0, -y * u), rtol=1e-14)
    assert_allclose(Logistic().slope(y, u), -y * special.expit(-y * u), rtol=1e-14, atol=1e-300)
    assert_allclose(Logistic().curvature(y, u), special.expit(u) * special.expit(-u), rtol=1e-14, atol=1e-300)


def test_logistic_does_not_hide_what_is_no_number():
    u, ones = np.array([0.0, np.nan]), np.ones(2)
    for found in (Logistic().value(ones, u), Logistic().slope(ones, u), Logistic().curvature(ones, u)):
        assert_array_equal(np.isnan(found), [False, True])
    assert Logistic().bias_by_newton(ones, u, ones) is None


def test_logistic_values_at_any_scale():
    y, u = np.ones(6), np.array([0.0, 40.0, -40.0, 1e300, -1e300, -1e-300])
    assert_allclose(Logistic().value(y, u), [np.log(2), np.exp(-40.0), 40.0, 0.0, 1e300, np.log(2)], rtol=1e-12)
    assert_allclose(Logistic().slope(y, u), [-0.5, -np.exp(-40.0), -1.0, 0.0, -1.0, -0.5], rtol=1e-12)
    assert_allclose(Logistic().curvature(y, u), [0.25, np.exp(-40.0), np.exp(-40.0), 0.0, 0.0, 0.25], rtol=1e-12)
    assert_array_equal(Logistic().conjugate(y, np.array([0.0, -1.0, 1e-9, -1.1, 1e300, -1e300]))[:2], 0.0)
    p = np.linspace(0.01, 0.99, 9)
    assert_allclose(Logistic().conjugate(np.ones(9), -p), p * np.log(p) + (1 - p) * np.log(1 - p))


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 30.0, 1e3, 1e9, 1e18, 1e60])
@pytest.mark.parametrize("C", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("seed", range(4))
def test_the_logistic_bias_at_any_scale(size, C, seed):
    generator = np.random.default_rng(seed)
    y, scores = labels(12, seed), size * generator.normal(size=12)
    weight = C * generator.uniform(0.5, 2.0, 12)
    low, high = Logistic().best_bias(y, scores, weight, 0.0)
    assert np.isfinite([low, high]).all() and low <= high

    def cost(b):
        return weight @ Logistic().value(y, scores + b)

    assert cost(0.5 * (low + high)) <= min(map(cost, [0.0, *(-scores), low - 1.0, high + 1.0])) * (1 + 1e-12)


@pytest.mark.parametrize("label", [-1.0, 1.0])
@pytest.mark.parametrize("size", [1.0, 1e9])
def test_the_logistic_bias_of_one_label_costs_nothing(label, size):
    scores = size * np.array([0.0, 0.5, -0.5])
    low, high = Logistic().best_bias(np.full(3, label), scores, np.ones(3), 0.0)
    assert Logistic().value(np.full(3, label), scores + 0.5 * (low + high)).sum() <= 1e-300


def test_the_logistic_bias_of_equal_scores_is_the_log_odds():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    b = np.log(3.0)
    assert_allclose(Logistic().best_bias(y, np.zeros(4), np.ones(4), 0.0), (b, b))
    assert_allclose(Logistic().best_bias(y, np.full(4, 7.0), np.array([1.0, 1.0, 1.0, 3.0]), 0.0), (-7.0, -7.0))


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin(), Logistic()], ids=repr)
def test_labels_are_checked(loss):
    loss.check(np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match=r"needs labels -1 and \+1, not 2"):
        loss.check(np.array([1.0, 2.0]))


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="epsilon must be a finite number of at least 0"):
        EpsilonInsensitive(-1.0)
    assert EpsilonInsensitive(0.5).with_params(epsilon=1.0) == EpsilonInsensitive(1.0)
    with pytest.raises(NotImplementedError, match="is not quadratic"):
        Loss().terms(np.ones(1), np.ones(1))


def test_intervals_without_end():
    assert finite_interval(-np.inf, 2.0) == (2.0, 2.0) and finite_interval(1.0, np.inf) == (1.0, 1.0)
    assert finite_interval(-np.inf, np.inf) == (0.0, 0.0) and finite_interval(1.0, 2.0) == (1.0, 2.0)
    assert_array_equal(Loss.best_bias(Hinge(), np.ones(1), np.zeros(1), np.ones(1), 0.0), (1.0, 1.0))


@pytest.mark.parametrize("kind", ["spread", "tied", "outlier", "constant"])
def test_a_crossing_among_many_points_is_that_of_all_of_them_in_order(kind):
    rng = np.random.default_rng(0)
    for _ in range(30):
        at, jump = rng.normal(size=5_000), rng.random(5_000)
        at = {"spread": at, "tied": np.round(at, 1), "outlier": np.append(at[1:], 1e15), "constant": 0.0 * at}[kind]
        for level in (-1.0, 0.0, rng.random() * jump.sum(), jump[:2_500].sum(), 2.0 * jump.sum()):
            order = np.argsort(at)
            total = np.cumsum(jump[order])
            slack = 1e-12 * total[-1]
            places = np.searchsorted(total, level - slack), np.searchsorted(total, level + slack, side="right")
            assert crossing(at, jump, -level) == tuple(at[order][min(place, at.size - 1)] for place in places)
