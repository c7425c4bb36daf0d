"""What `make demo` shows: an SVC trained on scikit-learn's digits, how good its answer is, and its Gram matrix."""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mercer
from mercer import SVC


def main() -> None:
    """Train, test, print the certificate, and save a heat map."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    SVC().fit(X[:300], y[:300]).predict(X)  # compile, or load what is compiled
    start = time.perf_counter()
    machine = SVC(kernel="rbf(gamma=scale)", C=10).fit(X, y)
    seconds = time.perf_counter() - start
    right = machine.score(X_test, y_test)
    print(f"SVC on scikit-learn's digits: {len(X)} images of 8 x 8 pixels, ten classes, a machine for each pair\n")
    print(f"  kernel           {machine.kernel_!r}, gamma = 1 / (d Var X)")
    print(f"  test accuracy    {100 * right:.1f}% of {len(X_test)} images")
    print(f"  time             {seconds:.2f} s to train all {len(machine.certificates_)} machines and to certify them")
    print(f"  support vectors  {len(machine.support_)} of {len(X)}\n")
    print("The certificate of the worst of the machines:\n")
    print(machine.certificate_)
    print("\nThe kernel:\n")
    print(mercer.evidence(machine.kernel_, X))
    ax = mercer.plot.gram(machine.kernel_(X), labels=y, title="Handwritten digits, sorted by class")
    path = Path("out/gram_digits.png")
    path.parent.mkdir(exist_ok=True)
    ax.figure.savefig(path, dpi=150)
    plt.close(ax.figure)
    print(f"\nThe Gram matrix is drawn in {path}: ten squares on the diagonal, one for each digit.")


if __name__ == "__main__":
    main()
