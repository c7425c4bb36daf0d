"""Gram matrices that many fits share: float64 values for scores and certificates, and the same rounded to float32 and
padded, for steps of pairs. Gaussians of the same points share their distances.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from math import log2
from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.forms import Form, Map
from .._core.forms import Way as Sums
from .._core.reference import PANEL
from ..columns import Columns, padded, pieces
from ..columns.dense import Tiles
from ..kernels import Gaussian, Kernel
from ..kernels.points import count, is_sparse, width
from ..parallel import for_each
from ..types import Array, Points

core = CHOICE.functions
_LOG2E = log2(np.e)
_NOTHING = 1e-20  # of the largest value: less is zero in float32, where it would be slow (denormal numbers)
_STRIP = 256  # rows that are made at a time
BYTES = 12  # for each pair of points: float64 and float32


class Matrix(NamedTuple):
    """K in float64, and in float32 with rows and columns of zeros around it."""

    precise: Array
    single: Array


class Matrices:
    """The Gram matrices of some points, the last `keep` of them held; safe to ask from several threads."""

    def __init__(self, X: Points, keep: int, threads: int) -> None:
        self.X, self.n, self.keep, self.threads = X, count(X), keep, threads
        self.held: OrderedDict[Kernel, Matrix] = OrderedDict()
        self.distances: Array | None = None
        self.lock = threading.Lock()

    def of(self, kernel: Kernel) -> Matrix:
        """K of a kernel whose parameters are numbers."""
        with self.lock:
            if kernel not in self.held:
                while len(self.held) >= self.keep:
                    self.held.popitem(last=False)
                self.held[kernel] = self._made(kernel)
            self.held.move_to_end(kernel)
            return self.held[kernel]

    def _made(self, kernel: Kernel) -> Matrix:
        if isinstance(kernel, Gaussian) and not is_sparse(self.X):
            precise = self._gaussian(float(kernel.gamma))
        else:
            precise = np.empty((self.n, self.n))
            Columns(kernel, self.X, np.float64, self.threads).square(np.arange(self.n), precise)
        return Matrix(precise, self._rounded(precise))

    def _gaussian(self, gamma: float) -> Array:
        """2^(-gamma log2(e) |x - z|^2), the distances taken once for all gammas."""
        if self.distances is None:
            way = Tiles(Form(Sums.SQUARES), np.zeros(width(self.X)), 0.0, np.float64)
            self.distances = np.empty((self.n, self.n))
            columns = Columns(Gaussian(gamma), self.X, np.float64, self.threads, way=way)
            columns.square(np.arange(self.n), self.distances)
        form = Form(Sums.SQUARES, Map.EXPONENTIAL, -gamma * _LOG2E)
        K, levels = np.empty((self.n, self.n)), np.zeros(padded(self.n) + PANEL)  # whole panels

        def strip(part: slice) -> None:
            K[part, part.start :] = self.distances[part, part.start :]  # type: ignore[index]
            slots = np.arange(part.stop - part.start)
            core.finish_rows(form, np.zeros(slots.size), levels, slots, K[part, part.start :])

        for_each(pieces(self.n, _STRIP), strip, self.threads)
        core.mirror(K, 0, self.n)  # the other half
        return K

    def _rounded(self, K: Array) -> Array:
        size = padded(self.n)
        single = np.zeros((size, size), np.float32)
        nothing = _NOTHING * float(np.abs(K.diagonal()).max(initial=0.0))

        def strip(part: slice) -> None:
            own = K[part].astype(np.float32)
            own[np.abs(own) < nothing] = 0.0
            single[part, : self.n] = own

        for_each(pieces(self.n, _STRIP), strip, self.threads)
        return single


def part_of(single: Array, parts: list[tuple[slice, slice]]) -> Array:
    """Some rows and columns of a padded matrix, padded again: (where they go, where they stand) of each part."""
    size = padded(sum(place.stop - place.start for place, _ in parts))
    out = np.zeros((size, size), single.dtype)
    for to_rows, rows in parts:
        for to_columns, columns in parts:
            out[to_rows, to_columns] = single[rows, columns]
    return out
