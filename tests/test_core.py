"""Compiled loops against plain NumPy; the same tests run uncompiled in a process of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array

from mercer import LinearSVC
from mercer._core import distances, exponential, gaussian, sparse, sums
from mercer.gram import Design
from mercer.limits import ctrl_c_held

generator = np.random.default_rng(0)
DTYPES = [np.float32, np.float64]
small = os.environ.get("NUMBA_DISABLE_JIT") == "1"
N = 9 if small else 300


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential(dtype):
    single = dtype == np.float32
    D = np.concatenate([[0.0, 1e-30, 1e30, 800.0], np.linspace(0, 85 if single else 700, 20 * N)]).astype(dtype)[None]
    expected = np.exp(-2.0 * D.astype(float) / 2)
    (exponential.exp_32 if single else exponential.exp_64)(D, 1.0)
    assert D[0, 0] == 1
    assert D[0, 2] == D[0, 3] == 0
    assert_allclose(D, expected, rtol=5e-6 if single else 5e-16, atol=1e-37 if single else 1e-300)


def test_logarithm():
    expected = np.concatenate([[0.0], np.linspace(-690.0, 0.1, 20 * N)])
    found = np.exp(expected)
    exponential.log_row_64(found, np.empty(found.size))
    assert_allclose(found, np.log(np.exp(expected)), rtol=5e-16, atol=1e-16)


def packed(X, size, gamma):
    points = np.empty((-(-len(X) // size), X.shape[1], size), X.dtype)
    levels = np.empty((len(points), size), X.dtype)
    gaussian.pack(X, np.full(X.shape[1], 0.5, X.dtype), points)
    gaussian.levels(points, gamma, levels)
    return points, levels


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", [gaussian.PRODUCTS, gaussian.DIFFERENCES])
@pytest.mark.parametrize("rows", [3, 8, 17])
def test_gaussian(dtype, way, rows):
    A, Z = (generator.normal(size=(n, 3)).astype(dtype) for n in (rows, 60 if small else 500))
    A[0] *= 1e3  # heavy, and far from all
    Z[0] = A[0]
    expected = np.exp(-0.3 * ((A[:, None].astype(float) - Z[None]) ** 2).sum(-1))
    left, right = packed(A, gaussian.GROUP, 0.3), packed(Z, gaussian.PANEL[A.itemsize], 0.3)
    out, total, at = np.full((rows + 1, len(Z)), np.nan, dtype), np.full(len(Z), np.nan), np.arange(rows)[::-1] + 1
    gaussian.gaussian_rows(*left, *right, 0.3, way, out, at, 1, len(Z) - 1)
    close = {"rtol": 1e-5, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-13}
    assert_allclose(out[at, 1:-1], expected[:, 1:-1], **close)
    assert np.isnan(out[0]).all()
    assert np.isnan(out[:, [0, -1]]).all()
    v = generator.normal(size=rows)
    gaussian.gaussian_sums(*left, *right, 0.3, way, v, total, 0, len(Z))
    assert_allclose(total, v @ expected, rtol=1e-5, atol=1e-5 if dtype == np.float32 else 1e-14)
    w, above, below = generator.normal(size=len(Z)), np.ones(rows), np.ones(len(Z))
    gaussian.gaussian_both_ways(*left, *right, 0.3, way, w, v, above, below, False)
    both = {"rtol": 1e-5, "atol": 1e-5 if dtype == np.float32 else 1e-14}
    assert_allclose(above, 1 + expected @ w, **both)
    assert_allclose(below, 1 + v @ expected, **both)
    gaussian.gaussian_both_ways(*left, *right, 0.3, way, w, v, above, below, True)  # the other way is left out
    assert_allclose(above, 1 + 2 * expected @ w, **both)
    assert_allclose(below, 1 + v @ expected, **both)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_near_the_least_number(dtype):
    """Far apart, values sink to zero without a jump, and beyond they are zero."""
    least = np.sqrt(-np.log(np.finfo(dtype).tiny))
    Z = np.array([[0.0], *([least + step] for step in (-0.5, -0.01, 0.0, 0.003, 0.01, 1.0, 1e3, 1e18))], dtype)
    left, right = packed(Z[:1], gaussian.GROUP, 1.0), packed(Z, gaussian.PANEL[Z.itemsize], 1.0)
    out = np.full((1, len(Z)), np.nan, dtype)
    gaussian.gaussian_rows(*left, *right, 1.0, gaussian.DIFFERENCES, out, np.arange(1), 0, len(Z))
    expected = np.exp(-(Z.astype(float).ravel() ** 2))
    assert_allclose(out[0], expected, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=np.finfo(dtype).tiny)
    assert (np.diff(out[0]) <= 0).all()
    assert (out[0, -3:] == 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 4, 11])
def test_sums(dtype, d):
    A, B = (generator.gamma(1.0, size=(n, d)).astype(dtype) for n in (N, 7))
    A[:, 0] = B[:3, 0] = 0
    a, b = A.astype(float)[:, None], B.astype(float)[None]
    both = np.where(a + b > 0, a + b, 1)
    tiny = np.finfo(dtype).tiny
    for add, constants, expected in [
        (sums.add_l1, (), abs(a - b)),
        (sums.add_minimum, (), np.minimum(a, b)),
        (sums.add_chi2, (tiny,), a * b / both),
        (sums.add_chi2_distance, (tiny,), (a - b) ** 2 / both),
    ]:
        out = np.ones((N, 7), dtype)
        add(A, np.ascontiguousarray(B.T), out, *constants)
        assert_allclose(out, 1 + expected.sum(-1), rtol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_distances(dtype):
    A, B = (100 + generator.normal(size=(n, 5)).astype(dtype) for n in (N, 6))
    B[2] = A[3]
    a, b = np.zeros(N, dtype), np.zeros(6, dtype)
    moved_a, moved_b = distances.centre_both(A, B, a, b)
    assert_allclose(moved_b.mean(axis=0), 0, atol=1e-4)
    assert_allclose(a, (moved_a**2).sum(axis=1), rtol=1e-5)
    expected = ((A[:, None].astype(float) - B[None]) ** 2).sum(-1)
    if dtype == np.float64:
        G = moved_a @ moved_b.T
        distances.distances_from_dots(A, B, a, b, G)
        assert_allclose(G, expected, rtol=1e-9)
        assert G[3, 2] == 0
    G = moved_a @ moved_b.T
    if dtype == np.float32:
        exponential.gaussian_32(G, a, b, 0.5)
        assert_allclose(G, np.exp(-0.5 * expected), atol=1e-5)
        return
    A[np.abs(A) < 99.5] = B[np.abs(B) < 99.5] = 0
    left, right = csr_array(A), csr_array(B)
    G = A @ B.T
    distances.sparse_distances_from_dots(
        left.indptr, left.indices, left.data, right.indptr, right.indices, right.data,
        (A**2).sum(axis=1), (B**2).sum(axis=1), G,
    )  # fmt: skip
    assert_allclose(G, ((A[:, None] - B[None]) ** 2).sum(-1), rtol=1e-9)


def test_sparse_products():
    A, B = (generator.normal(size=(n, 12)) * (generator.random((n, 12)) < 0.3) for n in (N, 7))
    left, right = csr_array(A), csc_array(B)
    out = np.zeros((N, 7))
    sparse.add_sparse_dot(left.indptr, left.indices, left.data, right.indptr, right.indices, right.data, out)
    assert_allclose(out, A @ B.T, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_products_with_rows(dtype, kind, zeros):
    X = (generator.normal(size=(2 * N + 3, 5)) * (generator.random((2 * N + 3, 5)) < 0.7)).astype(dtype)
    v, w = generator.normal(size=len(X)) * (generator.random(len(X)) >= zeros), generator.normal(size=5)
    design = Design(kind(X))
    assert_allclose(design.dots(w), X.astype(float) @ w, atol=1e-12)
    assert_allclose(design.combination(v), v @ X.astype(float), atol=1e-11)
    s = np.empty(len(v))
    found = design.weighted(w, 0.5, v, s)
    assert_allclose(s, X.astype(float) @ w + 0.5, atol=1e-12)
    assert_allclose(found, (v * s) @ X.astype(float), atol=1e-10)
    assert_allclose(design.squared_norms, (X.astype(float) ** 2).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_linear_machines(loss, kind):
    X = generator.normal(size=(90, 3))
    y = X[:, 0] + 0.5 * generator.normal(size=90) > 0
    for bias in (True, "penalised", False):
        assert LinearSVC(loss=loss, bias=bias).fit(kind(X), y).certificate_.converged


def test_read_only_input():
    A = np.ones((3, 2))
    A.flags.writeable = False
    out = np.zeros((3, 2))
    sums.add_l1(A, np.zeros((2, 2)), out)
    assert_array_equal(out, 2)


@pytest.mark.skipif(small, reason="is this process")
def test_without_compilation():
    command = [sys.executable, "-m", "pytest", "-q", __file__, "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_a_folder_for_compiled_code(tmp_path):
    """Compiled code that nobody can keep still runs, and one line says so."""
    script = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "import logging; logging.basicConfig()\n"
        "from mercer.kernels import Laplacian\n"
        "print(Laplacian(1.0)([[0.0], [1.0]])[0, 1])\n"
    )
    if small:
        return
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    assert abs(float(done.stdout) - np.exp(-1)) < 1e-12
    assert done.stderr.count("set NUMBA_CACHE_DIR") == 1


def test_ctrl_c_waits_for_the_compiler():
    done = []

    def compile_something():
        with ctrl_c_held(), ctrl_c_held():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compile_something()
    assert done
    assert signal.getsignal(signal.SIGINT) is before
