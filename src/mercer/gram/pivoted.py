"""Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2022): good landmarks from a few rows of K."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel
from ..kernels.evaluate import diagonal, fill_block
from ..kernels.points import count, take
from ..types import Array, Points


def pivoted_cholesky(kernel: Kernel, X: Points, rank: int, generator: np.random.Generator) -> tuple[Array, Array]:
    """F (n x r) and r <= rank distinct pivots with K ~ F F', each drawn in proportion to the diagonal of K - F F'.

    X holds admitted points. Only the rows of the pivots are computed, in float64. Ends early where nothing is left
    beyond rounding.
    """
    n = count(X)
    residual = diagonal(kernel, X).astype(np.float64)
    row = np.empty((1, n))
    negligible = 1e-12 * max(float(residual.max(initial=0.0)), 0.0)
    F = np.zeros((n, min(rank, n)), order="F")
    pivots: list[int] = []
    for r in range(F.shape[1]):
        residual[residual <= negligible] = 0.0
        total = residual.sum()
        if total <= 0.0:
            break
        pivot = int(generator.choice(n, p=residual / total))
        fill_block(kernel, take(X, [pivot]), X, row)
        column = row[0] - F[:, :r] @ F[pivot, :r]
        F[:, r] = column / np.sqrt(residual[pivot])
        residual -= F[:, r] ** 2
        residual[pivot] = 0.0
        pivots.append(pivot)
    return F[:, : len(pivots)], np.array(pivots, np.intp)
