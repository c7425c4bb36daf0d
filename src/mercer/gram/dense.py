"""The whole Gram matrix in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._core.core import CHOICE
from ..amounts import LARGEST
from ..columns import Columns, GivenColumns, block_between, padded, pieces, square_of
from ..kernels import Kernel, Precomputed
from ..kernels.pairwise import dense
from ..kernels.points import Domain, admit_both, common_dtype, count, take
from ..limits import deadline, flop_seconds, require
from ..parallel import thread_count
from ..types import Array, Index, Points
from .gram import Aim, Gram, Part, Parts, as_factor, as_index

core = CHOICE.functions
_STRIP = 64  # rows at a time


@dataclass(frozen=True, eq=False, repr=False)
class DenseGram(Gram):
    """K as an array, with the kernel and the points it came from, so that products can be recomputed in float64.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        K.
    kernel : Kernel
        k.
    points : array or list of n points
        The x_i.
    reason : str, default="dense: asked for"
        Why this form was chosen.
    computed : bool, default=False
        Whether the values were computed from the points here.
    """

    matrix: Array
    kernel: Kernel
    points: Points
    reason: str = "dense: asked for"
    computed: bool = False
    """Whether the matrix was computed here, from the kernel and the points."""

    given = True

    @classmethod
    def compute(
        cls, kernel: Kernel, X: Points, reason: str = "dense: asked for", dtype: Any = None, ahead: float = 0.0
    ) -> DenseGram:
        """The Gram matrix of a kernel on X; its values of the precision of X where none is asked for. See gram_of."""
        if kernel.domain is Domain.VALUES:
            return cls.of_matrix(dense(admit_both(kernel, X, None)[0]), reason, checked=True)
        X, _, _ = admit_both(kernel, X, None)
        dtype = np.dtype(dtype or common_dtype(X))
        if not kernel.symmetric:
            return cls(block_between(kernel, X, X, dtype), kernel, X, reason)
        columns = Columns(kernel, X, dtype, 1 if kernel.serial else thread_count())
        if deadline().limited:
            require(count(X) ** 2 * columns.value_seconds + ahead * flop_seconds())
        return cls(square_of(columns), kernel, X, reason, computed=True)

    @classmethod
    def of_matrix(cls, matrix: Array, reason: str = "dense: the values were given", checked: bool = False) -> DenseGram:
        """A bare matrix as a Gram matrix; one that was checked is square and finite."""
        kernel = Precomputed.of_checked(matrix) if checked else Precomputed(matrix)
        return cls(kernel.matrix, kernel, np.arange(len(kernel.matrix)), reason)

    @property
    def n(self) -> int:
        return len(self.matrix)

    @property
    def nbytes(self) -> int:
        return int(self.matrix.nbytes)

    @property
    def once(self) -> bool:  # type: ignore[override]
        return self.kernel.serial or not self.kernel.symmetric

    def diag(self) -> Array:
        return self.matrix.diagonal().copy()

    def rows(self, index: Any) -> Array:
        return np.asarray(self.matrix[as_index(index, self.n)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype, copy=copy)

    def __matmul__(self, v: Array) -> Array:
        v = np.asarray(as_factor(v, self.n), np.float64)
        if self.matrix.dtype == np.float64:
            return np.asarray(self.matrix @ v)
        out = np.empty(v.shape)
        for part in pieces(self.n, _STRIP):  # sums in float64 without a copy of the matrix
            out[part] = self.matrix[part] @ v
        return out

    @property
    def dtype(self) -> Any:
        return self.matrix.dtype

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """See Gram.recompute; what was given is all there is, and what was computed in float64 stays as it was."""
        if isinstance(self.kernel, Precomputed):  # by rows, as predictions are: nobody knows whether it is symmetric
            return self @ v if rows is None else self._some_rows(as_index(rows, self.n), v)
        if not self.stands(dtype):
            return super().recompute(v, rows, dtype)
        return _product(self.matrix, as_factor(v, self.n), None if rows is None else as_index(rows, self.n))

    def _some_rows(self, rows: Index, v: Array) -> Array:
        """Rows of K v; a few are copied at a time."""
        out = np.empty((rows.size, *v.shape[1:]))
        for part in pieces(rows.size, _STRIP):
            out[part] = self.matrix[rows[part]] @ v
        return out

    def stands(self, dtype: Any) -> bool:
        """Whether the values that were computed are as good as any; those of <x, z> are not, far from the origin."""
        return bool(self.computed and self.dtype == dtype == np.float64 and self.kernel.bounded)

    def settle(self, parts: Parts, how: Aim) -> bool:
        if not self.stands(np.float64):
            return False
        core.settle_parts(self.matrix, *parts, how)
        return True

    def columns(self, dtype: Any) -> Columns:
        """See Gram.columns; a matrix of another precision is computed anew."""
        return _given(self.astype(np.dtype(dtype)).matrix)

    def block(self, index: Index) -> Array:
        return self.entries(index, index)

    def entries(self, rows: Any, columns: Any, out: Array | None = None) -> Array:
        """The entries of some rows and columns, into the upper left corner of `out` if one is given."""
        rows, columns = as_index(rows, self.n), as_index(columns, self.n)
        out = np.empty((rows.size, columns.size), self.matrix.dtype) if out is None else out
        out[: rows.size, : columns.size] = self.matrix[np.ix_(rows, columns)]
        return out

    def subset(self, index: Any) -> DensePart:
        return DensePart(self, as_index(index, self.n))

    def astype(self, dtype: Any) -> DenseGram:
        if self.matrix.dtype == dtype:
            return self
        return DenseGram.compute(self.kernel, self.points, self.reason, dtype)


class DensePart(Part):
    """Some points of a dense Gram matrix, without a copy of it."""

    whole: DenseGram
    given = True

    def diag(self) -> Array:
        return np.asarray(self.whole.matrix[self.index, self.index])

    def rows(self, index: Any) -> Array:
        return self.whole.entries(self.places(index), self.index)

    def block(self, index: Index) -> Array:
        return self.whole.block(self.index[index])

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        if isinstance(self.kernel, Precomputed):
            places = self.index if rows is None else self.places(rows)
            return np.asarray(self.whole.entries(places, self.index).astype(np.float64) @ as_factor(v, self.n))
        if not self.whole.stands(dtype):
            return super().recompute(v, rows, dtype)
        own = self._own[:, : self.n]
        return _product(own, as_factor(v, self.n), None if rows is None else as_index(rows, self.n))

    @cached_property
    def _own(self) -> Array:
        """The matrix of these points; padded for solvers, where it is small."""
        n, K = self.n, self.whole.matrix
        out = np.zeros((padded(n) if n <= LARGEST.points_kept else n,) * 2, K.dtype)
        core.gather(K, self.index, self.index, K[:0], out)
        return out

    def __matmul__(self, v: Array) -> Array:
        return DenseGram(self.rows(slice(None)), self.kernel, take(self.whole.points, self.index)) @ v

    def columns(self, dtype: Any) -> Columns:
        if self.dtype != dtype:
            return self.astype(dtype).columns(dtype)
        return GivenColumns(self._own, self.n)

    def astype(self, dtype: Any) -> DensePart:
        return DensePart(self.whole.astype(dtype), self.index)


def _product(K: Array, v: Array, rows: Any) -> Array:
    """Some rows of K v for a symmetric K; sums keep their order."""
    used = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
    weights = np.ascontiguousarray(v[used].reshape(used.size, v[0].size).T, np.float64)
    part = K if rows is None else np.ascontiguousarray(K[:, rows])
    out = np.zeros((len(weights), part.shape[1]))
    for sums, own in zip(out, weights, strict=True):
        core.add_rows(part, used, own, sums)
    return out.T.reshape(-1, *v.shape[1:])


def _given(matrix: Array) -> GivenColumns:
    """A matrix as a store that is full; padded for solvers, where it is small."""
    n = len(matrix)
    if n > LARGEST.points_kept:
        return GivenColumns(np.ascontiguousarray(matrix), n)
    K = np.zeros((padded(n),) * 2, matrix.dtype)
    K[:n, :n] = matrix
    return GivenColumns(K, n)
