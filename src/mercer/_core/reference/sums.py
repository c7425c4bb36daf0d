"""Sums of products as if with twice the digits (Ogita, Rump, Oishi 2005, "Accurate sum and dot product", Dot2)."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index

_SPLIT = 2.0**27 + 1.0


def sum_rows(K: Array, rows: Index, columns: Index, beta: Array, twice: bool, out: Array) -> None:
    """out[c, t] <- sum_k beta[c, k] K[rows[k], columns[t]], row by row; `twice`: as if with twice the digits."""
    own = K[np.ix_(rows, columns)]
    if not twice:
        out[...] = beta @ own
        return
    high, low = np.zeros((2, *out.shape))
    for k in np.flatnonzero(beta.any(axis=0)):
        product, lost = _product(beta[:, [k]], own[k])
        total = high + product
        added = total - high
        low += ((high - (total - added)) + (product - added)) + lost
        high = total
    out[...] = high + low


def _product(x: Array, y: Array) -> tuple[Array, Array]:
    """x y rounded, and what that lost (Dekker)."""
    product = x * y
    a, c = _half(x), _half(y)
    b, d = x - a, y - c
    return product, ((a * c - product) + a * d + b * c) + b * d


def _half(x: Array) -> Array:
    """The larger half of the digits (Veltkamp)."""
    far = _SPLIT * x
    return np.asarray(far - (far - x))


def rounded(K: Array, out: Array) -> None:
    """K in float32, into the upper left of `out`; below the least normal number it is 0."""
    own = K.astype(out.dtype)
    own[np.abs(own) < np.finfo(out.dtype).tiny] = 0.0
    out[: len(K), : len(K)] = own
