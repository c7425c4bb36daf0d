"""Whole rounds of the decomposition without Python between them: small problems, with the Gaussian."""

from __future__ import annotations

import numpy as np

from ..types import Array
from . import padded
from .compile import exactly_compiled
from .gaussian import GROUP, gaussian_rows, gaussian_sums, pack_again
from .pairs import pair_descent
from .working_set import choose_working_set, extremes

_padded = exactly_compiled(padded)


@exactly_compiled
def gaussian_rounds(
    Z: Array, z_levels: Array, gamma: float, way: int,
    F: Array, beta: Array, r: Array, eps: Array, lo: Array, hi: Array, bias: bool, rise: Array, fall: Array,
    kept: Array, limit: int, K: Array, target: float, inner: float, floor: float, rounds: int, steps: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Rounds until the violation is at most `target`, `rounds` of them at most: by how much the dual rose, the values
    of K computed or read, and the squared length of the last move.

    The points are packed as Z; F, beta and `kept` (the size of the last working set, and then itself) are brought up to
    date. K is memory for that of a working set of 2 limit points.
    """
    n, width, d = F.size, Z.shape[2], Z.shape[1]
    taken, update = np.empty(n, np.bool_), np.empty(n)
    most = min(n, 2 * limit)
    columns = np.empty((-(-most // width), d, width), Z.dtype), np.empty((-(-most // width), width), Z.dtype)
    rows = np.empty((-(-most // GROUP), d, GROUP), Z.dtype), np.empty((-(-most // GROUP), GROUP), Z.dtype)
    risen, work, length_moved = 0.0, 0.0, 0.0
    for _ in range(rounds):
        top, bottom, free = extremes(F, beta, lo, hi, eps, rise, fall)
        if not bias:
            top, bottom = max(top, 0.0), min(bottom, 0.0)
        if top - bottom <= target:
            break
        size = min(n, limit * (2 if free > limit else 1))
        W = choose_working_set(rise, fall, top, bottom, kept[1 : 1 + kept[0]], size, taken)
        size, length = W.size, _padded(W.size)
        kept[0] = size
        kept[1 : 1 + size] = W
        pack_again(Z, z_levels, W, columns[0], columns[1])
        pack_again(Z, z_levels, W, rows[0], rows[1])
        used = -(-size // GROUP)
        gaussian_rows(rows[0][:used], rows[1][:used], columns[0], columns[1], gamma, way, K, np.arange(size), 0, size)
        K[:size, size:length] = 0.0
        small_F, diag = np.zeros(length, Z.dtype), np.zeros(length, Z.dtype)
        small_beta, small_lo, small_hi, small_eps = (
            np.zeros(length),
            np.zeros(length),
            np.zeros(length),
            np.zeros(length),
        )
        middle = 0.5 * (top + bottom) if bias else 0.0
        for s in range(size):
            t = W[s]
            K[s, s] = 1.0
            small_F[s], diag[s] = F[t] - middle, 1.0 + r[t]
            small_beta[s], small_lo[s], small_hi[s], small_eps[s] = beta[t], lo[t], hi[t], eps[t]
        if not bias:
            K[size, :length] = 0.0
            small_lo[size], small_hi[size] = -np.inf, np.inf
        tol = max(inner * (top - bottom), floor)
        taken_steps, _ = pair_descent(K, diag, small_F, small_beta, small_lo, small_hi, small_eps, tol, steps)
        work += float(size) * size + 2.0 * taken_steps * length
        moved, delta = np.empty(size, np.int64), np.empty(size)
        count = 0
        for s in range(size):
            t = W[s]
            if small_beta[s] != beta[t]:
                moved[count], delta[count] = t, small_beta[s] - beta[t]
                risen += 0.5 * delta[count] * F[t] - eps[t] * (abs(small_beta[s]) - abs(beta[t]))
                beta[t] = small_beta[s]
                F[t] -= r[t] * delta[count]
                count += 1
        if count == 0:
            break
        moved, delta = moved[:count], delta[:count]
        work += float(count) * n
        length_moved = 0.0
        for s in range(count):
            length_moved += delta[s] * delta[s]
        used = -(-count // GROUP)
        pack_again(Z, z_levels, moved, rows[0], rows[1])
        gaussian_sums(rows[0][:used], rows[1][:used], Z, z_levels, gamma, way, delta, update, 0, n)
        for t in range(n):
            F[t] -= update[t]
        for s in range(count):
            risen += 0.5 * delta[s] * F[moved[s]]
    return risen, work, length_moved
