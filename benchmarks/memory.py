"""What a process grows by while a machine is fitted, in parts of its `memory`: beyond the points and the result.

Each case runs in a process of its own, after some small fits. The peak is that of the system (VmHWM, set back before),
so that temporaries of helper threads, of the allocator and of scikit-learn's checks count; what the allocator still
holds free is given back before. The result is what the fitted machine takes when it is pickled. `memory` is a promise
within 1.3 times; the gap tells that no answer is far off because of it. Linux alone tells the peak.

    python benchmarks/memory.py                        all cases, budgets of 100MB, 200MB and 1GB; half an hour
    python benchmarks/memory.py 100MB sparse SVR       some budgets; the cases whose name has all these words
"""

from __future__ import annotations

import ctypes
import gc
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from mercer import SVC, SVR, OneClassSVM
from mercer.memory import parse_bytes

MIB = 2**20
BUDGETS = ["100MB", "200MB", "1GB"]
MACHINES = ["SVC", "SVC five classes", "SVR", "OneClassSVM"]
SHAPES = {"40,000 x 20": (40_000, 20), "40,000 x 200": (40_000, 200), "50,000 x 20,000 sparse": (50_000, 20_000)}
PREDICTED = {"500,000 x 20": (500_000, 20, np.float64), "20,000 x 2,000 float32": (20_000, 2000, np.float32)}


def points(n: int, d: int, classes: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """Points, dense or as words in texts, and classes with much noise."""
    if d > 2000:
        rows = (generator.random((n, 60)) ** 3 * d).astype(int)
        X = csr_matrix((np.ones(rows.size), rows.reshape(-1), np.arange(0, rows.size + 1, 60)), shape=(n, d))
        X.sum_duplicates()
        score = np.asarray(X[:, :20].sum(axis=1)).ravel() + 3.0 * generator.normal(size=n)
    else:
        X = generator.normal(size=(n, d))
        score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + generator.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def resident(field: str) -> float:
    """VmRSS or VmHWM of this process, in MiB."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def grown(work: Any) -> tuple[float, Any]:
    """By how many MiB the process grows at most while this works, and what it gives."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    found = work()
    return resident("VmHWM") - before, found


def machine_of(name: str, gamma: float, budget: str) -> Any:
    """The machine of a case."""
    kind = {"SVR": SVR, "OneClassSVM": OneClassSVM}.get(name, SVC)
    return kind(f"rbf(gamma={gamma})", memory=budget)


def fit(name: str, shape: str, budget: str) -> None:
    """Fit a case, and print a line."""
    generator, (n, d) = np.random.default_rng(0), SHAPES[shape]
    for size in (400, 3000):
        SVC().fit(*points(size, 3, 5, generator))
    X, y = points(n, d, 5 if "five" in name else 2, generator)
    machine = machine_of(name, 0.01 if d > 2000 else 1.0 / d, budget)
    if name == "SVR":
        y = y + generator.normal(size=n)
    peak, machine = grown(lambda: machine.fit(X) if name == "OneClassSVM" else machine.fit(X, y))
    result, room = len(pickle.dumps(machine)) / MIB, parse_bytes(budget) / MIB
    certificate = machine.certificate_
    row = f"{name:18s}{shape:26s}{budget:>6s}{peak:8.0f}{result:8.0f}{(peak - result) / room:8.2f}"
    print(f"{row}  {certificate.status.name.lower()}, gap {certificate.relative_gap:.0e}", flush=True)


def predict(name: str, shape: str, budget: str) -> None:
    """Predict for many points, and print a line."""
    generator, (n, d, dtype) = np.random.default_rng(0), PREDICTED[shape]
    X, y = points(3000 if d == 20 else 2000, d, 5 if "five" in name else 2, generator)
    machine = machine_of(name, 1.0 / d, budget)
    machine.fit(X.astype(dtype)) if name == "OneClassSVM" else machine.fit(X.astype(dtype), y)
    many = generator.normal(size=(n, d)).astype(dtype)
    machine.predict(many[:300])
    peak, found = grown(lambda: machine.predict(many))
    result, room = found.nbytes / MIB, parse_bytes(budget) / MIB
    row = f"{name:18s}{shape:26s}{budget:>6s}{peak:8.0f}{result:8.0f}{(peak - result) / room:8.2f}"
    print(f"{row}  predicted", flush=True)


def main() -> None:
    """All cases, each in a process of its own."""
    if sys.argv[1:2] == ["--one"]:
        warnings.simplefilter("ignore")
        name, shape, budget = sys.argv[2:]
        (fit if shape in SHAPES else predict)(name, shape, budget)
        return
    budgets = [text for text in sys.argv[1:] if text.endswith("B")] or BUDGETS
    words = [text for text in sys.argv[1:] if not text.endswith("B")]
    print(f"{'':18s}{'':26s}{'':>6s}{'peak':>8s}{'result':>8s}{'part':>8s}")
    for shape in [*SHAPES, *PREDICTED]:
        for name in MACHINES:
            for budget in budgets:
                if all(word in f"{name} {shape}" for word in words):
                    subprocess.run([sys.executable, __file__, "--one", name, shape, budget], check=False)


if __name__ == "__main__":
    main()
