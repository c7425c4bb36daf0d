"""Sums of the Gaussian over parts of the rows, with several factors for each: predictions of many classes at once."""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import exactly_compiled
from .gaussian import GROUP, add_rows, exponents, to_values
from .vectors import lanes_of


@exactly_compiled
def gaussian_sums_of_parts(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    V: Array, edges: Array, out: Array,
) -> None:  # fmt: skip
    """out[p, c, j] <- sum V[i, c] exp(-gamma |a_i - z_j|^2) over the i from edges[p] to edges[p + 1], in float64."""
    d, width, columns, panels = Z.shape[1], 3 * lanes_of(Z), V.shape[1], len(Z)
    A, a_levels, Z, z_levels = A.reshape(-1), a_levels.reshape(-1), Z.reshape(-1), z_levels.reshape(-1)
    tile, total, factors = np.empty(GROUP * width, A.dtype), np.empty((columns, width)), V.T.copy()
    for m in range(panels):
        first, used = m * width, min(width, out.shape[2] - m * width)
        for part in range(edges.size - 1):
            total[:] = 0.0
            for g in range(edges[part] // GROUP, -(-edges[part + 1] // GROUP)):
                exponents(A, a_levels, g, Z, z_levels, m, d, gamma, way, tile)
                to_values(tile)
                start, stop = max(edges[part] - g * GROUP, 0), min(edges[part + 1] - g * GROUP, GROUP)
                for c in range(columns):
                    add_rows(tile, start, stop, factors[c], g * GROUP, total[c], 0)
            out[part, :, first : first + used] = total[:, :used]
