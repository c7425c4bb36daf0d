"""K = X X' + c of raw points: nothing but X is held, and X is not copied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels import Constant, Kernel, Linear
from ..kernels.base import Sum
from ..kernels.pairwise import dot
from ..kernels.points import nbytes, take, vectors
from ..types import Array, Points
from .design import Design
from .gram import Gram, as_factor, as_index


@dataclass(frozen=True, eq=False, repr=False)
class LinearGram(Gram):
    """K = X X' + c. A constant c > 0 is a column of sqrt(c): a bias that is penalised like any weight.

    Parameters
    ----------
    points : array or CSR matrix of shape (n, d)
        X.
    constant : float, default=0.0
        c, >= 0.
    reason : str, default="linear: only the points are held"
        Why this form was chosen.
    """

    points: Points
    constant: float = 0.0
    reason: str = "linear: only the points are held"

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", vectors(self.points))

    @property
    def kernel(self) -> Any:
        """The kernel, as a value."""
        return Linear() + self.constant if self.constant else Linear()

    @cached_property
    def design(self) -> Design:
        """X and c."""
        return Design(self.points, self.constant)

    @property
    def features(self) -> Any:
        """Z with K = Z Z': X itself, or a copy with one more column."""
        if not self.constant:
            return self.points
        column = np.full((self.n, 1), np.sqrt(self.constant), self.points.dtype)
        if not self.design.sparse:
            return np.hstack([self.points, column])
        from scipy.sparse import csr_array, hstack

        return hstack([self.points, csr_array(column)], format="csr")

    @property
    def n(self) -> int:
        return int(self.points.shape[0])

    @property
    def nbytes(self) -> int:
        return nbytes(self.points)

    @property
    def dtype(self) -> Any:
        return self.points.dtype

    def diag(self) -> Array:
        return self.design.squared_norms

    def rows(self, index: Any) -> Array:
        chosen = self.points[as_index(index, self.n)]
        out = np.empty((chosen.shape[0], self.n), self.dtype)
        dot(chosen, self.points, out)
        out += self.dtype.type(self.constant)
        return out

    def __matmul__(self, v: Array) -> Array:
        return self.design.product(np.asarray(as_factor(v, self.n), np.float64))

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """See Gram.recompute; always in float64, since it costs little."""
        product = self @ v
        return product if rows is None else np.asarray(product[as_index(rows, self.n)])

    def astype(self, dtype: Any) -> LinearGram:
        return LinearGram(self.points.astype(dtype, copy=False), self.constant, self.reason)

    def subset(self, index: Any) -> LinearGram:
        return LinearGram(take(self.points, as_index(index, self.n)), self.constant, self.reason)


def constant_beside_linear(kernel: Kernel) -> float | None:
    """c, where the kernel is <x, z> + c with c >= 0; None where it is another one."""
    if isinstance(kernel, Linear):
        return 0.0
    if isinstance(kernel, Sum) and isinstance(kernel.left, Linear) and isinstance(kernel.right, Constant):
        return float(kernel.right.value) if kernel.right.value >= 0 else None
    return None
