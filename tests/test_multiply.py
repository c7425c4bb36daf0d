"""K V of several columns, and blocks between two sets: the values of the kernel, each computed once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer.columns import Columns, block_between, multiply
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, RationalQuadratic

generator = np.random.default_rng(0)
KERNELS = [
    Gaussian(0.3),
    Laplacian(0.2),
    Polynomial(2),
    Linear() + Gaussian(0.1),
    RationalQuadratic(length_scale=1.0),
    2.0 * Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_blocks_between_two_sets(kernel, form):
    X, Z = (np.where((P := generator.normal(size=(n, 5))) > -0.5, P, 0.0) for n in (130, 57))
    assert_allclose(block_between(kernel, form(X), form(Z)), kernel(X, Z), rtol=1e-12, atol=1e-13)
    single = block_between(kernel, form(X.astype(np.float32)), form(Z.astype(np.float32)), np.float32)
    assert single.dtype == np.float32
    assert_allclose(single, kernel(X, Z), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=repr)
@pytest.mark.parametrize("threads", [1, 2])
def test_products_with_several_columns(kernel, threads):
    X, V = generator.normal(size=(1100, 4)), generator.normal(size=(1100, 3))
    columns = Columns(kernel, X, np.float64, threads)
    expected = kernel(X) @ V
    found = multiply(columns, V, np.float64)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    assert columns.counted.values < 0.75 * X.shape[0] ** 2  # by symmetry
    again = multiply(Columns(kernel, X, np.float64, 3 - threads), V, np.float64)
    assert (again == found).all()  # the same bits, whatever the number of threads


CHILD = """
import sys
import numpy as np
from mercer import KernelLogistic, KernelRidge
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=600)
for kernel in ("rbf(gamma=0.3)", "laplacian(gamma=0.3) + linear", "polynomial(degree=2)", "matern"):
    for settings in ({}, {"alpha": "loo"}, {"solver": "conjugategradient"}, {"solver": "nystrom(landmarks=40)"}):
        fitted = KernelRidge(kernel, bias=True, **settings).fit(X, y)
        fitted.predict(X, return_std=True)
        if "conjugate" not in str(settings):
            fitted.predict_interval(X[:20])
for memory in ("2GB", "1MB"):
    KernelLogistic("rbf(gamma=0.3)", memory=memory, solver="newton").fit(X[:300], y[:300] > 0).predict_proba(X)
assert "numba" not in sys.modules, "numba"
"""


def test_ridge_and_logistic_regression_need_no_compiler():
    subprocess.run([sys.executable, "-c", CHILD], check=True, timeout=120)
