"""Loops over all points for conjugate gradients with the Hessian of a smooth loss, and for what stands in its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Array
from .compile import compiled


@compiled
def _mean(s: Array, weight: Array) -> Any:
    """The mean of s; 0 where there are no weights."""
    total, sum_of_weights = 0.0, 0.0
    for i in range(s.size):
        total += weight[i] * s[i]
        sum_of_weights += weight[i]
    return total / sum_of_weights if sum_of_weights > 0.0 else 0.0


@compiled
def curvature(s: Array, rate: Array, weight: Array, free_bias: bool, q: Array, p: Array, t: Array) -> Any:
    """From s = Z p, p = M^-1 q: the coefficients of p from those of q, t = D s, s't, and what was taken from s.

    A free bias follows: s is centred, with the weights of M for the coefficients, with those of H for all else.
    """
    shift, other = (_mean(s, rate), _mean(s, weight)) if free_bias else (0.0, 0.0)
    for i in range(s.size):
        p[i] = q[i] - weight[i] * (s[i] - other)
    total = 0.0
    for i in range(s.size):
        s[i] -= shift
        t[i] = rate[i] * s[i]
        total += s[i] * t[i]
    return total, shift


@compiled
def advance(step: float, s: Array, t: Array, p: Array, f: Array, c: Array, r: Array) -> None:
    """A step along s: f and the coefficients c of what is found, and r of the residual."""
    for i in range(s.size):
        f[i] += step * s[i]
    for i in range(s.size):
        c[i] += step * p[i]
        r[i] -= step * (p[i] + t[i])


@compiled
def scaled_rows(X: Array, rows: Array, weight: Array, out: Array) -> None:
    """out <- these rows, each times the root of its weight."""
    for k in range(rows.size):
        row, own, factor = X[rows[k]], out[k], np.sqrt(weight[rows[k]])
        for j in range(row.size):
            own[j] = factor * row[j]
