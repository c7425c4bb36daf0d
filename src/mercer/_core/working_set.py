"""Loops over all points between two rounds of the decomposition: who may move, who is chosen, and the update of F."""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import compiled, exactly_compiled
from .pairs import pair_descent as pair_descent  # one module for all loops of a round: see `loops`
from .small import FORBIDDEN

_BINS = 1024
_COLUMNS = 1024
_TILE = 128


@exactly_compiled
def extremes(
    F: Array, beta: Array, lo: Array, hi: Array, eps: Array, rise: Array, fall: Array
) -> tuple[float, float, int]:
    """The gain of raising and of lowering each coefficient (FORBIDDEN at a bound), the largest and the smallest.

    The last number is that of the coefficients between their bounds.
    """
    top, bottom, free = -FORBIDDEN, FORBIDDEN, 0
    for t in range(F.size):
        up = F[t] - eps[t] if beta[t] >= 0 else F[t] + eps[t]
        down = F[t] - eps[t] if beta[t] > 0 else F[t] + eps[t]
        rise[t] = up if beta[t] < hi[t] else -FORBIDDEN
        fall[t] = down if beta[t] > lo[t] else FORBIDDEN
        top = max(top, rise[t])
        bottom = min(bottom, fall[t])
        free += lo[t] < beta[t] < hi[t]
    return top, bottom, free


@exactly_compiled
def shares(F: Array, beta: Array, r: Array, eps: Array, lo: Array, hi: Array, b: float) -> float:
    """The gap: the sum over points of C loss(f) + h(beta) + beta f, from F = q - r beta - K beta.

    With g = q - f, C loss(f) is the largest value of g s - r/2 s^2 - eps |s|, and -h(beta) - beta f that of s = beta.
    """
    total = 0.0
    for t in range(F.size):
        own = beta[t]
        g = F[t] + r[t] * own - b
        excess = max(abs(g) - eps[t], 0.0)
        if r[t] > 0.0:
            s = min(max(np.copysign(excess / r[t], g), lo[t]), hi[t])
        elif excess > 0.0:
            s = hi[t] if g > 0.0 else lo[t]
        else:
            s = min(max(0.0, lo[t]), hi[t])
        total += g * (s - own) - 0.5 * r[t] * (s * s - own * own) - eps[t] * (abs(s) - abs(own))
    return total


@exactly_compiled
def choose_largest(
    gain: Array, sign: float, floor: float, highest: float, taken: Array, chosen: Array, start: int, most: int
) -> int:
    """Put the places of (about) the `most` largest sign * gain - floor > 0, none > highest, into `chosen` from `start`.

    By counting in bins, and evenly spread over those in the last bin; places that are `taken` are left out, and what is
    chosen becomes taken. The new length is returned.
    """
    if highest <= 0.0:
        return start
    counts = np.zeros(_BINS + 1, np.int64)
    scale = _BINS / highest
    for t in range(gain.size):
        value = sign * gain[t] - floor
        if value > 0.0 and not taken[t]:
            counts[min(int(value * scale), _BINS)] += 1
    above, last = 0, _BINS
    while last > 0 and above + counts[last] < most:
        above += counts[last]
        last -= 1
    wanted, seen, size = max(most - above, 0), 0, start
    available = max(counts[last], 1)
    wanted = min(wanted, available)
    for t in range(gain.size):
        value = sign * gain[t] - floor
        if value > 0.0 and not taken[t]:
            place = min(int(value * scale), _BINS)
            take = place > last
            if place == last:
                take = (seen * wanted) // available != ((seen + 1) * wanted) // available
                seen += 1
            if take:
                chosen[size] = t
                taken[t] = True
                size += 1
    return size


@exactly_compiled
def choose_working_set(
    rise: Array, fall: Array, top: float, bottom: float, kept: Array, limit: int, taken: Array
) -> Array:
    """Half of the working set before (its last points), and the worst of the others; all, where they are few."""
    if rise.size <= limit:
        return np.arange(rise.size)
    W = np.empty(limit, np.int64)
    size = min(kept.size, limit // 2 if limit >= 4 else 0)
    W[:size] = kept[kept.size - size :]
    taken[:] = False
    for s in range(size):
        taken[W[s]] = True
    half = (limit - size) // 2
    size = choose_largest(rise, 1.0, bottom, top - bottom, taken, W, size, half)
    size = choose_largest(fall, -1.0, -top, top - bottom, taken, W, size, half)
    return W[:size]


@compiled
def subtract_rows(F: Array, values: Array, rows: Array, delta: Array, start: int, stop: int, offset: int) -> None:
    """F_t -= sum_k delta_k values[rows_k, t + offset] for t from start to stop.

    Four rows at a time, in pieces that stay in cache. Sums are float64, whatever the values: memory is the limit here,
    and what is lost in F comes back as extra rounds.
    """
    total = np.empty(_COLUMNS)
    for left in range(start, stop, _COLUMNS):
        right = min(stop, left + _COLUMNS)
        n = right - left
        first, last = left + offset, right + offset
        for t in range(n):
            total[t] = 0.0
        k = 0
        while k + 4 <= rows.size:
            a, b = values[rows[k]][first:last], values[rows[k + 1]][first:last]
            c, d = values[rows[k + 2]][first:last], values[rows[k + 3]][first:last]
            da, db, dc, dd = delta[k], delta[k + 1], delta[k + 2], delta[k + 3]
            for t in range(n):
                total[t] += (da * a[t] + db * b[t]) + (dc * c[t] + dd * d[t])
            k += 4
        while k < rows.size:
            a, da = values[rows[k]][first:last], delta[k]
            for t in range(n):
                total[t] += da * a[t]
            k += 1
        part = F[left:right]
        for t in range(n):
            part[t] -= total[t]


@exactly_compiled
def gather(matrix: Array, rows: Array, columns: Array, out: Array) -> None:
    """out <- matrix[rows][:, columns], into the upper left corner; neighbouring columns are copied together."""
    starts = np.empty(columns.size + 1, np.int64)
    runs = 0
    for j in range(columns.size):
        if j == 0 or columns[j] != columns[j - 1] + 1:
            starts[runs] = j
            runs += 1
    starts[runs] = columns.size
    for i in range(rows.size):
        source, target = matrix[rows[i]], out[i]
        for run in range(runs):
            start, stop = starts[run], starts[run + 1]
            first = columns[start]
            a, b = source[first : first + stop - start], target[start:stop]
            for j in range(stop - start):
                b[j] = a[j]


@exactly_compiled
def mirror(K: Array, a: int, n: int) -> None:
    """K[a:n, :a] <- the transpose of K[:a, a:n], by small tiles that stay in cache."""
    for left in range(0, a, _TILE):
        for top in range(a, n, _TILE):
            for j in range(left, min(left + _TILE, a)):
                row = K[j]
                for i in range(top, min(top + _TILE, n)):
                    K[i, j] = row[i]
