"""Kernel values of packed points: sums over coordinates, and what a form makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...types import Array, Index
from ..forms import Form, Map, Summed
from .packing import VALUES_AT_A_TIME

GROUP = 8
PANEL = 48
SPAN = 28
HEAVY = {4: 11.5, 8: 1e6}  # minus the level from which on products lose digits, by the bytes of a number


def fill(A: Array, a: Array, Z: Array, z: Array, form: Form, slots: Index, out: Array) -> None:
    """out[slots[i], t] <- k(a_i, z_t). A and Z are packed points, a and z their levels."""
    for strip, values in _strips(A, a, slots.size, Z, z, out.shape[1], form):
        out[slots[strip]] = values


def square(A: Array, a: Array, Z: Array, z: Array, form: Form, count: int, out: Array) -> None:
    """out <- k of some points among themselves, packed as rows in A and as columns in Z: symmetric."""
    for strip, values in _strips(A, a, count, Z, z, count, form):
        out[strip, :count] = values
    for i in range(count):
        out[i + 1 : count, i] = out[i, i + 1 : count]


def add(A: Array, a: Array, Z: Array, z: Array, form: Form, V: Array, out: Array) -> None:
    """out[m, t] += sum_i V[i, m] k(a_i, z_t), in float64: one row after the other, so that a sum has the same bits
    whatever columns stand beside it.
    """
    for strip, values in _strips(A, a, len(V), Z, z, out.shape[1], form):
        for weights, row in zip(V[strip], values.astype(np.float64), strict=True):
            out += weights[:, None] * row


def add_both(
    A: Array, a: Array, Z: Array, z: Array, form: Form, v: Array, w: Array, below: Array, above: Array
) -> None:
    """below[t] += sum_i v_i k(a_i, z_t) and above[i] += sum_t w_t k(a_i, z_t): each value is used twice."""
    for strip, values in _strips(A, a, v.size, Z, z, w.size, form):
        exact = values.astype(np.float64)
        below += v[strip] @ exact
        above[strip] += exact @ w


def finish_rows(form: Form, own: Array, levels: Array, slots: Index, rows: Array) -> None:
    """rows[slots] are sums, and become values; `own` are the levels of these rows, `levels` those of the columns."""
    rows[slots] = _finished(rows[slots], own[:, None], levels[: rows.shape[1]], form)


def _strips(
    A: Array, a: Array, rows: int, Z: Array, z: Array, columns: int, form: Form
) -> Iterator[tuple[slice, Array]]:
    """Some rows, and k(a_i, z_t) of them, so few at a time that temporaries stay in cache; all rows in the end."""
    packs = max(VALUES_AT_A_TIME // max(columns, 1) // GROUP, 1)
    for first in range(0, -(-rows // GROUP), packs):
        strip = slice(first * GROUP, min((first + packs) * GROUP, rows))
        yield strip, _values(A[first : first + packs], a[strip], Z, z[:columns], form)


def _values(A: Array, a: Array, Z: Array, z: Array, form: Form) -> Array:
    """k(a_i, z_t) in the precision of the points.

    2^t of products loses digits for rows that are far from the centre: they go by differences.
    """
    values = _finished(_sums(A, np.arange(a.size), Z, z.size, form.way), a[:, None], z, form)
    if form.way == Summed.PRODUCTS and form.map == Map.EXPONENTIAL:
        heavy = np.flatnonzero(~(a >= -HEAVY[A.dtype.itemsize]))
        by_differences = Form(Summed.SQUARES, form.map, -0.5 * form.factor)
        level = np.zeros(1, A.dtype)
        values[heavy] = _finished(_sums(A, heavy, Z, z.size, Summed.SQUARES), level, level, by_differences)
    return values


def _sums(A: Array, rows: Index, Z: Array, columns: int, way: int) -> Array:
    """The sums over SPAN coordinates in order, and then over these sums: the rounding of SPAN + d / SPAN terms."""
    total = np.zeros((rows.size, columns), A.dtype)
    for first in range(0, A.shape[1], SPAN):
        part = np.zeros_like(total)
        for k in range(first, min(first + SPAN, A.shape[1])):
            part += _terms(A[:, k].reshape(-1)[rows, None], Z[:, k].reshape(-1)[:columns], way)
        total += part
    return total


def _terms(x: Array, y: Array, way: int) -> Array:
    """What one coordinate adds to the sum."""
    if way == Summed.PRODUCTS:
        return np.asarray(x * y)
    if way == Summed.SQUARES:
        return np.asarray((x - y) ** 2)
    if way == Summed.DISTANCES:
        return np.asarray(np.abs(x - y))
    if way == Summed.MINIMA:
        return np.minimum(x, y)
    if way == Summed.COUNTS:
        words = f"u{x.dtype.itemsize}"
        return np.asarray(np.bitwise_count(np.bitwise_xor(x.view(words), y.view(words))), x.dtype)
    both = np.maximum(x + y, np.finfo(x.dtype).tiny)  # 0/0 is 0
    return np.asarray(x * (y / both) if way == Summed.CHI2 else (x - y) ** 2 / both)


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _finished(sums: Array, own: Array, levels: Array, form: Form) -> Array:
    """Values of the kernel from sums and levels; what overflows is seen in the result, by whoever asked for it."""
    real = sums.dtype.type
    if form.map == Map.NONE:
        return sums
    if form.map == Map.POWER:
        return np.asarray((real(form.factor) * sums + real(form.offset)) ** form.exponent)
    if form.map == Map.EXPONENTIAL:
        return np.asarray(np.exp2(np.minimum(real(form.factor) * sums + (own + levels), 0)))
    u = np.minimum(real(form.factor) * np.sqrt(sums), real(1e3))  # e^-1000 is 0 already
    polynomial = {Map.MATERN12: 1, Map.MATERN32: 1 + u, Map.MATERN52: 1 + u + u * u / 3}[Map(form.map)]
    return np.asarray(polynomial * np.exp(-u))
