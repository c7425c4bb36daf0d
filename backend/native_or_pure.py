"""The build: with the native core where there is a C++ compiler, pure where there is none.

A compilation that fails is an error: it never turns into a pure package in silence. Microsoft's own compiler has no
vector types and counts as none; clang-cl does. cmake and ninja come as packages where they are not installed.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from scikit_build_core import build as native

PURE = {"wheel.cmake": "false", "wheel.platlib": "false", "wheel.py-api": "py3"}
NAMES = ("c++", "g++", "clang++", "clang-cl")


def compiler() -> str | None:
    """The C++ compiler: the one that CXX names, or the first that is found."""
    named = os.environ.get("CXX")
    if named:
        found = shutil.which(named.split()[0])
        if found is None:
            raise RuntimeError(f"CXX={named!r} names a compiler that is not there.")
        return named
    return next(filter(None, map(shutil.which, NAMES)), None)


def _settings(given: Any) -> dict[str, Any]:
    """The settings of the build; CXX is said aloud, because Python's own build may name one that is not there."""
    found = compiler()
    if found is None:
        print("mercer: no C++ compiler was found, so the package is built without its native core.", file=sys.stderr)
        return {**(given or {}), **PURE}
    os.environ["CXX"] = found
    return dict(given or {})


def build_wheel(folder: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """See PEP 517."""
    return native.build_wheel(folder, _settings(config_settings), metadata_directory)


def build_editable(folder: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """See PEP 660."""
    return native.build_editable(folder, _settings(config_settings), metadata_directory)


def build_sdist(folder: str, config_settings: Any = None) -> str:
    """See PEP 517; nothing is compiled for it."""
    return native.build_sdist(folder, config_settings)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """cmake and ninja, where something is to be compiled and they are missing."""
    return native.get_requires_for_build_wheel(_settings(config_settings)) if compiler() else []


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """The same."""
    return native.get_requires_for_build_editable(_settings(config_settings)) if compiler() else []


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    """Nothing is compiled."""
    return []
