"""Rows of K that are kept, within a number of bytes; the least recently used give way first."""

from __future__ import annotations

import numpy as np

from ..types import Index
from .columns import Columns

_RECENT = 2  # calls; rows that were asked for within so many are kept, while there is memory


class Kept:
    """slot_of[i] is where the row of point i is kept, or -1. A row has an entry for each column."""

    def __init__(self, columns: Columns, memory: float) -> None:
        points = columns.diag.size
        self.columns, row = columns, columns.dtype.itemsize * max(columns.n, 1)
        self.count = int(max(2, min(points, memory // row)))
        self.values = np.empty((self.count, columns.n), columns.dtype)
        self.slot_of, self.row_in = np.full(points, -1), np.full(self.count, -1)
        self.used_at, self.clock = np.zeros(self.count, np.int64), 0

    def get(self, index: Index) -> Index:
        """The slots of these rows, at most `count` of them; those that are missing are computed."""
        self.clock += 1
        slots = self.slot_of[index]
        self.used_at[slots[slots >= 0]] = self.clock
        missing = np.unique(index[slots < 0])
        if missing.size:
            # To touch new memory is slow: unless values are dear, a slot never used counts as one used a few calls ago.
            age = np.where(self.used_at > 0, self.used_at, 0 if self.columns.dear else self.clock - _RECENT)
            oldest = np.argsort(age, kind="stable")[: missing.size]
            evicted = self.row_in[oldest]
            self.slot_of[evicted[evicted >= 0]] = -1
            self.row_in[oldest] = -1  # until they are filled: an error or Ctrl-C leaves no half-filled row
            self.used_at[oldest] = 1
            self.columns.fill(missing, self.values, oldest)
            self.slot_of[missing], self.row_in[oldest], self.used_at[oldest] = oldest, missing, self.clock
        return self.slot_of[index]
