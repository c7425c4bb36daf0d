"""Prints a number for the bits of beta and b of many fits: run by test_bits.py, in processes that differ."""

from __future__ import annotations

import sys
import warnings
from hashlib import sha256

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, OneClassSVM
from mercer.parallel import thread_count

generator = np.random.default_rng(0)
X = generator.normal(size=(2700, 6))
NOISE = 0.4 * generator.normal(size=2700)
TWO = np.where(X[:, 0] * X[:, 1] + NOISE > 0, 1, -1)
TEN = np.digitize(X[:, 0] + X[:, 1] ** 2 + NOISE, np.linspace(-1.5, 4.0, 9))
BITS = (generator.random((2700, 40)) < 0.3).astype(np.float64)
SPARSE = csr_array(np.where(np.abs(X) > 1, X, 0.0))
POINTS = {"dense": X, "single": X.astype(np.float32), "bits": BITS, "sparse": SPARSE}
KERNELS = ("rbf", "poly", "laplacian(0.3)")
SMALL = slice(0, 300)


def fits():
    """Name and fitted machine of each case."""
    for name, points in POINTS.items():
        for kernel in KERNELS:
            most = 2700 if kernel == "rbf" else 900
            yield f"{name} {kernel} two", SVC(kernel).fit(points[:most], TWO[:most])
            yield f"{name} {kernel} ten", SVC(kernel).fit(points[:900], TEN[:900])
            yield f"{name} {kernel} svr", SVR(kernel, C=0.5).fit(points[:900], X[:900, 0] ** 2)
            yield f"{name} {kernel} one", OneClassSVM(kernel, nu=0.2).fit(points[:900])
    smooth = SVC("rbf(gamma=0.01)", C=1e5, tol=1e-6)  # steps of pairs alone would crawl: Newton steps help
    yield "newton", smooth.fit(X[SMALL], TWO[SMALL])
    yield "newton svr", SVR("rbf(gamma=0.05)", C=1e4, epsilon=1e-3).fit(X[SMALL], np.sin(X[SMALL, 0]))


def main() -> None:
    """A line for each case."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(thread_count(), file=sys.stderr)
    for name, machine in fits():
        bits = machine.dual_coef_.tobytes() + np.ravel(machine.intercept_).tobytes() + machine.support_.tobytes()
        print(f"{name}: {sha256(bits).hexdigest()[:16]}")


if __name__ == "__main__":
    main()
