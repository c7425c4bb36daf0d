"""Products with rows of features, and linear machines on every kind of them."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from mercer import LinearSVC
from mercer.gram import Design
from mercer.limits import ctrl_c_held

generator = np.random.default_rng(0)
DTYPES = [np.float32, np.float64]
N = 300


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


def test_ctrl_c_waits_while_it_is_held():
    done = []

    def do_something():
        with ctrl_c_held(), ctrl_c_held():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        do_something()
    assert done
    assert signal.getsignal(signal.SIGINT) is before
