"""Dot products, distances and coordinate sums of two small sets of points: the only arithmetic that knows dense from
sparse. Each function fills or returns one block; temporaries are a few times the size of the sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._core import small
from ..parallel import for_each, thread_count
from ..types import Array, Points
from .points import COORDINATES, is_sparse

_DENSE_GAIN = 50  # a multiplication of dense float32 products is so much faster than one of sparse products
_FLOAT64_AT_A_TIME = 1_000_000  # entries of points that are copied
_PARTS = 4  # of a sum over rows, whatever the number of threads
_FEW_ENTRIES = 400_000  # of two sets of points, for which dense copies of them may be made


def dense(A: Points) -> Any:
    """A as a plain array."""
    return A.toarray() if is_sparse(A) else A


def squared_norms(A: Points) -> Array:
    """|x|^2 of each point."""
    if is_sparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", A, A))


def dot(A: Points, B: Points, out: Array) -> None:
    """out <- <x, z> for each pair."""
    if not is_sparse(A) and not is_sparse(B):
        np.matmul(A, B.T, out=out)
        return
    out[...] = 0
    if is_sparse(A) and is_sparse(B) and not few(A, B):
        from .._core.sparse import add_sparse_dot

        BT = B.tocsc()
        multiplications = np.bincount(A.indices, minlength=A.shape[1]) @ np.diff(BT.indptr)
        if _DENSE_GAIN * multiplications < out.size * A.shape[1]:
            add_sparse_dot(A.indptr, A.indices, A.data, BT.indptr, BT.indices, BT.data, out)
            return
    for a, b in chunks(A, B):
        out += a @ b.T


def linear_scores(X: Points, W: Array) -> Array:
    """<w, x> of each point, as rows, and each row w of W, in float64; only some rows of X are copied at a time."""
    if hasattr(X, "dots"):  # points that are elsewhere
        return np.asarray(X.dots(W))
    out = np.empty((X.shape[0], len(W)))

    def work(rows: slice) -> None:
        out[rows] = X[rows].astype(np.float64, copy=False) @ W.T

    for_each(_some_rows(X), work, _threads(X))
    return out


def linear_weights(X: Points, V: Array, centre: Array | None = None) -> Array:
    """sum_i v_i (x_i - centre) for each row v of V, in the same way."""
    parts, strips = np.zeros((_PARTS, len(V), X.shape[1])), _some_rows(X)

    def work(part: int) -> None:
        for rows in strips[part::_PARTS]:
            some = X[rows].astype(np.float64, copy=False)
            parts[part] += ((some if centre is None else some - centre).T @ V[:, rows].T).T

    for_each(range(_PARTS), work, _threads(X))
    return np.asarray(parts.sum(axis=0))


def _threads(X: Points) -> int:
    """One, where there is little to do; else Mercer's own, since those of BLAS go on spinning after a call."""
    return thread_count() if _entries(X) > _FLOAT64_AT_A_TIME else 1


def _some_rows(X: Points) -> list[slice]:
    step = max(1, _FLOAT64_AT_A_TIME * X.shape[0] // max(1, _entries(X)))
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def _entries(X: Points) -> int:
    return int(X.nnz if is_sparse(X) else X.shape[0] * X.shape[1])


def chunks(A: Points, B: Points) -> Iterator[tuple[Any, Any]]:
    """Both sets as dense blocks of at most `COORDINATES` coordinates: for sums that need no more at a time."""
    d = A.shape[1]
    if d > COORDINATES:
        A, B = (X.tocsc() if is_sparse(X) else X for X in (A, B))  # columns are cut out fast
    for start in range(0, d, COORDINATES):
        yield dense(A[:, start : start + COORDINATES]), dense(B[:, start : start + COORDINATES])


def centred_dot(A: Points, B: Points, out: Array) -> tuple[Any, Any]:
    """out <- <x - c, z - c> for each pair, and |x - c|^2, |z - c|^2; c is the mean of B, or 0 for sparse sets.

    Distances do not change, and lose fewer digits: those of data far from the origin, all of them.
    """
    if is_sparse(A) and is_sparse(B):
        dot(A, B, out)
        return squared_norms(A), squared_norms(B)
    from .._core.distances import centre_both

    squares_a, squares_b = np.zeros(A.shape[0], out.dtype), np.zeros(B.shape[0], out.dtype)
    for number, (a, b) in enumerate(chunks(A, B)):
        a, b = centre_both(np.ascontiguousarray(a), np.ascontiguousarray(b), squares_a, squares_b)
        if number == 0:
            np.matmul(a, b.T, out=out)
        else:
            out += a @ b.T
    return squares_a, squares_b


def squared_distances(A: Points, B: Points) -> Array:
    """|x - z|^2 for each pair, in float64 and never negative."""
    out = np.empty((A.shape[0], B.shape[0]))
    if not few(A, B):
        A, B = A.astype(np.float64, copy=False), B.astype(np.float64, copy=False)
    fill_squared_distances(A, B, out)
    return out


def fill_squared_distances(A: Points, B: Points, out: Array) -> None:
    """out <- |x - z|^2 for each pair, all in float64: about 12 digits, however close the points and far from 0."""
    if few(A, B):
        with overflow_checked_later():
            small.fill_squared_distances(dense(A), dense(B), out)
        require_no_overflow(out)
        return
    from .._core.distances import distances_from_dots, sparse_distances_from_dots

    with overflow_checked_later():
        a, b = centred_dot(A, B, out)
    require_no_overflow(a, b)
    if is_sparse(A) and is_sparse(B):
        sparse_distances_from_dots(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, a, b, out)
    else:
        distances_from_dots(dense(A), dense(B), a, b, out)


def few(A: Points, B: Points) -> bool:
    """Whether NumPy computes a tile: of a small block, and of points that are few numbers, dense or not."""
    return small.by_numpy() and (A.shape[0] + B.shape[0]) * A.shape[1] <= _FEW_ENTRIES


def overflow_checked_later() -> Any:
    """A context in which NumPy does not warn of overflow; `require_no_overflow` says more about it."""
    return np.errstate(over="ignore", under="ignore", invalid="ignore")


def require_no_overflow(*values: Array) -> None:
    """Raise if any value has overflowed."""
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError("The kernel's values overflow on these points: scale the data first (divide by its largest).")


def add_over_coordinates(add: Callable[..., None], A: Points, B: Points, out: Array, *constants: Any) -> None:
    """out <- sum over coordinates of a compiled function of two numbers (see `_core.sums`)."""
    out[...] = 0
    for a, b in chunks(A, B):
        add(np.ascontiguousarray(a), np.ascontiguousarray(b.T), out, *constants)
