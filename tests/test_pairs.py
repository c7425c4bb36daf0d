"""Pair descent on every core: the known optimum, feasibility at every step, the same bits on every level."""

import numpy as np
import pytest

from mercer._core.reference import CHUNK

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)


def working_set(n, dtype, seed=0, eps=0.0, r=0.0, C=1.0):
    """K, diag, F, beta, lo, hi, eps of a random problem, padded with points that cannot move."""
    rng = np.random.default_rng(seed)
    width = -(-n // CHUNK) * CHUNK
    X, y = rng.normal(size=(n, 3)), np.sign(rng.normal(size=n) + 0.1)
    K = np.zeros((width, width), dtype)
    K[:n, :n] = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    arrays = np.zeros((4, width))
    beta, lo, hi, kinks = arrays
    if eps:
        lo[:n], hi[:n], kinks[:n] = -C, C, eps
    else:
        lo[:n], hi[:n] = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    F, diag = np.zeros(width, dtype), np.zeros(width, dtype)
    F[:n], diag[:n] = y, K.diagonal()[:n] + r
    return K, diag, F, beta.copy(), lo.copy(), hi.copy(), kinks.copy()


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("setting", [{}, {"eps": 0.1}, {"r": 0.5}, {"C": 30.0}, {"eps": 0.2, "r": 0.1, "C": 10.0}])
def test_the_optimum_is_reached_and_known_to_be_one(core, dtype, setting):
    for n in (1, 2, 63, 64, 65, 150):
        K, diag, F, beta, lo, hi, eps = working_set(n, dtype, **setting)
        q = F.astype(float)
        tol = 1e-3 if dtype == np.float32 else 1e-8
        steps, violation = core.pair_descent(K, diag, F, beta, lo, hi, eps, tol, 200_000)
        assert violation <= tol
        assert steps < 200_000
        assert abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).max())
        assert ((lo <= beta) & (beta <= hi)).all()
        H = K.astype(float)
        H[np.diag_indices(len(H))] = diag
        slope = q - H @ beta
        scale = max(1.0, np.abs(beta).sum())
        np.testing.assert_allclose(F, slope, rtol=0, atol=(2e-5 if dtype == np.float32 else 1e-12) * scale)
        rises = (slope - np.where(beta >= 0, eps, -eps))[beta < hi]
        falls = (slope - np.where(beta > 0, eps, -eps))[beta > lo]
        if rises.size and falls.size:
            assert rises.max() - falls.min() <= tol + (2e-5 if dtype == np.float32 else 1e-10) * scale


@every_core
def test_it_stops_after_as_many_steps_as_were_allowed_and_goes_on_from_there(core):
    arrays = working_set(100, np.float64)
    once = [a.copy() for a in arrays]
    steps, violation = core.pair_descent(*once, 1e-9, 7)
    assert steps == 7
    assert violation > 1e-9
    again = [a.copy() for a in arrays]
    for _ in range(7):
        core.pair_descent(*again, 1e-9, 1)
    np.testing.assert_array_equal(again[3], once[3])


@every_core
def test_coefficients_that_meet_a_bound_are_exactly_there(core):
    K, diag, F, beta, lo, hi, eps = working_set(120, np.float32, C=0.1)
    core.pair_descent(K, diag, F, beta, lo, hi, eps, 1e-3, 10_000)
    near = (np.abs(beta - lo) < 1e-9) | (np.abs(beta - hi) < 1e-9)
    assert near.sum() > 50
    assert ((beta == lo) | (beta == hi))[near].all()


@every_core
def test_nobody_who_can_move(core):
    K, diag, F, beta, lo, hi, eps = working_set(10, np.float64)
    hi[:], lo[:] = 0.0, 0.0
    steps, violation = core.pair_descent(K, diag, F, beta, lo, hi, eps, 0.0, 100)
    assert steps == 0
    assert violation < 0.0
    assert not beta.any()


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_that_cannot_move_change_nothing(core, dtype):
    """A chunk of them between two others, as of a fold that is left out: the same steps as without them."""
    K, diag, F, beta, lo, hi, eps = working_set(3 * CHUNK - 1, dtype, C=5.0)
    stay = np.r_[0:CHUNK, 2 * CHUNK : 3 * CHUNK]
    fewer = [K[np.ix_(stay, stay)].copy(), *(array[stay].copy() for array in (diag, F, beta, lo, hi, eps))]
    lo[CHUNK : 2 * CHUNK] = hi[CHUNK : 2 * CHUNK] = 0.0
    assert core.pair_descent(K, diag, F, beta, lo, hi, eps, 1e-2, 10**5) == core.pair_descent(*fewer, 1e-2, 10**5)
    assert np.array_equal(beta[stay], fewer[3])
    assert np.array_equal(F[stay], fewer[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_level_with_a_fused_multiply_add_takes_the_same_steps(dtype):
    seen = set()
    for core in FUSED.values():
        arrays = working_set(300, dtype, eps=0.05, C=5.0)
        steps, _ = core.pair_descent(*arrays, 1e-3, 5_000)
        seen.add((steps, arrays[2].tobytes(), arrays[3].tobytes()))
    assert len(seen) <= 1


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_arrays_that_do_not_fit_are_refused(core):
    arrays = working_set(100, np.float64)
    for place in range(7):
        short = list(arrays)
        short[place] = arrays[place][:64].copy()
        with pytest.raises(ValueError, match="pair_descent"):
            core.pair_descent(*short, 1e-3, 10)
        other = list(arrays)
        other[place] = arrays[place].astype(np.int64)
        with pytest.raises(TypeError, match="pair_descent"):
            core.pair_descent(*other, 1e-3, 10)
    with pytest.raises(ValueError, match="chunks"):
        core.pair_descent(*(a[:50].copy() if a.ndim == 1 else a[:50, :50].copy() for a in arrays), 1e-3, 10)
