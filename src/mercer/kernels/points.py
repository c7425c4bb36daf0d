"""What a set of points may be, and the one clear error for what it may not.

A kernel lives on a domain: rows of numbers (VECTORS), any objects in a list (OBJECTS), or rows of kernel values that
somebody else has computed (VALUES). `admit` turns what a user gave into an array, a CSR matrix or a list that can be
sliced; everything behind it relies on that.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Array, Points

if TYPE_CHECKING:
    from .base import Kernel

_DIAGONAL = 1024  # points whose diagonal is computed at a time
_SQUARES = 250_000  # entries of sparse points that are squared at a time
COORDINATES = 1024  # at most so many coordinates of sparse points are made dense at a time


class Domain(Enum):
    """What the points of a kernel are."""

    VECTORS = "rows of numbers"
    OBJECTS = "any objects"
    VALUES = "rows of kernel values"
    ANYTHING = "anything"  # a constant does not look at its points


def is_sparse(X: Points) -> bool:
    """Whether X is a SciPy sparse matrix or array (asked without importing SciPy)."""
    return hasattr(X, "tocsr")


def admit(X: Points, domain: Domain, name: str = "X") -> Any:
    """The points as the kernels use them; raises one clear error for anything else."""
    return objects(X, name) if domain in (Domain.OBJECTS, Domain.ANYTHING) else vectors(X, name)


def vectors(X: Points, name: str = "X") -> Any:
    """A finite float32 or float64 matrix, dense or CSR, with at least one row and one column."""
    if type(X) is np.ndarray and X.dtype in (np.float32, np.float64) and X.ndim == 2 and is_finite(X):
        return X  # as nearly always
    if X is None:
        raise ValueError(f"{name} must hold numbers, not None.")
    X = _floats(_csr(X), name) if is_sparse(X) else _floats(_array(X, name), name)
    if 0 in X.shape:
        raise ValueError(f"{name} is empty (its shape is {X.shape}): at least one row and one column are needed.")
    if X.ndim != 2:
        hint = f": for one column use {name}.reshape(-1, 1), for one point {name}.reshape(1, -1)" if X.ndim < 2 else ""
        raise ValueError(f"{name} must have rows and columns, but it has {X.ndim} dimension(s){hint}.")
    _require_finite(X, name)
    return X


def objects(X: Points, name: str = "X") -> Any:
    """Anything with a length and slices: lists of strings, graphs, sets; the rows of an array or a data frame.

    The rows of one column of text are the texts themselves, which a kernel on strings takes.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"{name} is a single text: pass a list of points, [{X[:20]!r}, ...].")
    if hasattr(X, "iloc"):  # pandas
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1 and _is_text(X):
        X = X[:, 0]
    if is_sparse(X):
        X = _csr(X)
    elif not isinstance(X, list | tuple | np.ndarray):
        try:
            X = list(X)
        except TypeError:
            raise TypeError(f"{name} must be a list of points, not {type(X).__name__}.") from None
    if (X.shape[0] if hasattr(X, "shape") else len(X)) == 0:
        raise ValueError(f"{name} is empty: a kernel needs at least one point.")
    return X


def _is_text(X: Array) -> bool:
    return X.dtype.kind == "U" or (X.dtype == object and all(isinstance(value, str) for value in X.flat))


def squared_norms(A: Points) -> Array:
    """|x|^2 of each point; of sparse ones, squares of some rows at a time."""
    if not is_sparse(A):
        return np.asarray(np.einsum("ij,ij->i", A, A))
    step = max(1, _SQUARES * A.shape[0] // max(1, A.nnz))
    parts = (A[start : start + step] for start in range(0, A.shape[0], step)) if step < A.shape[0] else (A,)
    return np.concatenate([np.asarray(part.multiply(part).sum(axis=1)).reshape(-1) for part in parts])


def count(X: Points) -> int:
    """The number of points (sparse matrices have no length)."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def width(X: Points) -> int:
    """The number of columns; 1 for objects."""
    return int(X.shape[1]) if getattr(X, "ndim", 1) == 2 else 1


def held_width(X: Points) -> int:
    """The numbers that a copy of a point holds: its columns, or its non-zero entries and one piece of its columns."""
    if is_sparse(X):
        return int(min(X.shape[1], COORDINATES) + 2 * ceil(X.nnz / X.shape[0]))
    return X.width if isinstance(X, Chosen) else width(X)


def nbytes(X: Points) -> int:
    """The memory of an array or a CSR matrix."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes)


def take(X: Points, index: Any) -> Any:
    """The points with these numbers."""
    return X[index] if hasattr(X, "shape") else [X[i] for i in index]


class Chosen:
    """Some of the points, copied only slice by slice as they are needed."""

    def __init__(self, points: Points, index: Any) -> None:
        self.points, self.index = points, index
        self.shape = (len(index), width(points))
        self.ndim = 2
        self.width = held_width(points)

    def __getitem__(self, rows: slice) -> Any:
        return take(self.points, self.index[rows])


def stack(X: Points, Z: Points) -> Any:
    """The points of both sets, one after the other."""
    if is_sparse(X) or is_sparse(Z):
        from scipy.sparse import csr_array, vstack

        return vstack([csr_array(X), csr_array(Z)], format="csr")
    if hasattr(X, "shape") and hasattr(Z, "shape"):
        return np.concatenate([X, Z])
    return [*X, *Z]


def row_weights(sample_weight: Any, n: int) -> Array:
    """The weights of n points: numbers >= 0, not all of them 0; ones where none are given."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weight = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        weight = np.full(n, np.nan)
    wrong = weight[~(np.isfinite(weight) & (weight >= 0))]
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if weight.shape == (n,) and wrong.size == 0 and 0 < total < np.inf:
        return weight
    fault = f"one is {wrong[0]:g}" if wrong.size else f"their sum is {total:g}"
    fault = fault if weight.shape == (n,) else f"its shape is {weight.shape}"
    raise ValueError(f"sample_weight must be {n} finite numbers >= 0, one per point, not all of them 0; {fault}.")


def copied(X: Points) -> Points:
    """The points in memory of their own, so that nobody else can change them."""
    return X.copy() if hasattr(X, "shape") else list(X)


def common_dtype(*sets: Any) -> Any:
    """float32 if every set of numbers is; float64 otherwise."""
    kinds = {X.dtype for X in sets if hasattr(X, "dtype") and X.dtype.kind == "f"}
    return np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)


def squares_fit_in_single(X: Points) -> bool:
    """Whether float32 can hold the squares of the largest entries; objects are no concern of ours."""
    values = X.data if is_sparse(X) else X
    if getattr(getattr(values, "dtype", None), "kind", "") != "f" or values.size == 0:
        return True
    return 1e-16 < max(float(values.max()), -float(values.min())) < 1e16


def _csr(X: Any) -> Any:
    """X by rows, each entry stored once."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _array(X: Points, name: str) -> Any:
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(f"{name} has masked (missing) entries: fill them or leave those rows out.")
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} is not a table of numbers: its rows have different lengths ({error}).") from None


def _floats(X: Points, name: str) -> Any:
    if X.dtype in (np.float32, np.float64):
        return X
    if X.dtype.kind in "fiub":
        return X.astype(np.float32 if X.dtype == np.float16 else np.float64)
    if X.dtype.kind in "mM":
        raise ValueError(f"{name} holds dates or times: turn them into numbers of days or seconds first.")
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers, but it holds {'text' if X.dtype.kind in 'US' else X.dtype.name} ({error}). "
            "Encode text and fill in missing values first, or use a kernel on objects such as FromFunction."
        ) from None


def is_finite(values: Array) -> bool:
    """Whether all numbers are finite, and there are some; perhaps no, where they are very large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(values.size and np.isfinite(values.sum()))  # one pass and no copy: any NaN or infinity would show


def _require_finite(X: Points, name: str) -> None:
    values = X.data if is_sparse(X) else X
    if is_finite(values):
        return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    value = values[first]
    if is_sparse(X):
        first = (int(np.searchsorted(X.indptr, first[0], side="right") - 1), int(X.indices[first[0]]))
    kind = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{name} contains {kind} (row {first[0]}, column {first[1]}; {int(bad.sum())} such entries): "
        "impute or leave out missing and infinite values first."
    )


# What a kernel makes of sets of points.


overflow_checked_later = partial(np.errstate, over="ignore", under="ignore", invalid="ignore")
"""A context in which NumPy does not warn of overflow; `require_no_overflow` says more about it."""


def require_no_overflow(*values: Array) -> None:
    """Raise if any value has overflowed."""
    if not np.all([np.isfinite(value).all() for value in values]):
        raise ValueError("The kernel's values overflow on these points: scale the data first (divide by its largest).")


def diagonal(kernel: Kernel, X: Points, dtype: Any = None) -> Array:
    """k(x_i, x_i) for admitted points, by pieces, so that its temporaries are small."""
    out = np.empty(count(X), dtype or common_dtype(X))
    with overflow_checked_later():
        for start in range(0, out.size, _DIAGONAL):
            rows = slice(start, start + _DIAGONAL)
            out[rows] = kernel.diagonal(cut(X, rows, out.dtype))
    if not kernel.bounded:
        require_no_overflow(out)
    return out


def admit_both(kernel: Kernel, X: Points, Z: Points) -> tuple[Any, Any, bool]:
    """Both sets as the kernel uses them, and whether they are one; every check that can fail comes here."""
    kernel.require_resolved()
    domain = kernel.domain
    same = Z is None or Z is X
    _require_same_columns(X, Z)
    X = admit(X, domain, "X")
    kernel.check(X, "X")
    if domain is Domain.VALUES:  # X is the block already: its columns stand for the points of Z
        columns = X.shape[0] if same else count(Z)
        require_columns(X, columns)
        return X, np.arange(columns), same
    if same:
        return X, X, same
    Z = admit(Z, domain, "Z")
    kernel.check(Z, "Z")
    if domain is Domain.VECTORS and X.shape[1] != Z.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, but Z has {Z.shape[1]}: they must describe the same features.")
    return X, Z, same


def require_columns(X: Array, columns: int) -> None:
    """Raise where a block of values has not so many columns."""
    if X.shape[1] != columns:
        raise ValueError(
            f"A precomputed X has one column per training point: {columns} are expected, but X is "
            f"{X.shape[0]} x {X.shape[1]}."
        )


def _require_same_columns(X: Any, Z: Any) -> None:
    """Two data frames are compared by position, so their columns must have one order."""
    if hasattr(X, "columns") and hasattr(Z, "columns") and list(X.columns) != list(Z.columns):
        raise ValueError("The columns of X and Z differ in name or order: select them alike, as in Z[X.columns].")


def cut(X: Points, rows: slice, dtype: Any) -> Any:
    """A slice of the points, in the precision asked for where they are numbers."""
    part = X[rows]
    if not hasattr(part, "dtype") or part.dtype.kind != "f":
        return part
    if is_sparse(part):
        return part.astype(dtype, copy=False)
    return np.ascontiguousarray(part, dtype)
