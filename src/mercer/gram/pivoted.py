"""Randomly pivoted Cholesky: good landmarks from a few rows of K.

Chen, Epperly, Tropp, Webber 2022; several pivots at a time as in Epperly, Tropp, Webber 2024: they are drawn together
and each is accepted with the probability that it would have been drawn after the ones before it. So pivots have the
same distribution as one by one, and nearly all of the work is products of matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns import SCRATCH, Columns
from ..kernels import Kernel
from ..kernels.points import count, diagonal
from ..limits import check_limits
from ..parallel import thread_count
from ..types import Array, Points

_TOGETHER = 100  # pivots drawn at a time, at most
_COPIES = 3  # of their rows, while they are worked on
_NEGLIGIBLE = {8: 1e-12, 4: 1e-5}  # of the largest diagonal entry, by bytes: what is left is rounding


def pivoted_cholesky(
    kernel: Kernel,
    X: Points,
    rank: int,
    generator: np.random.Generator,
    dtype: Any = np.float64,
    room: float = np.inf,
    left: float | None = None,
    begun: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """F (n x r) and r <= rank distinct pivots with K ~ F F', each drawn in proportion to the diagonal of K - F F'.

    X holds admitted points. Only the rows of the pivots are computed, as many at a time as `room` bytes can hold. Ends
    early where nothing is left beyond rounding, or beyond the part `left` of the largest K_ii; float32 is enough where
    only the pivots are of interest. `begun`: F and pivots of fewer, to go on from.
    """
    n, itemsize = count(X), np.dtype(dtype).itemsize
    together = max(1, int(min(_TOGETHER, room / (_COPIES * n * itemsize))))
    residual = diagonal(kernel, X).astype(np.float64)
    negligible = (left or _NEGLIGIBLE[itemsize]) * max(float(residual.max(initial=0.0)), 0.0)
    F = np.empty((min(rank, n), n), dtype)  # transposed
    columns = Columns(kernel, X[0:n], dtype, 1 if kernel.serial else thread_count(), room / _COPIES, min(room, SCRATCH))
    pivots = np.empty(0, np.intp)
    if begun is not None:
        pivots = begun[1]
        F[: pivots.size] = begun[0].T[: pivots.size]
        residual -= np.einsum("ij,ij->j", F[: pivots.size], F[: pivots.size])
        residual[pivots] = 0.0
    while pivots.size < len(F):
        check_limits()
        residual[residual <= negligible] = 0.0
        total = residual.sum()
        if total <= 0.0:
            break
        r = pivots.size
        drawn = generator.choice(n, min(together, len(F) - r), p=residual / total)
        before = F[:r, drawn].T
        rest = np.empty((drawn.size, drawn.size), dtype)
        columns.square(drawn, rest)
        rest -= before @ before.T
        accepted, L = _accepted(rest, residual[drawn], negligible, generator)
        if accepted.size == 0:  # what seemed to be left of them was rounding
            residual[drawn] = 0.0
            continue
        chosen = drawn[accepted]
        rows = np.empty((chosen.size, n), dtype)
        columns.fill(chosen, rows, np.arange(chosen.size))
        rows -= before[accepted] @ F[:r]
        new = F[r : r + chosen.size]
        new[...] = _divided(rows, L)
        residual -= np.einsum("ij,ij->j", new, new)
        residual[chosen] = 0.0
        pivots = np.concatenate([pivots, chosen])
    return F[: pivots.size].T, pivots


def _accepted(left: Array, drawn_with: Array, negligible: float, generator: np.random.Generator) -> tuple[Array, Array]:
    """Which of the drawn points are accepted, and the Cholesky factor of what is left of K between these."""
    chances = generator.random(len(left))
    columns: list[Array] = []
    accepted: list[int] = []
    for i in range(len(left)):
        now = left[i, i]
        if now <= negligible or now < chances[i] * drawn_with[i]:
            continue
        column = left[:, i] / np.sqrt(now)
        columns.append(column)
        accepted.append(i)
        left = left - np.outer(column, column)
    index = np.array(accepted, np.intp)
    return index, np.tril(np.array(columns).reshape(index.size, len(left)).T[index])


def _divided(rows: Array, L: Array) -> Array:
    """L^-1 rows."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, rows, lower=True, check_finite=False))
