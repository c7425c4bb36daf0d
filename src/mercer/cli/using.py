"""Saved models in use."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import NotFittedError

from ..io import ModelError, Table, load, read_manifest
from .faults import blaming
from .output import warnings_as_notes


def loaded(path: str) -> Any:
    """The model of a file; whatever is wrong with the file is a ModelError."""
    return _opened(load, path)


def manifest_of(path: str) -> dict[str, Any]:
    """What a model file says of itself."""
    manifest: dict[str, Any] = _opened(read_manifest, path)
    return manifest


def _opened(open_it: Callable[[str], Any], path: str) -> Any:
    try:
        return open_it(path)
    except FileNotFoundError:
        raise ModelError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise ModelError(f"{path} is a folder, not a model file.") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None


def used(arguments: argparse.Namespace, method: Callable[[Any], Any], points: Any, table: Table) -> Any:
    """What a method of the model gives for points; what is wrong with them is a DataError."""
    with blaming(table.source), warnings_as_notes(arguments):
        try:
            return method(points)
        except NotFittedError as error:
            raise ModelError(str(error)) from None
