"""The largest eigenvalues of a symmetric matrix and their vectors, without all the others: block Lanczos.

A block Q is multiplied by K again and again, each time made orthogonal to all before it. With V all blocks in a row,
K V = V H + Q_next R E', so that an eigenpair (t, y) of the small H gives K (V y) = t (V y) up to a residual of norm
|R y_last|: an eigenvalue of K is no further than that from t. (Golub, Underwood 1977.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh as dense_eigh
from scipy.linalg import qr

from .._core.core import CHOICE
from ..columns import pieces
from ..parallel import apart, crew_kept, in_order, one_blas_thread, thread_count
from ..ties import signed
from ..types import Array

core = CHOICE.functions
_BLOCK = 8  # columns of a block; the product takes a multiple of 8
_MOST = 0.1  # of the eigenvectors: for more than that, LAPACK is as fast
_REACH, _ROOM = 8, 200  # columns for each that is wanted, and in addition, until LAPACK takes over
_ROWS = 64  # of K at a time, in cache
_STRIP, _STRIPS = 256, 16  # rows for a thread, or more, so that there are hardly more strips
_AGAIN = 1.15  # times as many columns as at the last test, at the next one


class Spectrum(NamedTuple):
    """Eigenvalues, largest first, vectors as columns, and what each may be wrong by at most."""

    values: Array
    vectors: Array
    residuals: Array


def leading(K: Array, wanted: int, u: Array | None = None, tol: float = 1e-10) -> Spectrum:
    """The `wanted` largest eigenvalues of P K P, P = 1 - u u', each to within `tol` times the largest.

    Without u, that of length 1 with equal entries is taken: then P K P is the Gram matrix of points around their mean
    in feature space. K may be overwritten.
    """
    n = len(K)
    u = np.full(n, 1.0 / np.sqrt(n)) if u is None else u
    with one_blas_thread(), crew_kept():  # blocks are narrow: the threads of BLAS would wait for each other
        found = None if wanted > _MOST * n else _lanczos(K, wanted, u, tol)
    found = found or _dense(K, min(wanted, n), u)
    return found._replace(vectors=signed(found.vectors))


def _dense(K: Array, wanted: int, u: Array) -> Spectrum:
    """By LAPACK."""
    n, Ku = len(K), K @ u
    half = Ku - 0.5 * (u @ Ku) * u
    for rows in pieces(n, _ROWS):
        K[rows] -= np.outer(u[rows], half) + np.outer(half[rows], u)
    if wanted == n:
        values, vectors = apart(lambda: np.linalg.eigh(K))  # all threads of BLAS
    else:
        values, vectors = dense_eigh(K, subset_by_index=(n - wanted, n - 1), overwrite_a=True, check_finite=False)
    return Spectrum(values[::-1], vectors[:, ::-1], np.zeros(wanted))


def _apart_from(u: Array, W: Array) -> Array:
    """P W."""
    W -= np.outer(u, u @ W)
    return W


def _by_strips(n: int, work: Callable[[slice], Array]) -> list[Array]:
    """What the work gives on strips of the rows, in order: the same strips, whatever the number of threads."""
    return in_order(pieces(n, _STRIP), work, thread_count())


def _product(K: Array, V: Array) -> Array:
    """K V, for which half of K is read: that takes most of the time."""
    n, V = len(K), np.ascontiguousarray(V)

    def half(rows: slice) -> Array:
        W = np.zeros(V.shape)
        core.add_symmetric(K, V, W, rows.start, rows.stop)
        return W

    return np.asarray(sum(in_order(pieces(n, max(_STRIP, n // _STRIPS)), half, thread_count())))


def _along(V: Array, W: Array, rows: slice) -> Array:
    return np.asarray(V[rows].T @ W[rows])


def _without(V: Array, along: Array, W: Array, rows: slice) -> Array:
    W[rows] -= V[rows] @ along
    return W


def _lanczos(K: Array, wanted: int, u: Array, tol: float) -> Spectrum | None:
    """None, where eigenvalues lie too close together."""
    n, width = len(K), _BLOCK
    most = min(_REACH * wanted + _ROOM, n // 2) // width * width
    if most < wanted + 2 * width:
        return None
    V = np.empty((n, most + width), order="F")
    H = np.zeros((most, most))
    V[:, :width], _ = qr(_apart_from(u, np.random.default_rng(0).normal(size=(n, width))), mode="economic")
    next_test = wanted + 2 * width
    for start in range(0, most, width):
        stop = start + width
        W = _product(K, V[:, start:stop])
        R: Array = np.eye(width)
        for _ in range(2):  # the second time with columns of length 1, for what is left may be rounding
            W = np.ascontiguousarray(_apart_from(u, W))
            along = np.asarray(sum(_by_strips(n, partial(_along, V[:, :stop], W))))
            _by_strips(n, partial(_without, V[:, :stop], along, W))
            H[:stop, start:stop] += along @ R
            W, T = qr(W, mode="economic", check_finite=False)
            R = T @ R
        V[:, stop : stop + width] = W
        if stop < next_test:
            continue
        next_test = int(_AGAIN * stop)
        values, Y = dense_eigh(H[:stop, :stop], lower=False, subset_by_index=(stop - wanted, stop - 1))
        residuals = np.linalg.norm(R @ Y[start:stop], axis=0)
        if residuals.max() <= tol * max(abs(values[-1]), abs(values[0])):
            return Spectrum(values[::-1], (V[:, :stop] @ Y)[:, ::-1], residuals[::-1])
    return None
