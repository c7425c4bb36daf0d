"""Gram matrices that many fits share: float64 values for scores and certificates, and the same rounded to float32 and
padded, for steps of pairs. Gaussians of the same points share their distances.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from math import log2
from typing import NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.forms import Form, Map, Summed
from .._core.reference import PANEL
from ..columns import Columns, padded, pieces
from ..columns.tiles import Tiles
from ..kernels import Gaussian, Kernel
from ..kernels.points import count, is_sparse, width
from ..parallel import for_each
from ..types import Array, Points

core = CHOICE.functions
_LOG2E = log2(np.e)
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
        self.users: Counter[Kernel] = Counter()
        self.distances: Array | None = None
        self.lock = threading.Lock()

    @contextmanager
    def lent(self, kernel: Kernel) -> Iterator[Matrix]:
        """K of a kernel whose parameters are numbers, for as long as it is needed."""
        with self.lock:
            if kernel not in self.held:
                self.held[kernel] = self._made(kernel, self._room())
            self.held.move_to_end(kernel)
            self.users[kernel] += 1
        try:
            yield self.held[kernel]
        finally:
            with self.lock:
                self.users[kernel] -= 1

    def _room(self) -> Matrix:
        """Memory for one more: that of the oldest which nobody uses, where there are enough; fresh memory is slow."""
        idle = next((kernel for kernel in self.held if not self.users[kernel]), None)
        if len(self.held) >= self.keep and idle is not None:
            return self.held.pop(idle)
        return Matrix(np.empty((self.n, self.n)), np.zeros((padded(self.n),) * 2, np.float32))

    def _made(self, kernel: Kernel, room: Matrix) -> Matrix:
        if isinstance(kernel, Gaussian) and not is_sparse(self.X):
            self._gaussian(float(kernel.gamma), room.precise)
        else:
            Columns(kernel, self.X, np.float64, self.threads).square(np.arange(self.n), room.precise)
        core.rounded(room.precise, room.single)
        return room

    def _gaussian(self, gamma: float, K: Array) -> None:
        """2^(-gamma log2(e) |x - z|^2), the distances taken once for all gammas."""
        if self.distances is None:
            way = Tiles(Form(Summed.SQUARES), np.zeros(width(self.X)), 0.0, np.float64)
            self.distances = np.empty((self.n, self.n))
            columns = Columns(Gaussian(gamma), self.X, np.float64, self.threads, way=way)
            columns.square(np.arange(self.n), self.distances)
        form = Form(Summed.SQUARES, Map.EXPONENTIAL, -gamma * _LOG2E)
        levels = np.zeros(padded(self.n) + PANEL)  # whole panels

        def strip(part: slice) -> None:
            K[part, part.start :] = self.distances[part, part.start :]  # type: ignore[index]
            slots = np.arange(part.stop - part.start)
            core.finish_rows(form, np.zeros(slots.size), levels, slots, K[part, part.start :])

        for_each(pieces(self.n, _STRIP), strip, self.threads)
        core.mirror(K, 0, self.n)  # the other half


def part_of(single: Array, parts: list[tuple[slice, slice]]) -> Array:
    """Some rows and columns of a padded matrix, padded again: (where they go, where they stand) of each part."""
    size = padded(sum(place.stop - place.start for place, _ in parts))
    out = np.zeros((size, size), single.dtype)
    for to_rows, rows in parts:
        for to_columns, columns in parts:
            out[to_rows, to_columns] = single[rows, columns]
    return out
