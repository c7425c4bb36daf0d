"""Kernel values of few points in one native call: those of the tiles, which pack them one step earlier."""

from dataclasses import replace

import numpy as np
import pytest

from mercer._core.forms import Form, Map, Summed
from mercer.amounts import LARGEST
from mercer.columns import padded, padded_square, sums_between
from mercer.kernels import Chi2, Gaussian, Linear, Polynomial

from .cores import CORES, FUSED, NATIVE

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)
RNG = np.random.default_rng(4)
HALVINGS = -0.3 / np.log(2.0)
SQUARES = (Form(Summed.SQUARES, Map.EXPONENTIAL, HALVINGS), np.zeros(3), 0.0)
PRODUCTS = (Form(Summed.PRODUCTS, Map.EXPONENTIAL, -2.0 * HALVINGS), np.full(3, 0.1), HALVINGS)


def gaussian(A, B):
    return np.exp(-0.3 * ((A[:, None].astype(float) - B) ** 2).sum(axis=2))


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 23, 24, 25, 130])
@pytest.mark.parametrize("tiled", [SQUARES, PRODUCTS], ids=["squares", "products"])
def test_all_values(core, n, dtype, tiled):
    X, out = RNG.normal(size=(n, 3)).astype(dtype), np.full((n + 2, n + 3), 7.0)
    core.square_points(X, tiled, out)
    np.testing.assert_allclose(out[:n, :n], gaussian(X, X), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(out[:n, :n], out[:n, :n].T)
    assert (out[n:] == 7.0).all()
    assert (out[:, n:] == 7.0).all()


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 25, 60])
def test_sums_over_parts(core, n, dtype):
    Z, X, V = RNG.normal(size=(40, 3)).astype(dtype), RNG.normal(size=(n, 3)).astype(dtype), RNG.normal(size=(40, 2))
    ends, out = np.array([0, 9, 9, 40]), np.ones((4, 2, n))
    core.sum_points(Z, X, SQUARES, V, ends, out)
    K = gaussian(Z, X)
    expected = [1.0 + V[a:b].T @ K[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0), Chi2()])
@pytest.mark.parametrize("n", [2, 60, 61, 70])
def test_few_points_and_many_have_the_same_values(kernel, n, monkeypatch):
    X = np.abs(RNG.normal(size=(n, 3)))
    few = padded_square(kernel, X)
    assert few.shape == (padded(n),) * 2
    assert not few[n:].any()
    assert not few[:, n:].any()
    monkeypatch.setattr("mercer.columns.between.LARGEST", replace(LARGEST, columns=0))
    np.testing.assert_array_equal(padded_square(kernel, X), few)
    V = RNG.normal(size=(n, 2))
    sums = sums_between(kernel, X[:3], X, V, [0, n // 2, n], np.float64)
    np.testing.assert_allclose(sums[0], V[: n // 2].T @ kernel(X[: n // 2], X[:3]), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(sums[1], V[n // 2 :].T @ kernel(X[n // 2 :], X[:3]), rtol=1e-11, atol=1e-11)


@pytest.mark.skipif(not FUSED, reason="no native core")
def test_every_level_with_a_fused_multiply_add_gives_the_same_bits():
    X, V, bits = RNG.normal(size=(50, 3)), RNG.normal(size=(50, 1)), []
    for core in FUSED.values():
        K, sums = np.empty((50, 50)), np.zeros((1, 1, 50))
        core.square_points(X, PRODUCTS, K)
        core.sum_points(X, X, PRODUCTS, V, np.array([50]), sums)
        bits.append(K.tobytes() + sums.tobytes())
    assert set(bits) == {bits[0]}


@pytest.mark.parametrize("core", NATIVE.values(), ids=NATIVE)
def test_what_does_not_fit_is_refused(core):
    X, V, out = np.zeros((5, 3)), np.zeros((5, 1)), np.zeros((1, 1, 5))
    with pytest.raises(ValueError, match="a row and a column for each point"):
        core.square_points(X, SQUARES, np.zeros((5, 4)))
    with pytest.raises(ValueError, match="coordinates"):
        core.square_points(X[:, :2].copy(), SQUARES, np.zeros((5, 5)))
    with pytest.raises(ValueError, match="V a row"):
        core.sum_points(X, X, SQUARES, V[1:].copy(), np.array([5]), out)
    with pytest.raises(ValueError, match="parts x columns"):
        core.sum_points(X, X, SQUARES, V, np.array([2, 5]), out)
    with pytest.raises(ValueError, match="ends must not fall"):
        core.sum_points(X, X, SQUARES, V, np.array([6]), out)
    with pytest.raises(TypeError):
        core.sum_points(X.astype(np.float32), X, SQUARES, V, np.array([5]), out)
