"""Sums of rows that are kept, and blocks out of them."""

from __future__ import annotations

import numpy as np

from ...types import Array, Index

_AT_ONCE = 2**18  # values that are copied together


def add_rows(rows: Array, slots: Index, v: Array, out: Array) -> None:
    """out[t] += sum_k v_k rows[slots_k, t], in float64, some columns at a time; out may be shorter than a row."""
    step = max(_AT_ONCE // max(slots.size, 1), 1)
    for start in range(0, out.size, step):
        part = slice(start, min(start + step, out.size))
        out[part] += v @ rows[slots, part].astype(np.float64)


def add_symmetric(K: Array, V: Array, out: Array, start: int, stop: int) -> None:
    """out += what these rows of the symmetric K give to K V from the diagonal on, and what they give mirrored. The
    columns of V are a multiple of 8.
    """
    upper = np.triu(K[start:stop], start)
    out[start:stop] += upper @ V
    out += np.triu(upper, start + 1).T @ V[start:stop]


def mirror(K: Array, first: int, last: int) -> None:
    """K[i, j] <- K[j, i] for j < i, of the rows from first to last."""
    for i in range(first, last):
        K[i, :i] = K[:i, i]


def gather(rows: Array, slots: Index, W: Index, own: Array, K: Array) -> None:
    """K <- the block of the points W (sorted), into its upper left corner.

    Point W_i has its row in rows[slots_i]; where slots_i is -1 it has none, and `own` holds the block of these points
    among themselves.
    """
    held, others = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
    K[held, : W.size] = rows[slots[held][:, None], W]
    K[np.ix_(others, others)] = own[: others.size, : others.size]
    K[np.ix_(others, held)] = K[np.ix_(held, others)].T
