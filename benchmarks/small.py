"""Few points, again and again: fits of SVC, and predictions of one row, beside scikit-learn's.

Milliseconds, the best of many.

    python benchmarks/small.py
    python benchmarks/small.py --repeat 200
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import sklearn.svm

import mercer

SIZES = (20, 50, 200, 1000)


def two_classes(n: int) -> tuple[Any, Any]:
    """Points of five coordinates, told apart by the product of two, with noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 5))
    return X, (X[:, 0] * X[:, 1] + 0.3 * generator.normal(size=n) > 0).astype(int)


def ten_classes() -> tuple[Any, Any]:
    """Twenty points of each, one beside the other."""
    y = np.repeat(np.arange(10), 20)
    X = np.random.default_rng(0).normal(size=(200, 5))
    X[:, 0] += y
    return X, y


def best(work: Callable[[], Any], repeat: int) -> float:
    """Milliseconds."""
    seconds = []
    for _ in range(repeat):
        began = perf_counter()
        work()
        seconds.append(perf_counter() - began)
    return 1000.0 * min(seconds)


def main() -> None:
    """One line for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=50)
    repeat = parser.parse_args().repeat
    sets = {f"{n} points": two_classes(n) for n in SIZES} | {"10 classes x 20": ten_classes()}
    print(f"{'':16} {'fit, ms':>9} {'sklearn':>9} {'times':>6}   {'one row':>9} {'sklearn':>9} {'times':>6}")
    for name, (X, y) in sets.items():
        ours, theirs = mercer.SVC(), sklearn.svm.SVC()
        fits = [best(lambda machine=machine: machine.fit(X, y), repeat) for machine in (ours, theirs)]  # noqa: B023
        rows = [best(lambda machine=machine: machine.predict(X[:1]), repeat) for machine in (ours, theirs)]  # noqa: B023
        told = [f"{a:9.2f} {b:9.2f} {b / a:5.1f}x" for a, b in (fits, rows)]
        print(f"{name:16} {'   '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
