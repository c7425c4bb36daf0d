"""The loops of proximal Newton steps: native and reference agree."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer._core import reference
from mercer.solvers.conjugate_gradients import Carried, Standing, conjugate_gradients, one_column

from .cores import CORES, FUSED

every_core = pytest.mark.parametrize("core", CORES.values(), ids=CORES)


def points(n, kinked):
    rng = np.random.default_rng(n)
    q, r, lo, hi = rng.normal(size=n), rng.random(n), -rng.random(n), rng.random(n)
    eps = rng.random(n) if kinked else np.zeros(n)
    return rng.normal(size=n), np.stack([q, r, eps, lo, hi]), rng.normal(size=n)


@every_core
@pytest.mark.parametrize("n", [0, 1, 7, 200])
@pytest.mark.parametrize("kinked", [True, False])
def test_proximal_points(core, n, kinked):
    f, terms, centre = points(n, kinked)
    found, expected = np.full((2, 3, n), np.nan)
    sums = core.proximal_point(f, terms, centre, 0.3, *found)
    assert_allclose(sums, reference.proximal_point(f, terms, centre, 0.3, *expected), rtol=1e-12, atol=1e-14)
    assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    q, r, eps, lo, hi = terms
    for s in (found[0] + 1e-3, found[0] - 1e-3):  # no other s within the bounds is better

        def value(s):
            return 0.5 * r * s * s - q * s + eps * np.abs(s) + f * s + 0.15 * (s - centre) ** 2

        assert (value(np.clip(s, lo, hi)) >= value(found[0]) - 1e-12).all()
    df = np.random.default_rng(1).normal(size=n)
    moved = np.empty((3, n))
    reference.proximal_point(f + 0.7 * df, terms, centre, 0.3, *moved)
    assert_allclose(core.proximal_slope(f, df, 0.7, terms, centre, 0.3), moved[0] @ df, rtol=1e-11, atol=1e-14)


@every_core
@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_carried_coefficients(core, n):
    s, rate, near, *arrays = np.random.default_rng(n).normal(size=(6, n))
    expected = [array.copy() for array in arrays]
    core.carry(s, rate, near, (0.3, 0.7, -0.2, 0.4), *arrays)
    reference.carry(s, rate, near, (0.3, 0.7, -0.2, 0.4), *expected)
    assert_allclose(arrays, expected, rtol=1e-13, atol=1e-15)
    if core is not reference:
        with pytest.raises(ValueError, match="one length"):
            core.carry(s, rate, near, (0.3, 0.7, -0.2, 0.4), *arrays[:2], np.zeros(n + 1))


@pytest.mark.parametrize("centred", [False, True])
def test_conjugate_gradients_know_the_coefficients_of_what_they_find(centred):
    rng = np.random.default_rng(0)
    Z, D, m, c = rng.normal(size=(60, 9)), rng.random(60), 2.0 * rng.random(60), rng.normal(size=60)
    means = (D / D.sum(), m / m.sum()) if centred else (np.zeros(60), np.zeros(60))
    H, M = (np.eye(9) + Z.T @ (w[:, None] * (Z - mean @ Z)) for w, mean in zip((D, m), means, strict=True))
    carried, places = Carried(c), one_column(Z.T @ c, lambda p: H @ p, lambda r: np.linalg.solve(M, r))
    before = np.zeros(9)
    for place in islice(places, 8):
        s = Z @ ((place.v - before) / place.step)
        carried.follow(place, s, D, m, (means[0] @ s, means[1] @ s))
        assert_allclose(Z.T @ carried.residual, place.rest, atol=1e-10)
        assert_allclose(carried.f, Z @ place.v, atol=1e-12)
        assert_allclose(Z.T @ c - H @ place.v, place.rest, atol=1e-10)
        before = place.v
    assert np.abs(place.rest).max() <= 1e-3 * np.abs(Z.T @ c).max()


def test_one_column_is_a_column_of_several():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(12, 12)), rng.normal(size=12)
    A = A @ A.T + np.eye(12)
    several = conjugate_gradients(b[:, None], Standing.zero(b[:, None]), lambda V: A @ V, lambda R: 0.5 * R)
    for one, place in islice(zip(one_column(b, lambda v: A @ v, lambda r: 0.5 * r), several, strict=False), 6):
        assert_allclose(one.v, place.V[:, 0], rtol=1e-9)
        assert not one.stuck
    assert next(one_column(np.zeros(12), lambda v: A @ v, np.copy)).stuck


@every_core
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_squares_of_sparse_rows(core, dtype, index):
    X = sparse.random_array((40, 6), density=0.5, format="csr", rng=0).astype(dtype)
    X.indices[: X.indptr[1]] = X.indices[: X.indptr[1]][::-1].copy()  # columns in any order
    rows, weight = np.array([0, 5, 39]), np.array([1.0, -0.5, 2.0])
    out, ones = np.zeros((6, 6)), np.zeros(6)
    core.add_sparse_squares(X.indptr.astype(index), X.indices.astype(index), X.data, rows, weight, out, ones)
    dense = X.toarray()[rows].astype(float)
    assert_allclose(out, np.triu(dense.T @ (weight[:, None] * dense)), rtol=1e-12, atol=1e-14)
    assert_allclose(ones, weight @ dense, rtol=1e-12)


@every_core
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [0, 1, 3, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 150])
def test_squares_of_dense_rows(core, dtype, d, n):
    generator = np.random.default_rng(d)
    X, rows, weight = (
        generator.normal(size=(200, d)).astype(dtype),
        generator.permutation(200)[:n],
        generator.normal(size=n),
    )
    Z = X[rows].astype(float)
    for single in {False, dtype == np.float32}:
        out, ones = np.ones((d, d)), np.ones(d)
        core.add_dense_squares(X, rows, weight, single, out, ones)
        expected = 1.0 + np.triu(Z.T @ (weight[:, None] * Z))
        assert_allclose(out, expected, rtol=1e-12, atol=1e-4 if single else 1e-12)
        assert (np.tril(out, -1) == np.tril(np.ones((d, d)), -1)).all()
        assert_allclose(ones, 1.0 + weight @ Z, rtol=1e-12, atol=1e-12)


def test_squares_of_dense_rows_have_the_same_bits_on_every_level():
    generator = np.random.default_rng(0)
    X, rows, weight = (
        generator.normal(size=(300, 45)).astype(np.float32),
        generator.permutation(300),
        generator.normal(size=300),
    )
    for given, single in ((X, True), (X, False), (X.astype(float), False)):
        found = []
        for core in FUSED.values():
            out, ones = np.zeros((45, 45)), np.zeros(45)
            core.add_dense_squares(given, rows, weight, single, out, ones)
            found.append((out, ones))
        for out, ones in found[1:]:
            assert_array_equal(out, found[0][0])
            assert_array_equal(ones, found[0][1])


@pytest.mark.parametrize("core", [core for name, core in CORES.items() if name != "reference"][:1])
def test_what_does_not_fit_is_refused(core):
    f, terms, centre = points(4, True)
    with pytest.raises(ValueError, match="proximal_point: there must be five terms"):
        core.proximal_point(f, terms[:4], centre, 1.0, *np.empty((3, 4)))
    start, at = np.array([0, 1], np.int32), np.array([2], np.int32)
    with pytest.raises(ValueError, match="add_sparse_squares: there is no such column"):
        core.add_sparse_squares(start, at, np.ones(1), np.array([0]), np.ones(1), np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="add_dense_squares: there is no such row"):
        core.add_dense_squares(np.ones((3, 2)), np.array([3]), np.ones(1), False, np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="add_dense_squares: out must be square and as wide as X"):
        core.add_dense_squares(np.ones((3, 2)), np.array([1]), np.ones(1), False, np.zeros((2, 3)), np.zeros(2))
    with pytest.raises(TypeError):
        core.proximal_slope(f.astype(np.float32), f, 1.0, terms, centre, 1.0)
