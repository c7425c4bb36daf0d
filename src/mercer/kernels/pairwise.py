"""Dot products, distances and coordinate sums of two small sets of points: the only arithmetic that knows dense from
sparse. Each function fills or returns one block; temporaries are a few times the size of the sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..arithmetic import inner
from ..parallel import for_each, thread_count
from ..types import Array, Points
from .points import COORDINATES, is_sparse, overflow_checked_later, require_no_overflow, squared_norms

_DENSE_GAIN = 50  # A multiplication of dense float32 points is so many times as fast as one of sparse points.
_FLOAT64_AT_A_TIME = 250_000  # entries of points that a thread copies
_WORTH_THREADS = 1_000_000  # entries
_PARTS = 4  # of a sum over rows, whatever the number of threads
_CANCELLED = 1e-4  # a distance of which so little is left is computed anew: 12 digits stay
_PAIRS = 100_000  # entries of pairs of points at a time
_TERMS = 200_000  # of sums over coordinates at a time


def dense(A: Points) -> Any:
    """A as a plain array."""
    return A.toarray() if is_sparse(A) else A


def dot(A: Points, B: Points, out: Array) -> None:
    """out <- <x, z> for each pair."""
    if not is_sparse(A) and not is_sparse(B):
        np.matmul(A, B.T, out=out)
        return
    if is_sparse(A) and is_sparse(B):
        frequencies = (np.bincount(X.indices, minlength=X.shape[1]).astype(np.float64) for X in (A, B))
        if _DENSE_GAIN * inner(*frequencies) < float(out.size) * A.shape[1]:
            out[...] = (A @ B.T).toarray()
            return
    out[...] = 0
    for a, b in chunks(A, B):
        out += a @ b.T


def linear_scores(X: Points, W: Array) -> Array:
    """<w, x> of each point, as rows, and each row w of W, in float64; only some rows of X are copied at a time."""
    if hasattr(X, "dots"):  # points that are spread over blocks
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
            del some  # before the next ones are copied

    for_each(range(_PARTS), work, _threads(X))
    return np.asarray(parts.sum(axis=0))


def _threads(X: Points) -> int:
    """One, where there is little to do; else Mercer's own, since those of BLAS go on spinning after a call."""
    return thread_count() if _entries(X) > _WORTH_THREADS else 1


def _some_rows(X: Points) -> list[slice]:
    step = rows_at_a_time(X)
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def rows_at_a_time(X: Points) -> int:
    """How many rows, on average, have so many entries as may be copied."""
    return int(max(1, _FLOAT64_AT_A_TIME * X.shape[0] // max(1, _entries(X))))


def _entries(X: Points) -> int:
    return int(X.nnz if is_sparse(X) else X.shape[0] * X.shape[1])


def chunks(A: Points, B: Points) -> Iterator[tuple[Any, Any]]:
    """Both sets as dense blocks of at most `COORDINATES` coordinates: for sums that need no more at a time."""
    d = A.shape[1]
    if d > COORDINATES:
        A, B = (X.tocsc() if is_sparse(X) else X for X in (A, B))  # columns are cut out fast
    for start in range(0, d, COORDINATES):
        yield dense(A[:, start : start + COORDINATES]), dense(B[:, start : start + COORDINATES])


def squared_distances(A: Points, B: Points) -> Array:
    """|x - z|^2 for each pair, in float64: about 12 digits, however close the points and however far from 0.

    From dot products of points moved to the mean of B. Where |x|^2 + |z|^2 - 2 <x, z> nearly cancel, the distance
    is summed up anew.
    """
    A, B = (X.astype(np.float64, copy=False) for X in (A, B))
    out = np.empty((A.shape[0], B.shape[0]))
    with overflow_checked_later():
        a, b = _centred_dot(A, B, out)
        both = np.add.outer(a, b)
        out *= -2.0
        out += both
        both *= _CANCELLED
        rows, columns = np.nonzero(out < both)
        step = max(1, _PAIRS * A.shape[0] // max(1, _entries(A)))
        for start in range(0, rows.size, step):
            i, j = rows[start : start + step], columns[start : start + step]
            out[i, j] = squared_norms(_differences(A[i], B[j]))
    require_no_overflow(out)
    return out


def _centred_dot(A: Points, B: Points, out: Array) -> tuple[Array, Array]:
    """out <- <x - c, z - c> for each pair, and |x - c|^2, |z - c|^2; c is the mean of B, or 0 for sparse sets."""
    if is_sparse(A) and is_sparse(B):
        dot(A, B, out)
        return squared_norms(A), squared_norms(B)
    out[...] = 0
    squares_a, squares_b = np.zeros(A.shape[0]), np.zeros(B.shape[0])
    for a, b in chunks(A, B):
        centre = b.mean(axis=0)
        a, b = a - centre, b - centre
        squares_a += squared_norms(a)
        squares_b += squared_norms(b)
        out += a @ b.T
    return squares_a, squares_b


def _differences(A: Points, B: Points) -> Any:
    """x - z of pairs of points."""
    return A - B if is_sparse(A) and is_sparse(B) else dense(A) - dense(B)


def add_over_coordinates(term: Callable[[Array, Array], Array], A: Points, B: Points, out: Array) -> None:
    """out <- the sum over coordinates of a term of two numbers, which is 0 where both are."""
    out[...] = 0
    if is_sparse(A) and is_sparse(B):  # coordinates that nobody has add nothing
        used = np.union1d(A.indices, B.indices)
        A, B = A[:, used], B[:, used]
    step = max(1, _TERMS // max(1, out.size))
    for a, b in chunks(A, B):
        for start in range(0, a.shape[1], step):
            some = slice(start, start + step)
            out += term(a[:, None, some], b[None, :, some]).sum(axis=2)


def raise_to(values: Array, exponent: int) -> None:
    """values <- values ** exponent in place, by products (pow is slow, and loses sign and digits of small powers)."""
    base = values if exponent == 1 else values.copy()
    exponent -= 1
    while exponent:
        if exponent & 1:
            values *= base
        exponent >>= 1
        if exponent:
            base *= base
