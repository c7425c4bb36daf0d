"""SVC side by side with its peers: seconds, and how good each answer is.

scikit-learn, scikit-learn-intelex and thundersvm-cpu (`pip install thundersvm-cpu`), as far as they are installed.

    python benchmarks/svm.py --data FOLDER      # a folder with load.py and the data sets named below
    python benchmarks/svm.py                    # sets that come with scikit-learn, as they are and grown large
    python benchmarks/svm.py --data FOLDER --only magic,usps --peers scikit-learn,intelex --repeat 3
    python benchmarks/svm.py --data FOLDER --group dear --before PYTHON    # with an older Mercer: its Python
    python benchmarks/svm.py --data FOLDER --group large-c                 # or classes, sparse, given
    python benchmarks/small.py                                             # few points

Every solution is scored by the same certificate: its relative duality gap (of several classes, that of the worst pair).
The peers run at their tol of 1e-3 with 2 GB of cache; Mercer with memory="2GB" at a tolerance that makes its gap no
larger than that of any peer. Certificate time is part of Mercer's seconds. Each figure is the best of the repeats; fits
of more than 20 seconds are not repeated. With --even Mercer runs at its default tolerance, and the tol of peers is
lowered, to a quarter each time, until their gap is no larger. Memory is touched before each fit, because new memory is
slow at first.
"values" are all kernel values that Mercer computed, in parts of n times the support vectors at tol=1e-6 (two classes).
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
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import mercer
from mercer.kernels import Gaussian
from mercer.solution import Solution

MOST_QUERIES = 10_000
LONG = 20.0
DEFAULT, TOLS = 1e-4, (1e-3, 2.5e-4, 6e-5, 1.5e-5, 4e-6)
MOST = 300_000  # steps of peers: in float32 intelex does not end at a small tol


@dataclass(frozen=True)
class Case:
    """A data set, how it is scaled, and the parameters."""

    name: str
    scale: str | None
    gamma: float | str
    C: float
    rows: int | None = None
    pair: tuple[int, int] | None = None
    """Two of many classes, alone."""
    kernel: str = "rbf"
    """Or "linear", or "precomputed": the matrix of the Gaussian is given."""

    @property
    def title(self) -> str:
        """The name, the two classes, and another kernel than the Gaussian."""
        name = self.name if self.pair is None else f"{self.name} {self.pair[0]}, {self.pair[1]}"
        return name if self.kernel == "rbf" else f"{name}, {self.kernel}"

    def machine(self, tol: float) -> mercer.SVC:
        """Mercer's."""
        kernel = Gaussian(self.gamma) if self.kernel == "rbf" else self.kernel
        return mercer.SVC(kernel, C=self.C, tol=tol, memory="2GB")


CASES = [
    Case("magic", "std", 0.1, 10),
    Case("cod_rna_30k", "std", 0.5, 32),
    Case("susy_30k", "std", 1 / 18, 1),
    Case("a9a", None, 1 / 123, 1),
    Case("a9a", None, 0.05, 8),
    Case("ijcnn1", None, 2.0, 32),
    Case("w8a", None, 0.05, 10),
    Case("skin_nonskin", "std", 1.0, 1, rows=60_000),
    Case("usps", None, 1 / 128, 10),
    Case("letter", "std", 0.25, 16),
    Case("covtype_20k", "minmax", 2.0, 32),
    Case("mnist", None, 0.02, 10, rows=20_000),
    *(Case(name, "std", "scale", C) for name in ("bank_campaign", "pendigits", "eeg_eye", "elec2") for C in (1, 10)),
]
DEAR = [
    *(Case("mnist", None, 0.02, 10, pair=pair) for pair in ((3, 8), (4, 9), (1, 7), (5, 6))),
    *(Case("usps", None, 1 / 128, 10, pair=pair) for pair in ((3, 5), (4, 9))),
    Case("madelon", "std", "scale", 1),
    Case("mfeat", "std", "scale", 10),
    Case("mnist", None, 0.02, 10, rows=20_000),
    Case("usps", None, 1 / 128, 10),
]
"""Dense points with hundreds of coordinates, whose kernel values are dear."""
LARGE_C = [
    Case(name, scale, gamma, C)
    for name, scale, gamma in (
        ("magic", "std", 0.1), ("elec2", "std", "scale"), ("eeg_eye", "std", "scale"), ("phoneme", "std", "scale"),
        ("covtype_20k", "minmax", 2.0),
    )
    for C in (100, 1000)
]  # fmt: skip
"""Few mistakes are allowed: many coefficients are free, and steps of pairs drag."""
CLASSES = [
    Case("letter", "std", 0.25, 16),
    Case("pendigits", "std", "scale", 10),
    Case("usps", None, 1 / 128, 10),
    Case("mfeat", "std", "scale", 10),
    Case("soyseed_lbp", "std", "scale", 10),
    Case("mnist", None, 0.02, 10, rows=20_000),
]
SPARSE = [
    Case(name, None, "scale", C, rows=10_000, kernel=kernel)
    for name in ("reuters_moneyfx", "connect4", "a9a", "w8a", "sms_spam", "ng20_basehock", "rcv1_small")
    for kernel in ("rbf", "linear")
    for C in (1, 10)
]
"""CSR matrices, as they come; of large ones the first 10,000 rows."""
GIVEN = [Case("magic", "std", 0.1, C, rows=rows, kernel="precomputed") for rows in (1000, 2000, 4000) for C in (1, 100)]
GROUPS = {
    "usual": CASES, "dear": DEAR, "large-c": LARGE_C, "classes": CLASSES, "sparse": SPARSE, "given": GIVEN,
}  # fmt: skip
GROWN = {"many_digits": ("digits", 10), "many_tumours": ("breast_cancer", 32)}
"""Sets of scikit-learn, so many times over, each copy with noise of its own."""
BUNDLED = [Case(name, "std", "scale", C) for name in ("breast_cancer", "digits", "wine", *GROWN) for C in (1, 10)]


@dataclass
class Result:
    """The best seconds of one machine on one case, and the relative gap of its answer."""

    fit: float = np.inf
    predict: float = np.inf
    gap: float = np.nan
    support: int = 0
    right: float = np.nan
    values: float = np.nan
    """Kernel values, in parts of n times the support vectors."""


@dataclass
class Row:
    """All machines on one case."""

    case: Case
    n: int
    d: int
    results: dict[str, Result] = field(default_factory=dict)

    def ratio(self, peer: str, what: str) -> float:
        """How many times faster Mercer is than the peer."""
        return float(getattr(self.results[peer], what) / getattr(self.results["mercer"], what))


def from_folder(folder: Path, case: Case, sparse: bool) -> tuple[Any, Any, Any, Any]:
    """The arrays of a case, by the folder's own loader."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    if case.rows is None:
        X, y, X_test, y_test = loader.load(case.name, dense=not sparse, scale=case.scale)
    else:  # scaled by the rows that are used
        X, y, X_test, y_test = loader.load(case.name, dense=not sparse)
        X, y = X[: case.rows], np.asarray(y)[: case.rows]
        if case.scale == "std":
            mean, deviation = X.mean(axis=0, dtype=float), X.std(axis=0, dtype=float)
            X, X_test = (((Z - mean) / deviation).astype(np.float32) for Z in (X, X_test))
    if isinstance(X, list):  # of texts
        X, X_test = vectorized(X, X_test)
    if case.name == "mnist" and X.max() > 1:
        X, X_test = (Z / np.float32(255) for Z in (X, X_test))
    if case.pair is not None:
        X, y = (part[np.isin(y, case.pair)] for part in (X, y))
        if X_test is not None:
            X_test, y_test = (part[np.isin(y_test, case.pair)] for part in (X_test, y_test))
    if X_test is None or X_test.shape[0] == 0:
        X_test, y_test = X, y
    X_test, y_test = X_test[:MOST_QUERIES], y_test[:MOST_QUERIES]
    if case.kernel == "precomputed":
        kernel = Gaussian(case.gamma)
        X, X_test = kernel(X.astype(float)), kernel(X_test.astype(float), X.astype(float))
    return X, y, X_test, y_test


def vectorized(texts: Any, others: Any) -> tuple[Any, Any]:
    """Words, weighted by how rare they are, of texts and of others."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer()
    found = words.fit_transform([str(text) for text in np.ravel(texts)])
    return found, None if others is None else words.transform([str(text) for text in np.ravel(others)])


def bundled(case: Case) -> tuple[Any, Any, Any, Any]:
    """The arrays of a case from scikit-learn."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    source, times = GROWN.get(case.name, (case.name, 1))
    X, y = getattr(datasets, f"load_{source}")(return_X_y=True)
    if times > 1:
        noise = np.random.default_rng(0).normal(size=(times * len(X), X.shape[1]))
        X, y = np.tile(X, (times, 1)) + 0.5 * X.std(axis=0) * noise, np.tile(y, times)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def peers(case: Case, tol: float = 1e-3) -> dict[str, Callable[[], Any]]:
    """The machines to compare with, as far as they are installed."""
    from sklearn.svm import SVC as ScikitLearn  # noqa: N811

    settings = {"C": case.C, "gamma": case.gamma, "tol": tol, "cache_size": 2000, "kernel": case.kernel}
    if tol < TOLS[0]:
        settings["max_iter"] = MOST
    found: dict[str, Callable[[], Any]] = {"scikit-learn": lambda: ScikitLearn(**settings)}
    try:
        from sklearnex.svm import SVC as Intelex  # noqa: N811
    except ImportError:
        pass
    else:
        found["intelex"] = lambda: Intelex(**settings)
    try:
        from thunder import SVC as Thunder  # noqa: N811
    except (ImportError, OSError):  # it is there for Linux alone
        pass
    else:
        found["thundersvm"] = lambda: Thunder(C=case.C, gamma=case.gamma, tol=tol, max_mem_size=2000)
    return found


def touch(size: int = 1_000_000_000) -> None:
    """Use so many bytes of memory once, and give them back: the next to use them need not wait for the system."""
    np.ones(size // 8)


BEFORE = """
import json, pickle, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import svm, mercer
warnings.filterwarnings("ignore")
*settings, tol, repeat = json.loads(sys.argv[3])
case = svm.Case(*settings)
data = pickle.loads(Path(sys.argv[2]).read_bytes())
if case.kernel != "precomputed":
    some = slice(None, None, max(1, len(data[1]) // 1000))  # of all classes
    case.machine(tol).fit(data[0][some], data[1][some])  # compile
machine, result = svm.measure(lambda: case.machine(tol), data, repeat)
print(json.dumps([result.fit, result.predict, machine.certificate_.relative_gap, result.support, result.right]))
"""


def before(python: str, case: Case, data: tuple[Any, Any, Any, Any], tol: float, repeat: int) -> Result:
    """An older Mercer, in a process and an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data")
        path.write_bytes(pickle.dumps(data))
        settings = json.dumps([*astuple(case), tol, repeat])
        command = [python, "-c", BEFORE, str(Path(__file__).parent), str(path), settings]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  the older Mercer failed: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return Result(np.nan, np.nan)
    fit, predict, gap, support, right = json.loads(done.stdout.splitlines()[-1])
    return Result(fit, predict, gap, support, right)


def measure(make: Callable[[], Any], data: tuple[Any, Any, Any, Any], repeat: int) -> tuple[Any, Result]:
    """Fit and predict, each as fast as it ever was."""
    X, y, X_test, y_test = data
    result, machine = Result(), None
    for _ in range(repeat):
        machine = make()
        touch()
        start = perf_counter()
        machine.fit(X, y)
        seconds = perf_counter() - start
        result.fit = min(result.fit, seconds)
        if seconds > LONG:
            break
    assert machine is not None
    for _ in range(max(repeat, 2)):
        start = perf_counter()
        answer = machine.predict(X_test)
        seconds = perf_counter() - start
        result.predict = min(result.predict, seconds)
        if seconds > LONG:
            break
    result.support = int(np.size(machine.support_))
    result.right = float(np.mean(answer == y_test))
    return machine, result


def run(case: Case, data: tuple[Any, Any, Any, Any], options: Any) -> Row:
    """All machines on one case: the peers, then Mercer at a gap that is no larger than theirs."""
    repeat, chosen = options.repeat, options.peers
    X, y = data[:2]
    row, wanted = Row(case, *X.shape), np.inf
    if options.even:
        machine, result = measure(lambda: case.machine(DEFAULT), data, repeat)
        wanted = result.gap = machine.certificate_.relative_gap
    for name in peers(case):
        if chosen is not None and name not in chosen.split(","):
            continue
        for tol in TOLS:
            rival, own = measure(peers(case, tol)[name], data, repeat)
            try:
                judged = rival.as_scikit_learn() if name == "thundersvm" else rival
                own.gap = mercer.certify(judged, X, y).relative_gap
            except (TypeError, ValueError) as error:
                print(f"  {name} could not be scored: {error}", file=sys.stderr)
            if not own.gap > wanted:
                break
        row.results[name] = own
        del rival
    least = min((r.gap for r in row.results.values() if np.isfinite(r.gap)), default=DEFAULT)
    for tol in () if options.even else (max(least, 1e-5), least):
        machine, result = measure(lambda: case.machine(tol), data, repeat)  # noqa: B023 (called at once)
        result.gap = machine.certificate_.relative_gap
        if result.gap <= least:
            break
    if isinstance(machine.solution_, Solution):
        support = case.machine(1e-6).fit(X, y).support_.size
        result.values = machine.solution_.values / (support * row.n)
    if options.before:
        row.results["before"] = before(options.before, case, data, DEFAULT if options.even else tol, repeat)
    row.results["mercer"] = result
    return row


def table(rows: list[Row]) -> str:
    """The results in Markdown, geometric means last."""
    names = [name for name in rows[0].results if name != "mercer"]
    head = ["data", "n x d", "gamma", "C", *(f"{n} fit" for n in [*names, "mercer"])]
    head += (
        [f"gap {n}" for n in [*names, "mercer"]] + [f"fit vs {n}" for n in names] + [f"predict vs {n}" for n in names]
    )
    head.insert(4, "values")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        case = row.case
        gamma = case.gamma if isinstance(case.gamma, str) else f"{case.gamma:.3g}"
        values = row.results["mercer"].values
        cells = [case.title, f"{row.n} x {row.d}", gamma, f"{case.C:g}", "" if np.isnan(values) else f"{values:.2f}"]
        cells += [f"{row.results[n].fit:.2f} s" for n in [*names, "mercer"]]
        cells += [f"{row.results[n].gap:.1e}" for n in [*names, "mercer"]]
        cells += [f"{row.ratio(n, what):.1f}x" for what in ("fit", "predict") for n in names]
        lines.append("| " + " | ".join(cells) + " |")
    means = [
        f"**{np.exp(np.nanmean([np.log(row.ratio(n, what)) for row in rows])):.1f}x**"
        for what in ("fit", "predict")
        for n in names
    ]
    blank = [""] * (len(head) - 1 - len(means))
    lines.append("| " + " | ".join(["geometric mean", *blank, *means]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with load.py")
    parser.add_argument("--sparse", action="store_true", help="sparse data as CSR matrices, not as dense arrays")
    parser.add_argument("--only", help="names of data sets, with commas")
    parser.add_argument("--peers", help="names of peers, with commas; thundersvm takes minutes on a9a")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--group", choices=GROUPS, default="usual")
    parser.add_argument("--even", action="store_true", help="Mercer at its default tol, peers at one as good")
    parser.add_argument("--before", metavar="PYTHON", help="the Python of an environment with an older Mercer")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    cases = BUNDLED if options.data is None else GROUPS[options.group]
    if options.only:
        cases = [case for case in cases if case.name in options.only.split(",")]
    small = bundled(BUNDLED[0])
    mercer.SVC().fit(*small[:2])
    rows, sparse = [], options.sparse or options.group == "sparse"
    for case in cases:
        data = bundled(case) if options.data is None else from_folder(options.data, case, sparse)
        rows.append(run(case, data, options))
        summary = ", ".join(
            f"{name} {r.fit:.3f} s, gap {r.gap:.1e}, predict {r.predict:.3f} s, {r.support} SV, {r.right:.4f} right"
            for name, r in rows[-1].results.items()
        )
        print(f"{case.title} ({case.gamma}, {case.C}): {summary}", file=sys.stderr, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
