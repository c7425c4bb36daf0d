"""The package as a whole: what an import costs, and that all public names are there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

import mercer

HEAVY = ["numba", "scipy", "sklearn", "matplotlib", "pandas", "threadpoolctl", "sympy", "dask", "distributed"]


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_nothing_heavy_is_imported():
    assert loaded_after("import mercer, mercer.kernels; mercer.kernel('2*rbf(gamma=1) + linear')") == set()
    assert "numba" not in loaded_after("import mercer.features, mercer.gram, mercer.function")


SMALL_WORK = """
import sys
import mercer, numpy as np, scipy.sparse, sklearn.svm

X = np.random.default_rng(0).normal(size=(200, 10))
y = np.sign(X[:, 0])
three = y + (X[:, 1] > 0)
for work in (
    lambda: mercer.SVC().fit(X, y).predict(X),
    lambda: mercer.SVC("linear").fit(X, three).predict(X),
    lambda: mercer.SVC("poly").fit(scipy.sparse.csr_array(X), y),
    lambda: mercer.SVR().fit(X, X[:, 0]).predict(X),
    lambda: mercer.OneClassSVM().fit(X).predict(X),
    lambda: mercer.KernelRidge("rbf").fit(X, y).predict(X),
    lambda: mercer.certify(sklearn.svm.SVC().fit(X, y), X, y),
):
    work()
    assert "numba" not in sys.modules, work.__code__.co_firstlineno
"""


def test_small_work_needs_no_compiler():
    """To load compiled code would take half a second, and to compile it half a minute."""
    done = subprocess.run([sys.executable, "-c", SMALL_WORK], capture_output=True, text=True, check=False)
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
