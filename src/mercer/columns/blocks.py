"""Any kernel on any points: tiles of its own `fill`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from ..amounts import AT_A_TIME
from ..kernels import Kernel
from ..kernels.points import count, is_sparse, take
from ..types import Array, Index, Points
from .way import Way

_SIDE = AT_A_TIME.rows // 2  # Points of a tile.


@dataclass(frozen=True, eq=False)
class Some:
    """Some points, as the kernel takes them."""

    points: Points
    count: int


class Blocks(Way[Some]):
    """k(x, z) as the kernel defines it."""

    symmetric = False

    def __init__(self, kernel: Kernel, X: Points, dtype: DTypeLike, cost: float) -> None:
        self.kernel, self.dtype, self.cost = kernel, np.dtype(dtype), cost
        self.tiles = 2 + kernel.tiles
        self.bytes_a_point = float(AT_A_TIME.copies) * kernel.scratch_width(X) * self.dtype.itemsize

    def rows(self, X: Points, index: Index) -> Some:
        some = take(X, index)
        if getattr(getattr(some, "dtype", None), "kind", "") == "f":
            some = some.astype(self.dtype, copy=False) if is_sparse(some) else np.ascontiguousarray(some, self.dtype)
        return Some(some, index.size)

    columns = rows

    def fill(self, rows: Some, columns: Some, slots: Index, out: Array) -> None:
        for top in range(0, rows.count, _SIDE):
            A = rows.points[top : top + _SIDE]
            for left in range(0, columns.count, _SIDE):
                B = columns.points[left : left + _SIDE]
                tile = np.empty((count(A), count(B)), self.dtype)
                self.kernel.fill(A, B, tile)
                out[slots[top : top + _SIDE], left : left + count(B)] = tile
