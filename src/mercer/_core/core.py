"""The one place that chooses between the native core, at one of its levels, and the reference.

MERCER_CORE=reference asks for the reference, MERCER_CORE=native for nothing else but native code; MERCER_LEVEL names a
level. What is unknown or impossible is an error. A native core that is there but cannot be loaded is one too: it is not
passed over in silence.
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

INSTALL = {
    "linux": "sudo apt install g++ (Debian, Ubuntu) or sudo dnf install gcc-c++ (Fedora)",
    "darwin": "xcode-select --install",
    "win32": "winget install LLVM.LLVM (clang-cl)",
}


class Choice(NamedTuple):
    """What runs: its functions, "native" or "reference", the level, and why."""

    functions: Any
    core: str
    level: str
    why: str


def choose(asked_core: str, asked_level: str) -> Choice:
    """The functions that run, by what MERCER_CORE and MERCER_LEVEL ask for."""
    if asked_core not in ("", "native", "reference"):
        raise ImportError(f"MERCER_CORE={asked_core!r} is neither 'native' nor 'reference'.")
    built = find_spec("mercer._core._native") is not None
    if asked_core == "reference" or not built:
        if asked_core == "native" or asked_level:
            raise ImportError(f"Mercer was built without a C++ compiler. {how_to_build()}")
        if not built:
            logging.getLogger("mercer").warning(
                "Mercer was built without a C++ compiler and runs on its slow reference. %s", how_to_build()
            )
        from . import reference

        return Choice(reference, "reference", "", "MERCER_CORE asks for it" if built else "there is no native core")
    _native = import_module("mercer._core._native")

    possible, impossible = dict(_native.LEVELS), dict(_native.IMPOSSIBLE)
    if asked_level in impossible:
        raise ImportError(f"MERCER_LEVEL={asked_level} needs {impossible[asked_level]}, which this CPU does not have.")
    if asked_level and asked_level not in possible:
        raise ImportError(f"MERCER_LEVEL={asked_level!r} is not one of {', '.join([*possible, *impossible])}.")
    level = asked_level or next(iter(possible))
    why = "MERCER_LEVEL asks for it" if asked_level else f"the best that this CPU can run: it needs {possible[level]}"
    return Choice(getattr(_native, level), "native", level, why)


def how_to_build() -> str:
    """The line that installs a compiler, and what to do then."""
    import sys

    line = INSTALL.get(sys.platform, "a C++20 compiler")
    return f"To build it: {line}, then install Mercer again."


CHOICE = choose(os.environ.get("MERCER_CORE", ""), os.environ.get("MERCER_LEVEL", ""))
