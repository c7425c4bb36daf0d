"""Where results go: never over an input, and over a file of another kind only where that is asked for."""

from __future__ import annotations

import argparse
import os
import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from ..io import place_for
from .exits import UsageError

_HEAD = 4096  # bytes from which the kind of a file is seen


def _is_model(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return b'"mercer model"' in archive.read("manifest.json")[:_HEAD]
    except (OSError, KeyError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        return False


def _begins(pattern: bytes) -> Callable[[Path], bool]:
    """Whether the beginning of a file has this pattern."""

    def matches(path: Path) -> bool:
        with path.open("rb") as file:
            return re.match(pattern, file.read(_HEAD), re.DOTALL) is not None

    return matches


KINDS: dict[str, Callable[[Path], bool]] = {
    "model file": _is_model,
    "table of predictions": _begins(rb"prediction[,\r\n]"),
    "picture": _begins(
        rb"\x89PNG|%PDF|%!PS|%% Creator: Matplotlib|\xff\xd8|II\*\0|MM\0\*|RIFF....WEBP|GIF8|\s*(<\?xml.*)?<svg"
    ),
    "page": _begins(rb"<!doctype html>.*Content-Security-Policy.*script-src"),
    "worked solution": _begins(
        rb"[^\n]+\n(\xe2\x95\x90)+\n|# [^\n]+\n\n(!\[[^\n]+\n\n)?## 1\. "
        rb'|.*<article class="mercer"[ >]|\{\s*"format": "mercer worked'
        rb"|\\documentclass.*\\newcommand\{\\checked\}"
    ),
    "LIBSVM model": _begins(rb"svm_type "),
    "file of svm-scale": _begins(rb"x\r?\n-1 1\r?\n"),
    "ONNX model": _begins(rb"\x08.{1,4}\x12.skl2onnx"),
    "model as JSON": _begins(rb'\{"model": \{"estimator"'),
}
"""What the verbs write, and how each kind is known."""


def require_place(arguments: argparse.Namespace, path: str, kind: str, inputs: Sequence[str | None]) -> None:
    """Raise where a file of this kind may not be written: over one of the inputs (or of the other outputs), or over
    something else that is not to be replaced; worth asking before a long training.
    """
    if path == "-":
        raise UsageError(f"A {kind} is written to a file, not to stdout: give its name.")
    place = place_for(path)
    for name in inputs:
        if name is not None and _is_same(place, name):
            lost = "the table on stdin" if name == "-" else name
            raise UsageError(f"The result would replace {lost}: give another name than {path}.")
    if not place.is_file():  # nothing there yet, or a device or a pipe
        return
    if not arguments.force and place.stat().st_size and not KINDS[kind](place):
        raise UsageError(f"{path} is there already, and is no {kind}: give another name, or --force to replace it.")


def _is_same(place: Path, name: str) -> bool:
    """Whether a name, a link or a hard link leads to this file; a terminal may be both input and output."""
    try:
        if name != "-" and not place.exists():
            return place.resolve() == Path(name).resolve()
        there = os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)
        return place.is_file() and os.path.samestat(place.stat(), there)
    except (OSError, ValueError, AttributeError):  # no such file (its reader says so), or a stdin that is none
        return False
