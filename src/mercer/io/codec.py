"""Estimators as JSON and arrays, and back. Reading builds known classes from plain values: it runs no code of the file.

A value is itself where JSON has it (null, true, 3, 0.1, "text", a list), or an object with one telling key:

    {"float": "inf"}  {"scalar": [dtype, value]}  {"tuple": [...]}  {"dict": [[key, value], ...]}  {"labels": [...]}
    {"solutions": [...]}
    {"few": [dtype, [...]]}  {"array": "03-dual_coef_.npy"}  {"sparse": [size, mask, values]}  {"csr": [...]}
    {"kernel": "rbf(gamma=0.5)"}  {"features": estimator}  {"solver": "qp()"}  {"status": "CONVERGED"}
    {"value": "Certificate", "fields": {...}}  {"same": 0}  {"records": "Step", "columns": {...}}
    {"estimator": "SVC", "parameters": {...}, "fitted": {...}}
    {"dtype": "<f8"}  {"type": "float64"}  {"slice": [0, 2, null]}  {"function": "log1p"}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np

from ..kernels import FromFeatures, Kernel
from ..kernels import kernel as as_kernel
from ..kernels.points import is_sparse
from ..solution import Certificate, Solution, Solutions, Status
from ..solvers import Solver
from ..solvers import solver as as_solver
from ..types import Array
from .consistent import require_consistent
from .fields import parameter_names
from .plain import as_dtype, as_function, as_slice, as_type, is_plain, plain
from .registry import ESTIMATORS, FORGOTTEN, RECORDS, VALUES, class_of, name_of
from .values import require_column, require_typed

_KINDS = "biufU"  # of arrays: true and false, whole numbers, numbers, text
_DEEPEST = 50
_FEW = 32  # entries of a vector that is written into the manifest, where people can read it
_WIDEST = 1000  # characters for which there is room in such a vector, whatever it holds
_WORTH_PACKING = 64  # entries; longer vectors of mostly zeros are stored as a mask and the rest
_SEARCHES = {"BaseSearchCV"}  # of which the best estimator is kept; by name: to import it takes a while
_TRANSIENT = (  # of scikit-learn: not learned, or made anew
    "_skl_callbacks", "_parent_callback_ctx", "_stop_words_id", "f_",
)  # fmt: skip


class StorageError(ValueError):
    """Something that a model file cannot hold."""


class Writer:
    """Turns values into JSON; the arrays are collected in `arrays`, by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no id is used twice

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
        if is_sparse(value):
            return self.csr(value, name)
        if isinstance(value, list):
            return [self.encode(item, name) for item in value]
        if isinstance(value, tuple):
            if len({type(item) for item in value}) == 1 and name_of(value[0], RECORDS):
                return self.records(value, name)
            kind = "solutions" if isinstance(value, Solutions) else "tuple"
            return {kind: [self.encode(item, name) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key, name), self.encode(item, name)] for key, item in value.items()]}
        return self.object(value, name)

    def records(self, value: tuple[Any, ...], name: str) -> Any:
        """A tuple of equals, as columns."""
        names = type(value[0]).__match_args__
        columns = {key: np.array([getattr(item, key) for item in value]) for key in names}
        encoded = {key: self.array(column, f"{name}_{key}") for key, column in columns.items()}
        return {"records": type(value[0]).__name__, "columns": encoded}

    def object(self, value: Any, name: str) -> Any:
        """Kernels, solvers, certificates, estimators."""
        if isinstance(value, Kernel):
            return _kernel(self, value)
        if name == "kernel" and callable(value):  # a function, or a kernel of scikit-learn's: as_kernel says which
            return _kernel(self, as_kernel(value))
        if isinstance(value, Solver):
            return _text("solver", value, as_solver)
        if isinstance(value, Status):
            return {"status": value.name}
        if name_of(value, VALUES):
            return self.dataclass(value)
        if known := name_of(value, ESTIMATORS):
            return self.estimator(value, known)
        if _SEARCHES & {cls.__name__ for cls in type(value).__mro__}:
            return self.searched(value)
        if is_plain(value):
            return plain(value)
        if name_of(value, FORGOTTEN):
            return None
        if name == "random_state":  # a generator in mid-stream: a loaded model draws anew when it is fitted again
            return None
        if name == "cv":  # how folds were drawn is forgotten, but for their number
            return getattr(value, "n_splits", None)
        raise StorageError(
            f"A model file cannot hold {type(value).__module__}.{type(value).__name__}"
            f"{f' ({name})' if name else ''}: it holds Mercer's estimators and feature maps, and what docs/files.md "
            f"lists of scikit-learn's. For anything else there is pickle."
        )

    def searched(self, value: Any) -> Any:
        """Of a search, the best estimator."""
        if not hasattr(value, "best_estimator_"):
            raise StorageError(
                f"Of a {type(value).__name__} a model file holds best_estimator_, which is not there: fit it with "
                f"refit=True."
            )
        return self.encode(value.best_estimator_)

    def dataclass(self, value: Any) -> Any:
        """Each one once; certificates without the share of each training point."""
        if id(value) in self.seen:
            return {"same": self.seen[id(value)]}
        own = {f.name: getattr(value, f.name) for f in fields(value)}
        if isinstance(value, Certificate):
            own["residuals"] = np.zeros(0)
        encoded = {key: self.encode(item, key) for key, item in own.items()}
        self.seen[id(value)] = len(self.kept)
        self.kept.append(value)
        return {"value": type(value).__name__, "fields": encoded}

    def estimator(self, value: Any, known: str) -> Any:
        """Its parameters, as they were given, and what was learned."""
        parameters = {name: getattr(value, name) for name in parameter_names(type(value))}
        if known == "ColumnTransformer" and hasattr(value, "_columns"):  # functions have chosen columns
            chosen = zip(value.transformers, value._columns, strict=True)
            parameters["transformers"] = [(name, step, own) for (name, step, _), own in chosen]
        learned = {k: v for k, v in vars(value).items() if k not in parameters and k not in _TRANSIENT}
        self.require_readable(value, known)
        return {
            "estimator": known,
            "parameters": {key: self.encode(item, key) for key, item in parameters.items()},
            "fitted": {key: self.encode(item, key) for key, item in learned.items()},
        }

    def require_readable(self, value: Any, known: str) -> None:
        """What would be refused by `load` is refused here, where it may be: of scikit-learn's classes."""
        if not ESTIMATORS[known].startswith(("sklearn.", "mercer.dropin")):
            return
        try:
            require_consistent(known, value)
        except ValueError as error:
            raise StorageError(f"A model file cannot hold this {type(value).__name__}: {error}.") from None

    def array(self, value: Array, name: str) -> Any:
        if value.dtype == object:
            if value.ndim != 1:
                raise StorageError(f"A model file cannot hold {name}, a table of objects.")
            return {"labels": [self.encode(item, name) for item in value]}
        if value.dtype.kind not in _KINDS:
            raise StorageError(f"A model file cannot hold {name}, an array of {value.dtype}.")
        if value.ndim == 1 and value.size <= _FEW:
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

    def csr(self, value: Any, name: str) -> Any:
        if getattr(value, "format", "") != "csr":
            raise StorageError(f"A model file cannot hold {name}, a {type(value).__name__}: make it a CSR matrix.")
        value = type(value)((value.data, value.indices, value.indptr), value.shape)  # with indices as they are read
        parts = (("values", value.data), ("columns", value.indices), ("rows", value.indptr))
        arrays = [{"array": self.store(array, f"{name}_{part}")} for part, array in parts]
        return {"csr": [*arrays, list(map(int, value.shape)), type(value).__name__]}


def _kernel(writer: Writer, kernel: Kernel) -> Any:
    if isinstance(kernel, FromFeatures) and name_of(kernel.phi, ESTIMATORS):
        return {"features": writer.encode(kernel.phi)}
    return _text("kernel", kernel, as_kernel)


def _text(kind: str, value: Any, parse: Callable[[str], Any]) -> Any:
    """The text of a kernel or a solver, if it is the whole truth."""
    text = repr(value)
    try:
        same = parse(text) == value
    except ValueError:
        same = False
    if not same:
        raise StorageError(
            f"A model file cannot hold the {kind} {text}: it holds what can be written as text, and never code or "
            f"values of your own. Pickle can, where Python can find the function again."
        )
    return {kind: text}


class Reader:
    """Turns JSON into values; `fetch(name)` gives an array that belongs to it."""

    def __init__(self, fetch: Callable[[str], Array]) -> None:
        self.fetch = fetch
        self.values: list[Any] = []
        self.depth = 0

    def decode(self, node: Any) -> Any:
        """The value; raises ValueError, KeyError or TypeError where the JSON is none that a Writer makes."""
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
        rule = _RULES.get(kind)
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
        return self.fetch(_a(str, name))

    def sparse(self, parts: list[Any]) -> Array:
        size, packed, values = (self.decode(part) for part in _parts(parts, 3))
        mask = np.unpackbits(_a(np.ndarray, packed))
        if not 0 <= mask.size - _a(int, size) < 8 or mask[size:].any() or mask.sum() != len(values):
            raise ValueError("a vector of mostly zeros does not add up")
        out = np.zeros(size, values.dtype)
        out[mask[:size].astype(bool)] = values
        return out

    def csr(self, parts: list[Any]) -> Any:
        from scipy import sparse

        data, indices, indptr, shape, name = (self.decode(part) for part in _parts(parts, 5))
        build = {"csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}[name]
        rows, columns = (_a(int, length) for length in _parts(shape, 2))
        if indices.dtype.kind != "i" or indptr.dtype.kind != "i" or len(indptr) != rows + 1 or columns < 0:
            raise ValueError("a sparse matrix does not add up")
        matrix = build((data, indices, indptr), shape=(rows, columns), copy=False)
        matrix.check_format(full_check=True)
        return matrix

    def records(self, name: str, columns: dict[str, Any]) -> tuple[Any, ...]:
        cls = class_of(name, RECORDS)
        if not set(columns) <= set(cls.__match_args__):
            raise ValueError(f"its table of {name} has other columns than expected")
        decoded = {key: self.decode(column) for key, column in columns.items()}
        lists = {key: require_column(cls, key, column).tolist() for key, column in decoded.items()}
        if len({len(column) for column in lists.values()}) > 1:
            raise ValueError(f"the columns of its table of {name} are not equally long")
        return tuple(cls(**dict(zip(lists, row, strict=True))) for row in zip(*lists.values(), strict=True))

    def same(self, number: Any) -> Any:
        if not 0 <= _a(int, number) < len(self.values):
            raise ValueError("it refers to a value that there is not")
        return self.values[number]

    def dataclass(self, name: str, nodes: dict[str, Any]) -> Any:
        cls = class_of(name, VALUES)
        unknown = set(nodes) - {f.name for f in fields(cls)}
        if unknown:
            raise ValueError(f"its {name} has the unknown field {min(unknown)!r:.40}")
        value = cls(**{key: self.decode(node) for key, node in nodes.items()})
        require_typed(value)
        self.values.append(value)
        return value

    def estimator(self, name: str, parameters: dict[str, Any], fitted: dict[str, Any]) -> Any:
        cls = class_of(name, ESTIMATORS)
        names = parameter_names(cls)
        unknown = set(parameters) - set(names)
        if unknown:
            raise ValueError(f"its {name} has the unknown parameter {min(unknown)!r:.40}")
        for key in fitted:
            if key in names or not key.isidentifier() or key.startswith("__") or _belongs_to_class(cls, key):
                raise ValueError(f"its {name} has the attribute {key!r:.40}, which is not one that is learned")
        value = cls.__new__(cls)
        vars(value).update(_defaults(cls))  # of parameters that came after the file
        vars(value).update({key: self.decode(node) for key, node in (parameters | fitted).items()})
        require_consistent(name, value)
        return value


def _belongs_to_class(cls: type, name: str) -> bool:
    """Whether the class has a method or a property of that name, which no file may replace."""
    found = getattr(cls, name, None)
    return callable(found) or isinstance(found, property)


def _defaults(cls: type) -> dict[str, Any]:
    given = signature(cls).parameters.values()
    names = parameter_names(cls)
    return {each.name: each.default for each in given if each.name in names and each.default is not each.empty}


def _a(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"it holds a {type(value).__name__} in place of a {kind.__name__}")
    return value


def _parts(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        raise ValueError(f"it holds a value that does not have {count} parts")
    return value


def _dict(reader: Reader, pairs: list[Any]) -> dict[Any, Any]:
    return {reader.decode(key): reader.decode(item) for key, item in (_parts(pair, 2) for pair in _a(list, pairs))}


def _dtype(text: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(_a(str, text))
    if dtype.kind not in _KINDS or dtype.str != text:  # older versions of NumPy let the width of a text overflow
        raise ValueError(f"it holds values of the unknown kind {text!r:.40}")
    return dtype


def _scalar(reader: Reader, parts: list[Any]) -> Any:
    kind, value = _parts(parts, 2)
    return _dtype(kind).type(reader.decode(value))


def _few(reader: Reader, parts: list[Any]) -> Array:
    kind, items = _parts(parts, 2)
    dtype, decoded = _dtype(kind), reader.decode(_a(list, items))
    if dtype.kind == "U" and dtype.itemsize > 4 * max(_WIDEST, *(len(str(item)) for item in decoded)):
        raise ValueError("its texts are shorter than it says")
    values = np.array(decoded, dtype)
    if values.ndim != 1 or values.size > _FEW:
        raise ValueError("a short vector is not one")
    return values


def _float(reader: Reader, text: str) -> float:
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]


_RULES: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "float": ((), _float),
    "scalar": ((), _scalar),
    "tuple": ((), lambda reader, items: tuple(reader.decode(_a(list, items)))),
    "solutions": ((), lambda reader, items: Solutions(_a(Solution, one) for one in reader.decode(_a(list, items)))),
    "dict": ((), _dict),
    "labels": ((), Reader.labels),
    "few": ((), _few),
    "array": ((), Reader.array),
    "sparse": ((), Reader.sparse),
    "csr": ((), Reader.csr),
    "kernel": ((), lambda reader, text: as_kernel(_a(str, text))),
    "features": ((), lambda reader, node: FromFeatures(reader.decode(node))),
    "solver": ((), lambda reader, text: as_solver(_a(str, text))),
    "status": ((), lambda reader, name: Status[name]),
    "records": (("columns",), Reader.records),
    "same": ((), Reader.same),
    "value": (("fields",), Reader.dataclass),
    "estimator": (("parameters", "fitted"), Reader.estimator),
    "dtype": ((), lambda reader, text: as_dtype(text)),
    "type": ((), lambda reader, name: as_type(name)),
    "slice": ((), lambda reader, parts: as_slice(parts)),
    "function": ((), lambda reader, name: as_function(name)),
}
"""How each kind of value is read: the further keys of its object, and what builds it."""
