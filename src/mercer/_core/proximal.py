"""Loops over all points for Newton steps: beta as a function of the scores, and sums of squares of rows.

beta_i(f) is the s with the least  h_i(s) + f_i s + sigma/2 (s - centre_i)^2:  piecewise linear in f_i. The terms of h
are the rows of one array, and nothing depends on a branch, so that the loops vectorise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled
from .descent import EPS, HI, LO, Q, R


@compiled
def _soft(g: float, eps: float) -> Any:
    return max(g - eps, 0.0) + min(g + eps, 0.0)


@compiled
def coefficients(
    f: Array, terms: Array, centre: Array, sigma: float, beta: Array, rate: Array, slack: Array
) -> tuple[float, float, float, float]:
    """beta <- beta(f), rate <- minus its derivatives, slack <- how far f may move before beta does.

    sum beta, sum h(beta), |beta - centre|^2 and the largest |beta_i - centre_i| between two kinks are returned.
    """
    total, conjugate, moved, reach = 0.0, 0.0, 0.0, 0.0
    for i in range(f.size):
        q, r, eps, lo, hi = terms[Q, i], terms[R, i], terms[EPS, i], terms[LO, i], terms[HI, i]
        a = r + sigma
        g = q - f[i] + sigma * centre[i]
        inverse = 1.0 / a
        s = _soft(g, eps) * inverse
        flat = s == 0.0 and eps > 0.0
        outside = max(s - hi, lo - s)
        inside = outside < 0.0 and not flat
        slack[i] = eps - abs(g) if flat else a * max(outside, 0.0)
        s = min(max(s, lo), hi)
        beta[i], rate[i] = s, inverse if inside else 0.0
        total += s
        conjugate += (0.5 * r * s - q) * s + eps * abs(s)
        moved += (s - centre[i]) ** 2
        reach = max(reach, abs(s - centre[i]) if inside else 0.0)
    return total, conjugate, moved, reach


@compiled
def coefficients_along(f: Array, df: Array, step: float, terms: Array, centre: Array, sigma: float) -> float:
    """sum_i beta_i(f + step df) df_i."""
    out = 0.0
    for i in range(f.size):
        s = _soft(terms[Q, i] - f[i] - step * df[i] + sigma * centre[i], terms[EPS, i]) / (terms[R, i] + sigma)
        out += min(max(s, terms[LO, i]), terms[HI, i]) * df[i]
    return out


@compiled
def losses(f: Array, terms: Array) -> float:
    """sum C_i loss(f_i), which is the largest -h_i(s) - f_i s, where r = 0."""
    out = 0.0
    for i in range(f.size):
        g = terms[Q, i] - f[i]
        out += max(abs(g) - terms[EPS, i], 0.0) * (terms[HI, i] if g > 0.0 else -terms[LO, i])
    return out


@compiled
def move(v: Array, f: Array, df: Array, beta: Array, rate: Array, step: float) -> float:
    """v and f after a step in a direction that leads to beta - rate df and f + df; the largest |df|."""
    largest = 0.0
    for i in range(f.size):
        v[i] += step * (beta[i] - rate[i] * df[i] - v[i])
        f[i] += step * df[i]
        largest = max(largest, abs(df[i]))
    return largest


@compiled
def changes(rate: Array, unit: float, held: Array, change: Array, rows: Array) -> tuple[int, int]:
    """change <- unit rate - held, rows <- where it is not 0: how many there are, and how many rates are not 0."""
    size, free = 0, 0
    for i in range(rate.size):
        change[i] = unit * rate[i] - held[i]
        rows[size] = i
        size += change[i] != 0.0
        free += rate[i] != 0.0
    return size, free


@compiled
def gather(X: Array, rows: Array, weight: Array, Z: Array, weighted: Array, ones: Array) -> None:
    """Z <- these rows, weighted <- each times its weight; ones += their sum."""
    for k in range(rows.size):
        row, factor = X[rows[k]], weight[rows[k]]
        for j in range(row.size):
            z = np.float64(row[j])
            Z[k, j], weighted[k, j] = z, factor * z
            ones[j] += factor * z


@compiled
def add_sparse_squares(
    begin: Array, column: Array, value: Array, rows: Array, weight: Array, out: Array, ones: Array
) -> None:
    """out += sum weight_k x x' over these rows, above the diagonal; ones += sum weight_k x."""
    for k in range(rows.size):
        first, last = begin[rows[k]], begin[rows[k] + 1]
        for e in range(np.uint64(first), np.uint64(last)):
            a = weight[k] * np.float64(value[e])
            i = np.uint64(column[e])
            ones[i] += a
            for g in range(e, np.uint64(last)):
                j = np.uint64(column[g])
                if i <= j:
                    out[i, j] += a * value[g]
                else:
                    out[j, i] += a * value[g]
