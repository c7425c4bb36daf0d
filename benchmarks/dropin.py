"""mercer.dropin beside the classes that it stands for: fit and predict at every size, objective and KKT violation.

    python benchmarks/dropin.py                  20 to 100,000 points
    python benchmarks/dropin.py --most 3000      up to so many
    python benchmarks/dropin.py --least 10000    from so many
    python benchmarks/dropin.py --only SVC SVR   some of the classes
    python benchmarks/dropin.py --data FOLDER    LinearSVC on real data: a folder with load.py and the sets named below
    python benchmarks/dropin.py --times 3        scikit-learn's fit is given up after 3 times our seconds, or one second

A row for each class and size: seconds of scikit-learn's class and of ours (the best of some runs, taken in turns), how
many times as long ours takes, and whether objective and violation are no larger than theirs. Worse is what takes more
than 1.1 times as long or is not as good. Where scikit-learn's fit was given up, its seconds are a lower bound (>), the
ratio is an upper one (<), and there is nothing to compare answer and predictions with.
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
import sklearn.kernel_ridge
import sklearn.svm
from linear import Case, from_folder

import mercer
from mercer import dropin

SIZES = (20, 50, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
MOST = {"KernelRidge": 10_000, "SVR": 30_000, "OneClassSVM": 30_000}  # beyond, scikit-learn's take too long or too much
CERTIFIED = 30_000  # points, up to which both answers are judged
SLOWER = 1.1
SOON = 1.0  # Seconds: before that nothing is given up, as its process has to begin.
CASES = {
    "SVC": (sklearn.svm.SVC, {}),
    "SVC, three classes": (sklearn.svm.SVC, {}),
    "SVC, C = 100": (sklearn.svm.SVC, {"C": 100.0}),
    "SVC, linear": (sklearn.svm.SVC, {"kernel": "linear"}),
    "SVR": (sklearn.svm.SVR, {}),
    "OneClassSVM": (sklearn.svm.OneClassSVM, {"nu": 0.2}),
    "LinearSVC": (sklearn.svm.LinearSVC, {}),
    "LinearSVC, C = 0.01": (sklearn.svm.LinearSVC, {"C": 0.01}),
    "LinearSVC, hinge": (sklearn.svm.LinearSVC, {"loss": "hinge"}),
    "hinge, C = 0.01": (sklearn.svm.LinearSVC, {"loss": "hinge", "C": 0.01}),
    "hinge, C = 100": (sklearn.svm.LinearSVC, {"loss": "hinge", "C": 100.0}),
    "KernelRidge": (sklearn.kernel_ridge.KernelRidge, {"kernel": "rbf"}),
}

REAL = [Case(name) for name in ("a9a", "w8a", "ijcnn1", "rcv1_small", "reuters_moneyfx")] + [Case("madelon", "std")]
DENSE = 20_000_000  # entries
LOSSES, COSTS = ("hinge", "squared_hinge"), (0.1, 1.0, 10.0)


def data(case: str, n: int):
    """Points of 20 coordinates, and targets that a curved boundary parts."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, 20))
    f = X[:, 0] + X[:, 1] ** 2 - 0.8 + 0.3 * generator.normal(size=n)
    if "three" in case:
        return X, np.digitize(f, [-0.5, 0.8])
    return X, f if case in ("SVR", "KernelRidge") else (f > 0).astype(int)


def best_of(works, runs: int) -> list[float]:
    """The least seconds of each, taken in turns."""
    least = [float("inf")] * len(works)
    for _ in range(runs):
        for place, work in enumerate(works):
            start = perf_counter()
            work()
            least[place] = min(least[place], perf_counter() - start)
    return least


def no_worse(ours, theirs, X, y) -> str:
    """Whether objective and violation are no larger; a dash where nobody looks."""
    if X.shape[0] > CERTIFIED:
        return "-"
    a, b = (mercer.certify(machine, X, y) for machine in (ours, theirs))
    if not hasattr(ours, "dual_coef_"):  # certify finds a dual point of its own, as good as it needs it: ours is known
        a = ours.certificate_
    parts = zip(getattr(a, "parts", ()) or [a], getattr(b, "parts", ()) or [b], strict=True)
    good = all(
        one.primal <= other.primal + 1e-9 * abs(other.primal) and one.kkt_violation <= max(other.kkt_violation, 1e-8)
        for one, other in parts
    )
    return "yes" if good else "NO"


def ends(work, seconds: float) -> bool:
    """Whether the work, in a process of its own, ends within so many seconds."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(seconds)
    ended = not process.is_alive()
    process.kill()
    process.join()
    return ended


def compared(name: str, cls: type, settings: dict, X, y, times: float | None = None) -> bool:
    """Print a row of the table; whether anything in it is worse."""
    n = X.shape[0]
    theirs, ours = cls(**settings), getattr(dropin, cls.__name__)(**settings)
    if times is not None:
        seconds = best_of([lambda: ours.fit(X, y), lambda: ours.predict(X)], 1)
        most = max(times * seconds[0], SOON)
        if not ends(lambda: theirs.fit(X, y), most):
            ratio = seconds[0] / most
            print(
                f"{name:30} {n:>7} > {most:9.4f} {seconds[0]:10.5f} < {ratio:4.2f} {'':12}{seconds[1]:10.5f}",
                flush=True,
            )
            return False
    runs = 30 if n <= 300 else 5 if n <= 3_000 else 1 if name in CASES else 3
    fit = best_of([lambda: theirs.fit(X, y), lambda: ours.fit(X, y)], runs)
    predict = best_of([lambda: theirs.predict(X), lambda: ours.predict(X)], runs)
    ratios, good = (fit[1] / fit[0], predict[1] / predict[0]), no_worse(ours, theirs, X, y)
    worse = max(ratios) > SLOWER or good == "NO"
    row = f"{name:30} {n:>7}  {fit[0]:10.5f} {fit[1]:10.5f} {ratios[0]:6.2f}  {predict[0]:10.5f} {predict[1]:10.5f}"
    print(f"{row} {ratios[1]:6.2f}  {good:>4}" + ("  worse" if worse else ""), flush=True)
    return worse


def of_points(only: list[str], least: int, most: int, times: float | None) -> int:
    """Every class and size; how many rows are worse."""
    worse = 0
    for case, (cls, settings) in CASES.items():
        if any(case == name or case.startswith(f"{name},") for name in only):
            sizes = [n for n in SIZES if least <= n <= min(most, MOST.get(case, SIZES[-1]))]
            worse += sum(compared(case, cls, settings, *data(case, n), times) for n in sizes)
    return worse


def of_folder(folder: Path) -> int:
    """LinearSVC on real data; sparse sets as dense arrays, too, where those are not too large."""
    worse = 0
    for case in REAL:
        X, y = from_folder(folder, case)
        forms = {"": X.astype(np.float64)}
        if hasattr(X, "toarray") and X.shape[0] * X.shape[1] <= DENSE:
            forms[", dense"] = forms[""].toarray()
        for form, loss, C in product(forms, LOSSES, COSTS):
            settings = {"loss": loss, "C": C}
            worse += compared(f"{case.name}{form}, {loss}, {C:g}", sklearn.svm.LinearSVC, settings, forms[form], y)
    return worse


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--least", type=int, default=SIZES[0], help="points, at least")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="points, at most")
    parser.add_argument("--only", nargs="+", default=list(CASES), help="some of the classes")
    parser.add_argument("--data", type=Path, help="a folder of real data, with load.py")
    parser.add_argument(
        "--times", type=float, help="our seconds, after so many times which scikit-learn's fit is given up"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = f"{'theirs':>10} {'ours':>10} {'ratio':>6}"
    print(f"{'fit, then predict':30} {'n':>7}  {columns}  {columns}  good")
    sizes = arguments.least, arguments.most, arguments.times
    worse = of_folder(arguments.data) if arguments.data else of_points(arguments.only, *sizes)
    print(f"{worse} rows are worse." if worse else "No row is worse.")


if __name__ == "__main__":
    main()
