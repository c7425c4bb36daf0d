"""Seconds asked and seconds taken: `time_limit` over machines and solvers, on problems that need far longer.

The promise is the limit, a tenth of it and half a second. Beside it, what a cheaper method makes of half of the limit:
landmarks, each number of which has as long, and the same machine on their features; where the machine is linear,
stochastic steps. `objective` is that of the answer at the limit in parts of the cheaper one's, so below 1 where it is
the better one; both are answers of the same problem. The scores are accuracy, or R^2, on points that nobody has seen,
of the two and of a constant: 2,000 points, so that accuracies within 0.02 of each other do not differ. Each case runs
in a process of its own, after a small fit.

    python benchmarks/limits.py                 limits of 1 and 5 seconds; some fifteen minutes
    python benchmarks/limits.py 1 logistic      one limit; the cases whose name has this word
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

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
    if isinstance(machine, Perceptron | OneClassSVM):
        return None
    best = None
    for count in (25, 50, 100, 200, 400, 800):
        began = perf_counter()
        final = clone(machine).set_params(kernel="linear", time_limit=half)
        if not isinstance(machine, KernelPerceptron):
            final.set_params(solver=None)
        rival = make_pipeline(Nystrom(machine.kernel, landmarks=count, random_state=0), final).fit(X, y)
        if perf_counter() - began > half:
            return best
        best = rival
    return best


def objective(machine: Any) -> float:
    """The sum of the objectives of all its problems."""
    solved = machine[-1] if isinstance(machine, Pipeline) else machine
    solutions = solved.solution_ if isinstance(solved.solution_, list | tuple) else [solved.solution_]
    return float(sum(solution.certificate.primal for solution in solutions))


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
        rival = cheaper(machine, X[train], y[train], limit / 2)
        ratio = np.nan if rival is None else objective(machine) / objective(rival)
        better = f"{ratio:10.3f}" if np.isfinite(ratio) and getattr(machine, "alpha", 1.0) != "loo" else ""
        quality = "" if isinstance(machine, OneClassSVM) else f"{machine.score(X[test], y[test]):8.3f}"
        simple = "" if rival is None else f"{rival.score(X[test], y[test]):8.3f}"
        constant = 0.0 if isinstance(machine, KernelRidge | SVR) else float(np.bincount(y[test]).max()) / TEST
        row = f"{name:42s}{limit:6g}{taken:8.2f}{better:>11s}{quality:>9s}{simple:>9s}{constant:9.3f}"
        print(f"{row}  {machine.certificate_.status.name}{late}", flush=True)


def main() -> None:
    """All cases, each in a process of its own."""
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        one(sys.argv[2], [float(text) for text in sys.argv[3].split(",")])
        return
    limits = sys.argv[1] if len(sys.argv) > 1 else "1,5"
    print(f"{'':42s}{'asked':>6s}{'taken':>8s}{'objective':>11s}{'score':>9s}{'cheaper':>9s}{'constant':>9s}")
    for name in CASES:
        if len(sys.argv) <= 2 or any(word in name for word in sys.argv[2:]):
            subprocess.run([sys.executable, __file__, "--one", name, limits], check=False)


if __name__ == "__main__":
    main()
