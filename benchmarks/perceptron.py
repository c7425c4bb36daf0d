"""One pass of KernelPerceptron over a data set, beside the time of computing once the n x M block of kernel values of
the M points that it stores.

The block is computed row by row with columns that are ready, as solvers do, into memory that is used again. "epoch" is
the pass alone; "fit" is all that `fit` does: checks, the pass, and the certificate, for which the block is computed
once more. Beside each, how many times the block. Every figure is the best of the repeats.

    python benchmarks/perceptron.py --data FOLDER      a folder with load.py and the data sets
    python benchmarks/perceptron.py                    synthetic points of the same shapes
    python benchmarks/perceptron.py --before PYTHON    beside an older Mercer, in an environment of its own
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from mercer import KernelPerceptron
from mercer.columns import Columns
from mercer.kernels import Gaussian, Kernel
from mercer.parallel import thread_count

SETS = {"a9a": (0.05, 32561, 123), "ijcnn1": (2.0, 49990, 22)}  # gamma, n, d
REPEATS = 5


def points(name: str, folder: str | None) -> tuple[Any, Any]:
    """Points and labels, in float32."""
    _, n, d = SETS[name]
    if folder is not None:
        sys.path.insert(0, folder)
        from load import load  # type: ignore[import-not-found]

        X, y, _, _ = load(name)
        return X, y == y.max()
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, d)).astype(np.float32)
    X = (X > 1.2).astype(np.float32) if name == "a9a" else X / np.sqrt(d)
    score = X @ generator.normal(size=d)
    return X, score > np.median(score)


def best(work: Any) -> float:
    """The least of some times."""
    times = []
    for _ in range(REPEATS):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


def block_by_rows(kernel: Kernel, X: Any, stored: Any) -> None:
    """k of every stored point, by its number, and every point of X, 512 rows at a time."""
    columns = Columns(kernel, X, np.float32, thread_count())
    buffer = np.empty((512, X.shape[0]), np.float32)
    for start in range(0, stored.size, 512):
        rows = stored[start : start + 512]
        columns.fill(rows, buffer, np.arange(rows.size))


def fitted(kernel: Kernel, X: Any, y: Any) -> tuple[KernelPerceptron, float, float]:
    """A machine after a pass, the seconds of the pass, and those of the fit."""
    model = KernelPerceptron(kernel, max_epochs=1)
    model.fit(X, y)
    epochs: list[float] = []
    whole = best(lambda: epochs.append(model.fit(X, y).solution_.seconds))
    return model, min(epochs), whole


BEFORE = """
import json, pickle, sys
from pathlib import Path
from time import perf_counter
from mercer import KernelPerceptron
kernel, X, y, repeats = pickle.loads(Path(sys.argv[1]).read_bytes())
model = KernelPerceptron(kernel, max_epochs=1)
model.fit(X, y)
epochs, fits = [], []
for _ in range(repeats):
    began = perf_counter()
    epochs.append(model.fit(X, y).solution_.seconds)
    fits.append(perf_counter() - began)
print(json.dumps([min(epochs), min(fits)]))
"""


def before(python: str, kernel: Kernel, X: Any, y: Any) -> tuple[float, float]:
    """The seconds of a pass and of a fit of an older Mercer, in a process and an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data")
        path.write_bytes(pickle.dumps((kernel, X, y, REPEATS)))
        done = subprocess.run([python, "-c", BEFORE, str(path)], capture_output=True, text=True, check=True)
    epoch, fit = json.loads(done.stdout.splitlines()[-1])
    return epoch, fit


def compare(name: str, kernel: Kernel, X: Any, y: Any, python: str | None) -> None:
    """One line of the table, and one beside an older Mercer."""
    older = before(python, kernel, X, y) if python else None
    model, epoch, whole = fitted(kernel, X, y)
    block = best(lambda: block_by_rows(kernel, X, np.asarray(model.support_)))
    print(
        f"{name:8} {X.shape[0]:7} {model.support_.size:7} {block:9.3f} s {epoch:9.3f} s {epoch / block:5.2f}x "
        f"{whole:9.3f} s {whole / block:5.2f}x  {model.score(X, y):8.3f}",
        flush=True,
    )
    if older:
        times = f"{older[0]:9.3f} s {older[0] / epoch:5.2f}x {older[1]:9.3f} s {older[1] / whole:5.2f}x"
        print(f"{'  before, and how many times as fast we are':36} {times}", flush=True)


def main() -> None:
    """All data sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a folder with load.py and the data sets")
    parser.add_argument("--before", metavar="PYTHON", help="the Python of an environment with an older Mercer")
    parser.add_argument("sets", nargs="*", default=list(SETS))
    arguments = parser.parse_args()
    print(f"{'set':8} {'n':>7} {'M':>7} {'block':>11} {'epoch':>11} {'':>6} {'fit':>11} {'':>6}  {'accuracy':>8}")
    for name in arguments.sets:
        X, y = points(name, arguments.data)
        compare(name, Gaussian(SETS[name][0]), X, y, arguments.before)


if __name__ == "__main__":
    main()
