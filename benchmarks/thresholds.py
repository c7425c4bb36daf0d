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

from mercer.amounts import AT_A_TIME
from mercer.gram import Design, design

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


CROSSOVERS: dict[str, tuple[float, Callable[[], float]]] = {
    "gram.design._WORTH_A_THREAD, entries": (design._WORTH_A_THREAD, worth_a_thread),
    "amounts.AT_A_TIME.entries_for_a_thread": (AT_A_TIME.entries_for_a_thread, worth_a_thread),
    "gram.design._SPARSE, dense entries": (design._SPARSE, sparse_entry),
}
"""What each constant is in the code, and what measures it here."""


def main() -> None:
    """Measure and print."""
    print("| constant | in the code | here |\n|---|---|---|")
    for name, (value, measure) in CROSSOVERS.items():
        print(f"| {name} | {value:,} | {measure():,.3g} |", flush=True)


if __name__ == "__main__":
    main()
