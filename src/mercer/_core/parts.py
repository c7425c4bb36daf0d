"""Sums of the Gaussian over parts of the rows, with several factors for each: predictions of many classes at once."""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import exactly_compiled, inlined
from .gaussian import DOUBLES, GROUP, add_dots, gaussian_tile
from .vectors import load, store


@inlined
def add_two_columns(
    wide: Array, start: int, stop: int, j: int, factors: Array, first: int, c: int, total: Array
) -> None:
    """Rows of a tile, times their factors, added to columns c and c + 1 of the sums: three vectors of each from j."""
    k, m = j + DOUBLES, j + 2 * DOUBLES
    p, q, r = load(total, c, j), load(total, c, k), load(total, c, m)
    s, t, u = load(total, c + 1, j), load(total, c + 1, k), load(total, c + 1, m)
    for row in range(start, stop):
        x, y, z = load(wide, row, j), load(wide, row, k), load(wide, row, m)
        p, q, r = add_dots(x, y, z, factors[first + row, c], p, q, r)
        s, t, u = add_dots(x, y, z, factors[first + row, c + 1], s, t, u)
    store(p, total, c, j)
    store(q, total, c, k)
    store(r, total, c, m)
    store(s, total, c + 1, j)
    store(t, total, c + 1, k)
    store(u, total, c + 1, m)


@exactly_compiled
def gaussian_sums_of_parts(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    V: Array, edges: Array, out: Array,
) -> None:  # fmt: skip
    """out[p, c, j] <- sum V[i, c] exp(-gamma |a_i - z_j|^2) over the i from edges[p] to edges[p + 1], in float64."""
    width, columns = Z.shape[2], V.shape[1]
    tile, wide, total = np.empty((GROUP, width), A.dtype), np.empty((GROUP, width)), np.empty((columns + 1, width))
    factors = np.zeros((V.shape[0], columns + 1))  # one more, so that columns go in twos
    factors[:, :columns] = V
    for m in range(Z.shape[0]):
        first, used = m * width, min(width, out.shape[2] - m * width)
        for part in range(edges.size - 1):
            total[:] = 0.0
            for g in range(edges[part] // GROUP, -(-edges[part + 1] // GROUP)):
                gaussian_tile(A, a_levels, g, Z, z_levels, m, gamma, way, tile)
                wide[:] = tile
                start, stop = max(edges[part] - g * GROUP, 0), min(edges[part + 1] - g * GROUP, GROUP)
                for c in range(0, columns, 2):
                    for j in range(0, width, 3 * DOUBLES):
                        add_two_columns(wide, start, stop, j, factors, g * GROUP, c, total)
            out[part, :, first : first + used] = total[:columns, :used]
