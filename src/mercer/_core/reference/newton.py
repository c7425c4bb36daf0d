"""A symmetric positive definite system, for Newton steps."""

from __future__ import annotations

import numpy as np

from ...types import Array


def solve_definite(H: Array, B: Array) -> bool:
    """B <- H^-1 B by Cholesky's factor, which overwrites the lower half of H; False, where H is not definite."""
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(L).all():
        return False
    H[np.tril_indices(len(H))] = L[np.tril_indices(len(H))]
    B[...] = np.linalg.solve(L.T, np.linalg.solve(L, B))
    return True
