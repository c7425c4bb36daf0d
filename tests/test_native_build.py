"""The build: native where there is a compiler, pure where there is none, and an error where it does not compile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer._core.core import CHOICE, choose

ROOT = Path(__file__).parent.parent
BUILD = """
import sys
sys.path.insert(0, "backend")
import native_or_pure
print(native_or_pure.build_wheel(sys.argv[1]))
"""
FIT = """
import logging, sys
logging.basicConfig(format="%(message)s")
sys.path.insert(0, sys.argv[1])
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import mercer, numpy as np
assert mercer.__file__.startswith(sys.argv[1]), mercer.__file__
X = np.random.default_rng(0).normal(size=(60, 2))
machine = mercer.SVC().fit(X, X[:, 0] > 0)
print(machine.certificate_.status, machine.score(X, X[:, 0] > 0))
mercer.show()
"""

built = pytest.mark.skipif(not (ROOT / "backend").is_dir(), reason="the sources are not here")


def test_continuous_integration_tests_the_native_core():
    if os.environ.get("CI") == "true" and os.environ.get("MERCER_CORE") != "reference":
        assert CHOICE.core == "native", "the native core was not built"


@pytest.fixture
def sources(tmp_path):
    """A copy of what the package is built from."""
    pytest.importorskip("scikit_build_core")
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    left_out = shutil.ignore_patterns("__pycache__", "*.so", "*.nbi", "*.nbc")
    shutil.copytree(ROOT / "src", folder / "src", ignore=left_out)
    shutil.copytree(ROOT / "backend", folder / "backend", ignore=left_out)
    return folder


def build(sources, tmp_path, **environment):
    command = [sys.executable, "-c", BUILD, str(tmp_path / "wheels")]
    inherited = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
    return subprocess.run(
        command, cwd=sources, env=inherited | environment, capture_output=True, text=True, check=False
    )


@built
def test_without_a_compiler_the_package_is_pure_and_runs(sources, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = build(sources, tmp_path, PATH=str(empty))
    assert done.returncode == 0, done.stderr
    assert "no C++ compiler was found" in done.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    unpacked = tmp_path / "unpacked"
    shutil.unpack_archive(wheel, unpacked, "zip")
    assert not list(unpacked.rglob("_native*"))
    done = subprocess.run([sys.executable, "-c", FIT, str(unpacked)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("converged")
    assert "core           reference, in NumPy and Python" in done.stdout
    assert done.stderr.count("slow reference") == 1
    assert "g++" in done.stderr or "clang" in done.stderr or "xcode" in done.stderr


@built
@pytest.mark.skipif(CHOICE.core != "native", reason="there is no compiler here")
def test_what_does_not_compile_is_an_error(sources, tmp_path):
    with (sources / "src/mercer/_core/level.cpp").open("a") as file:
        file.write("this is not C++\n")
    done = build(sources, tmp_path)
    assert done.returncode != 0
    assert "this is not C++" in done.stdout + done.stderr
    assert not list((tmp_path / "wheels").glob("*.whl"))


@built
def test_a_compiler_that_is_not_there(sources, tmp_path):
    done = build(sources, tmp_path, CXX="no-such-compiler")
    assert done.returncode != 0
    assert "CXX='no-such-compiler' names a compiler that is not there" in done.stderr


def test_what_is_asked_for_must_be_there():
    with pytest.raises(ImportError, match="neither 'native' nor 'reference'"):
        choose("fast", "")
    assert choose("reference", "").core == "reference"
    if CHOICE.core == "native":
        with pytest.raises(ImportError, match="MERCER_LEVEL='v9' is not one of"):
            choose("", "v9")
        assert choose("", "baseline").level == "baseline"


def test_show(capsys):
    mercer.show()
    text = capsys.readouterr().out
    for name in ("mercer", "python", "numpy", "scikit-learn", "core", "threads", "blas"):
        assert f"\n{name}" in f"\n{text}"
    assert CHOICE.core in text
    assert callable(mercer.show)  # and no module, whatever was imported
