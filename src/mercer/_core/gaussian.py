"""The Gaussian of dense points: distances and exponentials, tile by tile, without a pass through memory between.

Both sets of points are packed by coordinates: the rows in groups of eight, the columns in panels of as many as three
registers hold. A tile is the block of one group and one panel: small enough that the sums of some of its rows stay in
registers, and all of it in the nearest cache, where the exponentials are taken, three vectors at a time.

exp(-gamma |a - z|^2) = 2^t, where t comes from dot products, which is fastest, or from differences: for points far from
the centre, where products would lose digits, and in float64. The `level` of a point is t of the point and the centre.
Points of zeros and ones may be packed as bits, 32 to a float32: t then comes from counts of bits that differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import exactly_compiled, inlined, piece
from .vectors import (
    BYTES,
    add_to,
    count_differing,
    counted,
    exp2,
    filled,
    lanes_of,
    load,
    load_wide,
    multiply_add,
    number_at,
    smaller,
    store,
    sum_of,
)

LOG2E = 1.4426950408889634
GROUP = 8
PANEL = {4: 3 * BYTES // 4, 8: 3 * BYTES // 8}  # points, by the bytes of a number
HEAVY = -8.0 * LOG2E  # t from products has an error of about 1e-7 (level of a + level of z): not for levels below this,
NEAR = -2.0 * LOG2E  # and no more than t from differences where the mean level is not below this
DIFFERENCES, PRODUCTS, COUNTS = 0, 1, 2  # the ways to t
_IN_CACHE = 2**15  # numbers
_ALL_AT_ONCE = BYTES == 64  # CPUs with such registers have 32 of them


@exactly_compiled
def mean(X: Array) -> Array:
    """The mean of the points, in float64."""
    total = np.zeros(X.shape[1])
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            total[k] += X[i, k]
    return np.asarray(total / X.shape[0])


@exactly_compiled
def pack(X: Array, centre: Array, packed: Array) -> None:
    """packed[i // s, k, i % s] <- X[i, k] - centre[k], with s the last axis of `packed`; zeros where there is no i."""
    size = packed.shape[2]
    for m in range(packed.shape[0]):
        for j in range(size):
            i = m * size + j
            if i < X.shape[0]:
                for k in range(packed.shape[1]):
                    packed[m, k, j] = X[i, k] - centre[k]
            else:
                packed[m, :, j] = 0.0


@exactly_compiled
def levels(packed: Array, gamma: float, out: Array) -> None:
    """out <- -gamma log2(e) |x|^2 of packed points, in the same order."""
    factor = out.dtype.type(-gamma * LOG2E)
    for m in range(packed.shape[0]):
        for j in range(packed.shape[2]):
            out[m, j] = 0.0
        for k in range(packed.shape[1]):
            for j in range(packed.shape[2]):
                out[m, j] += packed[m, k, j] * packed[m, k, j]
        for j in range(packed.shape[2]):
            out[m, j] *= factor


@exactly_compiled
def pack_again(Z: Array, z_levels: Array, index: Array, packed: Array, packed_levels: Array) -> None:
    """Some of the points that are packed as Z, packed anew."""
    old, new = Z.shape[2], packed.shape[2]
    for i in range(-(-index.size // new) * new):
        m, j = i // new, i % new
        if i < index.size:
            source, place = index[i] // old, index[i] % old
            packed_levels[m, j] = z_levels[source, place]
            for k in range(Z.shape[1]):
                packed[m, k, j] = Z[source, k, place]
        else:
            packed_levels[m, j] = 0.0
            packed[m, :, j] = 0.0


@inlined
def add_dots(x: Array, y: Array, z: Array, a: float, p: Array, q: Array, r: Array) -> tuple[Array, Array, Array]:
    """p + a x, q + a y, r + a z."""
    return multiply_add(x, a, p), multiply_add(y, a, q), multiply_add(z, a, r)


@inlined
def add_squares(x: Array, y: Array, z: Array, a: float, p: Array, q: Array, r: Array) -> tuple[Array, Array, Array]:
    """p + (x - a)^2, q + (y - a)^2, r + (z - a)^2."""
    x, y, z = x - a, y - a, z - a
    return multiply_add(x, x, p), multiply_add(y, y, q), multiply_add(z, z, r)


@inlined
def add_counts(x: Array, y: Array, z: Array, a: float, p: Array, q: Array, r: Array) -> tuple[Array, Array, Array]:
    """p, q and r, with the number of bits added in which x, y and z differ from a."""
    return count_differing(p, x, a), count_differing(q, y, a), count_differing(r, z, a)


@inlined
def get(tile: Array, row: int) -> tuple[Any, Any, Any]:
    """A row of a tile: three vectors."""
    lanes = lanes_of(tile)
    at = row * 3 * lanes
    return load(tile, at), load(tile, at + lanes), load(tile, at + 2 * lanes)


@inlined
def put(tile: Array, row: int, x: Any, y: Any, z: Any) -> None:
    """A row of a tile <- x, y, z."""
    lanes = lanes_of(tile)
    at = row * 3 * lanes
    store(x, tile, at)
    store(y, tile, at + lanes)
    store(z, tile, at + 2 * lanes)


@inlined
def finish(
    tile: Array, row: int, p: Array, q: Array, r: Array, factor: float, x: Array, y: Array, z: Array, level: float
) -> None:
    """A row of the tile <- factor p + x + level, and the same of q and r; 0, where that is more."""
    x, y, z = (
        multiply_add(p, factor, x + level),
        multiply_add(q, factor, y + level),
        multiply_add(r, factor, z + level),
    )
    put(tile, row, smaller(x, 0), smaller(y, 0), smaller(z, 0))


@inlined
def eight_products(
    A: Array, a: int, Z: Array, z: int, d: int, a_levels: Array, i: int, z_levels: Array, j: int, factor: float,
    tile: Array,
) -> None:  # fmt: skip
    """All rows of the tile, from dot products."""
    lanes = lanes_of(tile)
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = filled(tile, 0)
    e0 = e1 = e2 = f0 = f1 = f2 = g0 = g1 = g2 = h0 = h1 = h2 = filled(tile, 0)
    for _ in range(d):
        x, y, w = load(Z, z), load(Z, z + lanes), load(Z, z + 2 * lanes)
        a0, a1, a2 = add_dots(x, y, w, number_at(A, a), a0, a1, a2)
        b0, b1, b2 = add_dots(x, y, w, number_at(A, a + 1), b0, b1, b2)
        c0, c1, c2 = add_dots(x, y, w, number_at(A, a + 2), c0, c1, c2)
        d0, d1, d2 = add_dots(x, y, w, number_at(A, a + 3), d0, d1, d2)
        e0, e1, e2 = add_dots(x, y, w, number_at(A, a + 4), e0, e1, e2)
        f0, f1, f2 = add_dots(x, y, w, number_at(A, a + 5), f0, f1, f2)
        g0, g1, g2 = add_dots(x, y, w, number_at(A, a + 6), g0, g1, g2)
        h0, h1, h2 = add_dots(x, y, w, number_at(A, a + 7), h0, h1, h2)
        a, z = a + GROUP, z + 3 * lanes
    x, y, w = load(z_levels, j), load(z_levels, j + lanes), load(z_levels, j + 2 * lanes)
    finish(tile, 0, a0, a1, a2, factor, x, y, w, number_at(a_levels, i))
    finish(tile, 1, b0, b1, b2, factor, x, y, w, number_at(a_levels, i + 1))
    finish(tile, 2, c0, c1, c2, factor, x, y, w, number_at(a_levels, i + 2))
    finish(tile, 3, d0, d1, d2, factor, x, y, w, number_at(a_levels, i + 3))
    finish(tile, 4, e0, e1, e2, factor, x, y, w, number_at(a_levels, i + 4))
    finish(tile, 5, f0, f1, f2, factor, x, y, w, number_at(a_levels, i + 5))
    finish(tile, 6, g0, g1, g2, factor, x, y, w, number_at(a_levels, i + 6))
    finish(tile, 7, h0, h1, h2, factor, x, y, w, number_at(a_levels, i + 7))


@inlined
def add(way: int, x: Array, y: Array, z: Array, a: float, p: Array, q: Array, r: Array) -> tuple[Array, Array, Array]:
    """p, q and r, with what this way to t sums up added."""
    if way == COUNTS:
        return add_counts(x, y, z, a, p, q, r)
    if way == DIFFERENCES:
        return add_squares(x, y, z, a, p, q, r)
    return add_dots(x, y, z, a, p, q, r)


@inlined
def end(
    way: int, tile: Array, row: int, p: Array, q: Array, r: Array, factor: float, x: Array, y: Array, z: Array,
    level: float,
) -> None:  # fmt: skip
    """A row of the tile, from such sums; levels belong to products."""
    if way == PRODUCTS:
        finish(tile, row, p, q, r, factor, x, y, z, level)
    else:
        zero = filled(tile, 0)
        if way == COUNTS:
            p, q, r = counted(p), counted(q), counted(r)
        finish(tile, row, p, q, r, factor, zero, zero, zero, 0.0)


@inlined
def four_rows(
    way: int, A: Array, a: int, Z: Array, z: int, d: int, a_levels: Array, i: int, z_levels: Array, j: int,
    factor: float, tile: Array, row: int,
) -> None:  # fmt: skip
    """Four rows of the tile. `way` is a constant where this is called, so that nothing is asked in the loop."""
    lanes = lanes_of(tile)
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = filled(tile, 0)
    for _ in range(d):
        x, y, w = load(Z, z), load(Z, z + lanes), load(Z, z + 2 * lanes)
        a0, a1, a2 = add(way, x, y, w, number_at(A, a), a0, a1, a2)
        b0, b1, b2 = add(way, x, y, w, number_at(A, a + 1), b0, b1, b2)
        c0, c1, c2 = add(way, x, y, w, number_at(A, a + 2), c0, c1, c2)
        d0, d1, d2 = add(way, x, y, w, number_at(A, a + 3), d0, d1, d2)
        a, z = a + GROUP, z + 3 * lanes
    x, y, w = load(z_levels, j), load(z_levels, j + lanes), load(z_levels, j + 2 * lanes)
    end(way, tile, row, a0, a1, a2, factor, x, y, w, number_at(a_levels, i))
    end(way, tile, row + 1, b0, b1, b2, factor, x, y, w, number_at(a_levels, i + 1))
    end(way, tile, row + 2, c0, c1, c2, factor, x, y, w, number_at(a_levels, i + 2))
    end(way, tile, row + 3, d0, d1, d2, factor, x, y, w, number_at(a_levels, i + 3))


@piece
def exponents(
    A: Array, a_levels: Array, g: int, Z: Array, z_levels: Array, m: int, d: int, gamma: float, way: int, tile: Array
) -> None:
    """tile <- t of the points of group g and of panel m, which have d coordinates; every array is flat."""
    real, width = tile.dtype.type, 3 * lanes_of(tile)
    factor, twice = real(-gamma * LOG2E), real(2.0 * gamma * LOG2E)
    a, z, i, j = g * d * GROUP, m * d * width, g * GROUP, m * width
    light = True
    for row in range(GROUP):
        light = light and number_at(a_levels, i + row) >= HEAVY
    if way == COUNTS:
        four_rows(COUNTS, A, a, Z, z, d, a_levels, i, z_levels, j, factor, tile, 0)
        four_rows(COUNTS, A, a + 4, Z, z, d, a_levels, i + 4, z_levels, j, factor, tile, 4)
    elif way == DIFFERENCES or not light:
        four_rows(DIFFERENCES, A, a, Z, z, d, a_levels, i, z_levels, j, factor, tile, 0)
        four_rows(DIFFERENCES, A, a + 4, Z, z, d, a_levels, i + 4, z_levels, j, factor, tile, 4)
    elif _ALL_AT_ONCE:
        eight_products(A, a, Z, z, d, a_levels, i, z_levels, j, twice, tile)
    else:
        four_rows(PRODUCTS, A, a, Z, z, d, a_levels, i, z_levels, j, twice, tile, 0)
        four_rows(PRODUCTS, A, a + 4, Z, z, d, a_levels, i + 4, z_levels, j, twice, tile, 4)


@inlined
def to_values(tile: Array) -> None:
    """Exponents become the kernel's values."""
    for row in range(GROUP):
        x, y, z = get(tile, row)
        x, y, z = exp2(x, y, z)
        put(tile, row, x, y, z)


@inlined
def add_rows(tile: Array, start: int, stop: int, factors: Array, first: int, total: Array, place: int) -> None:
    """Add rows of a tile, from start to stop, to the float64 numbers of `total` from `place` on.

    Each row is taken times its factor; that of the first row of the tile is the `first`.
    """
    width, lanes = 3 * lanes_of(tile), lanes_of(total)
    for j in range(0, width, 3 * lanes):
        i = place + j
        p, q, r = load(total, i), load(total, i + lanes), load(total, i + 2 * lanes)
        for row in range(start, stop):
            at = row * width + j
            x, y, z = load_wide(tile, at), load_wide(tile, at + lanes), load_wide(tile, at + 2 * lanes)
            p, q, r = add_dots(x, y, z, number_at(factors, first + row), p, q, r)
        store(p, total, i)
        store(q, total, i + lanes)
        store(r, total, i + 2 * lanes)


@inlined
def add_columns(tile: Array, factors: Array, first: int, total: Array) -> None:
    """Add the columns of a tile, times their factors, those from `first` on: `total` has a vector for each row."""
    width, lanes = 3 * lanes_of(tile), lanes_of(total)
    for row in range(GROUP):
        p = load(total, row * lanes)
        for j in range(0, width, lanes):
            p = multiply_add(load_wide(tile, row * width + j), load(factors, first + j), p)
        store(p, total, row * lanes)


@exactly_compiled
def gaussian_rows(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    out: Array, at: Array, start: int, stop: int,
) -> None:  # fmt: skip
    """out[at[i], j] <- exp(-gamma |a_i - z_j|^2) for j from start to stop."""
    d, lanes = Z.shape[1], lanes_of(Z)
    width = 3 * lanes
    groups, A, a_levels, Z, z_levels = len(A), A.reshape(-1), a_levels.reshape(-1), Z.reshape(-1), z_levels.reshape(-1)
    tile, rest = np.empty(GROUP * width, A.dtype), np.empty(width, A.dtype)
    several = max(1, min(16, _IN_CACHE // (d * width)))  # so that what is written of a row is not too short
    last = (stop + width - 1) // width
    for left in range(start // width, last, several):
        for g in range(groups):
            for m in range(left, min(left + several, last)):
                exponents(A, a_levels, g, Z, z_levels, m, d, gamma, way, tile)
                first = m * width
                for row in range(min(GROUP, at.size - g * GROUP)):
                    x, y, z = get(tile, row)
                    x, y, z = exp2(x, y, z)
                    place = at[g * GROUP + row]
                    if start <= first and first + width <= stop:
                        store(x, out, place, first)
                        store(y, out, place, first + lanes)
                        store(z, out, place, first + 2 * lanes)
                    else:
                        put(rest, 0, x, y, z)
                        for j in range(max(start - first, 0), min(stop - first, width)):
                            out[place, first + j] = rest[j]


@exactly_compiled
def gaussian_sums(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    v: Array, out: Array, start: int, stop: int,
) -> None:  # fmt: skip
    """out[j] <- sum_i v_i exp(-gamma |a_i - z_j|^2) for j from start to stop; the sums are float64."""
    d, width = Z.shape[1], 3 * lanes_of(Z)
    groups, A, a_levels, Z, z_levels = len(A), A.reshape(-1), a_levels.reshape(-1), Z.reshape(-1), z_levels.reshape(-1)
    tile, total = np.empty(GROUP * width, A.dtype), np.empty(width)
    factors = np.zeros(groups * GROUP)
    factors[: v.size] = v
    for m in range(start // width, (stop + width - 1) // width):
        total[:] = 0.0
        for g in range(groups):
            exponents(A, a_levels, g, Z, z_levels, m, d, gamma, way, tile)
            to_values(tile)
            add_rows(tile, 0, GROUP, factors, g * GROUP, total, 0)
        for j in range(max(start - m * width, 0), min(stop - m * width, width)):
            out[m * width + j] = total[j]


@exactly_compiled
def gaussian_both_ways(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    v: Array, w: Array, above: Array, below: Array, same: bool,
) -> None:  # fmt: skip
    """above[i] += sum_j k(a_i, z_j) v_j and, unless the points are the same, below[j] += sum_i k(a_i, z_j) w_i."""
    d, width, groups, panels = Z.shape[1], 3 * lanes_of(Z), len(A), len(Z)
    A, a_levels, Z, z_levels = A.reshape(-1), a_levels.reshape(-1), Z.reshape(-1), z_levels.reshape(-1)
    right, left = np.zeros(panels * width), np.zeros(groups * GROUP)
    right[: v.size], left[: w.size] = v, w
    lanes = lanes_of(right)
    tile, across, down = np.empty(GROUP * width, A.dtype), np.empty(GROUP * lanes), np.zeros(panels * width)
    for g in range(groups):
        across[:] = 0.0
        for m in range(panels):
            exponents(A, a_levels, g, Z, z_levels, m, d, gamma, way, tile)
            to_values(tile)
            add_columns(tile, right, m * width, across)
            if not same:
                add_rows(tile, 0, GROUP, left, g * GROUP, down, m * width)
        for row in range(min(GROUP, above.size - g * GROUP)):
            above[g * GROUP + row] += sum_of(load(across, row * lanes))
    if not same:
        below += down[: below.size]


@exactly_compiled
def gaussian_pull(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    coefficients: Array, t: Array, weight: Array, e: Array, out: Array,
) -> None:  # fmt: skip
    """e_i <- t_i - sum_j k(a_i, z_j) coefficients_j, and out_j += sum_i weight_i e_i k(a_i, z_j), for each target.

    Coefficients, t, e and out have a row for each target. Each value is computed once, and used twice for each of them.
    Sums over a panel or a group are in the precision of the points, others in float64.
    """
    d, lanes, targets, groups, panels = Z.shape[1], lanes_of(Z), e.shape[0], len(A), len(Z)
    width = 3 * lanes
    A, a_levels, Z, z_levels = A.reshape(-1), a_levels.reshape(-1), Z.reshape(-1), z_levels.reshape(-1)
    tiles, total = np.empty((panels, GROUP * width), A.dtype), np.zeros((targets, panels * width))
    factors, pulls = np.zeros((targets, panels * width), A.dtype), np.zeros(GROUP, A.dtype)
    factors[:, : coefficients.shape[1]] = coefficients
    for g in range(groups):
        place = g * GROUP
        rows = min(GROUP, e.shape[1] - place)
        e[:, place : place + rows] = t[:, place : place + rows]
        for m in range(panels):
            tile, first = tiles[m], m * width
            exponents(A, a_levels, g, Z, z_levels, m, d, gamma, way, tile)
            to_values(tile)
            for s in range(targets):
                x, y, z = load(factors, s, first), load(factors, s, first + lanes), load(factors, s, first + 2 * lanes)
                for row in range(rows):
                    a, b, c = get(tile, row)
                    e[s, place + row] -= sum_of(multiply_add(a, x, multiply_add(b, y, c * z)))
        for s in range(targets):
            for row in range(GROUP):
                pulls[row] = weight[place + row] * e[s, place + row] if row < rows else 0.0
            for m in range(panels):
                tile, first = tiles[m], m * width
                p = q = r = filled(tile, 0)
                for row in range(GROUP):
                    a, b, c = get(tile, row)
                    p, q, r = add_dots(a, b, c, pulls[row], p, q, r)
                add_to(total[s], first, p)
                add_to(total[s], first + lanes, q)
                add_to(total[s], first + 2 * lanes, r)
    out += total[:, : out.shape[1]]
