"""K = Z Z' from features: never n x n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.pairwise import dot, squared_norms
from ..kernels.points import nbytes, vectors
from ..types import Array
from .base import Gram, as_factor, as_index


@dataclass(frozen=True, eq=False, repr=False)
class LowRankGram(Gram):
    """K = Z Z', held as Z (dense or CSR)."""

    features: Any
    reason: str = "low rank: asked for"

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", vectors(self.features, "features"))

    @property
    def n(self) -> int:
        return int(self.features.shape[0])

    @property
    def nbytes(self) -> int:
        return nbytes(self.features)

    def diag(self) -> Array:
        return squared_norms(self.features)

    def rows(self, index: Any) -> Array:
        chosen = self.features[as_index(index, self.n)]
        out = np.empty((chosen.shape[0], self.n), self.features.dtype)
        dot(chosen, self.features, out)
        return out

    def __matmul__(self, v: Array) -> Array:
        return np.asarray(self.features @ (self.features.T @ as_factor(v, self.n)))

    def product64(self, v: Array) -> Array:
        Z = self.features.astype(np.float64, copy=False)
        return np.asarray(Z @ (Z.T @ np.asarray(as_factor(v, self.n), np.float64)))

    def subset(self, index: Any) -> LowRankGram:
        return LowRankGram(self.features[as_index(index, self.n)], self.reason)
