"""Rows of K that are kept, within a number of bytes; the least recently used give way first."""

from __future__ import annotations

import numpy as np

from ..columns import Columns
from ..types import Index


class Rows:
    """slot_of[i] is where the row of point i is kept, or -1. A row has an entry for each column."""

    def __init__(self, columns: Columns, points: int, memory: float) -> None:
        self.columns, self.count = columns, int(max(2, min(points, memory // (columns.dtype.itemsize * columns.n))))
        self.values = np.empty((self.count, columns.n), columns.dtype)
        self.slot_of, self.row_in = np.full(points, -1), np.full(self.count, -1)
        self.used_at, self.clock = np.zeros(self.count, np.int64), 0

    def get(self, index: Index) -> Index:
        """The slots of these rows, at most `count` of them; those that are missing are computed."""
        self.clock += 1
        slots = self.slot_of[index]
        self.used_at[slots[slots >= 0]] = self.clock
        missing = index[slots < 0]
        if missing.size:
            oldest = np.argsort(self.used_at, kind="stable")[: missing.size]
            evicted = self.row_in[oldest]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.row_in[oldest] = -1  # until they are filled: an error or Ctrl-C leaves no half-filled row
            self.columns.fill(missing, self.values, oldest)
            self.slot_of[missing], self.row_in[oldest], self.used_at[oldest] = oldest, missing, self.clock
        return self.slot_of[index]
