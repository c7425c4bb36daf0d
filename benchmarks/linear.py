"""Linear machines side by side with scikit-learn's: seconds to come within 1e-3 and 1e-6 of the best objective.

    python benchmarks/linear.py --data FOLDER       # a folder with load.py and the data sets named below
    python benchmarks/linear.py                     # a set that comes with scikit-learn
    python benchmarks/linear.py --data FOLDER --only a9a,w8a --repeat 3
    python benchmarks/linear.py --data FOLDER --before PYTHON     # beside an older Mercer, in an environment of its own

Everybody gets the same arrays and the same objective, 1/2 |w|^2 + C sum loss, summed over the problems one against the
rest where there are several classes.

LinearSVC (liblinear): both losses, bias penalised, as liblinear does it. Logistic loss: LogisticRegression with
liblinear, bias penalised, and with its default lbfgs, bias free; of several classes, one against the rest. The tol of
all is swept from large to small, and the first fit that comes as near as asked counts; Mercer's seconds include the
proof of how near it is. SGDClassifier at its defaults, with alpha = 1 / (n C) and a free bias: Mercer's stochastic
subgradient method with automatic steps gets as many seconds, its certificate included, and the objectives are compared.
Where its defaults would take more than `--race` seconds, it makes as many epochs as they allow, and the table says so.
Short fits are tried as often on both sides. Each figure is the best of the repeats; fits of more than 2 seconds are not
repeated, and a sweep ends with the first fit of more than `--limit` seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC as Liblinear

import mercer
from mercer.losses import Hinge, Logistic, SquaredHinge

LOSSES = {"squared_hinge": SquaredHinge(), "hinge": Hinge(), "logistic": Logistic()}
TARGETS = (1e-3, 1e-6)
SWEEP = tuple(10.0 ** -(k / 2) for k in range(0, 21))  # 1, 0.3, 0.1, ... 1e-10
LONG = 2.0
LBFGS = "logistic, free bias"


@dataclass(frozen=True)
class Case:
    """A data set, how it is scaled, and how many of its rows are taken."""

    name: str
    scale: str | None = None
    rows: int | None = None


CASES = [
    Case("a9a"),
    Case("w8a"),
    Case("ijcnn1"),
    Case("reuters_moneyfx"),
    Case("rcv1_small"),
    Case("covtype_20k", "minmax"),
    Case("mnist", rows=20_000),
]


def from_folder(folder: Path, case: Case) -> tuple[Any, Any]:
    """The arrays of a case, by the folder's own loader: sparse sets stay sparse."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    X, y, _, _ = loader.load(case.name, scale=case.scale)
    X, y = X[: case.rows], y[: case.rows]
    return (X / np.float32(255) if case.name == "mnist" and X.max() > 1 else X), y


def bundled() -> tuple[Any, Any]:
    """Handwritten digits from scikit-learn, many times over with noise."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(10 * len(X), X.shape[1]))
    return (np.tile(X, (10, 1)) / 16 + 0.1 * noise).astype(np.float32), np.tile(y, 10)


@dataclass
class Objective:
    """1/2 |w|^2 + C sum loss(f), and 1/2 b^2 where the bias is penalised; over all classes."""

    X: Any
    y: Any
    loss: str
    C: float
    penalised: bool

    def __post_init__(self) -> None:
        classes = np.unique(self.y)
        positive = classes[1:] if classes.size == 2 else classes
        self.signs = [np.where(self.y == c, 1.0, -1.0) for c in positive]

    def __call__(self, machine: Any) -> float:
        """The value of a fitted machine, or of anything with coef_ and intercept_."""
        coefficients, biases = np.asarray(machine.coef_, np.float64), np.ravel(machine.intercept_)
        scores = np.asarray(self.X @ coefficients.T) + biases
        losses = sum(LOSSES[self.loss].value(s, f).sum() for s, f in zip(self.signs, scores.T, strict=True))
        penalty = (biases**2).sum() if self.penalised else 0.0
        return float(0.5 * ((coefficients**2).sum() + penalty) + self.C * losses)


def timed(fit: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """The answer, and the fewest seconds of the repeats."""
    answer, best = None, np.inf
    for _ in range(repeat):
        start = perf_counter()
        answer = fit()
        seconds = perf_counter() - start
        best = min(best, seconds)
        if seconds > LONG:
            break
    return answer, best


class Needed(NamedTuple):
    """Seconds to a target; where it was not reached, those of the longest try."""

    seconds: float
    reached: bool = True

    def __str__(self) -> str:
        return f"{'' if self.reached else '> '}{self.seconds:.3f} s"


def sweep(make: Callable[[float], Any], objective: Objective, best: float, repeat: int, limit: float) -> list[Needed]:
    """What a machine needs for each target."""
    needed: list[Needed] = []
    longest = 0.0
    for tol in SWEEP:
        machine, seconds = timed(lambda: make(tol).fit(objective.X, objective.y), 1)  # noqa: B023 (called at once)
        near = objective(machine) / best - 1.0
        if len(needed) < len(TARGETS) and near <= TARGETS[len(needed)] and repeat > 1:
            seconds = min(seconds, timed(lambda: make(tol).fit(objective.X, objective.y), repeat - 1)[1])  # noqa: B023
        while len(needed) < len(TARGETS) and near <= TARGETS[len(needed)]:
            needed.append(Needed(seconds))
        longest = max(longest, seconds)
        if len(needed) == len(TARGETS) or seconds > limit:
            break
    return needed + [Needed(longest, reached=False)] * (len(TARGETS) - len(needed))


@dataclass
class Row:
    """A loss on a data set: what the peer and Mercer need for each target."""

    case: str
    shape: tuple[int, int]
    loss: str
    peer: list[Needed]
    ours: list[Needed]
    before: list[Needed]
    """An older Mercer, where there is one."""

    def ratio(self, k: int, before: bool = False) -> float:
        """How many times faster Mercer is; where the peer never got there, at least this much."""
        return (self.before if before else self.peer)[k].seconds / self.ours[k].seconds


def machines(objective: Objective) -> tuple[Callable[[float], Any], Callable[[float], Any]]:
    """The peer and Mercer's machine, by their tol."""
    C, loss = objective.C, objective.loss
    if loss != "logistic":
        liblinear = {"C": C, "loss": loss, "max_iter": 10_000_000, "random_state": 0}
        return (
            lambda tol: Liblinear(tol=tol, **liblinear),
            lambda tol: mercer.LinearSVC(C, loss, "penalised", tol=tol, max_iter=100_000),
        )
    solver, bias = ("liblinear", "penalised") if objective.penalised else ("lbfgs", True)
    regression = {"C": C, "solver": solver, "max_iter": 100_000, "random_state": 0}
    several = len(objective.signs) > 1
    return (
        lambda tol: OneAgainstRest(LogisticRegression(tol=tol, **regression), several),
        lambda tol: mercer.LinearSVC(C, loss, bias, tol=tol, max_iter=100_000),
    )


class OneAgainstRest:
    """scikit-learn's LogisticRegression, one for each class: of several at once it has another objective."""

    def __init__(self, one: Any, several: bool) -> None:
        self.machine = OneVsRestClassifier(one) if several else one

    def fit(self, X: Any, y: Any) -> OneAgainstRest:
        """As scikit-learn does."""
        self.machine.fit(X, y)
        parts = getattr(self.machine, "estimators_", [self.machine])
        self.coef_ = np.concatenate([part.coef_ for part in parts])
        self.intercept_ = np.concatenate([part.intercept_ for part in parts])
        return self


BEFORE = """
import pickle, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import json, linear
warnings.filterwarnings("ignore")
objective, *how = pickle.loads(Path(sys.argv[2]).read_bytes())
objective = linear.Objective(*objective)
ours = linear.machines(objective)[1]
ours(1e-9).fit(objective.X, objective.y)  # compile
print(json.dumps(linear.sweep(ours, objective, *how)))
"""


def before(python: str, objective: Objective, *how: float) -> list[Needed]:
    """What an older Mercer needs, in a process and an environment of its own."""
    given = objective.X, objective.y, objective.loss, objective.C, objective.penalised
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data")
        path.write_bytes(pickle.dumps((given, *how)))
        command = [python, "-c", BEFORE, str(Path(__file__).parent), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [Needed(*found) for found in json.loads(done.stdout.splitlines()[-1])]


def compare(case: str, objective: Objective, options: Any) -> Row:
    """Seconds of the peer and of Mercer."""
    peer, ours = machines(objective)
    best = objective(ours(1e-9).fit(objective.X, objective.y))
    how = best, options.repeat, options.limit
    older = before(options.before, objective, *how) if options.before else []
    seconds = sweep(ours, objective, *how)
    name = objective.loss if objective.penalised else LBFGS
    return Row(case, objective.X.shape, name, sweep(peer, objective, *how), seconds, older)


def equal_time(case: str, X: Any, y: Any, loss: str, C: float, repeat: int, race: float) -> str:
    """Objectives of SGDClassifier at its defaults, or after `race` seconds, and of automatic steps in the same time."""
    objective = Objective(X, y, loss, C, penalised=False)
    sgd = SGDClassifier(loss=loss, alpha=1.0 / (X.shape[0] * C), random_state=0)
    epochs = within(sgd, X, y, race)
    sgd.set_params(max_iter=min(sgd.max_iter, epochs))
    seconds = timed(lambda: sgd.fit(X, y), 1)[1]
    tries = 8 * repeat if seconds < 0.1 else 2 * repeat if seconds < LONG else 2  # for both
    seconds = min(seconds, timed(lambda: sgd.fit(X, y), tries - 1)[1])
    settings = {"solver": "stochastic_subgradient", "tol": 1e-9, "max_iter": 10_000_000}
    mercer.LinearSVC(C, loss, **settings | {"max_iter": 3}).fit(X, y)  # what is compiled is there then
    limit, mine, used = seconds, np.inf, np.nan
    for _ in range(tries):  # what comes after the limit, such as the proof, counts too: which limit is met?
        ours, taken = timed(lambda: mercer.LinearSVC(C, loss, time_limit=limit, **settings).fit(X, y), 1)  # noqa: B023
        if taken <= seconds and objective(ours) < mine:
            mine, used = objective(ours), taken
        limit = max(limit + (0.5 if taken <= seconds else 1.1) * (seconds - taken), 1e-6)
    theirs = objective(sgd)
    verdict = "lower" if mine < theirs else "HIGHER"
    run = f"{sgd.n_iter_} epochs" if sgd.n_iter_ < epochs else f"stopped after {epochs} epochs"
    times = [f"{1e3 * seconds:.1f} ms", f"{1e3 * used:.1f} ms"]
    return "| " + " | ".join([case, loss, run, *times, f"{theirs:.6g}", f"{mine:.6g}", verdict]) + " |"


def within(sgd: SGDClassifier, X: Any, y: Any, seconds: float) -> int:
    """How many epochs it makes in this time, and at least one; they are those of a longer run, which begins alike."""
    short = clone(sgd).set_params(max_iter=1)
    return max(1, int(seconds / timed(lambda: short.fit(X, y), 2)[1]))


def means(rows: list[Row], k: int, older: bool) -> str:
    """The cells of geometric means of a target."""
    cells = f" | | **{geometric_mean(row.ratio(k) for row in rows):.1f}x** |"
    return cells + (f" | **{geometric_mean(row.ratio(k, before=True) for row in rows):.2f}x** |" if older else "")


def geometric_mean(ratios: Iterable[float]) -> float:
    """The root of their product."""
    return float(np.exp(np.mean(np.log(list(ratios)))))


def table(rows: list[Row]) -> str:
    """The results in Markdown, geometric means last."""
    head, older = ["data", "n x d", "loss"], bool(rows[0].before)
    columns = ["peer", "mercer", "ratio", *(["before", "ratio"] if older else [])]
    head += [f"{name} {target:.0e}" for target in TARGETS for name in columns]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row.case, f"{row.shape[0]} x {row.shape[1]}", row.loss]
        for k in range(len(TARGETS)):
            cells += [str(row.peer[k]), str(row.ours[k]), f"{row.ratio(k):.1f}x"]
            cells += [str(row.before[k]), f"{row.ratio(k, before=True):.2f}x"] if older else []
        lines.append("| " + " | ".join(cells) + " |")
    groups = {loss: [row for row in rows if row.loss == loss] for loss in dict.fromkeys(row.loss for row in rows)}
    groups["all against liblinear"] = [row for row in rows if row.loss != LBFGS]
    for name, own in groups.items():
        lines.append(f"| geometric mean | | {name} |" + "".join(means(own, k, older) for k in range(len(TARGETS))))
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with load.py")
    parser.add_argument("--only", help="names of data sets, with commas")
    parser.add_argument("--losses", default=",".join(LOSSES), help="with commas")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a fit after which a sweep ends")
    parser.add_argument("--race", type=float, default=15.0, help="seconds that SGDClassifier may take; 0: no race")
    parser.add_argument("--before", metavar="PYTHON", help="the Python of an environment with an older Mercer")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    cases = [Case("digits")] if options.data is None else CASES
    if options.only:
        cases = [case for case in cases if case.name in options.only.split(",")]
    rows, races = [], []
    for case in cases:
        X, y = bundled() if options.data is None else from_folder(options.data, case)
        for loss in options.losses.split(","):
            for penalised in (True, False) if loss == "logistic" else (True,):
                rows.append(compare(case.name, Objective(X, y, loss, options.C, penalised), options))
                print(f"{table(rows[-1:]).splitlines()[2]}", file=sys.stderr, flush=True)
            if loss != "logistic" and options.race:
                races.append(equal_time(case.name, X, y, loss, options.C, options.repeat, options.race))
    print(f"Seconds to come within {' and '.join(map(str, TARGETS))} of the best objective, C = {options.C:g}\n")
    print(table(rows))
    if not races:
        return
    print("\nAutomatic steps after as many seconds as SGDClassifier took\n")
    heads = ["data", "loss", "SGDClassifier", "seconds", "mercer", "objective SGDClassifier", "objective mercer", ""]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    print("\n".join(races))


if __name__ == "__main__":
    main()
