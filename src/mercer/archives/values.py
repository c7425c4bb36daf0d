"""Plain values as JSON and arrays, and back: reading runs no code of the file.

A value is itself where JSON has it (null, true, 3, 0.1, "text", a list), or an object with one telling key:

    {"float": "inf"}  {"scalar": [dtype, value]}  {"tuple": [...]}  {"dict": [[key, value], ...]}  {"labels": [...]}
    {"few": [dtype, [...]]}  {"array": "03-dual_coef_.npy"}  {"sparse": [size, mask, values]}

Whoever has other values to write adds kinds of his own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..types import Array

Rule = tuple[tuple[str, ...], Callable[..., Any]]

_KINDS = "biufU"  # of arrays: true and false, whole numbers, numbers, text
_DEEPEST = 50
_MOST_SPELLED_OUT = 32  # entries of a vector that is written into the manifest, where people can read it
_WIDEST = 1000  # characters for which there is room in such a vector, whatever it holds
_WORTH_PACKING = 64  # entries; longer vectors of mostly zeros are stored as a mask and the rest


class StorageError(ValueError):
    """Something that a model file cannot hold."""


class PlainWriter:
    """Turns values into JSON; the arrays are collected in `arrays`, by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}

    def encode(self, value: Any, name: str = "") -> Any:
        """The value as JSON; its name is for the names of arrays and for errors."""
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": [value.dtype.str, self.encode(value.item(), name)]}
        if isinstance(value, np.ndarray):
            return self.array(value, name)
        if isinstance(value, list):
            return [self.encode(item, name) for item in value]
        if isinstance(value, tuple):
            return self.several(value, name)
        if isinstance(value, dict):
            return {"dict": [[self.encode(key, name), self.encode(item, name)] for key, item in value.items()]}
        return self.object(value, name)

    def several(self, value: tuple[Any, ...], name: str) -> Any:
        """Several values."""
        return {"tuple": [self.encode(item, name) for item in value]}

    def object(self, value: Any, name: str) -> Any:
        """What is no plain value."""
        raise StorageError(f"A checkpoint cannot hold {name or 'it'}, a {type(value).__name__}.")

    def array(self, value: Array, name: str) -> Any:
        if value.dtype == object:
            if value.ndim != 1:
                raise StorageError(f"A model file cannot hold {name}, a table of objects.")
            return {"labels": [self.encode(item, name) for item in value]}
        if value.dtype.kind not in _KINDS:
            raise StorageError(f"A model file cannot hold {name}, an array of {value.dtype}.")
        if value.ndim == 1 and value.size <= _MOST_SPELLED_OUT:
            return {"few": [value.dtype.str, [self.encode(item, name) for item in value.tolist()]]}
        if value.ndim == 1 and value.size > _WORTH_PACKING and value.dtype.kind in "if":
            mask = np.ascontiguousarray(value).view(np.uint8).reshape(value.size, -1).any(axis=1)  # also keeps -0.0
            if 2 * np.count_nonzero(mask) < value.size:
                parts = (np.packbits(mask), value[mask])
                return {"sparse": [value.size, *(self.array(p, name) for p in parts)]}
        return {"array": self.store(value, name)}

    def store(self, value: Array, name: str) -> str:
        plain = "".join(c for c in name if c.isascii() and (c.isalnum() or c == "_")) or "array"
        file = f"{len(self.arrays):02d}-{plain}.npy"
        self.arrays[file] = value
        return file


class PlainReader:
    """Turns JSON into values; `fetch(name)` gives an array that belongs to it.

    `rules` say how each kind of value is read: the further keys of its object, and what builds it.
    """

    rules: ClassVar[dict[str, Rule]] = {}

    def __init__(self, fetch: Callable[[str], Array]) -> None:
        self.fetch = fetch
        self.depth = 0

    def decode(self, node: Any) -> Any:
        """The value; raises ValueError, KeyError or TypeError where the JSON is none that a writer makes."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        value = [self.decode(item) for item in node] if isinstance(node, list) else self.object(node)
        self.depth -= 1
        return value

    def object(self, node: Any) -> Any:
        if not isinstance(node, dict) or not node:
            raise ValueError("it holds an empty object")
        kind = next(iter(node))
        rule = self.rules.get(kind)
        if rule is None:
            raise ValueError(f"it holds a value of the unknown kind {kind!r:.40}")
        wanted, build = rule
        if set(node) != {kind, *wanted}:
            raise ValueError(f"its value of kind {kind!r} has other parts than expected")
        try:
            return build(self, *node.values())
        except (TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"its value of kind {kind!r} is not one that save writes") from error

    def labels(self, items: list[Any]) -> Array:
        out = np.empty(len(items), dtype=object)
        for place, item in enumerate(items):
            out[place] = self.decode(item)
        return out

    def array(self, name: str) -> Array:
        return self.fetch(a(str, name))

    def sparse(self, parts: list[Any]) -> Array:
        size, packed, values = (self.decode(part) for part in parts_of(parts, 3))
        mask = np.unpackbits(a(np.ndarray, packed))
        if not 0 <= mask.size - a(int, size) < 8 or mask[size:].any() or mask.sum() != len(values):
            raise ValueError("a vector of mostly zeros does not add up")
        out = np.zeros(size, values.dtype)
        out[mask[:size].astype(bool)] = values
        return out


def a(kind: type, value: Any) -> Any:
    """The value, if it is of this kind."""
    if type(value) is not kind:
        raise ValueError(f"it holds a {type(value).__name__} in place of a {kind.__name__}")
    return value


def parts_of(value: Any, count: int) -> list[Any]:
    """The list, if it has so many items."""
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f"it holds a value that does not have {count} parts")
    return value


def _dict(reader: PlainReader, pairs: list[Any]) -> dict[Any, Any]:
    return {reader.decode(key): reader.decode(item) for key, item in (parts_of(pair, 2) for pair in a(list, pairs))}


def _dtype(text: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(a(str, text))
    if dtype.kind not in _KINDS or dtype.str != text:  # older versions of NumPy let the width of a text overflow
        raise ValueError(f"it holds values of the unknown kind {text!r:.40}")
    return dtype


def _scalar(reader: PlainReader, parts: list[Any]) -> Any:
    kind, value = parts_of(parts, 2)
    return _dtype(kind).type(reader.decode(value))


def _spelled_out(reader: PlainReader, parts: list[Any]) -> Array:
    kind, items = parts_of(parts, 2)
    dtype, decoded = _dtype(kind), reader.decode(a(list, items))
    if dtype.kind == "U" and dtype.itemsize > 4 * max(_WIDEST, *(len(str(item)) for item in decoded)):
        raise ValueError("its texts are shorter than it says")
    values = np.array(decoded, dtype)
    if values.ndim != 1 or values.size > _MOST_SPELLED_OUT:
        raise ValueError("a short vector is not one")
    return values


def _float(reader: PlainReader, text: str) -> float:
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]


PlainReader.rules = {
    "float": ((), _float),
    "scalar": ((), _scalar),
    "tuple": ((), lambda reader, items: tuple(reader.decode(a(list, items)))),
    "dict": ((), _dict),
    "labels": ((), PlainReader.labels),
    "few": ((), _spelled_out),
    "array": ((), PlainReader.array),
    "sparse": ((), PlainReader.sparse),
}
