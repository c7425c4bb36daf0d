"""Gram matrices: dense = by rows = low rank, and a budget that holds."""

from __future__ import annotations

import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.columns import Columns
from mercer.features import PolynomialMap
from mercer.gram import DenseGram, LowRankGram, PointsGram, gram_of
from mercer.gram.pivoted import pivoted_cholesky
from mercer.kernels import FromFeatures, FromFunction, Gaussian, Laplacian, Linear, Matern, Polynomial, Precomputed
from mercer.memory import format_bytes, parse_bytes

from .zoo import KERNELS, as_sparse, vectors, words

N = 40


def forms(specimen):
    """The Gram matrix of a specimen in every form that it has."""
    X = specimen.points(N)
    yield DenseGram.compute(specimen.kernel, X)
    yield PointsGram(specimen.kernel, X, budget=500_000)
    yield PointsGram(specimen.kernel, X, budget=_least(specimen.kernel, X))
    features = specimen.kernel.features(X)
    if features is not None:
        yield LowRankGram(features)


def _least(kernel, X):
    """The smallest budget that is accepted, as the error says."""
    low, high = 1, 500_000
    while high - low > 1:
        middle = (low + high) // 2
        try:
            PointsGram(kernel, X, budget=middle)
            high = middle
        except ValueError:
            low = middle
    return high


@pytest.mark.parametrize("specimen", KERNELS, ids=str)
def test_all_forms_agree(specimen):
    X = specimen.points(N)
    K = specimen.kernel(X)
    generator = np.random.default_rng(0)
    v, index = generator.normal(size=(N, 3)), generator.permutation(N)[:11]
    close = {"rtol": 1e-9, "atol": 1e-9 * max(1.0, np.abs(K).max())}
    for gram in forms(specimen):
        assert gram.n == N
        assert_allclose(gram.diag(), np.diagonal(K), **close)
        assert_allclose(gram @ v, K @ v, **close)
        assert_allclose(gram @ v[:, 0], K @ v[:, 0], **close)
        assert_allclose(gram.product64(v), K @ v, **close)
        for _ in range(2):  # the second time, from what was kept
            for i in range(N):
                assert_allclose(gram.rows([i])[0], K[i], **close)
        batch = index[: getattr(gram, "batch", N)]
        assert_allclose(gram.rows(batch), K[batch], **close)
        if gram.features is not None:
            Z = gram.features.toarray() if hasattr(gram.features, "toarray") else gram.features
            assert_allclose(Z @ Z.T, K, **close)
        part = gram.subset(index)
        small = K[np.ix_(index, index)]
        assert part.n == 11
        assert_allclose(part.diag(), np.diagonal(small), **close)
        assert_allclose(part @ v[:11], small @ v[:11], **close)
        assert_allclose(part.product64(v[:11]), small @ v[:11], **close)
        assert_allclose(part.rows([2])[0], small[2], **close)
        again = part.subset(np.arange(11) % 2 == 0)
        assert_allclose(again.rows([1])[0], small[2, ::2], **close)


def test_rows_by_mask_slice_and_negative_number():
    X = vectors(N)
    K = Linear()(X)
    for gram in (DenseGram.compute(Linear(), X), PointsGram(Linear(), X, 10**6), LowRankGram(X)):
        assert_allclose(gram.rows(np.arange(N) < 3), K[:3])
        assert_allclose(gram.rows(slice(0, 4, 2)), K[0:4:2])
        assert_allclose(gram.rows(-1), K[-1:])
        assert_allclose(gram.rows([1, 1, 0]), K[[1, 1, 0]])
        assert gram.rows([]).shape == (0, N)
        for wrong in ([N], [-N - 1], [0.5], np.ones(3, bool), [[0, 1]]):
            with pytest.raises(IndexError):
                gram.rows(wrong)
        for wrong in (np.ones(N - 1), np.ones((1, 1, 1)), 3.0):
            with pytest.raises(ValueError, match="cannot be multiplied"):
                gram @ wrong


class Counted:
    """A linear kernel that counts the rows it computes."""

    def __init__(self):
        self.rows = []

    def __call__(self, x, z):
        self.rows.append(float(x[0]))
        return float(x[0] * z[0])


def test_least_recently_used_goes_first():
    X = np.arange(20.0).reshape(-1, 1)
    function = Counted()
    gram = PointsGram(FromFunction(function), X, budget=3000)
    slots = gram._kept.count
    assert 2 <= slots < 20
    for i in range(slots):
        gram.rows([i])
    gram.rows([0])  # used again: 1 is now the oldest
    gram.rows([slots])
    function.rows.clear()
    gram.rows([0])
    assert not function.rows
    gram.rows([1])
    assert set(function.rows) == {1.0}


def test_an_error_leaves_no_half_filled_row():
    X = np.arange(10.0).reshape(-1, 1)
    fail = True

    def function(x, z):
        if fail and x[0] != z[0] == 5:
            raise RuntimeError("no")
        return float(x[0] * z[0])

    gram = PointsGram(FromFunction(function), X, budget=50_000)
    with pytest.raises(RuntimeError):
        gram.rows([3])
    fail = False
    assert_array_equal(gram.rows([3])[0], 3 * X[:, 0])


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Laplacian(0.1), Gaussian(0.1) + Linear() * Polynomial()], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_budget_holds(kernel, dtype):
    X = np.random.default_rng(0).normal(size=(3000, 20)).astype(dtype)
    budget = 3_000_000
    kernel(X[:500], X[:400])  # compile
    small = PointsGram(kernel, X[:900], 10**6)
    small.rows([0])
    small.product64(small @ np.ones(900))
    index = np.random.default_rng(1).permutation(3000)
    tracemalloc.start()
    try:
        gram = PointsGram(kernel, X, budget)
        assert gram.nbytes <= budget
        for start in range(0, 1200, gram.batch):
            gram.rows(index[start : start + gram.batch])
            gram.rows(index[: gram.batch // 2])
        part = gram.subset(index[:1000])
        part.rows(np.arange(gram.batch))
        assert tracemalloc.get_traced_memory()[1] <= budget
        gram @ np.ones(3000)
        gram.product64(np.ones(3000))
        part @ np.ones(1000)
        assert tracemalloc.get_traced_memory()[1] <= 1.1 * budget  # and the vectors in and out
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        (Linear() + (Linear() + (Linear() + (Linear() + (Linear() + (Linear() + Gaussian(0.1)))))), 20),
        (Matern(1.5, 1.0), 20),
        (Gaussian(0.1), 3000),
        (FromFeatures(PolynomialMap(degree=2).fit(np.ones((2, 20)))), 20),
    ],
    ids=["nested", "float64 inside", "wide", "features"],
)
def test_the_budget_holds_where_temporaries_are_large(kernel, d):
    X = np.random.default_rng(0).normal(size=(1500, d)).astype(np.float32)
    budget = 6_000_000
    PointsGram(kernel, X[:700], budget).rows([1])  # compile
    kernel.product(X[:700], X[:700], np.ones(700))
    tracemalloc.start()
    try:
        gram = PointsGram(kernel, X, budget)
        gram.rows(np.arange(gram.batch))
        gram @ np.ones(1500)
        assert tracemalloc.get_traced_memory()[1] <= budget
    finally:
        tracemalloc.stop()


def test_threads_share_the_rows_that_are_kept():
    X = vectors(200)
    K = Gaussian(0.3)(X)
    gram = PointsGram(Gaussian(0.3), X, "100kB")
    wrong = []

    def ask(seed):
        generator = np.random.default_rng(seed)
        for _ in range(100):
            index = generator.integers(0, 200, gram.batch)
            wrong.append(np.abs(gram.rows(index) - K[index]).max() > 1e-9)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 400
    assert not any(wrong)
    assert_allclose(pickle.loads(pickle.dumps(gram)).rows([5])[0], K[5])


def test_products_are_float64():
    X = vectors(300).astype(np.float32)
    v = np.random.default_rng(0).normal(size=300) * 1e4
    for kernel in (3 * Linear() + 1, Gaussian(0.3), Polynomial(degree=3)):
        precise = kernel(X.astype(float)) @ v
        gram = gram_of(kernel, X)
        assert_allclose(gram.product64(v), precise, rtol=1e-12, atol=1e-12 * np.abs(precise).max())
        assert_allclose(gram.subset(slice(0, 50)).product64(v[:50]), kernel(X[:50].astype(float)) @ v[:50], rtol=1e-9)
        assert (gram @ v).dtype == np.float64
        assert_allclose(gram @ v, precise, atol=1e-5 * np.abs(precise).max())


def test_products_of_single_precision_features_of_objects():
    texts = words(30)
    kernel = FromFeatures(lambda word: np.array([len(word), 1], np.float32))
    gram = gram_of(kernel, texts)
    assert isinstance(gram, LowRankGram)
    v = np.random.default_rng(0).normal(size=30)
    assert_allclose(gram.product64(v), kernel(texts) @ v, rtol=1e-6)
    assert_allclose(gram @ v, kernel(texts) @ v, rtol=1e-6)


def test_too_much_at_once_or_too_little_budget():
    X = vectors(500)
    gram = PointsGram(Gaussian(1.0), X, 200_000)
    with pytest.raises(ValueError, match=rf"ask for at most {gram.batch} at a time"):
        gram.rows(np.arange(500))
    with pytest.raises(ValueError, match="too small for rows of 500 values: at least 28 kB is needed"):
        PointsGram(Gaussian(1.0), X, 1000)


def test_the_choice_and_its_reason():
    X = vectors(300)
    assert isinstance(gram_of(Gaussian(), X), DenseGram)
    assert repr(gram_of(Gaussian(), X)) == "<DenseGram 300 x 300, dense: 720 kB, and 720 kB to work in, of 2 GB>"
    lazy = gram_of(Gaussian(), X, memory="500kB")
    assert isinstance(lazy, PointsGram)
    assert lazy.reason == "by rows: dense would need 720 kB, and 720 kB to work in, of 500 kB"
    assert lazy.shape == (300, 300)
    assert_allclose(np.asarray(gram_of("rbf", X)), Gaussian().resolve(X)(X))
    with pytest.raises(ValueError, match="at a time"):
        np.asarray(lazy)
    low = gram_of(2 * Linear() + 1, X)
    assert isinstance(low, LowRankGram)
    assert low.reason == "low rank: 5 explicit features for 300 points"
    assert_allclose(low.rows([7])[0], 2 * X @ X[7] + 1)
    assert isinstance(gram_of(Linear(), X[:3]), DenseGram)
    assert isinstance(gram_of(FromFeatures(len), words(9)), LowRankGram)
    assert isinstance(gram_of(Linear(), as_sparse(X)), LowRankGram)
    assert isinstance(gram_of(2 * Linear() + 1, as_sparse(X)), LowRankGram)
    wide = np.random.default_rng(0).normal(size=(300, 200))
    assert isinstance(gram_of(2 * Linear() + 1, wide, memory="300kB"), PointsGram)  # its features would not fit
    assert isinstance(gram_of(Linear(), X, memory=1), LowRankGram)  # X itself is all it holds
    given = gram_of(Precomputed(), X @ X.T, memory=1000)
    assert given.reason == "dense: the values were given"
    assert_allclose(given.product64(np.ones(300)), (X @ X.T).sum(axis=1))
    single = gram_of(Gaussian(), X.astype(np.float32))
    assert single.rows([0]).dtype == np.float32
    assert single.product64(np.ones(300)).dtype == np.float64


def test_pivots_that_were_begun_with_are_kept(monkeypatch):
    X = np.random.default_rng(1).normal(size=(300, 4))
    some = pivoted_cholesky(Gaussian(0.1), X, 20, np.random.default_rng(0))
    asked = []
    fill = Columns.fill
    monkeypatch.setattr(Columns, "fill", lambda self, rows, *rest: asked.append(rows.size) or fill(self, rows, *rest))
    F, pivots = pivoted_cholesky(Gaussian(0.1), X, 60, np.random.default_rng(1), begun=some)
    assert sum(asked) == 40
    assert_array_equal(pivots[:20], some[1])
    assert_allclose(F @ F.T, Gaussian(0.1)(X), atol=0.2)
    assert_allclose((F @ F.T)[pivots], Gaussian(0.1)(X[pivots], X), atol=1e-10)


def test_randomly_pivoted_cholesky():
    X = vectors(200)
    K = Gaussian(0.1)(X)
    F, pivots = pivoted_cholesky(Gaussian(0.1), X, 60, np.random.default_rng(0))
    assert len(set(pivots)) == len(pivots) == 60
    assert_allclose((F @ F.T)[pivots], K[pivots], atol=1e-8)
    assert np.trace(K - F @ F.T) < 0.02 * 200
    low, pivots = pivoted_cholesky(Linear(), X, 60, np.random.default_rng(0))
    assert len(pivots) == 4  # the rank
    assert_allclose(low @ low.T, X @ X.T, atol=1e-10)


def test_amounts_of_memory():
    assert parse_bytes("2GB") == 2 * 10**9 and parse_bytes(" 1.5 kb ") == 1500
    assert parse_bytes("1GiB") == 2**30 and parse_bytes(4096) == 4096 and parse_bytes("12") == 12
    assert (
        format_bytes(2_000_000_000) == "2 GB" and format_bytes(1_230_000) == "1.3 MB" and format_bytes(7) == "7 bytes"
    )
    for wrong in ("", "GB", "2 parsecs", "-1GB", 0, -5, float("nan"), float("inf"), True, None):
        with pytest.raises(ValueError, match="is not an amount of memory"):
            parse_bytes(wrong)


def test_a_matrix_that_is_held_is_not_copied_where_it_is_asked_for():
    gram = DenseGram.compute(Gaussian(1.0), np.random.default_rng(0).normal(size=(20, 2)))
    assert np.asarray(gram) is gram.matrix
    assert not np.shares_memory(np.array(gram), gram.matrix)
    assert np.asarray(gram, np.float32).dtype == np.float32
