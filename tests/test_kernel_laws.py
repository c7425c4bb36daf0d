"""Laws that every kernel of the zoo keeps."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import mercer
from mercer.kernels import REGISTRY, Gaussian, Kernel

from .zoo import KERNELS, SPARSE, WRITTEN, as_sparse

every = pytest.mark.parametrize("specimen", KERNELS, ids=str)


def test_every_kernel_is_in_the_zoo():
    met: set[type] = set()

    def visit(kernel: Kernel) -> None:
        met.add(type(kernel))
        for part in kernel.parts():
            visit(part)

    for specimen in KERNELS:
        visit(specimen.kernel)
    missing = {cls.__name__ for cls in REGISTRY.values()} - {cls.__name__ for cls in met}
    assert not missing, f"add a line to KERNELS in tests/zoo.py for {missing}"


@pytest.mark.parametrize("specimen", [s for s in KERNELS if s.formula], ids=str)
def test_formula(specimen):
    X, Z = specimen.points(13), specimen.points(9, seed=1)
    expected = [[specimen.formula(x, z) for z in Z] for x in X]
    assert_allclose(specimen.kernel(X, Z), expected, rtol=1e-12, atol=1e-13)


@every
def test_symmetric_and_diagonal(specimen):
    X = specimen.points(30)
    K = specimen.kernel(X)
    assert_array_equal(K, K.T)
    assert_array_equal(K, specimen.kernel(X, X))
    assert_allclose(specimen.kernel.diag(X), np.diagonal(K), rtol=1e-13, atol=1e-13)
    assert_allclose(specimen.kernel(X, copy.deepcopy(X)), K, rtol=1e-12, atol=1e-12)


@every
def test_positive_definite(specimen):
    found = mercer.evidence(specimen.kernel, specimen.points(40))
    assert found.positive_definite, str(found)


@every
def test_a_block_of_a_block_is_the_block_of_the_parts(specimen):
    X, Z = specimen.points(25), specimen.points(20, seed=1)
    assert_allclose(specimen.kernel(X, Z)[3:9, 5:], specimen.kernel(X[3:9], Z[5:]), rtol=1e-12, atol=1e-13)
    assert_allclose(specimen.kernel(X, Z), specimen.kernel(Z, X).T, rtol=1e-12, atol=1e-13)


@every
def test_product_is_the_block_times_the_vector(specimen):
    X, Z = specimen.points(25), specimen.points(20, seed=1)
    v = np.random.default_rng(5).normal(size=(20, 2))
    assert_allclose(specimen.kernel.product(X, Z, v), specimen.kernel(X, Z) @ v, rtol=1e-10, atol=1e-10)
    assert_allclose(specimen.kernel.product(X, Z, v[:, 0]), specimen.kernel(X, Z) @ v[:, 0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("specimen", SPARSE, ids=str)
def test_sparse_is_dense(specimen):
    X, Z = specimen.points(25), specimen.points(20, seed=1)
    dense = specimen.kernel(X, Z)
    for first, second in ((as_sparse(X), as_sparse(Z)), (as_sparse(X), Z), (X, as_sparse(Z))):
        assert_allclose(specimen.kernel(first, second), dense, rtol=1e-11, atol=1e-12)
    assert_allclose(specimen.kernel.diag(as_sparse(X)), specimen.kernel.diag(X), rtol=1e-12, atol=1e-12)
    assert_allclose(specimen.kernel(as_sparse(X)), specimen.kernel(X), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("specimen", SPARSE, ids=str)
def test_float32_stays_float32(specimen):
    X, Z = specimen.points(25).astype(np.float32), specimen.points(20, seed=1).astype(np.float32)
    block = specimen.kernel(X, Z)
    assert block.dtype == np.float32
    assert specimen.kernel(as_sparse(X), as_sparse(Z)).dtype == np.float32
    precise = specimen.kernel(X.astype(float), Z.astype(float))
    assert_allclose(block, precise, rtol=2e-5, atol=1e-5 * max(1, np.abs(precise).max()))


@pytest.mark.parametrize("specimen", SPARSE, ids=str)
def test_lists_and_frames(specimen):
    X = specimen.points(6)
    expected = specimen.kernel(X)
    assert_array_equal(specimen.kernel(pandas.DataFrame(X)), expected)
    if specimen.kernel.domain.name == "VECTORS":
        assert_array_equal(specimen.kernel(X.tolist()), expected)
    assert_allclose(specimen.kernel(np.asfortranarray(X)), expected, rtol=1e-13, atol=1e-14)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert_array_equal(specimen.kernel(frozen), expected)


@pytest.mark.parametrize("specimen", [s for s in SPARSE if not s.kernel.serial], ids=str)
def test_tiles_and_threads_change_nothing(specimen):
    """Blocks of several tiles, on several threads, against the plain formula of one tile."""
    X, Z = specimen.points(700), specimen.points(900, seed=1)
    block = specimen.kernel(X, Z)
    for rows, columns in ((slice(0, 40), slice(0, 50)), (slice(660, 700), slice(850, 900))):
        assert_allclose(block[rows, columns], specimen.kernel(X[rows], Z[columns]), rtol=1e-10, atol=1e-11)
    assert_array_equal(specimen.kernel(X), specimen.kernel(X).T)


@pytest.mark.parametrize("kernel", WRITTEN, ids=repr)
def test_text_parses_back(kernel):
    assert mercer.kernel(repr(kernel)) == kernel
    assert hash(mercer.kernel(repr(kernel))) == hash(kernel)
    assert repr(mercer.kernel(repr(kernel))) == repr(kernel)


@every
def test_value_semantics(specimen):
    kernel = specimen.kernel
    assert kernel == kernel and hash(kernel) == hash(kernel)
    assert kernel != Gaussian(gamma=0.123456)
    assert clone(kernel) is copy.deepcopy(kernel) is kernel
    with pytest.raises(AttributeError):
        kernel.gamma = 3
    own = kernel.get_params(deep=False)
    assert type(kernel)(**own).get_params(deep=False).keys() == own.keys()
    assert repr(kernel.with_params(**own)) == repr(kernel)


@pytest.mark.parametrize("kernel", WRITTEN, ids=repr)
def test_pickle(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
