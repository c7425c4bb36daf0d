"""The first fit in a new process: seconds of the import and of `SVC().fit` on few points, beside scikit-learn's.

    python benchmarks/first.py [--points 200] [--repeat 12]

Each run is a process of its own; the best and the middle one count. What is installed beside Mercer matters:
scikit-learn imports pandas and PyArrow where it finds them. With more than 256 points, compiled code is loaded too; the
first run of all compiles it, and is not counted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median

RUN = """
from time import perf_counter
began = perf_counter()
from {package} import SVC
imported = perf_counter()
import numpy as np
generator = np.random.default_rng(0)
X = generator.normal(size=({points}, 10))
y = np.sign(X[:, 0] + 0.5 * generator.normal(size={points}))
ready = perf_counter()
SVC().fit(X, y)
print(imported - began, perf_counter() - ready)
"""


def seconds(package: str, points: int) -> tuple[float, float]:
    """Of the import and of the fit."""
    script = RUN.format(package=package, points=points)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported, fitted = map(float, done.stdout.split())
    return imported, fitted


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=12)
    given = parser.parse_args()
    packages = ["mercer", "sklearn.svm"]
    runs: dict[str, list[tuple[float, float]]] = {package: [] for package in packages}
    for package in packages:
        seconds(package, given.points)  # files are read, code is compiled
    for _ in range(given.repeat):
        for package in packages:
            runs[package].append(seconds(package, given.points))
    print(f"the first fit of {given.points} points; seconds, best and middle of {given.repeat}")
    for package in packages:
        imports, fits = zip(*runs[package], strict=True)
        kinds = {"import": imports, "fit": fits, "both": [one + other for one, other in runs[package]]}
        print(f"{package:12s}", "   ".join(f"{kind} {min(s):.3f} {median(s):.3f}" for kind, s in kinds.items()))


if __name__ == "__main__":
    main()
