"""What a report of a fault needs to say: versions, the core that runs, threads, BLAS."""

from __future__ import annotations

import platform
from importlib import import_module, metadata
from typing import Any

from . import __version__
from ._core.core import CHOICE, how_to_build
from .parallel import blas_libraries, cores, thread_count

_PACKAGES = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "qpsolvers", "clarabel", "rich")


def report() -> dict[str, str]:
    """All of it, by name."""
    found: dict[str, str] = {"mercer": __version__, "python": f"{platform.python_version()}, {platform.platform()}"}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    found["core"] = _core()
    found["threads"] = f"{thread_count()} of {cores()} cores"
    found["blas"] = ", ".join(map(_described, blas_libraries())) or "none that can be asked"
    return found


def show() -> None:
    """Print what a report of a fault needs to say: versions, the core that runs and why, threads, BLAS."""
    lines = report()
    width = max(map(len, lines))
    for name, words in lines.items():
        print(f"{name:{width}}  {words}")


def _core() -> str:
    if CHOICE.core == "reference":
        return f"reference, in NumPy and Python: {CHOICE.why}. {how_to_build()}"
    compiler = import_module("mercer._core._native").COMPILER
    return f"native, level {CHOICE.level}: {CHOICE.why}; compiled by {compiler}"


def _described(library: dict[str, Any]) -> str:
    words = (library.get(key) for key in ("internal_api", "version", "architecture"))
    return " ".join(str(word) for word in words if word) + f", {library['num_threads']} threads"
