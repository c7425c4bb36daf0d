"""The Gaussian of dense points: distances and exponentials, tile by tile, without a pass through memory between.

Both sets of points are packed by coordinates: the rows in groups of eight, the columns in panels of as many as three
registers hold. A tile is the block of one group and one panel, small enough that its sums stay in registers.

exp(-gamma |a - z|^2) = 2^t, where t comes from dot products, which is fastest, or from differences: for points far from
the centre, where products would lose digits, and in float64. The `level` of a point is t of the point and the centre.
Points of zeros and ones may be packed as bits, 32 to a float32: t then comes from counts of bits that differ.
"""

from __future__ import annotations

import numpy as np

from ..types import Array
from .compile import exactly_compiled, inlined, piece
from .vectors import BYTES, accumulate, add_to, differing, exp2, filled, load, multiply_add, smaller, store, sum_of

LOG2E = 1.4426950408889634
GROUP = 8
DOUBLES = BYTES // 8  # float64 numbers to a register
PANEL = {4: 3 * BYTES // 4, 8: 3 * BYTES // 8}  # points, by the bytes of a number
HEAVY = -8.0 * LOG2E  # t from products has an error of about 1e-7 (level of a + level of z): not for levels below this
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
    return p + differing(x, a), q + differing(y, a), r + differing(z, a)


@inlined
def finish(
    tile: Array, row: int, p: Array, q: Array, r: Array, factor: float, x: Array, y: Array, z: Array, level: float
) -> None:
    """A row of the tile <- 2^(factor p + x + level), and the same of q and r."""
    lanes = tile.shape[1] // 3
    store(exp2(smaller(multiply_add(p, factor, x + level), 0)), tile, row, 0)
    store(exp2(smaller(multiply_add(q, factor, y + level), 0)), tile, row, lanes)
    store(exp2(smaller(multiply_add(r, factor, z + level), 0)), tile, row, 2 * lanes)


@inlined
def from_eight_products(
    A: Array, a_levels: Array, g: int, Z: Array, z_levels: Array, m: int, factor: float, tile: Array
) -> None:
    """The tile of group g and panel m, from dot products."""
    lanes = tile.shape[1] // 3
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = filled(tile, 0)
    e0 = e1 = e2 = f0 = f1 = f2 = g0 = g1 = g2 = h0 = h1 = h2 = filled(tile, 0)
    for k in range(A.shape[1]):
        x, y, z = load(Z, m, k, 0), load(Z, m, k, lanes), load(Z, m, k, 2 * lanes)
        a0, a1, a2 = add_dots(x, y, z, A[g, k, 0], a0, a1, a2)
        b0, b1, b2 = add_dots(x, y, z, A[g, k, 1], b0, b1, b2)
        c0, c1, c2 = add_dots(x, y, z, A[g, k, 2], c0, c1, c2)
        d0, d1, d2 = add_dots(x, y, z, A[g, k, 3], d0, d1, d2)
        e0, e1, e2 = add_dots(x, y, z, A[g, k, 4], e0, e1, e2)
        f0, f1, f2 = add_dots(x, y, z, A[g, k, 5], f0, f1, f2)
        g0, g1, g2 = add_dots(x, y, z, A[g, k, 6], g0, g1, g2)
        h0, h1, h2 = add_dots(x, y, z, A[g, k, 7], h0, h1, h2)
    x, y, z = load(z_levels, m, 0), load(z_levels, m, lanes), load(z_levels, m, 2 * lanes)
    finish(tile, 0, a0, a1, a2, factor, x, y, z, a_levels[g, 0])
    finish(tile, 1, b0, b1, b2, factor, x, y, z, a_levels[g, 1])
    finish(tile, 2, c0, c1, c2, factor, x, y, z, a_levels[g, 2])
    finish(tile, 3, d0, d1, d2, factor, x, y, z, a_levels[g, 3])
    finish(tile, 4, e0, e1, e2, factor, x, y, z, a_levels[g, 4])
    finish(tile, 5, f0, f1, f2, factor, x, y, z, a_levels[g, 5])
    finish(tile, 6, g0, g1, g2, factor, x, y, z, a_levels[g, 6])
    finish(tile, 7, h0, h1, h2, factor, x, y, z, a_levels[g, 7])


@inlined
def from_four_products(
    A: Array, a_levels: Array, g: int, Z: Array, z_levels: Array, m: int, factor: float, tile: Array, row: int
) -> None:
    """Four rows of the tile, from dot products."""
    lanes = tile.shape[1] // 3
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = filled(tile, 0)
    for k in range(A.shape[1]):
        x, y, z = load(Z, m, k, 0), load(Z, m, k, lanes), load(Z, m, k, 2 * lanes)
        a0, a1, a2 = add_dots(x, y, z, A[g, k, row], a0, a1, a2)
        b0, b1, b2 = add_dots(x, y, z, A[g, k, row + 1], b0, b1, b2)
        c0, c1, c2 = add_dots(x, y, z, A[g, k, row + 2], c0, c1, c2)
        d0, d1, d2 = add_dots(x, y, z, A[g, k, row + 3], d0, d1, d2)
    x, y, z = load(z_levels, m, 0), load(z_levels, m, lanes), load(z_levels, m, 2 * lanes)
    finish(tile, row, a0, a1, a2, factor, x, y, z, a_levels[g, row])
    finish(tile, row + 1, b0, b1, b2, factor, x, y, z, a_levels[g, row + 1])
    finish(tile, row + 2, c0, c1, c2, factor, x, y, z, a_levels[g, row + 2])
    finish(tile, row + 3, d0, d1, d2, factor, x, y, z, a_levels[g, row + 3])


@inlined
def from_four_differences(A: Array, g: int, Z: Array, m: int, factor: float, tile: Array, row: int) -> None:
    """Four rows of the tile, from differences: no digit is lost to cancellation."""
    lanes = tile.shape[1] // 3
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = zero = filled(tile, 0)
    for k in range(A.shape[1]):
        x, y, z = load(Z, m, k, 0), load(Z, m, k, lanes), load(Z, m, k, 2 * lanes)
        a0, a1, a2 = add_squares(x, y, z, A[g, k, row], a0, a1, a2)
        b0, b1, b2 = add_squares(x, y, z, A[g, k, row + 1], b0, b1, b2)
        c0, c1, c2 = add_squares(x, y, z, A[g, k, row + 2], c0, c1, c2)
        d0, d1, d2 = add_squares(x, y, z, A[g, k, row + 3], d0, d1, d2)
    finish(tile, row, a0, a1, a2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 1, b0, b1, b2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 2, c0, c1, c2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 3, d0, d1, d2, factor, zero, zero, zero, 0.0)


@inlined
def from_four_counts(A: Array, g: int, Z: Array, m: int, factor: float, tile: Array, row: int) -> None:
    """Four rows of the tile, from counts."""
    lanes = tile.shape[1] // 3
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = d0 = d1 = d2 = zero = filled(tile, 0)
    for k in range(A.shape[1]):
        x, y, z = load(Z, m, k, 0), load(Z, m, k, lanes), load(Z, m, k, 2 * lanes)
        a0, a1, a2 = add_counts(x, y, z, A[g, k, row], a0, a1, a2)
        b0, b1, b2 = add_counts(x, y, z, A[g, k, row + 1], b0, b1, b2)
        c0, c1, c2 = add_counts(x, y, z, A[g, k, row + 2], c0, c1, c2)
        d0, d1, d2 = add_counts(x, y, z, A[g, k, row + 3], d0, d1, d2)
    finish(tile, row, a0, a1, a2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 1, b0, b1, b2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 2, c0, c1, c2, factor, zero, zero, zero, 0.0)
    finish(tile, row + 3, d0, d1, d2, factor, zero, zero, zero, 0.0)


@piece
def gaussian_tile(
    A: Array, a_levels: Array, g: int, Z: Array, z_levels: Array, m: int, gamma: float, way: int, tile: Array
) -> None:
    """tile <- exp(-gamma |a - z|^2) for the points a of group g and z of panel m."""
    factor = -gamma * LOG2E
    light = True
    for row in range(GROUP):
        light = light and a_levels[g, row] >= HEAVY
    if way == COUNTS:
        from_four_counts(A, g, Z, m, factor, tile, 0)
        from_four_counts(A, g, Z, m, factor, tile, 4)
    elif way == DIFFERENCES or not light:
        from_four_differences(A, g, Z, m, factor, tile, 0)
        from_four_differences(A, g, Z, m, factor, tile, 4)
    elif _ALL_AT_ONCE:
        from_eight_products(A, a_levels, g, Z, z_levels, m, -2.0 * factor, tile)
    else:
        from_four_products(A, a_levels, g, Z, z_levels, m, -2.0 * factor, tile, 0)
        from_four_products(A, a_levels, g, Z, z_levels, m, -2.0 * factor, tile, 4)


@inlined
def write_tile(tile: Array, out: Array, at: Array, g: int, first: int, start: int, stop: int) -> None:
    """Put the rows of group g, from the column `first` on, where they belong; columns from start to stop only."""
    width = tile.shape[1]
    lanes = width // 3
    for row in range(min(GROUP, at.size - g * GROUP)):
        place = at[g * GROUP + row]
        if start <= first and first + width <= stop:
            store(load(tile, row, 0), out, place, first)
            store(load(tile, row, lanes), out, place, first + lanes)
            store(load(tile, row, 2 * lanes), out, place, first + 2 * lanes)
        else:
            for j in range(max(start - first, 0), min(stop - first, width)):
                out[place, first + j] = tile[row, j]


@exactly_compiled
def gaussian_rows(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    out: Array, at: Array, start: int, stop: int,
) -> None:  # fmt: skip
    """out[at[i], j] <- exp(-gamma |a_i - z_j|^2) for j from start to stop."""
    width = Z.shape[2]
    tile = np.empty((GROUP, width), A.dtype)
    several = max(1, min(16, _IN_CACHE // (Z.shape[1] * width)))  # so that what is written of a row is not too short
    last = (stop + width - 1) // width
    for left in range(start // width, last, several):
        for g in range(A.shape[0]):
            for m in range(left, min(left + several, last)):
                gaussian_tile(A, a_levels, g, Z, z_levels, m, gamma, way, tile)
                write_tile(tile, out, at, g, m * width, start, stop)


@inlined
def store_sums(total: Array, lanes: int, p: Array, P: Array, q: Array, Q: Array, r: Array, R: Array) -> None:
    """The float64 sums of a panel, in halves where `lanes` numbers are more than a vector of float64."""
    half = total.size // 6
    if lanes > half:
        store(P, total, half)
        store(Q, total, lanes + half)
        store(R, total, 2 * lanes + half)
    store(p, total, 0)
    store(q, total, lanes)
    store(r, total, 2 * lanes)


@exactly_compiled
def gaussian_sums(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    v: Array, out: Array, start: int, stop: int,
) -> None:  # fmt: skip
    """out[j] <- sum_i v_i exp(-gamma |a_i - z_j|^2) for j from start to stop; the sums are float64."""
    width = Z.shape[2]
    lanes = width // 3
    tile, total, factors = np.empty((GROUP, width), A.dtype), np.empty(6 * DOUBLES), np.zeros(A.shape[0] * GROUP)
    factors[: v.size] = v
    for m in range(start // width, (stop + width - 1) // width):
        p = P = q = Q = r = R = filled(total, 0)
        for g in range(A.shape[0]):
            gaussian_tile(A, a_levels, g, Z, z_levels, m, gamma, way, tile)
            for row in range(GROUP):
                factor = factors[g * GROUP + row]
                p, P = accumulate(p, P, load(tile, row, 0), factor)
                q, Q = accumulate(q, Q, load(tile, row, lanes), factor)
                r, R = accumulate(r, R, load(tile, row, 2 * lanes), factor)
        store_sums(total, lanes, p, P, q, Q, r, R)
        for j in range(max(start - m * width, 0), min(stop - m * width, width)):
            out[m * width + j] = total[j]


@exactly_compiled
def gaussian_both_ways(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    v: Array, w: Array, above: Array, below: Array, same: bool,
) -> None:  # fmt: skip
    """above[i] += sum_j k(a_i, z_j) v_j and, unless the points are the same, below[j] += sum_i k(a_i, z_j) w_i."""
    width = Z.shape[2]
    lanes = width // 3
    tile, total = np.empty((GROUP, width), A.dtype), np.empty(6 * DOUBLES)
    right, left = np.zeros(Z.shape[0] * width, A.dtype), np.zeros(A.shape[0] * GROUP)
    right[: v.size], left[: w.size] = v, w
    for m in range(Z.shape[0]):
        first = m * width
        x, y, z = load(right, first), load(right, first + lanes), load(right, first + 2 * lanes)
        p = P = q = Q = r = R = filled(total, 0)
        for g in range(A.shape[0]):
            gaussian_tile(A, a_levels, g, Z, z_levels, m, gamma, way, tile)
            for row in range(min(GROUP, above.size - g * GROUP)):
                a, b, c = load(tile, row, 0), load(tile, row, lanes), load(tile, row, 2 * lanes)
                above[g * GROUP + row] += sum_of(multiply_add(a, x, multiply_add(b, y, c * z)))
                factor = left[g * GROUP + row]
                p, P = accumulate(p, P, a, factor)
                q, Q = accumulate(q, Q, b, factor)
                r, R = accumulate(r, R, c, factor)
        store_sums(total, lanes, p, P, q, Q, r, R)
        if not same:
            for j in range(min(width, below.size - first)):
                below[first + j] += total[j]


@exactly_compiled
def gaussian_pull(
    A: Array, a_levels: Array, Z: Array, z_levels: Array, gamma: float, way: int,
    coefficients: Array, t: Array, weight: Array, e: Array, out: Array,
) -> None:  # fmt: skip
    """e_i <- t_i - sum_j k(a_i, z_j) coefficients_j, and out_j += sum_i weight_i e_i k(a_i, z_j), for each target.

    Coefficients, t, e and out have a row for each target. Each value is computed once, and used twice for each of them.
    Sums over a panel or a group are in the precision of the points, others in float64.
    """
    targets, panels, width = e.shape[0], Z.shape[0], Z.shape[2]
    lanes = width // 3
    tiles, total = np.empty((panels, GROUP, width), A.dtype), np.zeros((targets, panels * width))
    factors, pulls = np.zeros((targets, panels * width), A.dtype), np.zeros(GROUP, A.dtype)
    factors[:, : coefficients.shape[1]] = coefficients
    for g in range(A.shape[0]):
        place = g * GROUP
        rows = min(GROUP, e.shape[1] - place)
        e[:, place : place + rows] = t[:, place : place + rows]
        for m in range(panels):
            tile, first = tiles[m], m * width
            gaussian_tile(A, a_levels, g, Z, z_levels, m, gamma, way, tile)
            for s in range(targets):
                x, y, z = load(factors, s, first), load(factors, s, first + lanes), load(factors, s, first + 2 * lanes)
                for row in range(rows):
                    a, b, c = load(tile, row, 0), load(tile, row, lanes), load(tile, row, 2 * lanes)
                    e[s, place + row] -= sum_of(multiply_add(a, x, multiply_add(b, y, c * z)))
        for s in range(targets):
            for row in range(GROUP):
                pulls[row] = weight[place + row] * e[s, place + row] if row < rows else 0.0
            for m in range(panels):
                tile, first = tiles[m], m * width
                p = q = r = filled(tile, 0)
                for row in range(GROUP):
                    p, q, r = add_dots(
                        load(tile, row, 0), load(tile, row, lanes), load(tile, row, 2 * lanes), pulls[row], p, q, r
                    )
                add_to(total[s], first, p)
                add_to(total[s], first + lanes, q)
                add_to(total[s], first + 2 * lanes, r)
    out += total[:, : out.shape[1]]
