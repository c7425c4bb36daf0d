"""K = Z Z' from features: never n x n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..columns import Columns, pieces
from ..kernels import Kernel, Linear
from ..kernels.pairwise import dot
from ..kernels.points import cut, nbytes, require_no_overflow, squared_norms, take, vectors
from ..parallel import thread_count
from ..types import Array, Points
from .design import Design
from .gram import Gram, as_factor, as_index

_STRIP = 1024  # rows of Z at a time


@dataclass(frozen=True, eq=False, repr=False)
class LowRankGram(Gram):
    """K = Z Z', held as Z (dense or CSR).

    Parameters
    ----------
    features : array or CSR matrix of shape (n, m), default=None
        Z.
    reason : str, default="low rank: asked for"
        Why this form was chosen.
    kernel : Kernel, default=None
        The kernel that it came from.
    points : array or list of n points, default=None
        The points.
    budget : int, default=None
        Bytes that a solver may take for rows and blocks of its own.
    """

    features: Any
    reason: str = "low rank: asked for"
    kernel: Kernel | None = None
    points: Points = None
    budget: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", vectors(self.features, "features"))
        if self.budget is not None:
            object.__setattr__(self, "rows_memory", 0.5 * self.budget)
            for name in ("room", "scratch"):
                object.__setattr__(self, name, min(getattr(Gram, name), self.budget // 4))

    @property
    def n(self) -> int:
        return int(self.features.shape[0])

    @property
    def nbytes(self) -> int:
        return nbytes(self.features)

    def diag(self) -> Array:
        diagonal = squared_norms(self.features)
        require_no_overflow(diagonal)
        return diagonal

    def columns(self, dtype: Any) -> Columns:
        """See Gram.columns; of the features."""
        ready = np.inf if self.budget is None else self.budget // 4
        return Columns(Linear(), self.features, dtype, thread_count(), ready, self.scratch)

    def rows(self, index: Any) -> Array:
        chosen = self.features[as_index(index, self.n)]
        out = np.empty((chosen.shape[0], self.n), self.features.dtype)
        dot(chosen, self.features, out)
        return out

    @cached_property
    def design(self) -> Design:
        """Z, for loops over its rows."""
        return Design(self.features)

    def __matmul__(self, v: Array) -> Array:
        return self.design.product(np.asarray(as_factor(v, self.n), np.float64))

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """See Gram.recompute; always in float64, since it costs little."""
        kernel = self.kernel
        if kernel is None or isinstance(kernel, Linear) or self.features.dtype == np.float64:
            product = self @ v
        else:
            product = self._product(v, lambda part: kernel.features(cut(self.points, part, np.float64)))
        return product if rows is None else np.asarray(product[as_index(rows, self.n)])

    def _product(self, v: Array, features: Callable[[slice], Any]) -> Array:
        """Z Z'v in float64, by strips: Z is not copied whole."""
        v = np.asarray(as_factor(v, self.n), np.float64)
        strips = pieces(self.n, _STRIP)
        inner = sum(features(strip).astype(np.float64, copy=False).T @ v[strip] for strip in strips)
        return np.concatenate([features(strip).astype(np.float64, copy=False) @ inner for strip in strips])

    def astype(self, dtype: Any) -> LowRankGram:
        if self.features.dtype == dtype:
            return self
        return LowRankGram(self.features.astype(dtype), self.reason, self.kernel, self.points)

    def subset(self, index: Any) -> LowRankGram:
        index = as_index(index, self.n)
        points = None if self.kernel is None else take(self.points, index)
        return LowRankGram(self.features[index], self.reason, self.kernel, points)
