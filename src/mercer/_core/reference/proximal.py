"""Loops over all points for Newton steps with a proximal term, and sums of squares of rows.

beta_i(f) is the s with the least  h_i(s) + f_i s + sigma/2 (s - centre_i)^2:  piecewise linear in f_i. The terms of h
are the rows q, r, eps, lo, hi of one array.
"""

from __future__ import annotations

import numpy as np

from ...types import Array, Index


def proximal_point(
    f: Array, terms: Array, centre: Array, sigma: float, beta: Array, rate: Array, slack: Array
) -> tuple[float, float, float, float]:
    """beta <- beta(f), rate <- minus its derivatives, slack <- how far f may move before beta does.

    sum beta, sum h(beta), |beta - centre|^2 and the largest |beta_i - centre_i| between two kinks are returned.
    """
    q, r, eps, lo, hi = terms
    a, g = r + sigma, q - f + sigma * centre
    s = _soft(g, eps) / a
    flat, outside = (s == 0.0) & (eps > 0.0), np.maximum(s - hi, lo - s)
    inside = (outside < 0.0) & ~flat
    slack[:] = np.where(flat, eps - np.abs(g), a * np.maximum(outside, 0.0))
    beta[:], rate[:] = np.clip(s, lo, hi), np.where(inside, 1.0 / a, 0.0)
    away = beta - centre
    conjugate = float(((0.5 * r * beta - q) * beta + eps * np.abs(beta)).sum())
    reach = float(np.abs(away[inside]).max(initial=0.0))
    return float(beta.sum()), conjugate, float((away * away).sum()), reach


def proximal_slope(f: Array, df: Array, step: float, terms: Array, centre: Array, sigma: float) -> float:
    """sum_i beta_i(f + step df) df_i."""
    q, r, eps, lo, hi = terms
    s = _soft(q - f - step * df + sigma * centre, eps) / (r + sigma)
    return float((np.clip(s, lo, hi) * df).sum())


def carry(
    s: Array,
    rate: Array,
    near: Array,
    step: tuple[float, float, float, float],
    direction: Array,
    residual: Array,
    f: Array,
) -> None:
    """A step of conjugate gradients for I + Z'DZ, in coefficients: every vector there is a combination Z'c of rows.

    `residual` are those of the residual, `direction` those of q, where p = M^-1 q is the direction, s = Z p, D = `rate`
    and M = I + Z'mZ with m = `near`; f is the sum of what steps change. step: the part of p that is taken, how much of
    the q before was in q, and what s is measured from, with D and with m.
    """
    part, turn, centre, near_centre = step
    direction[:] = turn * direction + residual
    residual -= part * (direction + (rate * (s - centre) - near * (s - near_centre)))
    f += part * s


def add_dense_squares(X: Array, rows: Index, weight: Array, single: bool, out: Array, ones: Array) -> None:
    """out += sum_k weight_k x x' over these rows, on and above the diagonal; ones += sum weight_k x.

    `single`: sums over a few float32 rows at a time may be float32.
    """
    Z = X[rows].astype(np.float64)
    out += np.triu(Z.T @ (weight[:, None] * Z))
    ones += weight @ Z


def add_sparse_squares(
    begin: Array, column: Array, value: Array, rows: Index, weight: Array, out: Array, ones: Array
) -> None:
    """out += sum_k weight_k x x' over these sparse rows, on and above the diagonal; ones += sum weight_k x."""
    for row, factor in zip(rows, weight, strict=True):
        own = slice(begin[row], begin[row + 1])
        at, x = column[own], value[own].astype(np.float64)
        whole = np.zeros(out.shape)
        np.add.at(whole, np.ix_(at, at), factor * np.outer(x, x))
        out += np.triu(whole)
        np.add.at(ones, at, factor * x)


def _soft(g: Array, eps: Array) -> Array:
    return np.asarray(np.maximum(g - eps, 0.0) + np.minimum(g + eps, 0.0))
