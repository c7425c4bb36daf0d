"""Seconds asked and seconds taken: `time_limit` over machines and solvers, on problems that need far longer.

The promise is the limit, a tenth of it and half a second. Beside it, how much of the targets the answer at the limit
gets right on points that it has not seen (accuracy, or R^2), what a cheaper method gets right in half of the limit,
and a constant. The cheaper method has landmarks, as many as there is time for, and a linear machine on their features;
where the machine is linear, stochastic steps. Each case runs in a process of its own, after a small fit.

    python benchmarks/limits.py                 limits of 1 and 5 seconds; some ten minutes
    python benchmarks/limits.py 1 logistic      one limit; the cases whose name has this word
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from mercer import SVC, SVR, KernelLogistic, KernelPerceptron, KernelRidge, LinearSVC, OneClassSVM, Perceptron
from mercer.features import Nystrom, RandomFourier
from mercer.kernels import FromFeatures, FromFunction

PROMISE = 1.1, 0.5
TEST = 2000  # points to predict for


def gaussian(x: Any, z: Any) -> float:
    """A kernel as a user writes it, in Python."""
    return float(np.exp(-((x - z) ** 2).sum()))


def points(n: int, d: int, classes: int = 2, single: bool = False) -> tuple[Any, Any]:
    """Normal points; the class depends on the first three coordinates, and on noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n + TEST, d)).astype(np.float32 if single else np.float64)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * generator.normal(size=n + TEST)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def in_features(X: Any) -> FromFeatures:
    """A kernel of 500 features that somebody else computes."""
    return FromFeatures(RandomFourier(n_components=500).fit(X))


CASES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "SVC rbf, 40,000": ((40_000, 20), lambda X, t: SVC("rbf(gamma=.05)", C=10, time_limit=t)),
    "SVC exp_chi2, 20,000 x 200": ((20_000, 200), lambda X, t: SVC("exp_chi2(gamma=.05)", C=10, time_limit=t)),
    "SVC in Python, 4,000": ((4000, 3), lambda X, t: SVC(FromFunction(gaussian), C=10, time_limit=t)),
    "SVC FromFeatures, 20,000": ((20_000, 20), lambda X, t: SVC(in_features(X), C=10, time_limit=t)),
    "SVC 10 classes, 20,000": ((20_000, 20, 10), lambda X, t: SVC("rbf(gamma=.05)", C=10, time_limit=t)),
    "SVC qp, 4,000": ((4000, 10), lambda X, t: SVC("rbf(gamma=.1)", C=10, solver="qp", time_limit=t)),
    "SVC subgradient, 20,000": (
        (20_000, 10), lambda X, t: SVC("rbf(gamma=.1)", C=10, solver="subgradient", time_limit=t)
    ),
    "SVR rbf, 40,000": ((40_000, 20), lambda X, t: SVR("rbf(gamma=.05)", C=10, time_limit=t)),
    "OneClassSVM, 40,000": ((40_000, 20), lambda X, t: OneClassSVM("rbf(gamma=.05)", time_limit=t)),
    "KernelRidge cholesky, 15,000": (
        (15_000, 20), lambda X, t: KernelRidge("rbf(gamma=.05)", bias=True, solver="cholesky", time_limit=t)
    ),
    "KernelRidge conjugate gradients, 40,000": (
        (40_000, 20), lambda X, t: KernelRidge("rbf(gamma=.05)", bias=True, solver="conjugategradient", time_limit=t)
    ),
    "KernelRidge landmarks, 200,000": (
        (200_000, 20), lambda X, t: KernelRidge("rbf(gamma=.05)", bias=True, solver="nystrom", time_limit=t)
    ),
    "KernelRidge alpha=loo, 5,000": (
        (5000, 20), lambda X, t: KernelRidge("rbf(gamma=.05)", "loo", bias=True, time_limit=t)
    ),
    "KernelRidge alpha=loo, 30,000": (
        (30_000, 20), lambda X, t: KernelRidge("rbf(gamma=.05)", "loo", bias=True, time_limit=t)
    ),
    "KernelRidge in Python, 3,000": (
        (3000, 3), lambda X, t: KernelRidge(FromFunction(gaussian), bias=True, time_limit=t)
    ),
    "KernelLogistic, 6,000": ((6000, 20), lambda X, t: KernelLogistic("rbf(gamma=.05)", C=100, time_limit=t)),
    "KernelLogistic 5 classes, 6,000": (
        (6000, 20, 5), lambda X, t: KernelLogistic("rbf(gamma=.05)", C=100, time_limit=t)
    ),
    "KernelLogistic landmarks, 40,000": (
        (40_000, 20), lambda X, t: KernelLogistic("rbf(gamma=.05)", C=10, time_limit=t)
    ),
    "KernelLogistic newton, 20,000": (
        (20_000, 20), lambda X, t: KernelLogistic("rbf(gamma=.05)", C=10, solver="newton", time_limit=t)
    ),
    "LinearSVC hinge, 20,000 x 5,000": (
        (20_000, 5000, 2, True), lambda X, t: LinearSVC(loss="hinge", time_limit=t)
    ),
    "LinearSVC squared hinge, 20,000 x 5,000": ((20_000, 5000, 2, True), lambda X, t: LinearSVC(time_limit=t)),
    "LinearSVC logistic, 20,000 x 5,000": (
        (20_000, 5000, 2, True), lambda X, t: LinearSVC(loss="logistic", time_limit=t)
    ),
    "LinearSVC 10 classes, 20,000 x 2,000": (
        (20_000, 2000, 10, True), lambda X, t: LinearSVC(loss="hinge", time_limit=t)
    ),
    "KernelPerceptron, 40,000": ((40_000, 20), lambda X, t: KernelPerceptron("rbf(gamma=.05)", time_limit=t)),
    "KernelPerceptron in Python, 3,000": (
        (3000, 3), lambda X, t: KernelPerceptron(FromFunction(gaussian), time_limit=t)
    ),
    "Perceptron, 300,000 x 100": ((300_000, 100), lambda X, t: Perceptron(time_limit=t, max_epochs=10_000)),
}  # fmt: skip


def cheaper(machine: Any, X: Any, y: Any, half: float) -> Any:
    """What has been fitted in so many seconds, or None: landmarks, or stochastic steps."""
    if isinstance(machine, LinearSVC):
        return LinearSVC(loss=machine.loss, solver="stochastic_subgradient", time_limit=half).fit(X, y)
    if isinstance(machine, Perceptron):
        return None
    began = perf_counter()
    best = None
    for count in (25, 50, 100, 200, 400, 800):
        features = Nystrom(machine.kernel, landmarks=count, random_state=0)
        if isinstance(machine, KernelRidge | SVR):
            alpha = 1.0 / machine.C if isinstance(machine, SVR) else 1.0 if machine.alpha == "loo" else machine.alpha
            final = KernelRidge("linear", alpha, bias=True)
        else:
            loss = "logistic" if isinstance(machine, KernelLogistic) else "hinge"
            final = LinearSVC(loss=loss, C=getattr(machine, "C", 1.0), time_limit=half)
        rival = make_pipeline(features, final).fit(X, y)
        if perf_counter() - began > half:
            return best
        best, began = rival, perf_counter()
    return best


def one(name: str, limits: list[float]) -> None:
    """Fit a case with each limit, and print a line for each."""
    warnings.simplefilter("ignore")
    shape, make = CASES[name]
    X, y = points(*shape)
    X = np.abs(X) if "chi2" in name else X
    train, test = slice(0, -TEST), slice(-TEST, None)
    SVC("rbf(gamma=1)").fit(X[:400, :3], y[:400])
    for limit in limits:
        machine = make(X[train], limit)
        began = perf_counter()
        machine.fit(X[train], y[train])
        taken = perf_counter() - began
        late = "" if taken <= PROMISE[0] * limit + PROMISE[1] else "  late"
        quality = "" if isinstance(machine, OneClassSVM) else f"{machine.score(X[test], y[test]):8.3f}"
        rival = None if not quality else cheaper(machine, X[train], y[train], limit / 2)
        simple = "" if rival is None else f"{rival.score(X[test], y[test]):8.3f}"
        regression = isinstance(machine, KernelRidge | SVR)
        constant = 0.0 if regression else float(np.bincount(y[test]).max()) / TEST
        status = machine.certificate_.status.name
        print(f"{name:42s}{limit:6g}{taken:8.2f}{quality:>9s}{simple:>9s}{constant:9.3f}  {status}{late}", flush=True)


def main() -> None:
    """All cases, each in a process of its own."""
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        one(sys.argv[2], [float(text) for text in sys.argv[3].split(",")])
        return
    limits = sys.argv[1] if len(sys.argv) > 1 else "1,5"
    print(f"{'':42s}{'asked':>6s}{'taken':>8s}{'score':>9s}{'cheaper':>9s}{'constant':>9s}")
    for name in CASES:
        if len(sys.argv) <= 2 or any(word in name for word in sys.argv[2:]):
            subprocess.run([sys.executable, __file__, "--one", name, limits], check=False)


if __name__ == "__main__":
    main()
