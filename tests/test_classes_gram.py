"""The Gram matrix by classes: what pairs of classes get is K, and what they share is computed once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.gram import ClassGram, LazyGram
from mercer.gram.classes import PairGram
from mercer.kernels import FromFunction, Gaussian, Laplacian

X = np.random.default_rng(0).normal(size=(60, 3))
WIDE = np.random.default_rng(0).normal(size=(60, 200))
SIZES = [20, 1, 30, 9]
EDGES = np.concatenate([[0], np.cumsum(SIZES)])


def part(label):
    return np.arange(EDGES[label], EDGES[label + 1])


@pytest.mark.parametrize(("kernel", "X"), [(Gaussian(0.003), WIDE), (Laplacian(0.5), X)], ids=["Gaussian", "Laplacian"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_k(kernel, X, dtype):
    K = kernel(X)
    gram = ClassGram(kernel, X, SIZES, "10MB", dtype)
    close = {"rtol": 1e-5, "atol": 1e-6}
    for first, second in [(0, 2), (1, 3), (0, 1), (2, 3)]:
        index = np.concatenate([part(first), part(second)])
        pair = gram.subset(index)
        assert isinstance(pair, PairGram)
        small = K[np.ix_(index, index)]
        assert_allclose(np.asarray(pair), small, **close)
        assert_allclose(pair.diag(), small.diagonal(), **close)
        assert_allclose(pair.rows([3, 1]), small[[3, 1]], **close)
        assert_allclose(pair.block([2, 0, 1]), small[np.ix_([2, 0, 1], [2, 0, 1])], **close)
        v = np.random.default_rng(1).normal(size=index.size)
        assert_allclose(pair @ v, small @ v, **close)
        assert_allclose(pair.product64(v), small @ v)
        assert_allclose(pair.recompute(v, dtype=dtype), small @ v, **close)
        assert_allclose(pair.recompute(np.zeros(index.size), dtype=dtype), 0)
        assert_allclose(np.asarray(pair.narrow([4, 2])), small[np.ix_([4, 2], [4, 2])], **close)
        assert not pair.padded[index.size :].any() and not pair.padded[:, index.size :].any()
        assert pair.padded.shape[0] > index.size and pair.padded.shape[0] % 64 == 0
        assert pair.astype(np.float64).dtype == np.float64
        pair.release()
    assert len(gram.pool) >= 1
    assert_allclose(gram.rows([5]), K[[5]], **close)
    assert_allclose(gram.diag(), K.diagonal(), **close)
    assert_allclose(gram @ np.ones(60), K.sum(axis=1), **close)


def test_few_coordinates_need_no_matrix():
    pair = ClassGram(Gaussian(0.3), X, SIZES, "10MB", np.float32).subset(np.arange(21))
    assert isinstance(pair, LazyGram)
    assert_allclose(np.asarray(pair), Gaussian(0.3)(X[:21]), rtol=1e-5, atol=1e-6)


def test_other_subsets_are_rows_on_demand():
    gram = ClassGram(Gaussian(0.3), X, SIZES, "10MB", np.float64)
    for index in (np.arange(5), np.arange(2, 40), part(0), np.concatenate([part(2), part(0)[::-1]])):
        some = gram.subset(index)
        assert isinstance(some, LazyGram)
        assert_allclose(some.rows([0]), Gaussian(0.3)(X)[np.ix_([index[0]], index)])
    assert isinstance(ClassGram(Gaussian(0.3), X, SIZES, "80kB", np.float64).subset(np.arange(21)), LazyGram)


def test_each_value_is_computed_once():
    calls = 0

    def count(x, z):
        nonlocal calls
        calls += 1
        return float(np.exp(-((x - z) ** 2).sum()))

    gram = ClassGram(FromFunction(count), list(X), SIZES, "10MB", np.float64)
    before = calls
    for first in range(4):
        for second in range(first + 1, 4):
            gram.subset(np.concatenate([part(first), part(second)])).release()
    own, between = sum(n * n for n in SIZES), (60 * 60 - sum(n * n for n in SIZES)) // 2
    assert calls - before == own + between
