"""The package as a whole: what an import costs, and that all public names are there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

import mercer

HEAVY = ["scipy", "sklearn", "matplotlib", "pandas", "threadpoolctl", "sympy", "dask", "distributed"]


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_nothing_heavy_is_imported():
    assert loaded_after("import mercer, mercer.kernels; mercer.kernel('2*rbf(gamma=1) + linear')") == set()


EVERYTHING = """
import sys

for name in ("numba", "llvmlite"):
    sys.modules[name] = None  # an import of any of them is an error

import tempfile
import matplotlib
matplotlib.use("Agg")
import mercer, numpy as np, scipy.sparse, sklearn.svm
from mercer import features, plot

X = np.random.default_rng(0).normal(size=(150, 4))
y = np.sign(X[:, 0] + 0.1)
three = y + (X[:, 1] > 0)
sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
machines = [
    mercer.SVC(), mercer.SVC("linear"), mercer.SVC("poly"), mercer.SVC("laplacian"), mercer.KernelLogistic(),
    mercer.LinearSVC(), mercer.LinearSVC(loss="hinge"), mercer.LinearSVC(loss="logistic"),
    mercer.LinearSVC(solver="stochastic_subgradient"), mercer.LinearSVC(solver="subgradient", max_iter=20),
    mercer.Perceptron(max_epochs=3), mercer.KernelPerceptron(max_epochs=3),
    mercer.KernelPerceptron("linear", variant="voted", max_epochs=3),
]
import warnings
warnings.simplefilter("ignore")
for machine in machines:
    for points, labels in ((X, y), (X, three), (sparse, y)):
        machine.fit(points, labels).predict(points)
for machine in (mercer.SVR(), mercer.SVR("linear"), mercer.KernelRidge(), mercer.KernelRidge(solver="nystrom_cg")):
    machine.fit(X, X[:, 0]).predict(X)
for machine in (mercer.OneClassSVM(), mercer.KernelPCA(2), mercer.KernelKMeans(2)):
    machine.fit(X)
for kernel in ("rbf", "laplacian", "matern", "rationalquadratic", "periodic", "linear", "poly", "rbf + 2*laplacian"):
    mercer.kernel(kernel).resolve(X)(X, X[:5])
for kernel in ("chi2", "expchi2", "intersection"):
    mercer.kernel(kernel).resolve(abs(X))(abs(X), abs(X[:5]))
for name in features.__all__[1:]:
    points = abs(X) if name == "PolarMap" else X[:, :2]
    getattr(features, name)().fit(points[:, :2]).transform(points[:, :2])
mercer.RKHSFunction(mercer.kernel("rbf(gamma=1)"), X, X[:, 0])(X)
mercer.evidence(mercer.kernel("rbf(gamma=1)"), X)
mercer.certify(sklearn.svm.SVC().fit(X, y), X, y)
mercer.explain.svm([[0, 0], [1, 0], [0, 1]], [1, -1, -1])
machine = mercer.SVC().fit(X[:, :2], y)
plot.boundary(machine, X[:, :2], y)
with tempfile.TemporaryDirectory() as folder:
    mercer.save(machine, folder + "/m.mercer")
    mercer.load(folder + "/m.mercer").predict(X[:, :2])
"""


def test_nothing_is_compiled_when_it_is_used():
    """Every estimator, feature map, kernel, explanation and picture runs where there is no compiler to be loaded."""
    done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_public_names():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
        assert name in dir(mercer)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mercer.nothing
    with pytest.raises(AttributeError, match=r"it is mercer.kernels.Gaussian"):
        mercer.Gaussian


def test_the_oldest_versions_are_tried():
    """tests/oldest.txt names the versions that pyproject.toml begins with, and no dependency is left out."""
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    allowed = [*project["dependencies"], *extras["data"], *extras["dev"]]
    least = dict(line.split(">=") for line in allowed if ">=" in line)
    tried = dict(line.split("==") for line in (root / "tests" / "oldest.txt").read_text().splitlines()[1:])
    assert {line.split(">=")[0] for line in project["dependencies"]} <= set(tried)
    for name, version in tried.items():
        assert Version(version) == Version(least[name]), name
