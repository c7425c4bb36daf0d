"""Columns: every verb gives the kernel's values, in every way there is; and the bound of its errors holds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mercer.columns import Columns, GivenColumns, Kept, padded, sums_between
from mercer.columns.choose import way_of
from mercer.columns.columns import BATCH, pieces, sizes
from mercer.columns.tiles import Packed, Tiles
from mercer.kernels import (
    Chi2,
    Constant,
    ExpChi2,
    FromFunction,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
)

generator = np.random.default_rng(0)
NORMAL = generator.normal(size=(230, 5))
SPARSE = csr_array(np.where(generator.random((230, 40)) < 0.2, np.abs(generator.normal(size=(230, 40))), 0.0))
POINTS = {
    "dense": NORMAL,
    "positive": np.abs(NORMAL),
    "bits": (generator.random((230, 70)) < 0.3).astype(float),
    "sparse": SPARSE,
    "sparse bits": csr_array((generator.random((230, 70)) < 0.3).astype(float)),
    "far and sparse": csr_array(NORMAL + 1e3),
    "one coordinate": NORMAL[:, :1],
    "sparse and long": 20.0 * SPARSE,
}
KERNELS = [
    Linear(), Polynomial(3), Gaussian(0.3), Laplacian(0.2), Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 2.0),
    Gaussian(0.3) + 2 * Linear() * Laplacian(0.1), Gaussian(0.1) ** 2 + Constant(0.5), Normalized(Polynomial(2)),
]  # fmt: skip
POSITIVE = [Intersection(), Chi2(), ExpChi2(0.5)]
CASES = [
    *((kernel, name) for kernel in KERNELS for name in POINTS if kernel.bounded or "far" not in name),
    *((kernel, name) for kernel in POSITIVE for name in ("positive", "bits", "sparse")),
]


@pytest.mark.parametrize(("kernel", "name"), CASES, ids=lambda part: str(part).replace(" ", "-"))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_verb_gives_the_kernel(kernel, name, dtype):
    X = POINTS[name]
    n = X.shape[0]
    K = kernel(X.astype(dtype).astype(np.float64))
    single = dtype == np.float32
    close = {"rtol": 0 if single else 1e-9, "atol": (2e-5 if single else 1e-11) * np.abs(K).max()}
    columns = Columns(kernel, X.astype(dtype), dtype, scratch=30_000.0)
    rows, v = generator.permutation(n)[:101], generator.normal(size=101)
    out = np.full((150, n), np.nan, dtype)
    slots = np.arange(101)[::-1] + 20
    columns.fill(rows, out, slots)
    assert_allclose(out[slots], K[rows], **close)
    assert np.isnan(out[:20]).all()
    sums = np.ones(n)
    columns.add(rows, v, sums)
    assert_allclose(sums - 1.0, v @ K[rows], rtol=0, atol=close["atol"] * np.abs(v).sum() + 1e-9)
    square = np.zeros((120, 120), dtype)
    columns.square(rows, square)
    assert_allclose(square[:101, :101], K[np.ix_(rows, rows)], **close)
    assert not square[101:].any()
    at = np.concatenate([rows, np.setdiff1d(np.arange(n), rows)[:40]])
    exact = {"rtol": 1e-9, "atol": 1e-10 * np.abs(K).max() * np.abs(v).sum()}
    assert_allclose(columns.product(rows, v[:, None], at)[:, 0], v @ K[np.ix_(rows, at)], **exact)
    narrow = columns.narrow(at, 1)
    few = np.zeros((101, at.size), dtype)
    narrow.fill(rows, few, np.arange(101))
    assert_array_equal(few, out[slots][:, at])  # the same bits, whoever the neighbours are
    between = sums_between(kernel, X[:50].astype(dtype), X[rows].astype(dtype), v[:, None], [0, 3, 3, 101], dtype)
    expected = np.stack([v[a:b] @ K[np.ix_(rows[a:b], np.arange(50))] for a, b in ((0, 3), (3, 3), (3, 101))])
    assert_allclose(between[:, 0], expected, rtol=0, atol=close["atol"] * np.abs(v).sum() + 1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2), Laplacian(0.5)], ids=repr)
def test_sums_do_not_depend_on_pieces_and_threads(kernel):
    X = generator.normal(size=(3200, 4)).astype(np.float32)
    rows, v = np.arange(0, 3200, 3), generator.normal(size=1067)
    found = []
    for threads, scratch in ((1, 3e7), (2, 3e7), (2, 7e6), (3, 7e6)):
        columns = Columns(kernel, X, np.float32, threads, scratch=scratch)
        sums = np.zeros(3200)
        columns.add(rows, v, sums)
        exact = columns.product(rows, v[:, None], np.concatenate([rows, np.arange(1, 3200, 3)]))
        found.append((sums, exact))
    for sums, exact in found[1:]:
        assert_array_equal(sums, found[0][0])
        assert_array_equal(exact, found[0][1])


@pytest.mark.parametrize("scale", [0.01, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("d", [1, 6, 60, 300])
def test_no_value_is_wrong_by_more_than_the_bound(scale, d):
    for X in (scale * generator.normal(size=(300, d)), (generator.random((300, d)) < 0.4).astype(float)):
        X = X.astype(np.float32)
        kernel = Gaussian(1.0 / d)
        columns = Columns(kernel, X, np.float32)
        out = np.empty((300, 300), np.float32)
        columns.fill(np.arange(300), out, np.arange(300))
        exact = kernel(X.astype(np.float64))
        assert np.abs(out - exact).max() <= columns.errors.largest < 1e-3
        part, halving, rest = columns.errors
        allowed = (part - halving * np.log2(np.maximum(exact, 1e-300))) * exact + rest
        assert (np.abs(out - exact) <= allowed).all()
        sums, v = np.zeros(300), generator.normal(size=300)
        columns.add(np.arange(300), v, sums)  # of rows without a level of their own
        assert (np.abs(sums - v @ exact) <= np.abs(v) @ allowed).all()
        some = np.union1d(np.arange(0, 300, 3), np.argmax(part))  # with what is of second order by the largest
        assert_array_equal(columns.narrow(some, 1).errors.part, part[some])


@pytest.mark.parametrize("d", [10**3, 10**12])
def test_of_too_many_coordinates_there_is_no_bound(d):
    form = Columns(Gaussian(1.0), NORMAL, np.float32).way.form
    points = Packed(np.empty(0, np.float32), np.full(96, -20.0, np.float32), 96)
    errors = Tiles(form, np.broadcast_to(0.0, d), 1.0, np.float32).errors([points])
    assert errors.largest == np.inf if d > 10**3 else 0.0 < errors.largest < 0.1


def test_others_have_no_bound():
    assert Columns(Polynomial(2), NORMAL, np.float32).errors.largest == np.inf


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.1), Matern(1.5, 2.0), Linear()], ids=repr)
@pytest.mark.parametrize(("density", "offset", "dense"), [(0.05, 0.0, False), (0.7, 0.0, True), (1.0, 40.0, True)])
def test_sparse_points_that_are_nearly_full_are_packed_as_dense_ones(kernel, density, offset, dense):
    generator = np.random.default_rng(0)
    X = np.where(generator.random((200, 30)) < density, generator.normal(size=(200, 30)) + offset, 0.0)
    way = way_of(kernel, (csr_array(X),), np.dtype(np.float32))
    assert (type(way) is Tiles) == (dense or isinstance(kernel, Matern))  # which has no inverted index
    columns, K = Columns(kernel, csr_array(X), np.float64), np.empty((200, 200))
    columns.fill(np.arange(200), K, np.arange(200))
    assert_allclose(K, kernel(X), rtol=1e-9, atol=1e-12)


def test_values_are_counted():
    columns = Columns(Gaussian(0.3), NORMAL, np.float32)
    columns.add(np.arange(10), np.ones(10), np.zeros(230))
    columns.narrow(np.arange(50), 1).add(np.arange(10), np.ones(10), np.zeros(50))
    assert columns.counted.values == 10 * 230 + 10 * 50


def test_a_python_function_is_called_for_half_of_a_square():
    calls = []

    def function(x, z):
        calls.append(1)
        return float(x @ z)

    columns = Columns(FromFunction(function), list(NORMAL[:40]), np.float64)
    out = np.empty((40, 40))
    columns.square(np.arange(40), out)
    assert_allclose(out, NORMAL[:40] @ NORMAL[:40].T)


def test_given_values_are_not_computed():
    K = Gaussian(0.3)(NORMAL)
    whole = np.zeros((padded(230),) * 2)
    whole[:230, :230] = K
    rows, v = np.arange(5, 60), generator.normal(size=55)
    for columns in (GivenColumns(K, 230), GivenColumns(whole, 230), GivenColumns(K, 230).narrow(np.arange(100), 1)):
        sums, out = np.zeros(columns.n), np.empty((55, columns.n))
        columns.add(rows, v, sums)
        assert_allclose(sums, (v @ K[rows])[columns.at])
        columns.fill(rows, out, np.arange(55))
        assert_array_equal(out, K[np.ix_(rows, columns.at)])
        assert_allclose(columns.product(rows, v[:, None], np.arange(7))[:, 0], v @ K[rows, :7])
        assert columns.counted.values == 0


def test_rows_that_are_kept():
    columns = Columns(Gaussian(0.3), NORMAL, np.float64)
    K = Gaussian(0.3)(NORMAL)
    kept = Kept(columns, 4 * 230 * 8)
    assert kept.count == 4
    slots = kept.get(np.array([3, 1, 7]))
    assert_allclose(kept.values[slots], K[[3, 1, 7]])
    before = columns.counted.values
    kept.get(np.array([1, 3]))
    assert columns.counted.values == before
    kept.get(np.array([9, 11]))  # 7 is the least recently used
    assert kept.slot_of[7] == -1 and kept.slot_of[3] >= 0


def test_sizes_of_pieces():
    way = Columns(Gaussian(0.3), NORMAL, np.float32).way
    for scratch in (1.0, 1e4, 1e6, 1e9):
        batch, piece = sizes(way, scratch)
        assert batch % 96 == 0 and piece % 48 == 0 and 96 <= batch <= BATCH and 48 <= piece <= 200_000
    assert pieces(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert pieces(0, 4) == []
