"""The first minute: seconds of the first and the second call in a new process, beside scikit-learn's.

    python benchmarks/first.py [--points 2000] [--repeat 5] [--only WORD]

Each run is a process of its own. Its clock starts when what is called has been imported, and matplotlib for pictures,
SymPy for worked solutions; the best of the repeats counts. A first call may take 1.5 times the second and 0.05 s more;
what takes longer has a mark.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mercer
from mercer import features

FACTOR, MORE = 1.5, 0.05
SETTING = """
from time import perf_counter
import sys
import numpy as np
from scipy.sparse import csr_array
{imports}
generator = np.random.default_rng(0)
n = {points}
X = generator.normal(size=(n, 5))
y = np.where(X[:, 0] * X[:, 1] + 0.2 * generator.normal(size=n) > 0, 1, -1)
t = np.sin(X[:, 0]) + 0.1 * generator.normal(size=n)
ten = generator.integers(0, 10, n)
easy = np.where(X[:, 0] > 0, 1, -1)
sparse = csr_array(np.where(X > 0.5, X, 0.0))
{before}
"""
CLOCK = """
def call():
    {call}
times = []
for _ in range(2):
    began = perf_counter()
    call()
    times.append(perf_counter() - began)
print(*times)
"""
SKLEARN = "from sklearn.svm import *\nfrom sklearn.kernel_ridge import *\nfrom sklearn.linear_model import Perceptron"
DRAW = "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as plt; plt.figure(); plt.close()\n"
FITTED = DRAW + "machine = SVC().fit(X[:200, :2], y[:200])"
THREE = "[[1, 3], [2, 1], [0, 1]], [1, 1, -1]"
CASES = {
    "SVC": ("SVC().fit(X, y)", "SVC().fit(X, y)"),
    "SVR": ("SVR().fit(X, t)", "SVR().fit(X, t)"),
    "OneClassSVM": ("OneClassSVM().fit(X)", "OneClassSVM().fit(X)"),
    "SVC, sparse": ("SVC().fit(sparse, y)", "SVC().fit(sparse, y)"),
    "SVC, ten classes": ("SVC().fit(X, ten)", "SVC().fit(X, ten)"),
    "SVC, linear": ("SVC('linear').fit(X, easy)", "SVC(kernel='linear').fit(X, easy)"),
    "SVC, laplacian": ("SVC('laplacian').fit(X, y)", None),
    "SVC, rbf + laplacian": ("SVC('rbf + laplacian').fit(X, y)", None),
    "LinearSVC": ("LinearSVC().fit(X, y)", "LinearSVC().fit(X, y)"),
    "LinearSVC, sparse": ("LinearSVC().fit(sparse, y)", "LinearSVC().fit(sparse, y)"),
    "LinearSVC, logistic": ("LinearSVC(loss='logistic').fit(X, y)", None),
    "KernelRidge": ("KernelRidge().fit(X, t)", "KernelRidge(kernel='rbf').fit(X, t)"),
    "KernelLogistic": ("KernelLogistic().fit(X, y)", None),
    "Perceptron": ("Perceptron().fit(X, easy)", "Perceptron().fit(X, easy)"),
    "KernelPerceptron": ("KernelPerceptron('rbf').fit(X, easy)", None),
    "KernelPCA": ("KernelPCA(n_components=2).fit(X)", None),
    "KernelKMeans": ("KernelKMeans(n_clusters=3, random_state=0).fit(X)", None),
    "Search": ("Search(SVC(), {'C': [1.0, 10.0]}, cv=3).fit(X[:300], y[:300])", None),
    "certify": ("certify(SVC().fit(X[:300], y[:300]), X[:300], y[:300])", None),
    "PolynomialMap": ("PolynomialMap().fit_transform(X)", None),
    "PolarMap": ("PolarMap().fit_transform(X[:, :2])", None),
    "PrototypeMap": ("PrototypeMap(random_state=0).fit_transform(X)", None),
    "GaussianSeries": ("GaussianSeries().fit_transform(X[:, :1])", None),
    "RandomFourier": ("RandomFourier(random_state=0).fit_transform(X)", None),
    "Nystrom": ("Nystrom(random_state=0).fit_transform(X)", None),
    "SpectralMap": ("SpectralMap().fit_transform(X[:300])", None),
    "evidence": ("mercer.evidence('rbf', X[:300])", None),
    "explain.svm": (f"str(mercer.explain.svm({THREE}))", None),
    "explain.perceptron": (f"str(mercer.explain.perceptron({THREE}))", None),
    "explain.ridge": ("str(mercer.explain.ridge([[1], [2], [3]], [1, 2, 2], 1))", None),
    "explain.svm, html": (f"mercer.explain.svm({THREE}).to_html()", None),
    "plot.boundary": ("mercer.plot.boundary(machine, X[:200, :2], y[:200]).figure.canvas.draw(); plt.close()", None),
    "plot.convergence": ("mercer.plot.convergence(machine).figure.canvas.draw(); plt.close()", None),
    "plot.gram": ("mercer.plot.gram(np.eye(100)).figure.canvas.draw(); plt.close()", None),
    "load and predict": ("load(sys.argv[1]).predict(X[:1])", None),
}
"""Ours, and scikit-learn's where it has the same."""


def before_of(call: str) -> str:
    """What is done before the clock starts."""
    return FITTED if "plot." in call else "import sympy.tensor.tensor" if "explain." in call else ""


def run(script: str, *arguments: str) -> str:
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def imports_of(call: str) -> str:
    """What a call of ours needs, and no more."""
    words = set(re.findall(r"\w+", call))
    lines = ["import mercer", *(f"from mercer import {name}" for name in sorted(words & set(mercer.__all__)))]
    return "\n".join([*lines, *(f"from mercer.features import {name}" for name in words & set(features.__all__))])


def best(imports: str, call: str, points: int, repeat: int, model: str) -> tuple[float, float]:
    """The best of the first calls, and of the second."""
    script = SETTING.format(imports=imports, points=points, before=before_of(call)) + CLOCK.format(call=call)
    runs = [tuple(map(float, run(script, model).split())) for _ in range(repeat)]
    return min(first for first, _ in runs), min(second for _, second in runs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose name has this word")
    given = parser.parse_args()
    print("| seconds | first call | second call | | scikit-learn: first | second |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder, "model.mercer"))
        run(
            SETTING.format(
                imports="from mercer import SVC, save", points=given.points, before=f"save(SVC().fit(X, y), {model!r})"
            )
        )
        for name, (ours, theirs) in CASES.items():
            if given.only not in name:
                continue
            first, second = best(imports_of(before_of(ours) + ours), ours, given.points, given.repeat, model)
            mark = "" if first <= FACTOR * second + MORE else "slow"
            cells = [f"{first:.3f}", f"{second:.3f}", mark]
            peer = best(SKLEARN, theirs, given.points, given.repeat, model) if theirs else ()
            cells += [f"{value:.3f}" for value in peer] or ["", ""]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
