"""Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2022): good landmarks from a few rows of K."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Gram


def pivoted_cholesky(gram: Gram, rank: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """F (n x r) and r <= rank distinct pivots with K ~ F F', each drawn in proportion to the diagonal of K - F F'.

    Only the rows of the pivots are computed. Ends early where nothing is left beyond rounding.
    """
    residual = np.array(gram.diag(), np.float64)
    negligible = 1e-12 * max(float(residual.max(initial=0.0)), 0.0)
    F = np.zeros((gram.n, min(rank, gram.n)), order="F")
    pivots: list[int] = []
    for r in range(F.shape[1]):
        residual[residual <= negligible] = 0.0
        total = residual.sum()
        if total <= 0.0:
            break
        pivot = int(generator.choice(gram.n, p=residual / total))
        column = gram.rows([pivot])[0] - F[:, :r] @ F[pivot, :r]
        F[:, r] = column / np.sqrt(residual[pivot])
        residual -= F[:, r] ** 2
        residual[pivot] = 0.0
        pivots.append(pivot)
    return F[:, : len(pivots)], np.array(pivots, np.intp)
