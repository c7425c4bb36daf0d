"""Loops over all points for the logistic loss log(1 + exp(-margin)), margin = y f, and its conjugate."""

from __future__ import annotations

import numpy as np

from ...types import Array


def logistic(margin: Array, loss: Array, other: Array, curvature: Array) -> None:
    """loss <- log(1 + exp(-margin)), other <- 1 / (1 + exp(margin)), curvature <- the second derivative.

    All are made of exp(-|margin|), which does not overflow.
    """
    with np.errstate(under="ignore"):
        e = np.exp(-np.abs(margin))
        loss[:] = np.log1p(e) - np.minimum(margin, 0.0)
        other[:] = np.where(margin > 0.0, e, 1.0) / (1.0 + e)
        curvature[:] = e / (1.0 + e) ** 2


def logistic_bends(y: Array, C: Array, f: Array, df: Array, part: float) -> tuple[float, float]:
    """The first and second derivative, in `part`, of sum C_i loss(y_i (f_i + part df_i))."""
    loss, other, curvature = np.empty((3, f.size))
    logistic(y * (f + part * df), loss, other, curvature)
    return -float((C * df * y * other).sum()), float((C * df * df * curvature).sum())


def entropies(p: Array, out: Array) -> None:
    """out <- p log(p) + (1 - p) log(1 - p), infinite outside of 0 and 1."""
    least = np.finfo(np.float64).tiny
    q = 1.0 - p
    own = p * np.log(np.maximum(p, least)) + q * np.log(np.maximum(q, least))
    out[:] = np.where(np.minimum(p, q) < 0.0, np.inf, own)
