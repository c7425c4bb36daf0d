"""Several problems on parts of the points in one native call: settled, and accounted for as the formulas say."""

import numpy as np
import pytest

from mercer._core.forms import Form, Map, Summed

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 3))
K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
PARTS = [np.arange(90), np.arange(0, 300, 2), np.arange(5), np.arange(60, 300), np.array([7])]
ROWS, ENDS = np.concatenate(PARTS), np.cumsum([part.size for part in PARTS])
Y = np.sign(X[ROWS, 0] * X[ROWS, 1] + 0.5 * RNG.normal(size=ROWS.size))
HALVINGS = -0.5 / np.log(2.0)
DIFFERENCES = (Form(Summed.SQUARES, Map.EXPONENTIAL, HALVINGS), np.zeros(3), 0.0)
PRODUCTS = (Form(Summed.PRODUCTS, Map.EXPONENTIAL, -2.0 * HALVINGS), X.mean(axis=0), HALVINGS)


def found_by(core, how, points=None, C=3.0, eps=0.0, r=0.0):
    """What is found: by parts of K, or from points by the ways of two precisions."""
    n = ROWS.size
    lo, hi = (np.full(n, -C), np.full(n, C)) if eps else (np.minimum(0.0, C * Y), np.maximum(0.0, C * Y))
    terms = Y, np.full(n, r), np.full(n, eps), lo, hi
    found = np.zeros(n), np.empty(n), np.empty((len(PARTS), 10))
    if points is None:
        core.settle_parts(K, ENDS, ROWS, terms, found, how)
    else:
        core.settle_points(points, PRODUCTS, DIFFERENCES, ENDS, ROWS, terms, found, how)
    return terms, found


def check(core, terms, found, bias, goal):
    q, r, eps, lo, hi = terms
    beta, share, sums = found
    assert ((lo <= beta) & (beta <= hi)).all()
    for first, last, (steps, b, *rest) in zip([0, *ENDS[:-1]], ENDS, sums, strict=True):
        at, own = slice(first, last), ROWS[first:last]
        scores, shares = K[np.ix_(own, own)] @ beta[at], np.empty(last - first)
        expected = core.account(q[at], r[at], eps[at], lo[at], hi[at], beta[at], scores, scores, b, shares)
        np.testing.assert_allclose(rest, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(share[at], shares, rtol=1e-9, atol=1e-9)
        primal, dual = 0.5 * rest[2] + rest[0], -0.5 * rest[2] - rest[1]
        assert abs(primal - dual) <= goal * max(abs(primal), abs(dual)) + 1e-9
        assert steps > 0 or last - first == 1
        assert abs(beta[at].sum()) <= 1e-9 if bias else b == 0.0


@every_core
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("more", [{}, {"eps": 0.3}, {"r": 0.2}], ids=str)
def test_parts_of_a_matrix(core, bias, more):
    terms, found = found_by(core, (bias, 1e-9, np.inf, 300), **more)
    check(core, terms, found, bias, 2e-9)


@every_core
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("more", [{}, {"eps": 0.3}, {"r": 0.2}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_the_points(core, bias, more, dtype):
    if dtype == np.float32 and more:
        pytest.skip("one case is enough")
    terms, found = found_by(core, (bias, 1e-4, np.inf, 300), X.astype(dtype), **more)
    if dtype == np.float64:
        check(core, terms, found, bias, 2e-4)
    else:
        assert np.isfinite(found[2]).all()


@every_core
def test_points_and_their_matrix_have_one_answer(core):
    _, (beta, _, sums) = found_by(core, (True, 1e-6, np.inf, 300), X)
    _, (other, _, expected) = found_by(core, (True, 1e-9, np.inf, 300))
    np.testing.assert_allclose(0.5 * sums[:, 4] + sums[:, 2], 0.5 * expected[:, 4] + expected[:, 2], rtol=1e-5)
    np.testing.assert_allclose(beta, other, atol=0.05)


@every_core
def test_too_few_steps_leave_an_honest_account(core):
    terms, found = found_by(core, (True, 1e-9, np.inf, 0))
    q, _, _, _, _ = terms
    assert not found[0].any()
    np.testing.assert_allclose(found[2][:, 4], 0.0)
    terms, found = found_by(core, (True, 1e-9, np.inf, 0), X)
    assert not found[0].any()
    for first, last, row in zip([0, *ENDS[:-1]], ENDS, found[2], strict=True):
        assert row[2] == pytest.approx(3.0 * np.maximum(0.0, 1.0 - q[first:last] * row[1]).sum())


@pytest.mark.skipif(not FUSED, reason="no native core")
@pytest.mark.parametrize("points", [None, X], ids=["matrix", "points"])
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits(points):
    bits = [[a.tobytes() for a in found_by(core, (True, 1e-5, np.inf, 100), points)[1]] for core in FUSED.values()]
    assert all(other == bits[0] for other in bits)


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    terms, found = found_by(core, (True, 1e-4, np.inf, 10))
    how = (True, 1e-4, np.inf, 10)
    with pytest.raises(ValueError, match="ends must rise"):
        core.settle_parts(K, ENDS[::-1].copy(), ROWS, terms, found, how)
    with pytest.raises(ValueError, match="ends must rise"):
        core.settle_parts(K, ENDS + 1, ROWS, terms, found, how)
    with pytest.raises(ValueError, match="rows"):
        core.settle_parts(K[:200, :200].copy(), ENDS, ROWS, terms, found, how)
    with pytest.raises(ValueError, match="each row needs"):
        core.settle_parts(K, ENDS, ROWS, terms, (found[0][1:].copy(), *found[1:]), how)
    with pytest.raises(ValueError, match="ten columns"):
        core.settle_parts(K, ENDS, ROWS, terms, (*found[:2], found[2][:, 1:].copy()), how)
    with pytest.raises(ValueError, match="coordinates"):
        core.settle_points(X[:, :2].copy(), PRODUCTS, DIFFERENCES, ENDS, ROWS, terms, found, how)
    with pytest.raises(ValueError, match="rows"):
        core.settle_points(X[:200], PRODUCTS, DIFFERENCES, ENDS, ROWS, terms, found, how)
    with pytest.raises(TypeError):  # an array that would have to be converted would be written to in vain
        core.settle_parts(K, ENDS, ROWS, terms, (found[0].astype(np.float32), *found[1:]), how)


@every_core
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("more", [{}, {"eps": 0.3}, {"r": 0.2}], ids=str)
def test_a_violation_is_reached_from_any_start_and_padded_matrices_need_no_copy(core, bias, more):
    n, width = 90, 128
    wide = np.zeros((width, width))
    wide[:n, :n] = K[:n, :n]
    y, C, eps, r = Y[:n], 3.0, more.get("eps", 0.0), more.get("r", 0.0)
    lo, hi = (np.full(n, -C), np.full(n, C)) if eps else (np.minimum(0.0, C * y), np.maximum(0.0, C * y))
    terms, answers = (y, np.full(n, r), np.full(n, eps), lo, hi), []
    start = np.clip(RNG.normal(size=n), lo, hi)
    start -= start.mean() if eps else 0.0
    if bias and not eps:
        start = np.where(y > 0, 0.2 / (y > 0).sum(), -0.2 / (y < 0).sum())
    for matrix, begin in ((wide, start), (K, start), (wide, np.zeros(n))):
        found = begin.copy(), np.empty(n), np.empty((1, 10))
        core.settle_parts(matrix, np.array([n]), np.arange(n), terms, found, (bias, 1e-3, 1e-9, 300))
        sums = found[2][0]
        assert (sums[5] - sums[6] if bias else max(sums[5], -sums[6])) <= 2e-9
        assert found[0].sum() == pytest.approx(begin.sum(), abs=1e-9) or not bias
        answers.append(found[0])
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_allclose(answers[2], answers[0], atol=1e-5)


@every_core
def test_b_is_the_one_end_where_no_point_bounds_it_on_the_other_side(core):
    """All coefficients at their upper bounds: b may be as small as one likes, but no larger than the least slope."""
    n, ones = 20, np.ones(20)
    zero = np.zeros(n)
    found = ones.copy(), np.empty(n), np.empty((1, 10))
    core.settle_parts(K, np.array([n]), np.arange(n), (zero, zero, zero, zero, ones), found, (True, 1e-6, 1e-6, 50))
    assert found[2][0][1] == pytest.approx((-K[:n, :n].sum(axis=1)).min())
