"""Small things that estimators of scikit-learn hold, as JSON and back: types of numbers, slices, well-known functions.

A function is written by a name of `FUNCTIONS`; where it lives is written here and never in the file.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

_ELEMENTWISE = ("log", "exp", "log1p", "expm1", "log2", "exp2", "log10", "sqrt", "square", "cbrt", "abs", "sign",
                "negative", "reciprocal", "sin", "cos", "tanh", "arctanh", "sinh", "arcsinh")  # fmt: skip
_SCORES = ("f_classif", "f_regression", "chi2", "r_regression", "mutual_info_classif", "mutual_info_regression")
FUNCTIONS = dict.fromkeys(_ELEMENTWISE, "numpy") | dict.fromkeys(_SCORES, "sklearn.feature_selection")
_TYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "bool")
_DTYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "|u1", "<u4", "<u8", "|b1", "|O")


def is_plain(value: Any) -> bool:
    """Whether `plain` can write it."""
    return isinstance(value, np.dtype | slice) or value in _NUMBERS or _named(value) is not None


def plain(value: Any) -> dict[str, Any]:
    """A type, a slice or a function as JSON."""
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if value in _NUMBERS:
        return {"type": value.__name__}
    return {"function": _named(value)}


def as_slice(parts: Any) -> slice:
    """`plain`, undone."""
    if not isinstance(parts, list) or len(parts) != 3 or not all(isinstance(p, int | str | None) for p in parts):
        raise ValueError("a slice is not one")
    return slice(*parts)


def as_dtype(text: Any) -> Any:
    """`plain`, undone."""
    if text not in _DTYPES and not (isinstance(text, str) and text[:2] == "<U" and text[2:].isdigit()):
        raise ValueError(f"it holds the unknown type {text!r:.40}")
    return np.dtype(text)


def as_type(name: Any) -> Any:
    """`plain`, undone."""
    if name not in _TYPES:
        raise ValueError(f"it holds the unknown type {name!r:.40}")
    return getattr(np, name)


def as_function(name: Any) -> Any:
    """`plain`, undone."""
    if name not in FUNCTIONS:
        raise ValueError(f"it holds the unknown function {name!r:.40}")
    return getattr(import_module(FUNCTIONS[name]), name)


def _named(value: Any) -> str | None:
    """The name of a function of the table; None, where it is none of them."""
    name = getattr(value, "__name__", None)
    name = "abs" if name == "absolute" else name
    return name if name in FUNCTIONS and as_function(name) is value else None


_NUMBERS: set[Any] = {getattr(np, name) for name in _TYPES}
