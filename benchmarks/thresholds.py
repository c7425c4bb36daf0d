"""Where one way becomes faster than another on this machine, beside the value in the code.

    python benchmarks/thresholds.py [words of a name ...]

Each line is a constant: what it is now, and what is measured here; all take two or three minutes. A factor of two
either way costs little; more is a reason to look at it again. Lines "by fits" are what one example gives: others cross
elsewhere. Sizes of blocks in the native core (_core/blocks.hpp) are judged by benchmarks/search.py, and the
choice between methods for the hinge loss (dropin/linear.py) by benchmarks/dropin.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array, random_array

from mercer import SVC, KernelRidge, Problem, costs
from mercer._core.core import CHOICE
from mercer.amounts import AT_A_TIME, LARGEST
from mercer.columns import Columns, between, choose, columns, sparse, way
from mercer.columns.blocks import Blocks
from mercer.dropin import linear as linear_dropin
from mercer.estimators import fitting, ridge_path
from mercer.features import leading
from mercer.gram import Design, LinearGram, design
from mercer.kernels import FromFunction, Gaussian, Linear, pairwise
from mercer.limits import flop_seconds
from mercer.losses import Hinge, Logistic
from mercer.online import kernel_values
from mercer.parallel import one_blas_thread
from mercer.shards import shard
from mercer.solvers import QP, Cholesky, landmarks, nanoseconds, qp, rank
from mercer.solvers.descent import CoordinatePasses
from mercer.solvers.features_or_kernels import Features
from mercer.solvers.newton import hessian, in_points, irls, preconditioner
from mercer.solvers.triangular import factor_work, inverse_of

REPEATS = 15
core = CHOICE.functions
generator = np.random.default_rng(0)


def best(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """The least seconds of several calls."""
    times = []
    for _ in range(repeats):
        began = perf_counter()
        call()
        times.append(perf_counter() - began)
    return min(times)


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """A constant of a module has another value meanwhile."""
    kept = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, kept)


def first_faster(sizes: Iterable[float], seconds: Callable[[Any], tuple[float, float]]) -> float:
    """The first of the sizes at which the second way is faster than the first, as at the next one; else infinite."""
    found = np.inf
    for size in sizes:
        first, second = seconds(size)
        if second < first and found < np.inf:
            return found
        found = float(size) if second < first else np.inf
    return found


def with_values(module: Any, name: str, call: Callable[[], object], *values: Any, repeats: int = REPEATS) -> Any:
    """Seconds of a call with each of these values of a constant; taken by turns, since other work comes and goes."""
    least = [np.inf] * len(values)
    for _ in range(repeats):
        for place, value in enumerate(values):
            with changed(module, name, value):
                least[place] = min(least[place], best(call, 1))
    return tuple(least)


# Threads.


def dots_by_threads() -> float:
    """Entries of Z for each of two threads, from which on they are faster than one."""

    def seconds(entries: int) -> tuple[float, float]:
        rows, w = Design(np.ones((entries // 64, 64))), np.ones(64)
        found: tuple[float, float] = with_values(design, "_WORTH_A_THREAD", lambda: rows.dots(w), np.inf, entries // 2)
        return found

    return first_faster(2 ** np.arange(15, 25), seconds) / 2


def columns_by_threads() -> float:
    """Entries of Z from which on two products Z Z'v are made by two threads."""

    def seconds(entries: int) -> tuple[float, float]:
        rows, V = Design(np.ones((entries // 64, 64))), np.ones((entries // 64, 2))
        with changed(design, "_WORTH_A_THREAD", np.inf):
            found: tuple[float, float] = with_values(design, "_WORTH_TWO_COLUMNS", lambda: rows.product(V), np.inf, 0)
        return found

    return first_faster(2 ** np.arange(12, 22), seconds)


def block_by_threads() -> float:
    """Kernel values of 20 coordinates from which on a block of them is made by two threads."""

    def seconds(values: int) -> tuple[float, float]:
        X, Z = generator.normal(size=(values // 64, 20)), generator.normal(size=(64, 20))
        limits = [replace(AT_A_TIME, entries_for_a_thread=limit) for limit in (2**60, 0)]
        found: tuple[float, float] = with_values(
            between, "AT_A_TIME", lambda: between.block_between(Gaussian(0.05), X, Z), *limits
        )
        return found

    return first_faster(2 ** np.arange(12, 23), seconds)


def sums_by_threads() -> float:
    """Values of rows that are held, from which on two threads add them up faster than one."""

    def seconds(values: int) -> tuple[float, float]:
        n = values // 64
        ready = shard.Shard.__new__(shard.Shard)
        ready.columns, ready.n = Columns(Linear(), np.ones((n, 1)), np.float32, 2), n
        held, slots, v, out = np.ones((64, n), np.float32), np.arange(64), np.ones(64), np.zeros(n)
        found: tuple[float, float] = with_values(
            shard, "_WORTH_THREADS", lambda: ready._add_rows(held, slots, v, out), 2**60, 0
        )
        return found

    return first_faster(2 ** np.arange(14, 25), seconds)


def means_by_threads() -> float:
    """Entries from which on a sum over all rows is made by several threads."""

    def seconds(entries: int) -> tuple[float, float]:
        X, V = np.ones((entries // 64, 64)), np.ones((1, entries // 64))
        with one_blas_thread():
            found: tuple[float, float] = with_values(
                pairwise, "_WORTH_THREADS", lambda: pairwise.linear_weights(X, V), 2**60, 0
            )
        return found

    return first_faster(2 ** np.arange(14, 25), seconds)


def problems_by_threads() -> float:
    """Points of each of three small problems, from which on they are solved by two threads."""

    def seconds(n: int) -> tuple[float, float]:
        X, y = generator.normal(size=(3 * n // 2, 5)), np.arange(3 * n // 2) % 3
        X[:, 0] += y
        machine = SVC("rbf(gamma=0.5)", C=10.0, tol=1e-9)  # more than the one native call for small problems will give
        found: tuple[float, float] = with_values(
            fitting, "_POINTS_FOR_A_THREAD", lambda: machine.fit(X, y), 10**9, 0, repeats=3
        )
        return found

    return first_faster((50, 100, 200, 400, 800), seconds)


# What a value costs.


def value_seconds(points: Any, rows: int = 960, kernel: Any = Linear(), dtype: Any = np.float32) -> float:  # noqa: B008
    """Seconds of a value between many of these points, by one thread."""
    ready = Columns(kernel, points, dtype)
    index, out = np.arange(rows), np.empty((rows, ready.n), dtype)
    ready.ready()
    return best(lambda: ready.fill(index, out, index)) / out.size


def multiply_add() -> float:
    """Seconds of a multiply-add of dense float32 points."""
    wide, narrow = (np.ones((4000, width), np.float32) for width in (400, 100))
    return (value_seconds(wide) - value_seconds(narrow)) / 300


def read_seconds() -> float:
    """Seconds to read a float32 value that is held, and to add it to a sum."""
    held, index, sums = np.ones((4000, 4000), np.float32), np.arange(4000), np.zeros(4000)
    return best(lambda: core.add_rows(held, index, sums, sums)) / held.size


def cheap() -> float:
    """As many multiply-adds take as long as reading a value that is held."""
    return read_seconds() / multiply_add()


def dear() -> float:
    """As many multiply-adds take as long as writing a value into new memory, and reading it from there."""
    index, sums = np.arange(4000), np.zeros(4000)

    def kept_anew() -> None:
        held = np.empty((4000, 4000), np.float32)
        held[:] = 1.0
        core.add_rows(held, index, sums, sums)

    return best(kept_anew, 5) / 4000**2 / multiply_add()


def anywhere() -> float:
    """As many multiply-adds in order take as long as an addition somewhere, of sparse points."""
    Z = csr_array(np.where(generator.random((4000, 2000)) < 0.05, 1.0, 0.0).astype(np.float32))
    frequency = np.bincount(Z.indices, minlength=2000) / 4000
    return value_seconds(Z) / float((frequency**2).sum()) / multiply_add()


def curved() -> float:
    """As many multiply-adds take as long as an exponential."""
    X = generator.normal(size=(4000, 100)).astype(np.float32)
    return (value_seconds(X, kernel=Gaussian(0.001)) - value_seconds(X)) / multiply_add()


def double() -> float:
    """How many times as long as a float32 value a float64 one takes."""
    X = generator.normal(size=(4000, 50))
    kernel = Gaussian(0.001)
    return value_seconds(X, kernel=kernel, dtype=np.float64) / value_seconds(X.astype(np.float32), kernel=kernel)


def python_call() -> float:
    """As many multiply-adds take as long as a call of a function in Python."""
    X, kernel = np.ones((60, 2)), FromFunction(lambda x, z: 1.0)
    return best(lambda: kernel(X, X[:30]), 3) / 1800 / multiply_add()


def own_fill(width: int) -> float:
    """Seconds of a float32 value by a kernel's own `fill`."""
    X = generator.normal(size=(2000, width)).astype(np.float32)
    index, out = np.arange(960), np.empty((960, 2000), np.float32)
    ready = Columns(Gaussian(0.01), X, np.float32, way=Blocks(Gaussian(0.01), X, np.float32, 0.0))
    return best(lambda: ready.fill(index, out, index), 5) / out.size


def per_coordinate() -> float:
    """As many multiply-adds take as long as a coordinate there."""
    return (own_fill(400) - own_fill(100)) / 300 / multiply_add()


def per_value() -> float:
    """As many multiply-adds take as long as what is beside the coordinates."""
    return own_fill(1) / multiply_add()


def dense_gain() -> float:
    """How many times as fast as a multiplication of sparse products one of dense float32 products is."""
    S: Any = random_array((1000, 2000), density=0.05, rng=0, format="csr", dtype=np.float32)
    A = S.toarray()
    frequency = np.bincount(S.indices, minlength=2000).astype(float)
    with one_blas_thread():
        by_entries = best(lambda: (S @ S.T).toarray(), 5) / float(frequency @ frequency)
        return float(by_entries / (best(lambda: A @ A.T) / A.size / len(A)))


def faster_way() -> float:
    """Values from which on it pays to look for a faster way to take sums of them."""

    def seconds(n: int) -> tuple[float, float]:
        X, V = generator.normal(size=(n, 10)), np.ones((n, 1))
        limits = [replace(AT_A_TIME, entries_for_a_thread=limit) for limit in (2**60, 0)]
        found: tuple[float, float] = with_values(
            columns, "AT_A_TIME", lambda: columns.sums_between(Gaussian(0.1), X, X, V, [0, n], np.float64), *limits
        )
        return found

    return first_faster((10, 30, 100, 300, 1000, 2000, 4000), seconds) ** 2


def one_call() -> float:
    """Points from which on K is faster by threads than by one native call."""

    def seconds(n: int) -> tuple[float, float]:
        X = generator.normal(size=(n, 20))
        limits = [replace(LARGEST, columns=limit) for limit in (2**30, 0)]
        found: tuple[float, float] = with_values(
            between, "LARGEST", lambda: between.padded_square(Gaussian(0.1), X), *limits, repeats=7
        )
        return found

    return first_faster((50, 100, 200, 400, 800, 1600), seconds)


# Passes over features, and Newton's steps.


def sparse_entry() -> float:
    """How many times as long as a dense entry a sparse one takes."""
    Z = np.where(generator.random((4000, 500)) < 0.05, 1.0, 0.0)
    rows, full, w = Design(csr_array(Z)), Design(Z), np.ones(500)
    return best(lambda: rows.dots(w)) / rows.entries / (best(lambda: full.dots(w)) / full.entries)


def squares_entry() -> float:
    """Entries of a sum of squares that are added in the time in which one is read."""
    rows = Design(generator.normal(size=(4000, 200)))
    with changed(design, "_WORTH_A_THREAD", np.inf):
        read = best(lambda: rows.dots(np.ones(200))) / rows.entries
        added = best(lambda: rows.squares(np.arange(4000), np.ones(4000)), 5) / (rows.entries * 200)
    return read / added


def passes_over(Z: Any, loss: Any = Hinge()) -> CoordinatePasses:  # noqa: B008
    """Coordinate descent on these rows."""
    problem = Problem(LinearGram(Z), np.where(generator.random(Z.shape[0]) < 0.5, 1.0, -1.0), loss, 1.0, bias=False)
    return CoordinatePasses(problem, Features(problem.gram.design), None, 0)


def pass_seconds(Z: Any) -> float:
    """Of a pass of coordinate descent over rows in random order."""
    descent = passes_over(Z)
    descent.one_pass()
    return best(descent.one_pass, 5)


def dense_rows(width: int) -> Any:
    """20,000 rows."""
    return generator.normal(size=(20_000, width))


def sparse_rows(entries: int) -> Any:
    """20,000 rows of 1,000 columns, with so many entries in each, in the mean."""
    return random_array((20_000, 1_000), density=entries / 1_000, rng=0, format="csr")


def per_dense_entry() -> float:
    """Nanoseconds of an entry in a pass over dense rows."""
    return 1e9 * (pass_seconds(dense_rows(200)) - pass_seconds(dense_rows(50))) / (20_000 * 150)


def per_row() -> float:
    """Nanoseconds of a row there, whatever its length."""
    return 1e9 * pass_seconds(dense_rows(2)) / 20_000 - 2 * per_dense_entry()


def per_sparse_entry() -> float:
    """Nanoseconds of an entry in a pass over sparse rows."""
    return 1e9 * (pass_seconds(sparse_rows(100)) - pass_seconds(sparse_rows(25))) / (20_000 * 75)


def per_pair() -> float:
    """Nanoseconds of a pair of entries of a sparse row, in a sum of squares."""
    rows = Design(random_array((4000, 1000), density=0.1, rng=0, format="csr"))
    with changed(design, "_WORTH_A_THREAD", np.inf):
        return 1e9 * best(lambda: rows.squares(np.arange(4000), np.ones(4000)), 5) / (0.5 * 4000 * rows.pairs)


def of_a_product() -> float:
    """The time of a product with all rows, in parts of that of a pass."""
    rows, s = Design(dense_rows(200)), np.empty(20_000)
    with changed(design, "_WORTH_A_THREAD", np.inf):
        return best(lambda: rows.weighted(np.ones(200), 0.0, np.ones(20_000), s), 5) / pass_seconds(rows.Z)


def visit_in_entries() -> float:
    """Entries of a sparse row that are read in the time of what else a visit takes, with the logistic loss."""
    times = []
    for entries in (10, 50):
        descent = passes_over(sparse_rows(entries), Logistic())
        descent.one_pass()
        times.append(best(descent.one_pass, 5))
    slope = (times[1] - times[0]) / 40
    return times[0] / slope - 10


def filled() -> float:
    """The part of entries that are not 0, up to which a pass over sparse rows is faster than one over dense ones."""
    full = pass_seconds(generator.normal(size=(4000, 500)))

    def seconds(part: float) -> tuple[float, float]:
        return pass_seconds(random_array((4000, 500), density=part, rng=0, format="csr")), full

    return first_faster((0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7), seconds)


def wide_single() -> float:
    """Columns from which on sums of squares are faster in float32."""

    def seconds(width: int) -> tuple[float, float]:
        rows, index, ones = Design(np.ones((4000, width), np.float32)), np.arange(4000), np.ones(4000)
        return best(lambda: rows.squares(index, ones), 5), best(lambda: rows.squares(index, ones, True), 5)

    return first_faster((8, 16, 32, 64, 128, 256, 512), seconds)


def definite(n: int) -> Any:
    """A matrix that has a factor."""
    return np.eye(n) + 1.0


def factor_flops() -> float:
    """How many times as long as a multiplication of a product one of a factor takes."""
    return best(lambda: inverse_of(definite(1200)), 5) / factor_work(1200) / flop_seconds()


def eigen_factors() -> float:
    """Factors in the time of an eigendecomposition."""
    A = generator.normal(size=(1000, 1000))
    return best(lambda: np.linalg.eigh(A @ A.T), 2) / (factor_work(1000) * flop_seconds())


def qp_factors() -> float:
    """Factors in the time of a quadratic program."""
    X = generator.normal(size=(400, 5))
    problem = Problem.of("rbf(gamma=0.2)", X, np.where(X[:, 0] > 0, 1.0, -1.0), Hinge(), 1.0)
    return best(lambda: next(QP().iterates(problem, None)), 1) / (factor_work(400) * flop_seconds())


def linear_value() -> float:
    """Multiplications of dense linear algebra in the time in which a value that is held is read."""
    return read_seconds() / flop_seconds()


def beside_a_pass() -> float:
    """Nanoseconds of a step of conjugate gradients of Newton's method on next to nothing."""
    rows = Design(generator.normal(size=(20, 10)))
    data = irls.PointData(Logistic(), np.where(np.arange(20) % 2, 1.0, -1.0), np.ones(20))
    place = irls.Reweighted(rows, data, hessian.Bias.of(0.0, False))
    place.near.possible = False
    place.begin(None)
    began, spent = perf_counter(), place.near.spent
    for _ in range(50):
        place._direction()
    return 1e9 * (perf_counter() - began) / (place.near.spent - spent)


def by_values() -> float:
    """Landmarks up to which their kernel values, of 20 coordinates, take longer than least squares with them."""
    X = generator.normal(size=(20_000, 20))
    value = value_seconds(X[:4000], kernel=Gaussian(0.1), dtype=np.float64)
    return value / flop_seconds()


# Whole fits, each of one example.


def eigenvectors() -> float:
    """The part of the eigenvectors from which on LAPACK finds all as fast."""
    X = generator.normal(size=(1500, 5))
    K = Gaussian(0.3)(X)

    def seconds(part: float) -> tuple[float, float]:
        found: tuple[float, float] = with_values(
            leading, "_MOST", lambda: leading.leading(K.copy(), int(part * 1500)), 1.0, 0.0, repeats=1
        )
        return found

    return first_faster((0.01, 0.02, 0.05, 0.1, 0.2, 0.4), seconds)


def exact_points() -> float:
    """Points from which on ridge regression by a float32 factor and refinement is faster than by a float64 one."""

    def seconds(n: int) -> tuple[float, float]:
        X = generator.normal(size=(n, 20))
        solvers = [Cholesky("float64"), Cholesky("float32")]
        first, second = (KernelRidge("rbf(gamma=0.05)", 0.1, solver=solver) for solver in solvers)
        return best(lambda: first.fit(X, X[:, 0]), 3), best(lambda: second.fit(X, X[:, 0]), 3)

    return first_faster((250, 500, 1000, 2000, 4000), seconds)


def kept_points() -> float:
    """Points from which on a fit is faster without all kernel values."""

    def seconds(n: int) -> tuple[float, float]:
        X = generator.normal(size=(n, 20))
        machine, y = SVC("rbf(gamma=0.05)"), X[:, 0] + 0.3 * generator.normal(size=n) > 0
        limits = [replace(LARGEST, points_kept=limit) for limit in (2**30, 0)]
        found: tuple[float, float] = with_values(shard, "LARGEST", lambda: machine.fit(X, y), *limits, repeats=2)
        return found

    return first_faster((1600, 2400, 3600, 5400, 8000), seconds)


def soon() -> float:
    """Points from which on steps in w are faster than steps of pairs, with 20 columns and C |x|^2 = 1."""
    return first_faster((250, 500, 1000, 2000), partial(of_linear_kernel, "_SOON", (2**30, 0), 1.0))


def easy() -> float:
    """C |x|^2 from which on they are, with 500 points."""
    return first_faster(
        (1, 3, 10, 30, 100, 300, 1000), lambda size: of_linear_kernel("_EASY", (np.inf, 0.0), size, 500)
    )


def of_linear_kernel(name: str, values: tuple[float, float], size: float, n: int) -> tuple[float, float]:
    """Seconds of a fit with each of two values of a constant."""
    X = generator.normal(size=(n, 20))
    machine, y = SVC("linear", C=size / 20, time_limit=5.0), X[:, 0] + generator.normal(size=n) > 0
    found: tuple[float, float] = with_values(fitting, name, lambda: machine.fit(X, y), *values, repeats=3)
    return found


CROSSOVERS: dict[str, tuple[float, Callable[[], float]]] = {
    "gram.design._WORTH_A_THREAD, entries": (design._WORTH_A_THREAD, dots_by_threads),
    "gram.design._WORTH_TWO_COLUMNS, entries": (design._WORTH_TWO_COLUMNS, columns_by_threads),
    "amounts.AT_A_TIME.entries_for_a_thread, kernel values": (AT_A_TIME.entries_for_a_thread, block_by_threads),
    "amounts.AT_A_TIME.entries_for_a_thread, entries": (AT_A_TIME.entries_for_a_thread, dots_by_threads),
    "shards.shard._WORTH_THREADS, values": (shard._WORTH_THREADS, sums_by_threads),
    "online.kernel_values._WORTH_THREADS, values": (kernel_values._WORTH_THREADS, sums_by_threads),
    "kernels.pairwise._WORTH_THREADS, entries": (pairwise._WORTH_THREADS, means_by_threads),
    "estimators.fitting._POINTS_FOR_A_THREAD, by fits": (fitting._POINTS_FOR_A_THREAD, problems_by_threads),
    "columns.columns.CHEAP, multiply-adds": (columns.CHEAP, cheap),
    "columns.columns.DEAR, multiply-adds": (columns.DEAR, dear),
    "columns.sparse._ANYWHERE, multiply-adds": (sparse._ANYWHERE, anywhere),
    "columns.way.CURVED, multiply-adds": (way.CURVED, curved),
    "columns.choose._PYTHON, multiply-adds": (choose._PYTHON, python_call),
    "columns.choose._PER_COORDINATE, multiply-adds": (choose._PER_COORDINATE, per_coordinate),
    "columns.choose._PER_VALUE, multiply-adds": (choose._PER_VALUE, per_value),
    "amounts.AT_A_TIME.entries_for_a_thread, of predictions": (AT_A_TIME.entries_for_a_thread, faster_way),
    "amounts.LARGEST.columns, points of one native call": (LARGEST.columns, one_call),
    "kernels.pairwise._DENSE_GAIN": (pairwise._DENSE_GAIN, dense_gain),
    "costs._DOUBLE": (costs._DOUBLE, double),
    "gram.design._SPARSE, dense entries": (design._SPARSE, sparse_entry),
    "gram.design._SQUARES, entries": (design._SQUARES, squares_entry),
    "dropin.linear._FILLED, of the entries": (linear_dropin._FILLED, filled),
    "solvers.nanoseconds.PER_DENSE_ENTRY": (nanoseconds.PER_DENSE_ENTRY, per_dense_entry),
    "solvers.nanoseconds.PER_SPARSE_ENTRY": (nanoseconds.PER_SPARSE_ENTRY, per_sparse_entry),
    "solvers.nanoseconds.PER_ROW": (nanoseconds.PER_ROW, per_row),
    "solvers.nanoseconds.PER_PAIR": (nanoseconds.PER_PAIR, per_pair),
    "solvers.nanoseconds.OF_A_PRODUCT": (nanoseconds.OF_A_PRODUCT, of_a_product),
    "solvers.nanoseconds.FLOPS, in a nanosecond": (nanoseconds.FLOPS, lambda: 1e-9 / flop_seconds()),
    "amounts.AT_A_TIME.multiplications, in a second": (AT_A_TIME.multiplications, lambda: 1.0 / flop_seconds()),
    "solvers.newton.irls._FEWEST_ENTRIES": (irls._FEWEST_ENTRIES, visit_in_entries),
    "solvers.newton.hessian._WIDE_SINGLE, columns": (hessian._WIDE_SINGLE, wide_single),
    "solvers.newton.in_points._FACTOR_FLOPS": (in_points._FACTOR_FLOPS, factor_flops),
    "solvers.newton.preconditioner._BESIDE, nanoseconds": (preconditioner._BESIDE, beside_a_pass),
    "solvers.rank.LINEAR, multiplications": (rank.LINEAR, linear_value),
    "solvers.landmarks._BY_VALUES": (landmarks._BY_VALUES, by_values),
    "solvers.qp._FACTORS, by fits": (qp._FACTORS, qp_factors),
    "estimators.ridge_path._EIGEN_FACTORS": (ridge_path._EIGEN_FACTORS, eigen_factors),
    "features.leading._MOST, by fits": (leading._MOST, eigenvectors),
    "amounts.LARGEST.points_exact, by fits": (LARGEST.points_exact, exact_points),
    "amounts.LARGEST.points_kept, by fits": (LARGEST.points_kept, kept_points),
    "estimators.fitting._SOON, by fits": (fitting._SOON, soon),
    "estimators.fitting._EASY, by fits": (fitting._EASY, easy),
}
"""What each constant is in the code, and what measures it here."""


def main() -> None:
    """Measure and print."""
    print("| constant | in the code | here |\n|---|---|---|")
    for name, (value, measure) in CROSSOVERS.items():
        if all(word in name for word in sys.argv[1:]):
            print(f"| {name} | {value:,} | {measure():,.3g} |", flush=True)


if __name__ == "__main__":
    main()
