"""Kernel values of few points in one call, in float64: packed, and used at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...types import Array, Index
from ..forms import Form
from .packing import pack
from .tiles import GROUP, PANEL, add, square
from .votes import votes


class Tiled(NamedTuple):
    """Points as tiles take them: a form of what is left when a centre is subtracted, and the factor of the levels."""

    form: Form
    centre: Array
    factor: float


def square_points(X: Array, precise: Tiled, out: Array) -> None:
    """out <- k of the points among themselves, into its upper left corner."""
    form, centre, factor = precise
    every = np.arange(len(X))
    rows, columns = (packed(X, every, centre, factor, size, np.float64) for size in (GROUP, PANEL // 2))
    square(*rows, *columns, form, len(X), out)


def sum_points(Z: Array, X: Array, precise: Tiled, V: Array, ends: Index, out: Array) -> None:
    """out[p, m, t] += sum_j V[j, m] k(z_j, x_t) over part p of the z_j, which goes up to its end."""
    form, centre, factor = precise
    columns = packed(X, np.arange(len(X)), centre, factor, PANEL // 2, np.float64)
    for sums, first, last in zip(out, [0, *ends[:-1]], ends, strict=True):
        if last > first:
            rows = packed(Z, np.arange(first, last), centre, factor, GROUP, np.float64)
            add(*rows, *columns, form, V[first:last], sums)


def vote_points(
    Z: Array, X: Array, precise: Tiled, V: Array, ends: Index, biases: Array, ties: bool, found: tuple[Array, Array]
) -> None:
    """Votes for k classes and margins at the points X, by the sums over each class of the z_j (V has k - 1 columns)."""
    sums = np.zeros((len(ends), V.shape[1], len(X)))
    sum_points(Z, X, precise, V, ends, sums)
    votes(sums, biases, ties, *found)


def packed(X: Array, index: Index, centre: Array, factor: float, size: int, dtype: type) -> tuple[Array, Array]:
    """Some points by coordinates, so many together, and their levels."""
    out: Array = np.empty((-(-index.size // size), centre.size, size), dtype)
    levels: Array = np.empty(len(out) * size, dtype)
    pack(X, index, centre, factor, out, levels)
    return out, levels
