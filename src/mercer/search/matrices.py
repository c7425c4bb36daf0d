"""Gram matrices that many fits share: float64 values for scores and certificates, and the same rounded to float32 and
padded, for steps of pairs. Gaussians of the same points share their distances, where values are not cheap.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log2
from typing import Any, NamedTuple

import numpy as np

from .._core.core import CHOICE
from .._core.forms import Form, Map, Summed
from .._core.reference import PANEL
from ..columns import Columns, padded, pieces
from ..columns.tiles import Tiles
from ..kernels import Gaussian, Kernel
from ..kernels.points import count, is_sparse, width
from ..parallel import Together
from ..types import Array, Index, Points

core = CHOICE.functions
_LOG2E = log2(np.e)
_STRIP = 240  # rows that are made at a time
BYTES = 12  # for each pair of points: float64 and float32


class Matrix(NamedTuple):
    """K in float64, and in float32 with rows and columns of zeros around it."""

    precise: Array
    single: Array


class Rooms:
    """Memory for Gram matrices, the last `keep` of them held: fresh memory is slow. Safe to ask from several
    threads.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.held: OrderedDict[Any, Matrix] = OrderedDict()
        self.users: Counter[Any] = Counter()
        self.making: dict[Any, threading.Lock] = {}
        self.lock = threading.Lock()

    @contextmanager
    def lent(self, key: Any, n: int, fill: Callable[[Matrix], None]) -> Iterator[Matrix]:
        """The matrix of this key, for as long as it is needed; filled where it is not there."""
        with self.lock:
            self.users[key] += 1
            own = self.making.setdefault(key, threading.Lock())
        try:
            with own:
                if key not in self.held:
                    room = self._room(n)
                    fill(room)
                    with self.lock:
                        self.held[key] = room
            yield self.held[key]
        finally:
            with self.lock:
                self.users[key] -= 1
                if key in self.held:
                    self.held.move_to_end(key)

    def _room(self, n: int) -> Matrix:
        """That of the oldest which nobody uses, where there are enough of them or are about to be."""
        with self.lock:
            idle = next((key for key in self.held if not self.users[key]), None)
            making = sum(1 for key, users in self.users.items() if users and key not in self.held)
            if idle is not None and len(self.held) + making > self.keep:
                room = self.held.pop(idle)
                if len(room.precise) == n:
                    return room
        return Matrix(np.empty((n, n)), np.zeros((padded(n),) * 2, np.float32))


class Matrices:
    """The Gram matrices of some points."""

    def __init__(self, X: Points, rooms: Rooms) -> None:
        self.X, self.n, self.rooms = X, count(X), rooms
        self.own = object()  # tells its matrices from those of other points
        self.lock = threading.Lock()
        self.distances: _Distances | None = None

    @contextmanager
    def lent(self, kernel: Kernel) -> Iterator[Matrix]:
        """K of a kernel whose parameters are numbers, for as long as it is needed."""

        def fill(room: Matrix) -> None:
            if isinstance(kernel, Gaussian) and not is_sparse(self.X):
                self._gaussian(-float(kernel.gamma) * _LOG2E, room.precise)
            else:
                Columns(kernel, self.X, np.float64).square(np.arange(self.n), room.precise)
            core.rounded(room.precise, room.single)

        with self.rooms.lent((self.own, kernel), self.n, fill) as matrix:
            yield matrix

    def _gaussian(self, factor: float, K: Array) -> None:
        """2^(factor |x - z|^2), of differences of coordinates: at once where that is cheap, else by distances."""
        form = Form(Summed.SQUARES, Map.EXPONENTIAL, factor)
        way = Tiles(form, np.zeros(width(self.X)), 0.0, np.float64)
        columns = Columns(Gaussian(), self.X, np.float64, way=way)
        if columns.cheap:
            columns.square(np.arange(self.n), K)
            return
        with self.lock:
            self.distances = self.distances or _Distances(self.X)
        levels = np.zeros(padded(self.n) + PANEL)  # whole panels
        for part, values in self.distances.found():
            K[part, part.start :] = values
            slots = np.arange(part.stop - part.start)
            core.finish_rows(form, np.zeros(slots.size), levels, slots, K[part, part.start :])
        core.mirror(K, 0, self.n)  # the other half


class _Distances:
    """The squared distances of some points, on and above the diagonal, by strips of rows."""

    def __init__(self, X: Points) -> None:
        self.way = Tiles(Form(Summed.SQUARES), np.zeros(width(X)), 0.0, np.float64)
        self.parts = pieces(count(X), _STRIP)
        self.X, self.strips = self.way.prepared(X), [np.empty(0)] * len(self.parts)
        self.work = Together(range(len(self.parts)))

    def found(self) -> Iterator[tuple[slice, Array]]:
        """Each strip: taken once for all gammas, by all threads that ask meanwhile."""
        self.work.share(self._take)
        return iter(zip(self.parts, self.strips, strict=True))

    def _take(self, number: int) -> None:
        part, n = self.parts[number], self.parts[-1].stop
        every: Index = np.arange(part.start, part.stop)
        rows, out = self.way.rows(self.X, every), np.empty((every.size, n - part.start))
        for left in pieces(n, _STRIP, part.start):
            columns = self.way.columns(self.X, np.arange(left.start, left.stop))
            self.way.fill(rows, columns, every - part.start, out[:, left.start - part.start : left.stop - part.start])
        self.strips[number] = out
