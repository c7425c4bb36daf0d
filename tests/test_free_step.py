"""A Newton step of the free coefficients: to the best place for them, or to the first bound on the way."""

import numpy as np
import pytest

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
N = 40


def problem(dtype=np.float64, kinks=0.0, room=1.0):
    """K, diag, F, beta, lo, hi, eps of a problem, and its q; coefficients inside their bounds."""
    generator = np.random.default_rng(6)
    Z = generator.normal(size=(N, N + 5))
    K = (Z @ Z.T / N).astype(dtype)
    r, q, beta = np.full(N, 0.1), generator.normal(size=N), 0.1 * generator.normal(size=N)
    beta[::7] = -room  # at a bound
    lo, hi, eps = np.full(N, -room), np.full(N, room), np.full(N, kinks)
    F = (q - r * beta - K.astype(float) @ beta).astype(dtype)
    return q, [K, (K.diagonal() + r).astype(dtype), F, beta, lo, hi, eps]


def steps(core, arrays, bias, most=N, times=50):
    for number in range(times):
        free, again = core.free_step(*arrays, (bias, most))
        if not again:
            return free, number
    raise AssertionError("it never ends")


@every_core
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kinks", [0.0, 0.05])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_free_coefficients_come_to_where_their_slopes_are_equal(core, bias, kinks, dtype):
    q, arrays = problem(dtype, kinks)
    K, diag, F, beta, lo, hi, eps = arrays
    before = beta.sum()
    free, _ = steps(core, arrays, bias)
    inside = (lo < beta) & (beta < hi) & ((eps == 0.0) | (beta != 0.0))
    assert free >= inside.sum() >= 2
    tol = 1e-9 if dtype == np.float64 else 1e-4
    true = q - (diag - K.diagonal()) * beta - K.astype(float) @ beta
    np.testing.assert_allclose(F, true, atol=tol)
    slope = (true - eps * np.sign(beta))[inside]
    assert np.ptp(slope) <= tol if bias else np.abs(slope).max() <= tol
    assert ((lo <= beta) & (beta <= hi)).all()
    assert beta.sum() == pytest.approx(before, abs=1e-12) or not bias


@every_core
def test_a_bound_on_the_way_is_met_exactly_and_the_dual_rises(core):
    q, arrays = problem(room=0.3)
    K, diag, _, beta, lo, hi, _ = arrays

    def dual():
        return q @ beta - 0.5 * ((diag - K.diagonal()) * beta) @ beta - 0.5 * beta @ K @ beta

    beta[:] = np.clip(beta, -0.2, 0.2)
    arrays[2][:] = q - (diag - K.diagonal()) * beta - K @ beta
    before = dual()
    _, again = core.free_step(*arrays, (True, N))
    assert again
    assert ((beta == lo) | (beta == hi)).sum() == 1
    assert dual() > before


@every_core
def test_too_many_or_too_few_free_coefficients_make_no_step(core):
    _, arrays = problem()
    beta = arrays[3].copy()
    free, again = core.free_step(*arrays, (True, 10))
    assert free > 10
    assert not again
    np.testing.assert_array_equal(arrays[3], beta)
    arrays[5][:] = arrays[4][:] = arrays[3]
    assert core.free_step(*arrays, (True, N)) == (0, False)


@every_core
def test_nothing_happens_where_values_are_not_finite(core):
    _, arrays = problem()
    arrays[0][3, 5] = arrays[0][5, 3] = np.nan
    beta = arrays[3].copy()
    assert not core.free_step(*arrays, (True, N))[1]
    np.testing.assert_array_equal(arrays[3], beta)


@pytest.mark.skipif(not FUSED, reason="no native core")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits(dtype):
    bits = []
    for core in FUSED.values():
        _, arrays = problem(dtype)
        steps(core, arrays, True)
        bits.append(arrays[3].tobytes() + arrays[2].tobytes())
    assert set(bits) == {bits[0]}


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    _, arrays = problem()
    with pytest.raises(ValueError, match="as long as F"):
        core.free_step(*arrays[:-1], np.zeros(N + 1), (True, N))
    with pytest.raises(TypeError):
        core.free_step(arrays[0].astype(np.float32), *arrays[1:], (True, N))
