"""The loops of small problems, in NumPy.

To load compiled code takes half a second, and to compile it, on a new machine, half a minute: more than a few hundred
points need in all. So blocks of at most _SMALL values are left to NumPy. Nothing here imports Numba.

The same operations, written to be read: tests hold the compiled loops against them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from ..types import Array, Index

_SMALL = 65_536  # values of a block
FORBIDDEN = 1e30  # is added to the gain of what may not move
LEAST_CURVATURE = 1e-12  # in parts of the largest K_ii,
TINY = 1e-25  # or of this
CANCELLED = 1e-4  # a distance of which so little is left is computed anew: 12 digits stay
_PATIENCE = 0.3  # seconds of steps in NumPy
_STEPS = 1000  # between two looks at the clock
_COORDINATES = 100_000  # of pairs of points at a time


def is_small(values: float) -> bool:
    """Whether a block of so many values is left to NumPy."""
    return values <= _SMALL


class _Here(threading.local):
    """What is said in this thread about the block of which a tile is computed."""

    small = False


_here = _Here()


@contextmanager
def part_of(values: float) -> Iterator[None]:
    """A context in which tiles are computed, in this thread, of a block of so many values."""
    before, _here.small = _here.small, is_small(values)
    try:
        yield
    finally:
        _here.small = before


def by_numpy() -> bool:
    """Whether the block of which a tile is computed here is small (see `part_of`); if nobody said so, it is not."""
    return _here.small


_spent = [0.0]  # seconds of pair descent in this process


def pair_descent(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """See _core/pairs.py. In NumPy until that has taken as long as it takes to load compiled code; then compiled, by
    the same operations in the same order: not a bit depends on it.
    """
    done = 0
    while True:
        began = perf_counter()
        few = min(_STEPS, max_steps - done)
        steps, violation = _pair_steps()(K, diag, F, beta, lo, hi, eps, tol, few)
        _spent[0] += perf_counter() - began
        done += steps
        if violation <= tol or done == max_steps:
            return done, float(violation)


def _pair_steps() -> Callable[..., tuple[int, float]]:
    """The function to use now."""
    if _spent[0] < _PATIENCE:
        return pair_steps
    from .pairs import pair_steps as compiled

    return compiled


@np.errstate(over="ignore", under="ignore")
def pair_steps(
    K: Array, diag: Array, F: Array, beta: Array, lo: Array, hi: Array, eps: Array, tol: float, max_steps: int
) -> tuple[int, float]:
    """Some steps of pair descent; called again, it needs no more than F and beta to go on."""
    least = LEAST_CURVATURE * max(float(diag.max()), TINY)
    up = np.where(beta >= hi, -FORBIDDEN, np.where(beta >= 0.0, -eps, eps))
    down = np.where(beta <= lo, -FORBIDDEN, np.where(beta > 0.0, eps, -eps))
    for number in range(max_steps + 1):
        rise = F + up
        i = int(rise.argmax())
        gain = rise[i] + down - F
        violation = float(gain.max())
        if violation <= tol or number == max_steps:
            break
        gain = np.maximum(gain, 0.0)
        curvature = np.maximum(diag[i] + diag - 2.0 * K[i], least)
        j = int((gain * gain / curvature).argmax())
        end_i = 0.0 if beta[i] < 0.0 and eps[i] > 0.0 else hi[i]  # no further than 0, where |beta| has a kink
        end_j = 0.0 if beta[j] > 0.0 and eps[j] > 0.0 else lo[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        step = min(gain[j] / curvature[j], room_i, room_j)
        beta[i] = end_i if step == room_i else beta[i] + step
        beta[j] = end_j if step == room_j else beta[j] - step
        for t in (i, j):
            up[t] = -FORBIDDEN if beta[t] >= hi[t] else (-eps[t] if beta[t] >= 0.0 else eps[t])
            down[t] = -FORBIDDEN if beta[t] <= lo[t] else (eps[t] if beta[t] > 0.0 else -eps[t])
        F -= step * (K[i] - K[j])
        F[i] -= step * (diag[i] - K[i, i])  # r, where there is one
        F[j] += step * (diag[j] - K[j, j])
    return number, violation


def extremes(
    F: Array, beta: Array, lo: Array, hi: Array, eps: Array, rise: Array, fall: Array
) -> tuple[float, float, int]:
    """See _core/working_set.py."""
    rise[:] = np.where(beta < hi, F - np.where(beta >= 0.0, eps, -eps), -FORBIDDEN)
    fall[:] = np.where(beta > lo, F - np.where(beta > 0.0, eps, -eps), FORBIDDEN)
    return float(rise.max()), float(fall.min()), int(np.count_nonzero((lo < beta) & (beta < hi)))


@np.errstate(under="ignore")
def shares(F: Array, beta: Array, r: Array, eps: Array, lo: Array, hi: Array, b: float) -> float:
    """See _core/working_set.py."""
    g = F + r * beta - b
    excess = np.maximum(np.abs(g) - eps, 0.0)
    curved = r > 0.0
    inside = np.copysign(excess / np.where(curved, r, 1.0), g)
    s = np.where(curved | (excess == 0.0), np.clip(np.where(curved, inside, 0.0), lo, hi), np.where(g > 0.0, hi, lo))
    return float((g * (s - beta) - 0.5 * r * (s * s - beta * beta) - eps * (np.abs(s) - np.abs(beta))).sum())


@np.errstate(under="ignore")
def subtract_rows(F: Array, values: Array, rows: Index, delta: Array, start: int, stop: int, offset: int) -> None:
    """See _core/working_set.py."""
    F[start:stop] -= delta @ values[rows, start + offset : stop + offset].astype(np.float64, copy=False)


def gather(matrix: Array, rows: Index, columns: Index, out: Array) -> None:
    """See _core/working_set.py."""
    out[: rows.size, : columns.size] = matrix[np.ix_(rows, columns)]


def fill_squared_distances(A: Array, B: Array, out: Array) -> None:
    """out <- |x - z|^2 for each pair of dense points, in float64: see _core/distances.py."""
    centre = B.mean(axis=0, dtype=np.float64)
    a, b = A - centre, B - centre
    both = np.add.outer(np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b))
    np.matmul(a, b.T, out=out)
    out *= -2.0
    out += both
    rows, columns = np.nonzero(out < CANCELLED * both)
    some = max(1, _COORDINATES // max(1, A.shape[1]))
    for start in range(0, rows.size, some):
        i, j = rows[start : start + some], columns[start : start + some]
        difference = np.subtract(A[i], B[j], dtype=np.float64)
        out[i, j] = np.einsum("ij,ij->i", difference, difference)
