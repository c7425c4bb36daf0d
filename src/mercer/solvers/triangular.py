"""The Cholesky factor of a large symmetric matrix, panel by panel (left-looking): half of it, in place; can be stopped.

Panel J holds the columns J of L from their diagonal block downwards. It begins as the columns of the matrix itself, has
what the panels before it contribute subtracted (products of matrices, where nearly all of the work is), and is divided
by the factor of its own diagonal block. So the matrix is needed only one panel at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np

from ..amounts import A_DIGIT, AT_A_TIME, ROUNDING
from ..columns import pieces
from ..limits import check_limits
from ..parallel import one_blas_thread
from ..types import Array

_PANEL = AT_A_TIME.rows  # Columns of a panel: with fewer there are more passes over what is below them.
SHIFTS = 20  # A matrix that cannot be factored gets so many larger diagonals, at most.
NO_FACTOR = "A matrix of kernel values has no Cholesky factor: some values are NaN, infinite or too large."

Found = TypeVar("Found")


class NotDefiniteError(ArithmeticError):
    """The matrix is not positive definite, as far as this precision can tell."""


def factor_work(n: int) -> float:
    """The multiplications of a factor."""
    return float(n * n) * n / 3


def factor_bytes(n: int, dtype: Any) -> int:
    """The memory of a factor, at most: half of the matrix, and half of the diagonal blocks."""
    return n * (n + min(n, _PANEL)) // 2 * int(np.dtype(dtype).itemsize)


class Factor:
    """L with L L' = A. `columns(start, stop, out)` writes the rows start ... n of the columns start ... stop of A.

    `steps` does the work and yields between its pieces; it raises NotDefiniteError.
    """

    def __init__(self, n: int, dtype: Any, columns: Callable[[int, int, Array], None]) -> None:
        self.n, self.dtype, self.columns = n, np.dtype(dtype), columns
        self.starts = [*range(0, n, _PANEL), n]
        self.panels: list[Array] = []
        self.ready = 0  # so many columns are factored: L of the first `ready` points is complete

    def steps(self) -> Iterator[None]:
        """Factor; yields after each piece of the work."""
        from scipy.linalg import blas, lapack

        gemm, syrk, trsm = blas.get_blas_funcs(("gemm", "syrk", "trsm"), dtype=self.dtype)
        potrf: Any = lapack.get_lapack_funcs("potrf", dtype=self.dtype)
        for start, stop in pairwise(self.starts):
            panel = np.empty((self.n - start, stop - start), self.dtype)
            self.columns(start, stop, panel)
            corner, below = panel[: stop - start], panel[stop - start :]
            # Arrays by rows are, for BLAS, their transposes by columns: so all of this happens in place.
            for before, left in zip(self.starts, self.panels, strict=False):
                own, lower = left[start - before : stop - before], left[stop - before :]
                syrk(-1.0, own.T, 1.0, corner.T, trans=1, overwrite_c=1)
                yield
                for rows in pieces(len(below), AT_A_TIME.rows):
                    gemm(-1.0, own.T, lower[rows].T, 1.0, below[rows].T, trans_a=1, overwrite_c=1)
                    yield
            _, wrong = potrf(corner.T, overwrite_a=1)
            if wrong or not np.isfinite(corner[-1, -1]):
                raise NotDefiniteError
            for rows in pieces(len(below), AT_A_TIME.rows):
                trsm(1.0, corner.T, below[rows].T, trans_a=1, overwrite_b=1)
                yield
            self.panels.append(panel)
            self.ready = stop

    def finished(self) -> Self:
        """Factor, with a look at the clock, and for Ctrl-C, between the pieces of the work."""
        for _ in self.steps():
            check_limits()
        return self

    def whole(self) -> Array:
        """L as one matrix, zeros above its diagonal."""
        L = np.zeros((self.n, self.n), self.dtype)
        for start, stop, panel in self._pieces():
            L[start:, start:stop] = panel
            L[start:stop, start:stop] = np.tril(panel[: stop - start])
        return L

    def forward(self, B: Array) -> Array:
        """L^-1 B, for a matrix B with a row for each point that is ready."""
        B = np.array(B, self.dtype)
        for start, stop, panel in self._pieces():
            corner, below = panel[: stop - start], panel[stop - start :]
            B[start:stop] = forward(corner, B[start:stop])
            B[stop:] -= below @ B[start:stop]
        return B

    def backward(self, B: Array) -> Array:
        """L'^-1 B, for a matrix B with a row for each point that is ready."""
        B = np.array(B, self.dtype)
        for start, stop, panel in reversed(list(self._pieces())):
            corner, below = panel[: stop - start], panel[stop - start :]
            B[start:stop] -= below.T @ B[stop:]
            B[start:stop] = backward(corner, B[start:stop])
        return B

    def solve(self, B: Array) -> Array:
        """A^-1 B in float64, for a matrix B; its columns may have any size."""
        size = np.abs(B).max(axis=0, initial=0.0)
        size[size == 0.0] = 1.0
        with one_blas_thread():  # memory is the limit, and threads of BLAS would go on spinning beside ours
            return np.asarray(self.backward(self.forward(B / size)).astype(np.float64) * size)

    def inverse_diagonal(self) -> Array:
        """The diagonal of A^-1: the squared norms of the columns of L^-1, in twice the time of the factor."""
        out = np.empty(self.n)
        pieces = list(self._pieces())
        for number, (first, last, _) in enumerate(pieces):
            B = np.zeros((self.n - first, last - first), self.dtype)  # rows from `first` on: those above are 0
            B[: last - first] = np.eye(last - first)
            for start, stop, panel in pieces[number:]:
                check_limits()
                own = slice(start - first, stop - first)
                B[own] = forward(panel[: stop - start], B[own])
                B[stop - first :] -= panel[stop - start :] @ B[own]
            out[first:last] = np.einsum("ij,ij->j", B, B)
        return out

    def _pieces(self) -> Iterator[tuple[int, int, Array]]:
        for start, stop, panel in zip(self.starts, self.starts[1:], self.panels, strict=False):
            if stop <= self.ready:
                yield start, stop, panel[: self.ready - start]


def larger(first: float, most: int = SHIFTS) -> list[float]:
    """Larger and larger multiples of I to add to a matrix that has no factor, each ten times the one before."""
    return [first / A_DIGIT**number for number in range(most)]


def with_larger_diagonal(factor: Callable[[float], Found], shifts: Iterable[float]) -> Found:
    """What `factor` makes of A + shift I with the first of these shifts for which there is a factor; NotDefiniteError,
    where none will do.
    """
    for shift in shifts:
        with suppress(NotDefiniteError):
            return factor(shift)
    raise NotDefiniteError


def factor_of(n: int, columns: Callable[[int, int, Array], None], shift: float) -> Factor:
    """The float64 factor of A + shift I; NotDefiniteError, where there is none."""
    return Factor(n, np.float64, partial(_shifted, columns, shift)).finished()


def factored(matrix: Array, shift: float = 0.0) -> Array:
    """L with L L' = matrix + shift I, the shift raised where rounding needs it."""
    least = max(shift / A_DIGIT, ROUNDING.of_a_number * float(np.abs(matrix.diagonal()).max()))
    try:
        factor = partial(factor_of, len(matrix), columns_of(matrix))
        return with_larger_diagonal(factor, [shift, *larger(least)]).whole()
    except NotDefiniteError:
        raise ValueError(NO_FACTOR) from None


def inverse_of(A: Array) -> Callable[[Array], Array]:
    """v -> A^-1 v by Cholesky's factor of a small matrix, of which only what is on and above the diagonal counts, and
    which is overwritten; NotDefiniteError, where there is none.
    """
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise NotDefiniteError
    return lambda v: np.asarray(dpotrs(factor, v, lower=1)[0])


def forward(L: Array, B: Array) -> Array:
    """L^-1 B."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, B, lower=True, check_finite=False))


def backward(L: Array, B: Array) -> Array:
    """L'^-1 B."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, B, lower=True, trans=1, check_finite=False))


def _shifted(columns: Callable[[int, int, Array], None], shift: float, start: int, stop: int, out: Array) -> None:
    columns(start, stop, out)
    out[np.diag_indices(stop - start)] += shift


def columns_of(matrix: Array) -> Callable[[int, int, Array], None]:
    """The columns of a matrix that is held, as `Factor` takes them."""

    def columns(start: int, stop: int, out: Array) -> None:
        out[...] = matrix[start:, start:stop]

    return columns
