"""Pair descent: the inner loop of the decomposition method.

    minimise  1/2 b'K b - F'b + sum eps_t |beta_t + b_t|    lo <= beta + b <= hi,  sum b = 0

in steps that raise one coefficient and lower another by as much. With F the negative slope of the smooth part, t may
rise where beta < hi, with the gain F - eps (F + eps below zero), and sink where beta > lo. Pairs are chosen by second
order (Fan, Chen, Lin 2005): i rises with the largest gain, j sinks where the pair gains most.

The loops run over the whole working set without branches, so that they vectorise: what may not move has FORBIDDEN
added to its gain; the largest value is found first, block by block, and its place after.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from . import CHUNK
from .compile import finitely_compiled

FORBIDDEN = 1e30
TINY = 1e-37
LEAST_CURVATURE = 1e-12  # in parts of the largest K_ii


@finitely_compiled
def offsets(t: int, beta: Array, lo: Array, hi: Array, eps: Array, up: Array, down: Array) -> None:
    """What is added to F_t for a rise and for a fall."""
    up[t] = -FORBIDDEN if beta[t] >= hi[t] else (-eps[t] if beta[t] >= 0 else eps[t])
    down[t] = FORBIDDEN if beta[t] <= lo[t] else (-eps[t] if beta[t] > 0 else eps[t])


@finitely_compiled
def largest(values: Array, folded: Array) -> Any:
    """max values, folded in four again and again: LLVM vectorises the larger of two rows, not the largest of one.

    The length is a multiple of CHUNK; `folded` is scratch, a quarter as long.
    """
    size = values.size // 4
    a, b, c, d = values[:size], values[size : 2 * size], values[2 * size : 3 * size], values[3 * size :]
    for t in range(size):
        folded[t] = max(max(a[t], b[t]), max(c[t], d[t]))
    while size > 16 and size % 4 == 0:
        size //= 4
        a, b, c, d = folded[:size], folded[size : 2 * size], folded[2 * size : 3 * size], folded[3 * size : 4 * size]
        for t in range(size):
            a[t] = max(max(a[t], b[t]), max(c[t], d[t]))
    result = folded[0]
    for t in range(1, size):
        result = max(result, folded[t])
    return result


@finitely_compiled
def place_of(value: float, values: Array) -> int:
    """The first place of a value that occurs; whole chunks are looked at first, which vectorises."""
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        found = 0
        for t in range(CHUNK):
            found += part[t] == value
        if found:
            for t in range(CHUNK):
                if part[t] == value:
                    return start + t
    return 0


@finitely_compiled
def pair_descent(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """Descend until no pair gains more than `tol`, or for `max_steps`; the number of steps, and the largest gain left.

    `diag` is the diagonal of K with r added. K and F are float32 or float64, their length a multiple of CHUNK: pad with
    points that cannot move. beta, lo, hi, eps are float64. F and beta are changed in place.
    """
    n = F.size
    real = F.dtype.type  # every number in the loops below is of the type of F: a mixture would be slow and inexact
    zero = real(0)
    up, down = np.empty_like(F), np.empty_like(F)
    rise, fall, gain, folded = np.empty_like(F), np.empty_like(F), np.empty_like(F), np.empty_like(F)
    least_curvature = max(real(LEAST_CURVATURE) * largest(diag, folded), real(TINY))
    for t in range(n):
        offsets(t, beta, lo, hi, eps, up, down)
    violation = 0.0
    for number in range(max_steps + 1):
        for t in range(n):
            rise[t] = F[t] + up[t]
        for t in range(n):
            fall[t] = -F[t] - down[t]
        top = largest(rise, folded)
        violation = float(top) + float(largest(fall, folded))
        if violation <= tol or number == max_steps:
            return number, violation
        i = place_of(top, rise)
        Ki, di = K[i], diag[i]
        for t in range(n):
            violated = max(top + fall[t], zero)
            gain[t] = violated * violated / max(di + diag[t] - (Ki[t] + Ki[t]), least_curvature)
        best = largest(gain, folded)
        if best <= zero:
            return number, violation
        j = place_of(best, gain)
        curvature = max(float(di) + float(diag[j]) - 2.0 * float(Ki[j]), float(least_curvature))
        room_i = -beta[i] if beta[i] < 0 and eps[i] > 0 else hi[i] - beta[i]
        room_j = beta[j] if beta[j] > 0 and eps[j] > 0 else beta[j] - lo[j]
        size = (float(top) + float(fall[j])) / curvature
        if size < room_i and size < room_j:
            beta[i] += size
            beta[j] -= size
        elif room_i <= room_j:
            size = room_i
            beta[i] = 0.0 if beta[i] < 0 and eps[i] > 0 else hi[i]
            beta[j] -= size
            if room_i == room_j:
                beta[j] = 0.0 if beta[j] + size > 0 and eps[j] > 0 else lo[j]
        else:
            size = room_j
            beta[j] = 0.0 if beta[j] > 0 and eps[j] > 0 else lo[j]
            beta[i] += size
        offsets(i, beta, lo, hi, eps, up, down)
        offsets(j, beta, lo, hi, eps, up, down)
        Kj, step = K[j], real(size)
        for t in range(n):
            F[t] -= step * (Ki[t] - Kj[t])
        F[i] -= step * (di - Ki[i])  # r, where there is one
        F[j] += step * (diag[j] - Kj[j])
    return max_steps, violation
