"""What every use of a kernel on points begins with: both sets are admitted; and the diagonal, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Array, Points
from .pairwise import overflow_checked_later, require_no_overflow
from .points import Domain, admit, common_dtype, count, is_sparse

if TYPE_CHECKING:
    from .base import Kernel

_DIAGONAL = 1024  # points whose diagonal is computed at a time


def diagonal(kernel: Kernel, X: Points, dtype: Any = None) -> Array:
    """k(x_i, x_i) for admitted points, by pieces, so that its temporaries are small."""
    out = np.empty(count(X), dtype or common_dtype(X))
    with overflow_checked_later():
        for start in range(0, out.size, _DIAGONAL):
            rows = slice(start, start + _DIAGONAL)
            out[rows] = kernel.diagonal(cut(X, rows, out.dtype))
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
