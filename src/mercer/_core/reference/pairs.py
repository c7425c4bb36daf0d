"""Pair descent (SMO): the inner loop of the decomposition method.

    minimise  1/2 b'K b - F'b + sum eps_t |beta_t + b_t|    lo <= beta + b <= hi,  sum b = 0

in steps that raise one coefficient and lower another by as much. With F the negative slope of the smooth part, t may
rise where beta < hi, with the gain F - eps (F + eps below zero), and sink where beta > lo. Pairs are chosen by second
order (Fan, Chen, Lin 2005): i rises with the largest gain, j sinks where the pair gains most.
"""

from __future__ import annotations

import numpy as np

from ...types import Array

CHUNK = 64
_FORBIDDEN = 1e30  # is taken from the gain of what may not move
_LEAST_CURVATURE = 1e-12  # in parts of the largest K_ii,
_TINY = 1e-25  # or of this


@np.errstate(over="ignore", under="ignore")
def pair_descent(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, most: int
) -> tuple[int, float]:
    """Descend until no pair gains more than `tol`, or for `most` steps; the number of steps, and the largest gain left.

    `diag` is the diagonal of K with r added. All arrays are padded to a multiple of CHUNK with points that cannot move.
    F and beta are changed in place; F of points that cannot move may stay as it was.
    """
    least = _LEAST_CURVATURE * max(float(diag.max()), _TINY)
    up = np.where(beta >= hi, -_FORBIDDEN, np.where(beta >= 0.0, -eps, eps))
    down = np.where(beta <= lo, -_FORBIDDEN, np.where(beta > 0.0, eps, -eps))
    for number in range(most + 1):
        rise = F + up
        i = int(rise.argmax())
        gain = rise[i] + down - F
        violation = float(gain.max())
        if violation <= tol or number == most:
            break
        gain = np.maximum(gain, 0.0)
        curvature = np.maximum(diag[i] + diag - 2.0 * K[i].astype(np.float64), least)
        j = int((gain * gain / curvature).argmax())
        if gain[j] == 0.0:
            break
        end_i = 0.0 if beta[i] < 0.0 and eps[i] > 0.0 else hi[i]  # no further than 0, where |beta| has a kink
        end_j = 0.0 if beta[j] > 0.0 and eps[j] > 0.0 else lo[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        step = min(gain[j] / curvature[j], room_i, room_j)
        beta[i] = end_i if step == room_i else beta[i] + step
        beta[j] = end_j if step == room_j else beta[j] - step
        for t in (i, j):
            up[t] = -_FORBIDDEN if beta[t] >= hi[t] else (-eps[t] if beta[t] >= 0.0 else eps[t])
            down[t] = -_FORBIDDEN if beta[t] <= lo[t] else (eps[t] if beta[t] > 0.0 else -eps[t])
        F -= (step * (K[i] - K[j])).astype(F.dtype)
        F[i] -= step * (diag[i] - K[i, i])  # r, where there is one
        F[j] += step * (diag[j] - K[j, j])
    return number, violation
