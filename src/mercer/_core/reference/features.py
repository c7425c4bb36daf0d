"""Rows of features, dense or sparse (CSR), and their products. Values may be float32; sums are float64.

Rows come as a tuple: (X,), or (begin, column, value).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...types import Array
from .packing import VALUES_AT_A_TIME

LEAST_ROWS = 64  # of sparse points, which have few entries


def sigmoid(z: Any) -> Any:
    """1 / (1 + exp(-z))."""
    with np.errstate(under="ignore"):
        return np.exp(-np.logaddexp(0.0, -z))


class Rows:
    """One row at a time: its product with w, and w with the row added."""

    def __init__(self, parts: tuple[Array, ...]) -> None:
        self.parts = parts

    def entries(self, i: int) -> tuple[Any, Array]:
        """Where row i has entries, and which."""
        if len(self.parts) == 1:
            return slice(None), self.parts[0][i].astype(np.float64)
        begin, column, value = self.parts
        own = slice(begin[i], begin[i + 1])
        return column[own], value[own].astype(np.float64)

    def score(self, k: int, i: int, image: Array) -> float:
        """<x_i, w>, in the k-th visit of a pass."""
        place, value = self.entries(i)
        return float(value @ image[place])

    def change(self, k: int, i: int, step: float, image: Array) -> None:
        """w += step x_i."""
        place, value = self.entries(i)
        image[place] += step * value


class KernelRows:
    """The same with rows of K: row k is that of the k-th point that is visited, and the image holds all scores."""

    def __init__(self, K: Array) -> None:
        self.K = K

    def score(self, k: int, i: int, image: Array) -> float:
        """The score of point i."""
        return float(image[i])

    def change(self, k: int, i: int, step: float, image: Array) -> None:
        """All scores += step K_i."""
        image += step * self.K[k].astype(np.float64)


def _strips(rows: tuple[Array, ...], width: int, start: int, stop: int) -> Iterator[tuple[slice, Any]]:
    """The rows from start to stop, as matrices in float64 of a few at a time."""
    step = max(VALUES_AT_A_TIME // max(width, 1), LEAST_ROWS)
    for first in range(start, stop, step):
        strip = slice(first, min(first + step, stop))
        if len(rows) == 1:
            yield strip, rows[0][strip].astype(np.float64)
            continue
        from scipy.sparse import csr_array

        begin, column, value = rows
        own = slice(begin[strip.start], begin[strip.stop])
        parts = (value[own].astype(np.float64), column[own], begin[strip.start : strip.stop + 1] - own.start)
        yield strip, csr_array(parts, shape=(strip.stop - strip.start, width))


def dots(rows: tuple[Array, ...], w: Array, out: Array, start: int, stop: int) -> None:
    """out_i <- <x_i, w>, for the rows from start to stop."""
    for strip, X in _strips(rows, w.size, start, stop):
        out[strip] = X @ w


def combine(rows: tuple[Array, ...], v: Array, out: Array, start: int, stop: int) -> None:
    """out += sum_i v_i x_i, over the rows from start to stop."""
    for strip, X in _strips(rows, out.size, start, stop):
        out += X.T @ v[strip]


def weighted(
    rows: tuple[Array, ...], w: Array, shift: float, rate: Array, s: Array, out: Array, start: int, stop: int
) -> None:
    """s_i <- <x_i, w> + shift, and out += sum_i rate_i s_i x_i, over the rows from start to stop."""
    for strip, X in _strips(rows, w.size, start, stop):
        s[strip] = X @ w + shift
        out += X.T @ (rate[strip] * s[strip])


def squares(rows: tuple[Array, ...], width: int, out: Array, start: int, stop: int) -> None:
    """out_i <- |x_i|^2, for the rows from start to stop."""
    for strip, X in _strips(rows, width, start, stop):
        out[strip] = np.asarray((X * X).sum(axis=1)).reshape(-1)
