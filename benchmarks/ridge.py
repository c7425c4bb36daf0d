"""KernelRidge side by side with scikit-learn: seconds, peak memory, and how good each answer is.

    python benchmarks/ridge.py --data FOLDER              # a folder with load.py, kin40k, california and hflights
    python benchmarks/ridge.py --data FOLDER --only exact,full,landmarks,million,path,deviations,coverage --repeat 3
    python benchmarks/ridge.py --data FOLDER --only exact:kin40k:8000:0.1    # one case: kind, data, rows, alpha
    python benchmarks/ridge.py --data FOLDER --before PYTHON    # with an older Mercer beside it: its Python

exact      KernelRidge in float64 on 8,000 and 16,000 points, against scikit-learn's; relative residuals of both by one
           float64 formula. With 16,000 points, OpenBLAS on two threads ends scikit-learn's with a segmentation fault,
           so that its matrix is factored in two halves, on both threads.
full       the full problem of kin40k by conjugate gradients, where scikit-learn's would need over 10 GB.
landmarks  hflights, against a pipeline of Nystroem and Ridge with as many landmarks: errors on the test set.
million    the same on 1,000,000 synthetic rows x 10, in float32 for both: in float64, scikit-learn's features alone are
           16 GB, and it holds them twice.
path       leave-one-out errors for 50 values of alpha, against a 5-fold GridSearchCV of scikit-learn's KernelRidge; on
           4,000 points it searches every tenth value only, and the table shows ten times the seconds.
deviations the CPU seconds of a fit and the standard deviations of the test set, by all threads, beside scikit-learn's
           GaussianProcessRegressor with the kernel and the noise given.
coverage   how many held-out targets are where KernelRidge("rbf", alpha="loo", bias=True) says: within 1.96 deviations
           (95% are expected), within 1.96 latent ones (no promise), and in the intervals of predict_interval (90%).

Every fit runs in a process of its own, which takes about eight minutes in all. Seconds are the best of the repeats, of
slow fits one (the first fit of a process, on few points, compiles or loads compiled code and is not counted); memory is
the peak of the process beyond what it held before the fit.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

GAMMA_PER_COLUMN = 1.0  # gamma = 1 / d, on standardised columns
LANDMARKS = 2000
COVERED = ("concrete", "california", "airfoil", "power_plant")
HELD_OUT = 2000  # rows, at most, of which coverage is measured
ALPHAS = np.geomspace(1e-4, 1e2, 50)
SOLVE_FAILS = 15_000  # points, from which LAPACK's factor on two threads (OpenBLAS 0.3.30) is a segmentation fault


def load(folder: Path, name: str) -> tuple[Any, Any, Any, Any]:
    """Training and test set in float64; columns and target standardised by the training set."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    X, y, X_test, y_test = loader.load(name, scale="std")
    mean, deviation = y.mean(), y.std()
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(float), (y[order] - mean) / deviation
    return X, y, X_test.astype(float), (y_test - mean) / deviation


def synthetic(n: int) -> tuple[Any, Any, Any, Any]:
    """Rows of 10 normal columns, and a smooth function of five of them with noise; in float32."""
    generator = np.random.default_rng(0)

    def rows(n: int) -> tuple[Any, Any]:
        X = generator.normal(size=(n, 10)).astype(np.float32)
        y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3] + X[:, 4])
        return X, y + 0.1 * generator.normal(size=n).astype(np.float32)

    return *rows(n), *rows(20_000)


def data_of(folder: Path, kind: str, name: str, n: int) -> tuple[Any, Any, Any, Any]:
    """The arrays of a case."""
    if kind == "million":
        return synthetic(n)
    X, y, X_test, y_test = load(folder, name)
    return X[:n], y[:n], X_test, y_test


def machines(kind: str, n: int, d: int, alpha: float) -> dict[str, Callable[[], Any]]:
    """Both sides."""
    from sklearn import kernel_ridge
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    from mercer import KernelRidge
    from mercer.kernels import Gaussian
    from mercer.solvers import ConjugateGradient, NystromCG

    gamma = GAMMA_PER_COLUMN / d
    theirs = kernel_ridge.KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)
    if kind == "exact":
        return {"scikit-learn": lambda: theirs, "mercer": lambda: KernelRidge(Gaussian(gamma), alpha)}
    if kind == "deviations":
        process = GaussianProcessRegressor(RBF((0.5 / gamma) ** 0.5), alpha=alpha, optimizer=None)
        return {"scikit-learn": lambda: process, "mercer": lambda: KernelRidge(Gaussian(gamma), alpha)}
    if kind == "full":
        return {"mercer": lambda: KernelRidge(Gaussian(gamma), alpha, solver=ConjugateGradient(), memory="2GB")}
    if kind == "path":
        searched = ALPHAS[:: every(kind, n)]
        grid = GridSearchCV(theirs, {"alpha": searched}, cv=5, scoring="neg_mean_squared_error", refit=False)
        return {
            "scikit-learn": lambda: grid,
            "mercer": lambda: KernelRidge(Gaussian(gamma), alpha="loo", alphas=ALPHAS),
        }
    nystroem = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0)
    return {
        "scikit-learn": lambda: make_pipeline(nystroem, Ridge(alpha=alpha, copy_X=False)),
        "mercer": lambda: KernelRidge(
            Gaussian(gamma), alpha, bias=True, solver=NystromCG(LANDMARKS), random_state=0, memory="2GB"
        ),
    }


def every(kind: str, n: int) -> int:
    """Of so many values of alpha the grid search of scikit-learn tries one."""
    return 10 if kind == "path" and n > 2000 else 1


def solve_by_blocks() -> None:
    """Let scikit-learn's KernelRidge factor its matrix in two halves, of a size with which LAPACK does not fail."""
    from scipy import linalg

    def solve(K: Any, y: Any, **options: Any) -> Any:
        half = len(K) // 2
        first = linalg.cholesky(K[:half, :half], lower=True, check_finite=False)
        across = linalg.solve_triangular(first, K[:half, half:], lower=True, check_finite=False)
        last = linalg.cholesky(K[half:, half:] - across.T @ across, lower=True, overwrite_a=True, check_finite=False)
        z = linalg.solve_triangular(first, y[:half], lower=True)
        below = linalg.cho_solve((last, True), y[half:] - across.T @ z)
        above = linalg.solve_triangular(first, z - across @ below, lower=True, trans=1)
        return np.concatenate([above, below])

    linalg.solve = solve


def measure(folder: Path, case: str, machine: str, repeat: int) -> dict[str, Any]:
    """One machine on one case, in this process."""
    kind, name, n, alpha = case.split(":")
    X, y, X_test, y_test = data_of(folder, kind, name, int(n))
    make = machines(kind, int(n), X.shape[1], float(alpha))[machine]
    warnings.filterwarnings("ignore")
    if machine == "scikit-learn" and kind == "exact" and int(n) >= SOLVE_FAILS:
        solve_by_blocks()
    if kind != "path" or machine == "mercer":
        make().fit(X[:2600], y[:2600])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, clock = [], process_time if kind == "deviations" else perf_counter
    for _ in range(repeat):
        start = clock()
        fitted = make().fit(X, y)
        if kind == "deviations":
            fitted.predict(X_test, return_std=True)
        seconds.append(clock() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result: dict[str, Any] = {"seconds": min(seconds), "gigabytes": (peak - before) / 1e6}
    if kind == "path" and machine == "scikit-learn":
        result["seconds"] *= every(kind, int(n))
    else:
        result["error"] = float(np.mean((fitted.predict(X_test[:10_000]) - y_test[:10_000]) ** 2))
    if kind in ("exact", "full"):
        result["residual"] = residual(X, y, fitted.dual_coef_, float(alpha))
    if machine == "mercer":
        result |= {"gap": fitted.certificate_.relative_gap, "rounds": fitted.n_iter_}
    if kind == "path":
        result["alpha"] = float(fitted.alpha_ if machine == "mercer" else fitted.best_params_["alpha"])
    return result


def coverage(folder: Path, name: str) -> dict[str, Any]:
    """How many held-out targets are where they are expected, and how wide that is."""
    from mercer import KernelRidge

    X, y, X_test, y_test = load(folder, name)
    X_test, y_test = X_test[:HELD_OUT], y_test[:HELD_OUT]
    ridge = KernelRidge("rbf", alpha="loo", bias=True, random_state=0).fit(X, y)
    start = perf_counter()
    mean, deviation = ridge.predict(X_test, return_std=True)
    between = perf_counter()
    lower, upper = ridge.predict_interval(X_test, coverage=0.9)
    end = perf_counter()
    error = np.abs(y_test - mean)
    return {
        "n": len(X),
        "alpha": ridge.alpha_,
        "error": float(np.mean(error**2)),
        "predictive": float(np.mean(error <= 1.96 * deviation)),
        "latent": float(np.mean(error <= 1.96 * ridge.predict(X_test, return_std="latent")[1])),
        "interval": float(np.mean((lower <= y_test) & (y_test <= upper))),
        "widths": (float(2 * 1.96 * deviation.mean()), float((upper - lower).mean())),
        "seconds": (between - start, end - between),
    }


def coverage_table(folder: Path) -> str:
    """The same for each set, in Markdown."""
    head = ["coverage", "n", "alpha", "test error", "1.96 deviations", "1.96 latent ones", "intervals of 90%",
            "mean widths", "seconds"]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name in COVERED:
        found = coverage(folder, name)
        shares = [f"{found[key]:.1%}" for key in ("predictive", "latent", "interval")]
        widths, seconds = (" / ".join(f"{value:.2f}" for value in found[key]) for key in ("widths", "seconds"))
        cells = [name, str(found["n"]), f"{found['alpha']:.3g}", f"{found['error']:.4f}", *shares, widths, seconds]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def residual(X: Any, y: Any, beta: Any, alpha: float) -> float:
    """|y - (K + alpha I) beta| / |y| with scikit-learn's kernel values."""
    from sklearn.metrics.pairwise import rbf_kernel

    out = y - alpha * beta
    for start in range(0, len(X), 1000):
        out[start : start + 1000] -= rbf_kernel(X[start : start + 1000], X, gamma=GAMMA_PER_COLUMN / X.shape[1]) @ beta
    return float(np.linalg.norm(out) / np.linalg.norm(y))


CASES = {
    "exact": [
        "exact:kin40k:8000:0.1",
        "exact:kin40k:16000:0.1",
        "exact:california:8000:0.1",
        "exact:california:16000:0.1",
    ],
    "full": ["full:kin40k:36000:0.1"],
    "landmarks": ["landmarks:hflights:179099:1.0"],
    "million": ["million:synthetic:1000000:1.0"],
    "path": ["path:california:2000:0.1", "path:california:4000:0.1"],
    "deviations": ["deviations:california:16512:1.0"],
}


def table(results: dict[str, dict[str, Any]]) -> str:
    """The results in Markdown."""
    head = [
        "case",
        "n",
        "alpha",
        "scikit-learn",
        "mercer",
        "ratio",
        "memory",
        "ratio of memory",
        "residual",
        "test error",
    ]
    older = any("before" in found for found in results.values())
    head += ["before", "ratio"] * older
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case, found in results.items():
        kind, name, n, alpha = case.split(":")
        ours, theirs = found["mercer"], found.get("scikit-learn")

        def both(key: str, form: str, ours: Any = ours, theirs: Any = theirs) -> str:
            sides = [side for side in (theirs, ours) if side is not None and key in side]
            return " / ".join(format(side[key], form) for side in sides)

        cells = [f"{kind}: {name}", n, alpha if kind != "path" else f"best {both('alpha', '.3g')}"]
        scaled = " (scaled)" if every(kind, int(n)) > 1 else ""
        cells += [f"{theirs['seconds']:.2f} s{scaled}" if theirs else "", f"{ours['seconds']:.2f} s"]
        cells += [f"**{theirs['seconds'] / ours['seconds']:.1f}x**" if theirs else ""]
        cells += [both("gigabytes", ".2f") + " GB", f"{ours['gigabytes'] / theirs['gigabytes']:.2f}" if theirs else ""]
        cells += [both("residual", ".1e"), both("error", ".4f")]
        before = found.get("before", {}).get("seconds")
        cells += [
            "" if before is None else f"{before:.2f} s",
            "" if before is None else f"{before / ours['seconds']:.2f}",
        ] * older
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run each side of each case in a process of its own, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with load.py")
    parser.add_argument(
        "--only", default=",".join([*CASES, "coverage"]), help="kinds of cases, with commas; or single cases"
    )
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--before", help="the Python of an older Mercer, which runs the same cases")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        case, machine = options.one.split("/")
        print(json.dumps(measure(options.data, case, machine, options.repeat)))
        return
    results: dict[str, dict[str, Any]] = {}
    kinds = options.only.split(",")
    for kind in kinds:
        for case in CASES.get(kind, [kind] if kind != "coverage" else []):
            name = case.split(":")[0]
            n = int(case.split(":")[2])
            sides = dict.fromkeys(machines(name, n, 1, 1.0), sys.executable)
            for machine, python in (sides | ({"before": options.before} if options.before else {})).items():
                slow = n >= SOLVE_FAILS and machine == "scikit-learn"
                repeat = 1 if slow or name in ("million", "full", "path", "deviations") else options.repeat
                own = "mercer" if machine == "before" else machine
                command = [python, __file__, "--data", str(options.data), "--one", f"{case}/{own}"]
                done = subprocess.run([*command, "--repeat", str(repeat)], capture_output=True, text=True)
                if done.returncode:
                    print(f"{case} {machine} failed ({done.returncode}):\n{done.stderr[-500:]}", file=sys.stderr)
                    continue
                results.setdefault(case, {})[machine] = json.loads(done.stdout)
                print(f"{case} {machine}: {done.stdout.strip()}", file=sys.stderr, flush=True)
    if results:
        print(table({case: found for case, found in results.items() if "mercer" in found}))
    if "coverage" in kinds:
        print(coverage_table(options.data))


if __name__ == "__main__":
    main()
