"""The whole Gram matrix in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._core import is_small, loops
from ..deadline import deadline, require
from ..kernels import Kernel, Precomputed
from ..kernels.evaluate import admit_both, fill_block, value_seconds
from ..kernels.points import Domain, common_dtype, count, take
from ..types import Array, Points
from .base import Gram, Held, Part, as_factor, as_index

_FEW_RUNS = 4


@dataclass(frozen=True, eq=False, repr=False)
class DenseGram(Gram):
    """K as an array, with the kernel and the points it came from, so that products can be recomputed in float64."""

    matrix: Array
    kernel: Kernel
    points: Points
    reason: str = "dense: asked for"

    @classmethod
    def compute(cls, kernel: Kernel, X: Points, reason: str = "dense: asked for", dtype: Any = None) -> DenseGram:
        """The Gram matrix of a kernel on X; its values of the precision of X where none is asked for."""
        if kernel.domain is Domain.VALUES:
            return cls.of_matrix(admit_both(kernel, X, None)[0], reason)
        X, Z, same = admit_both(kernel, X, None)
        if deadline().limited:
            require(count(X) ** 2 * value_seconds(kernel, X))
        matrix = np.empty((count(X), count(X)), dtype or common_dtype(X))
        fill_block(kernel, X, Z, matrix, same=same)
        return cls(matrix, kernel, X, reason)

    @classmethod
    def of_matrix(cls, matrix: Array, reason: str = "dense: the values were given") -> DenseGram:
        """A bare matrix as a Gram matrix."""
        kernel = Precomputed(matrix)
        return cls(kernel.matrix, kernel, np.arange(len(kernel.matrix)), reason)

    @property
    def n(self) -> int:
        return len(self.matrix)

    @property
    def nbytes(self) -> int:
        return int(self.matrix.nbytes)

    def diag(self) -> Array:
        return self.matrix.diagonal().copy()

    def rows(self, index: Any) -> Array:
        return np.asarray(self.matrix[as_index(index, self.n)])

    def __matmul__(self, v: Array) -> Array:
        v = np.asarray(as_factor(v, self.n), np.float64)
        if self.matrix.dtype == np.float64:
            return np.asarray(self.matrix @ v)
        out = np.empty(v.shape)
        for start in range(0, self.n, 64):  # by strips: sums in float64 without a copy of the matrix
            out[start : start + 64] = self.matrix[start : start + 64] @ v
        return out

    @property
    def dtype(self) -> Any:
        return self.matrix.dtype

    def held(self, index: Any) -> Held:
        return Held(self.matrix, as_index(index, self.n), [(0, self.n, 0)])

    def block(self, index: Any, out: Array | None = None) -> Array:
        return self.entries(index, index, out)

    def entries(self, rows: Any, columns: Any, out: Array | None = None) -> Array:
        """The entries of some rows and columns, into the upper left corner of `out` if one is given."""
        rows, columns = as_index(rows, self.n), as_index(columns, self.n)
        out = np.empty((rows.size, columns.size), self.matrix.dtype) if out is None else out
        loops(is_small(rows.size * columns.size)).gather(self.matrix, rows, columns, out)
        return out

    def subset(self, index: Any) -> DensePart:
        return DensePart(self, as_index(index, self.n))

    def narrow(self, index: Any) -> DenseGram:
        """See Gram.narrow; as a matrix of its own."""
        index = as_index(index, self.n)
        return DenseGram(self.block(index), self.kernel, take(self.points, index), self.reason)

    def astype(self, dtype: Any) -> DenseGram:
        if self.matrix.dtype == dtype:
            return self
        return DenseGram.compute(self.kernel, self.points, self.reason, dtype)


class DensePart(Part):
    """Some points of a dense Gram matrix, without a copy of it."""

    whole: DenseGram

    def diag(self) -> Array:
        return np.asarray(self.whole.matrix[self.index, self.index])

    def rows(self, index: Any) -> Array:
        return self.whole.entries(self.places(index), self.index)

    def __matmul__(self, v: Array) -> Array:
        return self.narrow(slice(None)) @ v

    def held(self, index: Any) -> Held:
        """See Gram.held; no copy, where the points are a few stretches of the whole, such as classes."""
        if len(self.runs) > _FEW_RUNS:
            return super().held(index)
        return Held(self.whole.matrix, self.places(index), self.runs)

    @cached_property
    def runs(self) -> list[tuple[int, int, int]]:
        """The stretches of neighbouring points: from, to, and how far they are from where they are in the whole."""
        cuts = [0, *(np.flatnonzero(np.diff(self.index) != 1) + 1).tolist(), self.n]
        return [(start, stop, int(self.index[start]) - start) for start, stop in pairwise(cuts)]

    def narrow(self, index: Any) -> DenseGram:
        return self.whole.narrow(self.places(index))

    def astype(self, dtype: Any) -> Gram:
        if self.whole.matrix.dtype == dtype:
            return self
        return DenseGram.compute(self.kernel, take(self.whole.points, self.index), self.reason, dtype)
