"""The package as a whole: what an import costs, and that all public names are there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mercer

HEAVY = ["numba", "scipy", "sklearn", "matplotlib", "pandas", "threadpoolctl", "sympy"]


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_nothing_heavy_is_imported():
    assert loaded_after("import mercer, mercer.kernels; mercer.kernel('2*rbf(gamma=1) + linear')") == set()
    assert "numba" not in loaded_after("import mercer.features, mercer.gram, mercer.function")


@pytest.mark.parametrize(
    "work",
    [
        "mercer.SVC().fit(X, y).predict(X)",
        "mercer.SVC('linear').fit(X, z).predict(X)",
        "mercer.SVC('poly').fit(scipy.sparse.csr_array(X), y)",
        "mercer.SVR().fit(X, X[:, 0]).predict(X)",
        "mercer.OneClassSVM().fit(X).predict(X)",
        "mercer.KernelRidge('rbf').fit(X, y).predict(X)",
        "mercer.certify(sklearn.svm.SVC().fit(X, y), X, y)",
    ],
)
def test_small_work_needs_no_compiler(work):
    """To load compiled code would take half a second, and to compile it half a minute."""
    data = "X = np.random.default_rng(0).normal(size=(200, 10)); y = np.sign(X[:, 0]); z = y + (X[:, 1] > 0)"
    assert "numba" not in loaded_after(f"import mercer, numpy as np, scipy.sparse, sklearn.svm; {data}\n{work}")


def test_public_names():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
        assert name in dir(mercer)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mercer.nothing
    with pytest.raises(AttributeError, match=r"it is mercer.kernels.Gaussian"):
        mercer.Gaussian
