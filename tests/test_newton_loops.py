"""The system of Newton steps, and mirrored halves, in every core."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from .cores import CORES, FUSED

every_core = pytest.mark.parametrize("core", CORES.values(), ids=list(CORES))
generator = np.random.default_rng(0)


def system(n):
    A = generator.normal(size=(n, n + 5))
    return A @ A.T + np.eye(n), generator.normal(size=(n, 2))


@every_core
@pytest.mark.parametrize("n", [1, 2, 47, 48, 49, 97, 200])
def test_a_definite_system_is_solved(core, n):
    H, B = system(n)
    factor, solution = H.copy(), B.copy()
    assert core.solve_definite(factor, solution)
    assert_allclose(H @ solution, B, atol=1e-9)
    L = np.tril(factor)
    assert_allclose(L @ L.T, H, rtol=1e-12, atol=1e-12 * np.abs(H).max())
    assert_array_equal(np.triu(factor, 1), np.triu(H, 1))


@every_core
@pytest.mark.parametrize("wrong", ["negative", "singular", "NaN"])
def test_what_is_not_definite_is_refused(core, wrong):
    H, B = system(60)
    H[55, 55] = {"negative": -1.0, "singular": 0.0, "NaN": np.nan}[wrong]
    assert not core.solve_definite(H, B)


def test_the_same_bits_on_every_level_with_fused_operations():
    for n in (5, 100, 131):
        H, B = system(n)
        found = []
        for core in FUSED.values():
            factor, solution = H.copy(), B.copy()
            core.solve_definite(factor, solution)
            found.append((factor, solution))
        for other in found[1:]:
            assert_array_equal(other[0], found[0][0])
            assert_array_equal(other[1], found[0][1])


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 150])
def test_the_lower_half_is_the_mirror_image_of_the_upper(core, dtype, n):
    K = generator.normal(size=(n + 3, n + 5)).astype(dtype)
    mirrored = K.copy()
    half = n // 2
    core.mirror(mirrored, 0, half)
    core.mirror(mirrored, half, n)
    upper = np.triu(K[:n, :n])
    assert_array_equal(mirrored[:n, :n], upper + np.triu(upper, 1).T)
    assert_array_equal(mirrored[n:], K[n:])
    assert_array_equal(mirrored[:, n:], K[:, n:])


@every_core
def test_arrays_that_do_not_fit_are_refused(core):
    if core is CORES["reference"]:
        pytest.skip("NumPy's own errors")
    with pytest.raises(ValueError, match="H must be square"):
        core.solve_definite(np.eye(3)[:2].copy(), np.ones((2, 1)))
    with pytest.raises(ValueError, match="rows must be within K"):
        core.mirror(np.eye(3), 0, 4)
    with pytest.raises(TypeError):
        core.solve_definite(np.eye(3, dtype=np.float32), np.ones((3, 1)))


@every_core
@pytest.mark.parametrize("n", [1, 4, 7, 30])
@pytest.mark.parametrize("width", [8, 16])
def test_products_read_the_upper_half_of_a_symmetric_matrix(core, n, width):
    rng = np.random.default_rng(n)
    K, V = rng.normal(size=(n, n)), rng.normal(size=(n, width))
    K = K + K.T
    out, half = np.ones((n, width)), np.where(np.tri(n, k=-1, dtype=bool), np.nan, K)
    for start, stop in ((0, n // 3), (n // 3, n // 3), (n // 3, n)):
        core.add_symmetric(half, V, out, start, stop)
    assert_allclose(out, 1 + K @ V, rtol=1e-13, atol=1e-13)


def test_products_of_a_symmetric_matrix_have_the_same_bits_on_all_levels():
    K, V = np.random.default_rng(0).normal(size=(37, 37)), np.random.default_rng(1).normal(size=(37, 8))
    found = []
    for core in FUSED.values():
        found.append(np.zeros(V.shape))
        core.add_symmetric(K + K.T, V, found[-1], 0, 37)
    assert all(np.array_equal(found[0], out) for out in found)


@pytest.mark.parametrize("core", FUSED.values(), ids=list(FUSED))
def test_what_does_not_fit_is_refused(core):
    K, V = np.ones((5, 5)), np.ones((5, 8))
    with pytest.raises(ValueError, match="multiple of 8"):
        core.add_symmetric(K, np.ones((5, 4)), np.ones((5, 4)), 0, 5)
    with pytest.raises(ValueError, match="not as many rows"):
        core.add_symmetric(K, V, np.ones((5, 8)), 0, 6)
    with pytest.raises(ValueError, match="K must be square"):
        core.add_symmetric(np.ones((5, 4)), V, np.ones((5, 8)), 0, 5)
