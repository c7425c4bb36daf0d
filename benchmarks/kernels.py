"""Kernel blocks side by side with scikit-learn's, in one run: `python benchmarks/kernels.py`.

Each row: best time of each over several rounds, taken in turns; the ratio; the largest difference from scikit-learn's
float64 result; and how much the process grew, beyond the result itself, while Mercer computed it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import pairwise

from mercer.kernels import Chi2, ExpChi2, Gaussian, Intersection, Kernel, Laplacian
from mercer.parallel import thread_count

# Mercer's kernel, scikit-learn's function, and whether that computes the same (Intersection has no peer: chi2 is its
# yardstick).
CASES: dict[str, tuple[Kernel, Callable[..., Any], bool]] = {
    "Gaussian": (Gaussian(0.02), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.02), True),
    "Laplacian": (Laplacian(0.02), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.02), True),
    "Chi2": (Chi2(), pairwise.additive_chi2_kernel, False),
    "ExpChi2": (ExpChi2(0.02), lambda X, Z: pairwise.chi2_kernel(X, Z, gamma=0.02), True),
    "Intersection": (Intersection(), pairwise.additive_chi2_kernel, False),
}
SHAPES = {"Gaussian": (8000, 50)}
LARGE, SMALL = (4000, 64), (200, 64)


def points(name: str, n: int, d: int, dtype: Any) -> tuple[Any, Any]:
    """Two sets of points; histograms where the kernel needs them."""
    generator = np.random.default_rng(0)
    X, Z = generator.normal(size=(2, n, d)).astype(dtype)
    return (X, Z) if name in ("Gaussian", "Laplacian") else (np.abs(X), np.abs(Z))


def best(seconds: float, *calls: Callable[[], Any]) -> list[float]:
    """The best time of each call in so many seconds; the calls take turns, so that a noisy moment hits all."""
    times: list[list[float]] = [[] for _ in calls]
    while sum(map(sum, times)) < seconds or len(times[0]) < 3:
        for call, mine in zip(calls, times, strict=True):
            time.sleep(0.1 if seconds > 2 else 0.0)  # BLAS threads of the call before spin for a while
            start = time.perf_counter()
            result = call()
            mine.append(time.perf_counter() - start)
            del result
    return [min(mine) for mine in times]


def growth(name: str, n: int, d: int, dtype: str, same: bool) -> float:
    """MB by which a new process grows beyond the result, compiled code and a small block being there already."""
    command = [sys.executable, __file__, "--grow", name, str(n), str(d), dtype, str(int(same))]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def grow(name: str, n: int, d: int, dtype: str, same: bool) -> None:
    """The child's part: print the growth of its peak memory beyond the result."""
    kernel = CASES[name][0]
    X, Z = points(name, n, d, dtype)
    Z = X if same else Z
    kernel(X[:400], Z[:300] if not same else None)
    before = peak_memory()
    result = kernel(X, Z)
    print((peak_memory() - before - result.nbytes) / 1e6)


def peak_memory() -> int:
    """Bytes that this process has held at most (Linux; elsewhere what the system counts, children of it included)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def row(name: str, n: int, d: int, dtype: str, same: bool, seconds: float) -> None:
    """Measure and print one line."""
    kernel, peer, equal = CASES[name]
    X, Z = points(name, n, d, dtype)
    Z = X if same else Z
    kernel(X[:300], Z[:300])  # compile
    ours, theirs = best(seconds, lambda: kernel(X, Z), lambda: peer(X, Z))
    error = ""
    if equal:
        A, B = X[:500].astype(float), Z[:500].astype(float)
        error = f"{np.abs(kernel(X[:500], Z[:500]) - peer(A, B)).max():.0e}"
    extra = f"{growth(name, n, d, dtype, same):.0f} MB" if n >= 1000 else ""
    what = f"{name:13s} {'X, X' if same else 'X, Z'}  {n} x {n} x {d}"
    print(
        f"{what:38s} {dtype:8s} {theirs:10.4f} {ours:10.4f} {theirs / ours:8.1f}x {error:>8s} {extra:>8s}", flush=True
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="to spend on each row (8)")
    parser.add_argument("--grow", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.grow:
        name, n, d, dtype, same = options.grow
        grow(name, int(n), int(d), dtype, same == "1")
        return
    print(f"Seconds, best of all rounds in {options.seconds:g} s; {thread_count()} threads\n")
    header = f"{'kernel':38s} {'dtype':8s} {'sklearn':>10s} {'mercer':>10s} {'ratio':>9s} {'error':>8s} {'extra':>8s}"
    print(header + "\n" + "-" * len(header))
    for same in (False, True):
        for name in CASES:
            row(name, *SHAPES.get(name, LARGE), "float32", same, options.seconds)
    for name in CASES:
        row(name, *SHAPES.get(name, LARGE), "float64", False, options.seconds)
    for name in CASES:
        row(name, *SMALL, "float32", False, 1.0)


if __name__ == "__main__":
    main()
