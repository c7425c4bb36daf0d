"""Estimators as JSON and arrays, and back. Reading builds known classes from plain values: it runs no code of the file.

Plain values are written as in `archives.values`, and others as objects with one telling key too:

    {"solutions": [...]}  {"csr": [...]}
    {"kernel": "rbf(gamma=0.5)"}  {"features": estimator}  {"solver": "qp()"}  {"status": "CONVERGED"}
    {"value": "Certificate", "fields": {...}}  {"same": 0}  {"records": "Step", "columns": {...}}
    {"estimator": "SVC", "parameters": {...}, "fitted": {...}}
    {"dtype": "<f8"}  {"type": "float64"}  {"slice": [0, 2, null]}  {"function": "log1p"}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np

from ..archives.values import PlainReader, PlainWriter, StorageError, a, parts_of
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

_SEARCHES = {"BaseSearchCV"}  # of which the best estimator is kept; by name: to import it takes a while
_TRANSIENT = (  # of scikit-learn: not learned, or made anew
    "_skl_callbacks", "_parent_callback_ctx", "_stop_words_id", "f_",
)  # fmt: skip


class Writer(PlainWriter):
    """Turns values into JSON; the arrays are collected in `arrays`, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no id is used twice

    def several(self, value: tuple[Any, ...], name: str) -> Any:
        if len({type(item) for item in value}) == 1 and name_of(value[0], RECORDS):
            return self.records(value, name)
        encoded = super().several(value, name)
        return {"solutions": encoded["tuple"]} if isinstance(value, Solutions) else encoded

    def records(self, value: tuple[Any, ...], name: str) -> Any:
        """A tuple of equals, as columns."""
        names = type(value[0]).__match_args__
        columns = {key: np.array([getattr(item, key) for item in value]) for key in names}
        encoded = {key: self.array(column, f"{name}_{key}") for key, column in columns.items()}
        return {"records": type(value[0]).__name__, "columns": encoded}

    def object(self, value: Any, name: str) -> Any:
        """Kernels, solvers, certificates, estimators."""
        if is_sparse(value):
            return self.csr(value, name)
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
        encoded = {
            "estimator": known,
            "parameters": {key: self.encode(item, key) for key, item in parameters.items()},
            "fitted": {key: self.encode(item, key) for key, item in learned.items()},
        }
        self.require_readable(value, known)  # after its parts: of what no file holds, nobody asks whether it fits
        return encoded

    def require_readable(self, value: Any, known: str) -> None:
        """What would be refused by `load` is refused here, where it may be: of scikit-learn's classes."""
        if not ESTIMATORS[known].startswith(("sklearn.", "mercer.dropin")):
            return
        try:
            require_consistent(known, value)
        except ValueError as error:
            raise StorageError(f"A model file cannot hold this {type(value).__name__}: {error}.") from None

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


class Reader(PlainReader):
    """Turns JSON into values; `fetch(name)` gives an array that belongs to it."""

    def __init__(self, fetch: Callable[[str], Array]) -> None:
        super().__init__(fetch)
        self.values: list[Any] = []

    def csr(self, parts: list[Any]) -> Any:
        from scipy import sparse

        data, indices, indptr, shape, name = (self.decode(part) for part in parts_of(parts, 5))
        build = {"csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}[name]
        rows, columns = (a(int, length) for length in parts_of(shape, 2))
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
        if not 0 <= a(int, number) < len(self.values):
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


Reader.rules = PlainReader.rules | {
    "solutions": ((), lambda reader, items: Solutions(a(Solution, one) for one in reader.decode(a(list, items)))),
    "csr": ((), Reader.csr),
    "kernel": ((), lambda reader, text: as_kernel(a(str, text))),
    "features": ((), lambda reader, node: FromFeatures(reader.decode(node))),
    "solver": ((), lambda reader, text: as_solver(a(str, text))),
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
