"""What a worker asks for beside its block: a little, however many rows are meant, and however many support vectors."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from mercer import SVC, SVR, KernelRidge
from mercer.estimators.on_blocks import fit_on_blocks, fit_ridge_on_blocks
from mercer.estimators.ridge_blocks import errors_at
from mercer.kernels import Gaussian, Laplacian, Matern, Normalized
from mercer.losses import Hinge
from mercer.shards import block as verbs
from mercer.shards.afar import SpreadGram, SpreadPoints
from mercer.shards.block import Block
from mercer.shards.compact import Brief, BriefTerms, Coefficients, in_brief, run_of, size_of, some_of
from mercer.shards.local import LocalEngine
from mercer.shards.messages import Ask, Begin, Moved, Refresh, Support, bytes_of
from mercer.solvers.newton.spread_landmarks import both_of_rows, pulled_by_rows, squares_of_rows, values_of_rows

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
    assert asked_for(verbs.moments, block, rows, Brief.of(weight)) <= MOST
    assert asked_for(verbs.diagonal_at, block, rows, Gaussian(0.5)) <= MOST
    assert asked_for(verbs.weights_at, block, rows, weight[None]) <= MOST
    assert asked_for(verbs.scores_at, block, rows, np.ones((1, X.shape[1]))) <= MOST


@pytest.mark.parametrize("left_out", [0, 1])
@pytest.mark.parametrize("kind", ["float32", "csr float32"])
def test_rows_of_landmarks(dense, kind, left_out):
    """Rows that are not all of a block are copied a few at a time, too."""
    block = Block(0, dense if kind == "float32" else sparse(np.float32))
    n = block.X.shape[0] - left_out
    rows = in_brief(np.delete(np.arange(block.X.shape[0]), np.arange(5, 5 + left_out)))
    told, c, v = (Gaussian(0.5), block.X[:20], "float32"), np.ones(20), np.ones(n)
    for verb, *more in ((squares_of_rows, v), (values_of_rows, c), (pulled_by_rows, v), (both_of_rows, c, 0.0, v)):
        assert asked_for(verb, block, rows, *more, told) <= MOST


@pytest.mark.parametrize("kernel", [Gaussian(0.01), Laplacian(0.01), Normalized(Matern(length_scale=1.0))], ids=repr)
@pytest.mark.parametrize("kind", ["float32", "csr float32", "csr float64"])
def test_a_problem_that_begins_and_goes_on(dense, kernel, kind):
    """Where nothing may be kept ready; 64 bytes for each row are the problem's own."""
    X = dense if kind == "float32" else sparse(kind[4:])
    n, block = X.shape[0], Block(0, X)
    assert asked_for(verbs.begin, block, beginning(X, kernel)) <= MOST + 128 * n


def beginning(X, kernel):
    """A problem of which nothing is known yet, where nothing may be kept ready."""
    rows, zeros = np.arange(X.shape[0]), np.zeros(X.shape[0])
    terms = Hinge().terms(np.where(rows % 2, 1.0, -1.0), np.ones(rows.size))
    return Begin(
        "p", 0, kernel, "float32", True, in_brief(rows), BriefTerms.of(terms), Coefficients.of(zeros), Brief.of(zeros),
        (X[:2],), 0.0,
    )  # fmt: skip


def test_rows_of_few_columns():
    """Of 80 bytes each: F takes 8, the terms 3, and messages and replies next to nothing."""
    n, scratch = 200_000, 4_000_000
    X = np.random.default_rng(2).standard_normal((n, 20), np.float32)
    block, begin = Block(0, X), beginning(X, Gaussian(0.05))
    assert begin.nbytes <= 3 * n + 1000
    assert asked_for(verbs.begin, block, begin) <= 8 * n + scratch
    some = np.arange(0, n, 400)
    ones = np.ones(some.size)
    moved = Moved("p", 1, X[some], np.zeros(some.size, int), some, ones, ones)
    question = Ask("p", 1, 1.0, -1.0, 0.0, 1000, some, False)
    assert asked_for(verbs.move, block, question, moved) <= scratch
    assert asked_for(verbs.ask, block, question) <= scratch
    assert asked_for(verbs.slopes, block, "p", 1, slice(0, n)) <= scratch
    anew = Refresh("p", 2, Coefficients.of(np.ones(n) * (np.arange(n) % 400 == 0)), in_brief(some), Brief.of(ones))
    assert asked_for(verbs.refresh, block, anew) <= scratch
    assert asked_for(verbs.sums_at, block, slice(0, n), None, support(X[:500])) <= 8 * n + scratch


class Narrow(LocalEngine):
    """Blocks with room for 1 MB; knows the bytes of each reply."""

    def __init__(self, chunks):
        super().__init__(chunks)
        self.replies = []

    def room(self, number):
        return 1_000_000

    def _ask(self, verb, messages, shared):
        replies = super()._ask(verb, messages, shared)
        self.replies += [X.nbytes for X in replies.values() if verb is verbs.points_at]
        return replies


def test_points_are_sent_as_blocks_have_room(dense):
    """A sample of wide rows is many bytes: no reply holds more than there is room for, and a row."""
    engine = Narrow([dense[:3000], dense[3000:]])
    some = np.random.default_rng(4).permutation(N)[:1000]
    np.testing.assert_array_equal(SpreadPoints(engine)[some], dense[some])
    assert sum(engine.replies) == dense[some].nbytes
    assert max(engine.replies) <= 1_000_000 + dense[0].nbytes


@pytest.mark.parametrize("machine", [SVC(), SVR(), KernelRidge("rbf", solver="nystrom(landmarks=40)", random_state=0)])
def test_numbers_of_all_rows_are_sent_as_blocks_have_room(machine):
    """F for a certificate, the diagonal, errors of ridge regression: in the same bits, a few rows at a time."""
    room, largest = 800, {}

    class Small(LocalEngine):
        def room(self, number):
            return room

        def _ask(self, verb, messages, shared):
            replies = super()._ask(verb, messages, shared)
            if verb in (verbs.slopes, verbs.diagonal_at, errors_at):
                largest[verb] = max(largest.get(verb, 0), *map(bytes_of, replies.values()))
            return replies

    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 3))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=700))
    fit = fit_ridge_on_blocks if isinstance(machine, KernelRidge) else fit_on_blocks
    here, there = (fit(clone(machine), kind(np.split(X, [100, 450])), y) for kind in (LocalEngine, Small))
    np.testing.assert_array_equal(here.dual_coef_, there.dual_coef_)
    assert len(largest) == (1 if isinstance(machine, KernelRidge) else 2)
    assert max(largest.values()) <= room + 16


def support(Z):
    return Support(Gaussian(0.05), Z, np.ones((len(Z), 1)), "float64")


MANY = np.random.default_rng(3).standard_normal(70_000)
NUMBERS = {
    "the same": np.full(500, 3.0),
    "two kinds": np.where(np.arange(500) % 3, 1.0, -1.0),
    "a late kind": np.where(np.arange(70_000) < 69_999, 1.0, -1.0) + (np.arange(70_000) % 2),
    "many kinds": MANY,
    "nothing": np.zeros(0),
    "one": np.ones(1),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_in_brief(values):
    n = values.size
    brief, chosen = Brief.of(values), np.arange(0, n, 3)
    np.testing.assert_array_equal(brief.at(slice(0, n)), values)
    np.testing.assert_array_equal(brief.at(slice(n // 3, n // 2)), values[n // 3 : n // 2])
    np.testing.assert_array_equal(brief.at(chosen), values[chosen])
    if values is NUMBERS["two kinds"]:
        assert brief.codes.nbytes == n


@pytest.mark.parametrize("rows", [np.arange(5, 40), np.array([3, 4, 9, 30]), np.array([7]), np.array([0, 0, 2])])
def test_rows_in_brief(rows):
    brief, places = in_brief(rows), np.array([0, -1 % rows.size])
    assert size_of(brief) == rows.size
    assert isinstance(brief, slice) == (np.unique(np.diff(rows)).tolist() in ([], [1]))
    np.testing.assert_array_equal(some_of(brief, places), rows[places])
    np.testing.assert_array_equal(some_of(brief, slice(0, rows.size)), rows)
    np.testing.assert_array_equal(np.arange(100)[run_of(brief, slice(1, 3))], rows[1:3])


def test_coefficients_in_brief():
    rng = np.random.default_rng(4)
    beta = np.where(rng.random(1000) < 0.2, rng.standard_normal(1000), 0.0)
    brief = Coefficients.of(beta)
    for _ in range(20):
        places = rng.choice(1000, 50, replace=False)
        beta[places] = np.where(rng.random(50) < 0.5, rng.standard_normal(50), 0.0)
        brief = brief.changed(places, beta[places])
        assert (brief.values != 0.0).all()
        np.testing.assert_array_equal(brief.at(slice(0, 1000)), beta)
        np.testing.assert_array_equal(brief.at(slice(300, 301)), beta[300:301])
        np.testing.assert_array_equal(brief.at(places), beta[places])
    np.testing.assert_array_equal(brief.times(2.0).at(slice(0, 1000)), 2.0 * beta)
    np.testing.assert_array_equal(Coefficients.of(np.zeros(3)).at(np.array([1])), [0.0])
