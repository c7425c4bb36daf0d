"""Where one way becomes faster than another on this machine, beside the value in the code.

    python benchmarks/thresholds.py

Each line is a constant: what it is now, and what is measured here. A factor of two either way costs little; more is a
reason to look at it again.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array

from mercer._core.core import CHOICE
from mercer.amounts import AT_A_TIME
from mercer.columns import Columns, columns, sparse
from mercer.gram import Design, design
from mercer.kernels import Linear
from mercer.limits import flop_seconds
from mercer.solvers import nanoseconds

REPEATS = 15


def best(call: Callable[[], object]) -> float:
    """The least seconds of several calls."""
    times = []
    for _ in range(REPEATS):
        began = perf_counter()
        call()
        times.append(perf_counter() - began)
    return min(times)


def with_threads(rows: Design, least: float) -> float:
    """Seconds of Z w where a thread is worth so many entries."""
    kept, design._WORTH_A_THREAD = design._WORTH_A_THREAD, least  # type: ignore[assignment]
    try:
        w = np.ones(rows.width)
        return best(lambda: rows.dots(w))
    finally:
        design._WORTH_A_THREAD = kept


def worth_a_thread() -> float:
    """Entries of Z from which on two threads are faster than one, for each of the two."""
    for entries in 2 ** np.arange(15, 24):
        rows = Design(np.ones((int(entries) // 64, 64)))
        if with_threads(rows, entries // 2) < with_threads(rows, np.inf):
            return float(entries) / 2
    return float("nan")


def sparse_entry() -> float:
    """How many times as long as a dense entry a sparse one takes."""
    generator = np.random.default_rng(0)
    Z = np.where(generator.random((4000, 500)) < 0.05, 1.0, 0.0)
    sparse, dense, w = Design(csr_array(Z)), Design(Z), np.ones(500)
    return best(lambda: sparse.dots(w)) / sparse.entries / (best(lambda: dense.dots(w)) / dense.entries)


def value_seconds(points: object, rows: int = 960) -> float:
    """Seconds of a float32 value of the linear kernel between many of these points, by one thread."""
    ready = Columns(Linear(), points, np.float32)
    index, out = np.arange(rows), np.empty((rows, ready.n), np.float32)
    ready.ready()
    return best(lambda: ready.fill(index, out, index)) / out.size


def multiply_add() -> float:
    """Seconds of a multiply-add of dense float32 points."""
    wide, narrow = (np.ones((4000, width), np.float32) for width in (400, 100))
    return (value_seconds(wide) - value_seconds(narrow)) / 300


def cheap() -> float:
    """As many multiply-adds take as long as reading a value that is held."""
    held, index, sums = np.ones((4000, 4000), np.float32), np.arange(4000), np.zeros(4000)
    read = best(lambda: CHOICE.functions.add_rows(held, index, sums, sums)) / held.size
    return read / multiply_add()


def anywhere() -> float:
    """As many multiply-adds in order take as long as an addition somewhere, of sparse points."""
    generator = np.random.default_rng(0)
    Z = csr_array(np.where(generator.random((4000, 2000)) < 0.05, 1.0, 0.0).astype(np.float32))
    frequency = np.bincount(Z.indices, minlength=2000) / 4000
    return value_seconds(Z) / float((frequency**2).sum()) / multiply_add()


def dense_entry() -> float:
    """Nanoseconds of an entry, in a pass over dense rows that come one after the other."""
    rows, w = Design(np.ones((20_000, 200))), np.ones(200)
    return 1e9 * best(lambda: rows.dots(w)) / rows.entries / nanoseconds.OF_A_PRODUCT


CROSSOVERS: dict[str, tuple[float, Callable[[], float]]] = {
    "gram.design._WORTH_A_THREAD, entries": (design._WORTH_A_THREAD, worth_a_thread),
    "amounts.AT_A_TIME.entries_for_a_thread": (AT_A_TIME.entries_for_a_thread, worth_a_thread),
    "gram.design._SPARSE, dense entries": (design._SPARSE, sparse_entry),
    "columns.CHEAP, multiply-adds": (columns.CHEAP, cheap),
    "columns.sparse._ANYWHERE, multiply-adds": (sparse._ANYWHERE, anywhere),
    "solvers.nanoseconds.PER_DENSE_ENTRY": (nanoseconds.PER_DENSE_ENTRY, dense_entry),
    "solvers.nanoseconds.FLOPS, in a nanosecond": (nanoseconds.FLOPS, lambda: 1e-9 / flop_seconds()),
    "amounts.AT_A_TIME.multiplications, in a second": (AT_A_TIME.multiplications, lambda: 1.0 / flop_seconds()),
}
"""What each constant is in the code, and what measures it here."""


def main() -> None:
    """Measure and print."""
    print("| constant | in the code | here |\n|---|---|---|")
    for name, (value, measure) in CROSSOVERS.items():
        print(f"| {name} | {value:,} | {measure():,.3g} |", flush=True)


if __name__ == "__main__":
    main()
