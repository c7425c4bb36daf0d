"""Kernel values of packed points: sums over coordinates, and what a form makes of them."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index
from ..forms import Form, Map, Way
from .packing import unpacked

GROUP = 8
PANEL = 48
SPAN = 28
HEAVY = {4: 11.5, 8: 1e6}  # minus the level from which on products lose digits, by the bytes of a number


def fill(A: Array, a: Array, Z: Array, z: Array, form: Form, slots: Index, out: Array) -> None:
    """out[slots[i], t] <- k(a_i, z_t). A and Z are packed points, a and z their levels."""
    out[slots] = _values(A, a, slots.size, Z, z, out.shape[1], form)


def square(A: Array, a: Array, Z: Array, z: Array, form: Form, count: int, out: Array) -> None:
    """out <- k of some points among themselves, packed as rows in A and as columns in Z: symmetric."""
    values = _values(A, a, count, Z, z, count, form)
    out[:count, :count] = np.triu(values) + np.triu(values, 1).T


def add(A: Array, a: Array, Z: Array, z: Array, form: Form, V: Array, out: Array) -> None:
    """out[m, t] += sum_i V[i, m] k(a_i, z_t), in float64."""
    out += V.T @ _values(A, a, len(V), Z, z, out.shape[1], form).astype(np.float64)


def add_both(
    A: Array, a: Array, Z: Array, z: Array, form: Form, v: Array, w: Array, below: Array, above: Array
) -> None:
    """below[t] += sum_i v_i k(a_i, z_t) and above[i] += sum_t w_t k(a_i, z_t): each value is used twice."""
    values = _values(A, a, v.size, Z, z, w.size, form).astype(np.float64)
    below += v @ values
    above += values @ w


def finish_rows(form: Form, own: Array, levels: Array, slots: Index, rows: Array) -> None:
    """rows[slots] are sums, and become values; `own` are the levels of these rows, `levels` those of the columns."""
    rows[slots] = _finished(rows[slots], own[:, None], levels[: rows.shape[1]], form)


def _values(A: Array, a: Array, rows: int, Z: Array, z: Array, columns: int, form: Form) -> Array:
    """k(a_i, z_t) in the precision of the points.

    2^t of products loses digits for rows that are far from the centre: they go by differences.
    """
    x, y = unpacked(A, rows), unpacked(Z, columns)
    values = _finished(_sums(x, y, form.way), a[:rows, None], z[:columns], form)
    if form.way == Way.PRODUCTS and form.map == Map.EXPONENTIAL:
        heavy = np.flatnonzero(~(a[:rows] >= -HEAVY[A.dtype.itemsize]))
        by_differences = Form(Way.SQUARES, form.map, -0.5 * form.factor)
        nothing = np.zeros(1, A.dtype)
        values[heavy] = _finished(_sums(x[heavy], y, Way.SQUARES), nothing, nothing, by_differences)
    return values


def _sums(x: Array, y: Array, way: int) -> Array:
    """The sums over SPAN coordinates in order, and then over these sums: the rounding of SPAN + d / SPAN terms."""
    total = np.zeros((len(x), len(y)), x.dtype)
    for first in range(0, x.shape[1], SPAN):
        part = np.zeros_like(total)
        for k in range(first, min(first + SPAN, x.shape[1])):
            part += _terms(x[:, k, None], y[:, k], way)
        total += part
    return total


def _terms(x: Array, y: Array, way: int) -> Array:
    """What one coordinate adds to the sum."""
    if way == Way.PRODUCTS:
        return np.asarray(x * y)
    if way == Way.SQUARES:
        return np.asarray((x - y) ** 2)
    if way == Way.DISTANCES:
        return np.asarray(np.abs(x - y))
    if way == Way.MINIMA:
        return np.minimum(x, y)
    if way == Way.COUNTS:
        words = f"u{x.dtype.itemsize}"
        return np.asarray(np.bitwise_count(np.bitwise_xor(x.view(words), y.view(words))), x.dtype)
    both = np.maximum(x + y, np.finfo(x.dtype).tiny)  # 0/0 is 0
    return np.asarray(x * (y / both) if way == Way.CHI2 else (x - y) ** 2 / both)


@np.errstate(under="ignore")
def _finished(sums: Array, own: Array, levels: Array, form: Form) -> Array:
    """Values of the kernel from sums and levels."""
    real = sums.dtype.type
    if form.map == Map.NONE:
        return sums
    if form.map == Map.POWER:
        return np.asarray((real(form.factor) * sums + real(form.offset)) ** form.exponent)
    if form.map == Map.EXPONENTIAL:
        return np.asarray(np.exp2(np.minimum(real(form.factor) * sums + own + levels, 0)))
    u = np.minimum(real(form.factor) * np.sqrt(sums), real(1e3))  # e^-1000 is 0 already
    polynomial = {Map.MATERN12: 1, Map.MATERN32: 1 + u, Map.MATERN52: 1 + u + u * u / 3}[Map(form.map)]
    return np.asarray(polynomial * np.exp(-u))
