"""Prepared points of the Gaussian: each way gives the formula, whatever the shapes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mercer.kernels import Gaussian
from mercer.kernels.columns import Bits, Dense, TabledBits, fast_columns
from mercer.kernels.evaluate import (
    Prepared,
    add_up_own_rows,
    fill_rows,
    fill_square,
    prepared,
    stream_product,
)

GENERATOR = np.random.default_rng(0)
FEW = GENERATOR.normal(size=(3001, 5))
MANY = GENERATOR.normal(size=(2501, 70))
BITS = (GENERATOR.random((1500, 130)) < 0.2).astype(float)
SETS = {"few": (FEW, Dense), "many": (MANY, Dense), "bits": (BITS, Bits),
        "sparse bits": (csr_array(BITS), Bits)}  # fmt: skip


def formula(X, Z, gamma):
    X, Z = (P.toarray() if hasattr(P, "toarray") else P for P in (X, Z))
    return np.exp(-gamma * ((X[:, None].astype(float) - Z[None].astype(float)) ** 2).sum(-1))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_rows_and_sums(name, dtype, rows):
    X, cls = SETS[name]
    X = X.astype(dtype)
    kernel = Gaussian(0.5 / X.shape[1])
    columns = kernel.prepare(X, dtype)
    assert type(columns) is (TabledBits if cls is Bits and dtype == np.float64 else cls)
    index = np.arange(rows) * 31
    expected = formula(X[index], X, 0.5 / X.shape[1])
    close = {"rtol": 2e-5, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-14}
    out = np.full((rows + 3, X.shape[0]), np.nan, dtype)
    at = np.arange(rows)[::-1] + 2
    fill_rows(columns, X[index], out, at)
    assert_allclose(out[at], expected, **close)
    assert np.isnan(out[:2]).all()
    v = GENERATOR.normal(size=rows)
    if columns.cheap:
        for source, places in ((columns, index), (columns.alike(X[index]), np.arange(rows))):
            sums = add_up_own_rows(columns, source, places, v)
            assert_allclose(sums, v @ expected, rtol=1e-4, atol=1e-5)
    square, few = np.empty((rows, rows), dtype), columns.columns_of(index)
    fill_square(few, square)
    assert_allclose(square, expected[:, index], **close)
    fill_rows(few, X[index[:2]], square, [0, 1][:rows])
    assert_allclose(square[:2], expected[:2, index], **close)
    for width in ((), (1,), (3,)):
        w = GENERATOR.normal(size=(rows, *width))
        assert_allclose(stream_product(kernel, X, X[index], w, dtype), expected.T @ w, rtol=1e-4, atol=1e-5)


def test_points_prepared_alike_are_packed_as_rows_once():
    columns = Gaussian(0.1).prepare(FEW, np.float32)
    few = columns.alike(FEW[:300])
    assert few.as_rows_of(columns) is few.as_rows_of(columns)
    other = Gaussian(0.1).prepare(FEW[300:900], np.float32)  # around another centre
    out = np.empty((300, 600), np.float32)
    other.fill(few.as_rows_of(other), out, np.arange(300), slice(0, 600), 600)
    assert_allclose(out, formula(FEW[:300], FEW[300:900], 0.1), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("width", [1, 31, 32, 33, 256, Bits.MOST, Bits.MOST + 1])
def test_bits_of_every_width(width):
    X = np.zeros((60, width), np.float32)
    X[1::2] = 1.0  # all coordinates differ
    X[2] = GENERATOR.random(width) < 0.5
    columns = Gaussian(1.0 / width).prepare(X, np.float32)
    assert isinstance(columns, Bits if width <= Bits.MOST else Dense)
    out = np.empty((60, 60), np.float32)
    fill_square(columns, out)
    assert_allclose(out, formula(X, X, 1.0 / width), rtol=1e-5)


@pytest.mark.digits
def test_the_same_bits_whatever_the_threads():
    columns = Gaussian(0.1).prepare(FEW, np.float32)
    v = GENERATOR.normal(size=500)
    few = np.arange(500)
    assert_array_equal(add_up_own_rows(columns, columns, few, v), add_up_own_rows(columns, columns, few, v))
    whole, parts = np.empty(3001), np.empty(3001)
    rows = columns.ready(FEW[:500])
    columns.add_up(rows, v, whole, slice(0, 3001))
    for start, stop in ((0, 777), (777, 2000), (2000, 3001)):
        columns.add_up(rows, v, parts, slice(start, stop))
    assert_array_equal(whole, parts)


def test_points_far_out_keep_their_digits():
    X = (MANY + 1e4).astype(np.float32)
    X[:5] *= 3  # heavy: products in float32 would not do
    out = np.empty((9, len(X)), np.float32)
    fill_rows(Gaussian(1.0).prepare(X, np.float32), X[:9], out, np.arange(9))
    assert_allclose(out, formula(X[:9], X, 1.0), atol=2e-5)


def test_which_way():
    assert fast_columns(FEW, np.float64) is Dense
    assert fast_columns(2 * BITS, np.float64) is None
    assert fast_columns(csr_array(FEW), np.float32) is None
    assert fast_columns(2 * BITS, np.float32) is Dense
    stored_zeros = csr_array(BITS[:3])
    stored_zeros.data[0] = 0.0
    assert_allclose(Gaussian(0.1)(stored_zeros), formula(stored_zeros, stored_zeros, 0.1))
    assert type(prepared(Gaussian(0.1), FEW, np.float32, room=100)) is Prepared
