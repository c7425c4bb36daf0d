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


def test_public_names():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
        assert name in dir(mercer)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mercer.nothing
    with pytest.raises(AttributeError, match=r"it is mercer.kernels.Gaussian"):
        mercer.Gaussian
