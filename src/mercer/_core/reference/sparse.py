"""Sums over the coordinates that two sparse points both have."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from ..forms import Summed


def sparse_sums(
    start: Array, place: Array, value: Array, by_start: Array, by_place: Array, by_value: Array,
    way: int, slots: Index, out: Array,
) -> None:  # fmt: skip
    """out[slots[i], t] <- what the coordinates that row i and point t both have change in the sum of a way.

    Rows are sparse by rows (start, place, value); the points t by coordinates (by_start, by_place, by_value), so that
    what is zero in either is never met. The other terms of the sum are of one point alone: they are its level.
    """
    out[slots] = 0
    for slot, first, last in zip(slots, start[:-1], start[1:], strict=True):
        for k, a in zip(place[first:last], value[first:last], strict=True):
            column = slice(by_start[k], by_start[k + 1])
            np.add.at(out[slot], by_place[column], _change(way, a, by_value[column]))


def _change(way: int, a: Array, z: Array) -> Array:
    """The term of two entries less their terms beside a zero."""
    if way == Summed.DISTANCES:
        return np.asarray(np.abs(a - z) - np.abs(a) - np.abs(z))
    if way == Summed.MINIMA:
        return np.minimum(a, z)
    if way == Summed.PRODUCTS:
        return np.asarray(a * z)
    both = np.maximum(a + z, np.finfo(z.dtype).tiny)
    return np.asarray(a * (z / both) if way == Summed.CHI2 else (a - z) ** 2 / both - a - z)
