"""Pair descent: the inner loop of the decomposition method.

    minimise  1/2 b'K b - F'b + sum eps_t |beta_t + b_t|    lo <= beta + b <= hi,  sum b = 0

in steps that raise one coefficient and lower another by as much. With F the negative slope of the smooth part, t may
rise where beta < hi, with the gain F - eps (F + eps below zero), and sink where beta > lo. Pairs are chosen by second
order (Fan, Chen, Lin 2005): i rises with the largest gain, j sinks where the pair gains most.

Two passes over the working set make a step, each in vectors: one updates F and finds i, the other finds j. What may not
move has FORBIDDEN added to its gain. Each pass has four best values in every lane, so that none waits for another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import finitely_compiled, inlined, literally_compiled, piece
from .small import FORBIDDEN, LEAST_CURVATURE, TINY
from .vectors import BYTES, filled, if_above, larger, largest_of, load, multiply_add, store


@finitely_compiled
def offsets(t: int, beta: Array, lo: Array, hi: Array, eps: Array, up: Array, down: Array) -> None:
    """What is added to F_t for the gain of a rise, and to -F_t for that of a fall."""
    up[t] = -FORBIDDEN if beta[t] >= hi[t] else (-eps[t] if beta[t] >= 0 else eps[t])
    down[t] = -FORBIDDEN if beta[t] <= lo[t] else (eps[t] if beta[t] > 0 else -eps[t])


@inlined
def place_of_largest(values: Any, places: Any) -> Any:
    """The place of the largest of these values; the first, where it occurs more than once."""
    return -largest_of(if_above(largest_of(values), values, -FORBIDDEN, 0.0 - places))


@inlined
def gains(
    K: Array, F: Array, up: Array, down: Array, i: int, j: int, step: float, t: int, best: Any, at: Any, falls: Any
) -> tuple[Any, Any, Any]:
    """F -= step (K_i - K_j) from t on; the largest gain of a rise, block by block, with its t, and of a fall."""
    f = multiply_add(load(K, i, t) - load(K, j, t), -step, load(F, t))
    store(f, F, t)
    rise, fall = f + load(up, t), load(down, t) - f
    return larger(rise, best), if_above(rise, best, t, at), larger(fall, falls)


@piece
def rise_most(
    K: Array, F: Array, up: Array, down: Array, places: Array, i: int, j: int, step: float
) -> tuple[int, Any, Any]:
    """F -= step (K_i - K_j); who gains most by rising, how much, and the largest gain of a fall."""
    lanes = BYTES // F.itemsize
    a = b = c = d = falls_a = falls_b = filled(F, -4 * FORBIDDEN)
    at_a = at_b = at_c = at_d = filled(F, 0)
    for t in range(0, F.size, 4 * lanes):
        a, at_a, falls_a = gains(K, F, up, down, i, j, step, t, a, at_a, falls_a)
        b, at_b, falls_b = gains(K, F, up, down, i, j, step, t + lanes, b, at_b, falls_b)
        c, at_c, falls_a = gains(K, F, up, down, i, j, step, t + 2 * lanes, c, at_c, falls_a)
        d, at_d, falls_b = gains(K, F, up, down, i, j, step, t + 3 * lanes, d, at_d, falls_b)
    at_a, at_c = if_above(b, a, at_b, at_a), if_above(d, c, at_d, at_c)
    a, c = larger(a, b), larger(c, d)
    at_a, a = if_above(c, a, at_c, at_a), larger(a, c)
    return int(place_of_largest(a, at_a + load(places, 0))), largest_of(a), largest_of(larger(falls_a, falls_b))


@inlined
def pair_gains(
    K: Array, F: Array, down: Array, diag: Array, i: int, top: float, own: float, scale: float, t: int,
    squares: Any, curvatures: Any, at: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The larger of what i and each from t on gain as a pair, and the best so far: a square by a curvature each."""
    violated = larger(load(down, t) - load(F, t) + top, 0)
    square = violated * violated
    curvature = larger(
        multiply_add(load(K, i, t), -2 * scale, multiply_add(load(diag, t), scale, own)), LEAST_CURVATURE
    )
    mine, theirs = square * curvatures, squares * curvature  # a / b > c / d, without a division
    return (
        if_above(mine, theirs, square, squares),
        if_above(mine, theirs, curvature, curvatures),
        if_above(mine, theirs, t, at),
    )


@piece
def fall_best(
    K: Array, F: Array, down: Array, diag: Array, places: Array, i: int, top: float, scale: float
) -> tuple[int, Any]:
    """The j with which i gains most, and that gain; curvatures are in parts of the largest K_ii."""
    lanes = BYTES // F.itemsize
    own = diag[i] * scale
    a = b = c = d = at_a = at_b = at_c = at_d = filled(F, 0)
    of_a = of_b = of_c = of_d = filled(F, 1)
    for t in range(0, F.size, 4 * lanes):
        a, of_a, at_a = pair_gains(K, F, down, diag, i, top, own, scale, t, a, of_a, at_a)
        b, of_b, at_b = pair_gains(K, F, down, diag, i, top, own, scale, t + lanes, b, of_b, at_b)
        c, of_c, at_c = pair_gains(K, F, down, diag, i, top, own, scale, t + 2 * lanes, c, of_c, at_c)
        d, of_d, at_d = pair_gains(K, F, down, diag, i, top, own, scale, t + 3 * lanes, d, of_d, at_d)
    a, b, c, d = a / of_a, b / of_b, c / of_c, d / of_d
    at_a, at_c = if_above(b, a, at_b, at_a), if_above(d, c, at_d, at_c)
    a, c = larger(a, b), larger(c, d)
    at_a, a = if_above(c, a, at_c, at_a), larger(a, c)
    return int(place_of_largest(a, at_a + load(places, 0))), largest_of(a)


@finitely_compiled
def pair_descent(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """Descend until no pair gains more than `tol`, or for `max_steps`; the number of steps, and the largest gain left.

    `diag` is the diagonal of K with r added. K and F are float32 or float64, their length a multiple of CHUNK: pad with
    points that cannot move. beta, lo, hi, eps are float64. F and beta are changed in place.
    """
    real = F.dtype.type  # every number in the passes is of the type of F: a mixture would be slow and inexact
    up, down, places = np.empty_like(F), np.empty_like(F), np.arange(BYTES // F.itemsize).astype(F.dtype)
    size = max(diag.max(), real(TINY))
    scale, least_curvature = real(1.0 / size), LEAST_CURVATURE * size
    for t in range(F.size):
        offsets(t, beta, lo, hi, eps, up, down)
    violation, i, j, step = 0.0, 0, 0, real(0)
    for number in range(max_steps + 1):
        i, top, fall = rise_most(K, F, up, down, places, i, j, step)
        violation = float(top) + float(fall)
        if violation <= tol or number == max_steps:
            return number, violation
        j, best = fall_best(K, F, down, diag, places, i, top, scale)
        if best <= 0:
            return number, violation
        di, fall = diag[i], down[j] - F[j]
        curvature = max(float(di) + float(diag[j]) - 2.0 * float(K[i, j]), least_curvature)
        room_i = -beta[i] if beta[i] < 0 and eps[i] > 0 else hi[i] - beta[i]
        room_j = beta[j] if beta[j] > 0 and eps[j] > 0 else beta[j] - lo[j]
        size = (float(top) + float(fall)) / curvature
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
        step = real(size)
        F[i] -= step * (di - K[i, i])  # r, where there is one
        F[j] += step * (diag[j] - K[j, j])
    return max_steps, violation


@literally_compiled
def pair_steps(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """The same for few points, as `small.pair_steps` does it: to the last bit."""
    up, down = np.empty_like(beta), np.empty_like(beta)
    for t in range(F.size):
        offsets(t, beta, lo, hi, eps, up, down)
    least = LEAST_CURVATURE * max(diag.max(), TINY)
    number = 0
    while True:
        i, top = 0, F[0] + up[0]
        for t in range(F.size):
            rise = F[t] + up[t]
            if rise > top:
                i, top = t, rise
        j, best, violation = 0, -1.0, -np.inf
        for t in range(F.size):
            gain = top + down[t] - F[t]
            violation = max(violation, gain)
            gain = max(gain, 0.0)
            square = gain * gain / max(diag[i] + diag[t] - 2.0 * K[i, t], least)
            if square > best:
                j, best = t, square
        if violation <= tol or number == max_steps:
            return number, violation
        end_i = 0.0 if beta[i] < 0.0 and eps[i] > 0.0 else hi[i]
        end_j = 0.0 if beta[j] > 0.0 and eps[j] > 0.0 else lo[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        gain = max(top + down[j] - F[j], 0.0)
        step = min(gain / max(diag[i] + diag[j] - 2.0 * K[i, j], least), room_i, room_j)
        beta[i] = end_i if step == room_i else beta[i] + step
        beta[j] = end_j if step == room_j else beta[j] - step
        offsets(i, beta, lo, hi, eps, up, down)
        offsets(j, beta, lo, hi, eps, up, down)
        for t in range(F.size):
            F[t] -= step * (K[i, t] - K[j, t])
        F[i] -= step * (diag[i] - K[i, i])
        F[j] += step * (diag[j] - K[j, j])
        number += 1
