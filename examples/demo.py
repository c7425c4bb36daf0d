"""What `make demo` shows: the Gram matrix of scikit-learn's digits, with evidence that its kernel is one."""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import mercer
from mercer.kernels import Gaussian


def main() -> None:
    """Print a report, and save a heat map."""
    X, y = load_digits(return_X_y=True)
    kernel = Gaussian(gamma="scale").resolve(X)
    kernel(X[:400])  # compile, or load what is compiled
    start = time.perf_counter()
    K = kernel(X)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    found = mercer.evidence(kernel, X)
    print("The Gram matrix of scikit-learn's digits: 1797 images of 8 x 8 pixels\n")
    print(f"  kernel   {kernel!r}, gamma = 1 / (d Var X)")
    print(f"  shape    {K.shape[0]} x {K.shape[1]}, {K.nbytes / 1e6:.0f} MB, {K.dtype}")
    print(f"  time     {seconds * 1000:.0f} ms, and {time.perf_counter() - start:.1f} s for the evidence\n")
    print(found)
    ax = mercer.plot.gram(K, labels=y, title="Handwritten digits, sorted by class")
    path = Path("out/gram_digits.png")
    path.parent.mkdir(exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    plt.close(ax.figure)
    print(f"\nThe picture is in {path}: ten squares on the diagonal, one for each digit.")


if __name__ == "__main__":
    main()
