"""What a worker asks for beside its block: a little, however many rows are meant, and however many support vectors."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.kernels import Gaussian, Laplacian, Matern, Normalized
from mercer.losses import Hinge
from mercer.shards import block as verbs
from mercer.shards.afar import SpreadGram, SpreadPoints
from mercer.shards.block import Block
from mercer.shards.local import LocalEngine
from mercer.shards.messages import Begin

DATA = 32_000_000  # bytes of a block
MOST = 24_000_000  # 0.12 of 200 MB
N, D = 4000, 2000
USED = 1200  # support vectors: 10 MB of them


@pytest.fixture(scope="module")
def dense():
    return np.random.default_rng(0).standard_normal((N, D), np.float32) / np.float32(40)


def sparse(dtype):
    """Rows of 50 entries, and as many bytes as of the dense ones."""
    rng = np.random.default_rng(1)
    n = DATA // (np.dtype(dtype).itemsize + 4) // 50
    size = 50 * n
    places = np.sort(rng.integers(0, 40, (n, 50)) + 40 * np.arange(50), axis=1).reshape(-1)
    values = np.abs(rng.standard_normal(size)).astype(dtype)
    return csr_array((values, places.astype(np.int32), np.arange(0, size + 1, 50, dtype=np.int32)), shape=(n, 2000))


def asked_for(function, *arguments):
    """The largest number of bytes that were held at a time while a function ran."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("left_out", [0, 1])
def test_sums_over_many_support_vectors(dense, left_out):
    """Parts come in float32, and are made ready in float64; of the rows, one may not be meant."""
    engine = LocalEngine([dense])
    gram = SpreadGram(Gaussian(0.5), SpreadPoints(engine))
    used = np.arange(0, N, N // USED)[:USED]
    v = np.zeros(N)
    v[used] = 1.0 / USED
    parts = list(gram._support(used, v[used, None], np.dtype(np.float64)))
    assert sum(part.points.nbytes for part in parts) > 9_000_000
    assert max(part.points.nbytes for part in parts) <= 2_000_000
    sums = None
    rows = np.arange(N)[left_out:]
    for part in parts[:2]:
        assert asked_for(verbs.sums_at, engine.blocks[0], rows, sums, part) <= MOST


@pytest.mark.parametrize("left_out", [0, 1])
@pytest.mark.parametrize("kind", ["float32", "float64", "csr float32", "csr float64"])
def test_what_is_asked_of_a_block(dense, kind, left_out):
    X = dense if kind == "float32" else dense[: N // 2].astype(np.float64) if kind == "float64" else sparse(kind[4:])
    block, rows = Block(0, X), np.arange(X.shape[0])[left_out:]
    weight = np.ones(rows.size)
    assert asked_for(verbs.facts, block) <= MOST
    assert asked_for(verbs.moments, block, rows, weight) <= MOST
    assert asked_for(verbs.diagonal_at, block, rows, Gaussian(0.5)) <= MOST
    assert asked_for(verbs.weights_at, block, rows, weight[None]) <= MOST
    assert asked_for(verbs.scores_at, block, rows, np.ones((1, X.shape[1]))) <= MOST


@pytest.mark.parametrize("kernel", [Gaussian(0.01), Laplacian(0.01), Normalized(Matern(length_scale=1.0))], ids=repr)
@pytest.mark.parametrize("kind", ["float32", "csr float32", "csr float64"])
def test_a_problem_that_begins_and_goes_on(dense, kernel, kind):
    """Where nothing may be kept ready; 64 bytes for each row are the problem's own."""
    X = dense if kind == "float32" else sparse(kind[4:])
    n, block = X.shape[0], Block(0, X)
    rows, zeros = np.arange(n), np.zeros(n)
    terms = Hinge().terms(np.where(rows % 2, 1.0, -1.0), np.ones(n))
    begin = Begin("p", 0, kernel, "float32", True, rows, terms, zeros, zeros, (X[:2],), 0.0)
    assert asked_for(verbs.begin, block, begin) <= MOST + 128 * n
