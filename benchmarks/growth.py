"""How a fit grows with the number of points: seconds, kernel values, memory; and the exponents of that growth.

    python benchmarks/growth.py --data FOLDER                            # a folder with load.py and the sets below
    python benchmarks/growth.py --data FOLDER --only sleep --keep growth.jsonl
    python benchmarks/growth.py --keep growth.jsonl --picture docs/growth.svg      # of what was kept

Beside it scikit-learn-intelex with 2 GB of cache. 5,000 points, then twice as many each time, until a fit has taken
more than `--seconds` or all points are in; a fit that takes five times as long is ended. Each fit has a process of its
own; memory is by how much that grows at most, beyond the points. Each machine stops at its own default tolerance. The
exponents are those of least squares through the logarithms, from 10,000 points on.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import warnings
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import mercer
from mercer.colours import COLOURS
from mercer.solution import Solution

FIRST, FITTED_FROM = 5_000, 10_000
ENDED = 5.0  # times the seconds, after which a fit is ended


@dataclass(frozen=True)
class Case:
    """A data set, and the machine for it: of numbers, if `regression`."""

    name: str
    stored: str
    C: float
    regression: bool = False
    copies: int = 1
    """Of the points, each with noise of its own."""


CASES = [
    Case("covtype, copied", "covtype_20k", 10.0, copies=8),
    Case("cover", "cover_286k", 10.0),
    Case("donors", "donors_619k", 1.0),
    Case("sleep", "sleep", 1.0),
    Case("hflights (SVR)", "hflights", 1.0, regression=True),
]
QUANTITIES = {"seconds": "seconds", "values": "kernel values", "memory": "MB of memory"}


@dataclass(frozen=True)
class Fit:
    """What a fit of so many points has taken."""

    case: str
    machine: str
    n: int
    seconds: float
    memory: float
    support: int
    values: float
    gap: float


def loader(folder: Path) -> Any:
    """The module load.py of a folder."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def points(case: Case, load: Any) -> tuple[np.ndarray, np.ndarray]:
    """All points in random order, their columns standardised."""
    X, y = load.load(case.stored)[:2]
    generator = np.random.default_rng(0)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)
    if case.copies > 1:
        X, y = np.tile(X, (case.copies, 1)), np.tile(y, case.copies)
        X = X + 0.1 * generator.standard_normal(X.shape)
    if case.regression:
        y = (y - y.mean()) / y.std()
    order = generator.permutation(len(X))
    return np.ascontiguousarray(X[order], np.float32), y[order]


def machine_of(case: Case, name: str) -> Any:
    """Not fitted yet."""
    if name == "mercer":
        return mercer.SVR(C=case.C) if case.regression else mercer.SVC(C=case.C)
    from sklearnex.svm import SVC, SVR

    return SVR(C=case.C, cache_size=2000) if case.regression else SVC(C=case.C, cache_size=2000)


def megabytes(word: str) -> float:
    """What this process holds, VmRSS, or has held at most, VmHWM (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(word)) / 1024


def measure(case: Case, name: str, X: np.ndarray, y: np.ndarray, answer: Connection) -> None:
    """Send the Fit, from a process of its own."""
    warnings.simplefilter("ignore")
    machine_of(case, name).fit(X[:200], y[:200])  # what is imported late
    machine = machine_of(case, name)
    Path("/proc/self/clear_refs").write_text("5")
    before, began = megabytes("VmRSS:"), perf_counter()
    machine.fit(X, y)
    seconds, peak = perf_counter() - began, megabytes("VmHWM:")
    values, gap = float("nan"), float("nan")
    if name == "mercer":
        found = machine.solution_
        values = float(sum(s.values for s in ([found] if isinstance(found, Solution) else found)))
        gap = float(max(certificate.relative_gap for certificate in machine.certificates_))
    answer.send(Fit(case.name, name, len(X), seconds, peak - before, len(machine.support_), values, gap))


def fit_apart(case: Case, name: str, X: np.ndarray, y: np.ndarray, limit: float) -> Fit | None:
    """What `measure` finds, or None where that takes too long."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=measure, args=(case, name, X, y, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def grow(case: Case, name: str, X: np.ndarray, y: np.ndarray, most: float) -> list[Fit]:
    """Fits of more and more points, each told as it ends."""
    found: list[Fit] = []
    sizes = [FIRST * 2**k for k in range(30) if FIRST * 2**k < len(X)]
    for n in [*sizes, len(X)]:
        fit = fit_apart(case, name, X[:n], y[:n], ENDED * most)
        if fit is None:
            print(f"{case.name:16} {name:8} {n:7} points: not done in {ENDED * most:.0f} s", flush=True)
            break
        found.append(fit)
        beside = (
            "" if np.isnan(fit.gap) else f"  {fit.values / (n * fit.support):5.2f} n |SV| values  gap {fit.gap:.0e}"
        )
        print(
            f"{case.name:16} {name:8} {n:7} points {fit.seconds:8.2f} s {fit.memory:6.0f} MB "
            f"{fit.support:7} support vectors{beside}",
            flush=True,
        )
        if fit.seconds > most:
            break
    return found


def exponent(fits: list[Fit], quantity: str) -> float:
    """p of quantity = c n^p."""
    used = [fit for fit in fits if fit.n >= FITTED_FROM]
    if len(used) < 2:
        return float("nan")
    n, values = np.array([(fit.n, getattr(fit, quantity)) for fit in used]).T
    return float(np.polyfit(np.log(n), np.log(np.maximum(values, 1e-9)), 1)[0])


def draw(fits: list[Fit], path: Path) -> None:
    """Three pictures side by side: seconds, values, memory."""
    import matplotlib.pyplot as plt

    figure, every = plt.subplots(1, len(QUANTITIES), figsize=(12, 4.6), layout="constrained")
    for ax, (quantity, label) in zip(every, QUANTITIES.items(), strict=True):
        for case, colour in zip(CASES, COLOURS, strict=False):
            for name, line in (("mercer", "o-"), ("intelex", "s:")):
                own = [fit for fit in fits if fit.case == case.name and fit.machine == name]
                if quantity == "values":  # not counted by other machines, nor where all was settled by one native call
                    own = [fit for fit in own if fit.values > 0]
                if own:
                    power = exponent(own, quantity)
                    told = "" if np.isnan(power) or quantity == "memory" else f", n^{power:.1f}"
                    ax.loglog(
                        [fit.n for fit in own], [max(getattr(fit, quantity), 1.0 if quantity == "memory" else 0.0)
                        for fit in own], line, color=colour, markersize=4, alpha=1.0 if name == "mercer" else 0.7,
                        label=f"{case.name if name == 'mercer' else 'intelex'}{told}",
                    )  # fmt: skip
        ax.set_xlabel("points")
        ax.set_title(label, fontsize=11)
        ax.grid(visible=True, which="major", alpha=0.3)
    figure.legend(*every[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Print a table, keep it, draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with load.py")
    parser.add_argument("--only", help="a part of the names of data sets")
    parser.add_argument("--seconds", type=float, default=60.0, help="the last fit is the first that takes longer")
    parser.add_argument("--machines", nargs="+", choices=("mercer", "intelex"), default=["mercer", "intelex"])
    parser.add_argument("--keep", type=Path, help="a file that a line of JSON is added to for each fit")
    parser.add_argument("--picture", type=Path, help="draw what was found, and what the file has kept")
    options = parser.parse_args()
    fits: list[Fit] = []
    if options.keep is not None and options.keep.exists():
        fits = [Fit(**json.loads(line)) for line in options.keep.read_text().splitlines()]
    for case in CASES if options.data is not None else []:
        if options.only is not None and options.only not in case.name:
            continue
        X, y = points(case, loader(options.data))
        for name in options.machines:
            found = grow(case, name, X, y, options.seconds)
            print(
                f"{case.name:16} {name:8} seconds as n^{exponent(found, 'seconds'):.2f}, "
                f"values as n^{exponent(found, 'values'):.2f}",
                flush=True,
            )
            fits += found
            if options.keep is not None:
                with options.keep.open("a") as file:
                    file.writelines(json.dumps(asdict(fit)) + "\n" for fit in found)
    if options.picture is not None:
        draw(fits, options.picture)


if __name__ == "__main__":
    main()
