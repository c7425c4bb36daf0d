"""The first minute: seconds of the first and the second call in a new process, beside scikit-learn's.

    python benchmarks/first.py [--points 2000] [--repeat 5]

Each run is a process of its own, and its clock starts when the import has ended; the best of the repeats counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

SETTING = """
from time import perf_counter
import sys, tempfile
from pathlib import Path
import numpy as np
from scipy.sparse import csr_array
{imports}
generator = np.random.default_rng(0)
n = {points}
X = generator.normal(size=(n, 5))
y = np.where(X[:, 0] * X[:, 1] + 0.2 * generator.normal(size=n) > 0, 1, -1)
t = np.sin(X[:, 0]) + 0.1 * generator.normal(size=n)
ten = generator.integers(0, 10, n)
sparse = csr_array(np.where(X > 0.5, X, 0.0))
{before}
def call():
    {call}
times = []
for _ in range(2):
    began = perf_counter()
    call()
    times.append(perf_counter() - began)
print(*times)
"""
MERCER = "from mercer import SVC, SVR, OneClassSVM, load, save"
SKLEARN = "from sklearn.svm import SVC, SVR, OneClassSVM"
SAVED = "file = Path(tempfile.mkdtemp(), 'model.mercer'); save(SVC().fit(X, y), file)"
CASES = {
    "SVC": ("SVC().fit(X, y)", "SVC().fit(X, y)"),
    "SVR": ("SVR().fit(X, t)", "SVR().fit(X, t)"),
    "OneClassSVM": ("OneClassSVM().fit(X)", "OneClassSVM().fit(X)"),
    "SVC, sparse": ("SVC().fit(sparse, y)", "SVC().fit(sparse, y)"),
    "SVC, ten classes": ("SVC().fit(X, ten)", "SVC().fit(X, ten)"),
    "SVC, laplacian": ("SVC('laplacian').fit(X, y)", None),
    "SVC, rbf + laplacian": ("SVC('rbf + laplacian').fit(X, y)", None),
    "load and predict": ("load(sys.argv[1]).predict(X[:1])", None),
}


def seconds(script: str, *arguments: str) -> tuple[float, ...]:
    """Of the first and the second call."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def best(imports: str, call: str, points: int, repeat: int) -> tuple[float, float]:
    """The best of each."""
    model = []
    if "load(" in call:
        start = SETTING.split("def call")[0].format(imports=imports, points=points, before=SAVED)
        save = f"{start}\nprint(file)"
        done = subprocess.run([sys.executable, "-c", save], capture_output=True, text=True, check=True)
        model = [done.stdout.strip()]
    script = SETTING.format(imports=imports, points=points, before="", call=call)
    runs = [seconds(script, *model) for _ in range(repeat)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    print("| seconds | first call | second call | scikit-learn: first | second |\n|---|---|---|---|---|")
    for name, (ours, theirs) in CASES.items():
        first, second = best(MERCER, ours, given.points, given.repeat)
        cells = [f"{first:.3f}", f"{second:.3f}"]
        peer = best(SKLEARN, theirs, given.points, given.repeat) if theirs else ()
        cells += [f"{value:.3f}" for value in peer] or ["", ""]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
