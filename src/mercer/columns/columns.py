"""Columns: a set of points made ready for many kernel values. Its verbs take numbers of points.

    fill(rows, out, slots)    out[slots] <- k(rows, all)
    add(rows, v, out)         out += sum_i v_i k(row_i, all), never forming the rows
    square(rows, out)         out <- k(rows, rows), half of it by symmetry
    product(rows, V, at)      sum_i V_i k(row_i, .) at some points, in float64, all by their places among the columns
    add_points(Z, v, out)     out += sum_i v_i k(z_i, all), for points that are not among these

Sums are taken in the same order whatever the pieces that work is cut into, and so by any number of threads. Values are
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, repeat
from math import inf
from operator import call
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._core.reference import CHUNK
from ..amounts import AT_A_TIME, LARGEST, SHARE
from ..kernels import Kernel
from ..kernels.points import Chosen, count, require_no_overflow
from ..limits import check_limits, now
from ..memory import DOUBLE
from ..parallel import for_each, thread_count
from ..types import Array, DType, Index, Points
from .choose import way_of
from .tiles import Tiles
from .way import AnyWay, Errors, Ready, Task, core

BLOCK = 96  # rows that native loops add up before they reach a sum: batches of any number of blocks give the same bits
BATCH = -(-LARGEST.working_set // BLOCK) * BLOCK  # rows made ready at a time, at most: those of a working set
_FILLED = 2 * BLOCK  # rows filled at a time: memory that is new is slow, and the clock is looked at in between
PIECE = 1536  # columns of one task: whole panels of every precision,
_IN_CACHE = 200_000  # or as many as take so many bytes
PANEL = BLOCK // 2
SCRATCH = AT_A_TIME.temporary_bytes
_PIECES = _SHARES = 3  # Pieces of work for each thread; rows, columns and values have a third of the temporaries.
SIDE = 5 * BLOCK  # Points of a tile of a square.
_SUMS = AT_A_TIME.arrays  # Each of so many strips of K has sums of its own, whatever the number of threads,
_SUMS_BYTES = 2 * SCRATCH  # of so many bytes in all, at most.
CHEAP = 70.0  # multiply-adds: a value costs as much as reading it from memory, or writing it in a second place
DEAR = 200.0  # it costs more than looking for it there

PROBE_COLUMNS = {False: 8192, True: 16}  # of blocks that are timed; fewer, where the kernel is a user's own function
_PROBE_SECONDS = 0.003  # They have more and more rows, until one takes so long.


@dataclass(eq=False)
class Counted:
    """How many kernel values were computed, by all columns of the same points."""

    values: int = 0


class Columns:
    """Some points as columns; rows are any of them. Numbers of rows are those of all points.

    Columns are ready all the time where that takes no more than `room` bytes, else when they are needed. Temporaries
    take no more than `scratch` bytes. `way` is how values are computed, where that must suit other points too.
    """

    dtype: DType
    matrix: Array | None = None
    """All values, where they are there; perhaps wider and longer than n."""

    def __init__(
        self, kernel: Kernel, X: Points, dtype: DTypeLike, threads: int = 1, room: float = inf,
        scratch: float = SCRATCH, way: AnyWay | None = None,
    ) -> None:  # fmt: skip
        self.kernel, self.X, self.dtype, self.threads = kernel, X, np.dtype(dtype), threads
        self.room, self.scratch = room, scratch
        self.way: AnyWay = way or way_of(kernel, (X,), self.dtype)
        self.cheap, self.dear = self.way.cost <= CHEAP, self.way.cost > DEAR
        self.least_scratch = (BLOCK + PANEL * threads) * self.way.bytes_a_point  # bytes: no scratch makes them fewer
        self.counted = Counted()
        self._precise: list[tuple[AnyWay, Points]] = []
        self._own = self.way.prepared(X)
        self._stand_at(np.arange(count(X)))

    def narrow(self, at: Index, threads: int) -> Columns:
        """These points alone as columns."""
        narrow = copy(self)
        narrow.threads = threads
        narrow._stand_at(at)
        return narrow

    def _stand_at(self, at: Index) -> None:
        self.at, self.n = at, at.size
        self.batch, piece = sizes(self.way, self.scratch / self.threads)
        self.parts = pieces(at.size, piece, threads=self.threads)
        self._held: list[Ready] | None = None
        self.__dict__.pop("errors", None)  # those of other columns

    def ready(self) -> list[Ready] | None:
        """The pieces made ready, when that is first asked for; None, where there is no room to keep them."""
        if self._held is None and self.n * self.way.bytes_a_point <= self.room:
            self._held = [self.way.columns(self._own, self.at[part]) for part in self.parts]
        return self._held

    @cached_property
    def diag(self) -> Array:
        """k(x, x) of all points, in float64."""
        return np.asarray(self.kernel.diag(self.X), np.float64)

    @cached_property
    def errors(self) -> Errors:
        """By how much values may differ from k; without a bound, where columns are not kept ready."""
        held = self.ready()
        return Errors() if held is None else self.way.errors(held)

    def of(self, dtype: DTypeLike) -> tuple[AnyWay, Points]:
        """The way of this precision, which is their own or float64, and the points prepared for it: once for all
        columns of the same points.
        """
        if np.dtype(dtype) == self.dtype:
            return self.way, self._own
        if not self._precise:
            way = way_of(self.kernel, (self.X,), np.dtype(np.float64))
            self._precise.append((way, way.prepared(self.X)))
        return self._precise[0]

    @cached_property
    def value_seconds(self) -> float:
        """Seconds of a value, measured on more and more rows until that takes long enough.

        The shorter of two times, unless values are a user's own function: something else may run meanwhile.
        """
        serial = self.kernel.serial
        narrow = self.narrow(self.at[: PROBE_COLUMNS[serial]], self.threads)
        narrow.ready()
        size = 2 if serial else int(SHARE.little * BLOCK)
        while True:
            rows = self.at[:size]
            out, ends = np.empty((rows.size, narrow.n), self.dtype), [now()]
            for _ in range(1 if serial else 2):
                narrow.fill(rows, out, np.arange(rows.size))
                ends.append(now())
            seconds = min(after - before for before, after in pairwise(ends))
            if seconds >= _PROBE_SECONDS or size >= BLOCK:
                return seconds / out.size
            size *= 2

    def fill(self, rows: Index, out: Array, slots: Index) -> None:
        """out[slots] <- k(rows, columns)."""
        for part in pieces(rows.size, min(self.batch, _FILLED)):
            outs = [out[:, columns] for columns in self.parts]
            self._each(self.way.filling, self._own, rows[part], slots[part], outs)

    def add(self, rows: Index, v: Array, out: Array, points: Points = None) -> None:
        """out += sum_i v_i k(row_i, columns); rows of points that are prepared, or of these."""
        points = self._own if points is None else points
        for part in pieces(rows.size, self.batch):
            outs = [out[None, columns] for columns in self.parts]
            self._each(self.way.adding, points, rows[part], v[part].reshape(-1, 1), outs)

    def add_points(self, Z: Points, v: Array, out: Array) -> None:
        """out += sum_i v_i k(z_i, columns), for points that are not among these."""
        self.add(np.arange(v.size), v, out, self.way.prepared(Z))

    def _each(
        self, verb: Callable[[Ready, Ready, Array, Array], Task], points: Points, rows: Index, what: Array,
        outs: list[Array],
    ) -> None:  # fmt: skip
        """A verb of the way on each piece of the columns, which are made ready first where they are not."""
        held, ready = self.ready(), self.way.rows(points, rows)
        self.counted.values += rows.size * self.n
        if held is not None:
            for_each(list(map(verb, repeat(ready), held, repeat(what), outs)), call, self.threads)
            return

        def first_ready(number: int) -> None:
            verb(ready, self.way.columns(self._own, self.at[self.parts[number]]), what, outs[number])()

        for_each(range(len(outs)), first_ready, self.threads)

    def square(self, rows: Index, out: Array) -> None:
        """out <- k(rows, rows), into the upper left corner; half of it by symmetry, where that costs less."""
        way = self.way
        half = way.cost > CHEAP or not way.symmetric
        side = min(SIDE, self.batch)
        wide = side if half else PANEL * int(max(side, min(PIECE, _IN_CACHE / max(way.bytes_a_point, 1.0))) // PANEL)
        tops, lefts = pieces(rows.size, side if half else side // 2), pieces(rows.size, wide)
        tasks: list[Task] = []
        down = list(map(way.columns, repeat(self._own), [rows[left] for left in lefts]))
        for top in tops:
            across, every = way.rows(self._own, rows[top]), np.arange(top.stop - top.start)
            for left, ready in zip(lefts, down, strict=True):
                if half and left == top:
                    tasks.append(partial(way.square, across, ready, out[top, top]))
                elif not half or left.start > top.start:
                    tasks.append(way.filling(across, ready, every, out[top, left]))
        for_each(tasks, call, self.threads)
        if half and len(tops) > 1:
            for_each(tops[1:], lambda strip: core.mirror(out, strip.start, strip.stop), self.threads)
        self.counted.values += rows.size * (rows.size + side) // 2 if half else rows.size**2

    def settle(self, parts: Sequence[Any], how: tuple[bool, float, float, int]) -> bool:
        """Settle problems on some of the points natively, where both precisions are packed points; see Gram.settle."""
        ways = [way for way in (self.way, self.of(np.float64)[0]) if type(way) is Tiles]
        if len(ways) < 2 or not isinstance(self._own, np.ndarray):
            return False
        core.settle_points(self._own, ways[0].tiled, ways[1].tiled, *parts, how)
        return True

    def product(self, rows: Index, V: Array, at: Index, dtype: DTypeLike = np.float64) -> Array:
        """sum_i V_i k(row_i, .) at some points, in float64; rows and points by their places among the columns.

        Of float64 values, or of those of these columns. Among the rows each value is computed once, by symmetry, where
        that pays.
        """
        way, X = self.of(dtype)
        out = np.zeros((V.shape[1], at.size))
        others, own = np.ones(at.size, bool), np.full(self.n, -1)
        own[at] = np.arange(at.size)
        once, own = np.array_equal(own[at], np.arange(at.size)), own[rows]
        worth = V.shape[1] == 1 and rows.size > SIDE and self.scratch >= AT_A_TIME.thread_bytes
        if worth and once and (own >= 0).all():
            out[0, own] = self._symmetric_product(self.at[rows], np.ascontiguousarray(V[:, 0]), way, X)
            others[own] = False
        rows, left = self.at[rows], self.at[at[others]]
        sums = np.zeros((V.shape[1], left.size))
        batch, piece = sizes(way, self.scratch / self.threads)
        for part in pieces(rows.size, batch) if left.size else ():
            ready, weights = way.rows(X, rows[part]), np.ascontiguousarray(V[part])

            def task(piece: slice, ready: Ready = ready, weights: Array = weights) -> None:
                way.add(ready, way.columns(X, left[piece]), weights, sums[:, piece])

            for_each(pieces(left.size, piece), task, self.threads)
        out[:, others] = sums
        self.counted.values += rows.size * left.size
        return out.T

    def _symmetric_product(self, rows: Index, v: Array, way: AnyWay, X: Points) -> Array:
        """The same among the rows: each strip of them meets those that follow, and each value is used twice."""
        strips = pieces(rows.size, max(PIECE, -(-rows.size // (2 * _SUMS))))
        batch, piece = sizes(way, AT_A_TIME.thread_bytes)
        sums = np.zeros((len(strips), rows.size))

        def task(number: int) -> None:
            for top in pieces(strips[number].stop, batch, strips[number].start):
                ready, columns = way.rows(X, rows[top]), way.columns(X, rows[top])
                way.add(ready, columns, v[top].reshape(-1, 1), sums[number, None, top])
                for left in pieces(rows.size, piece, top.stop):
                    columns = way.columns(X, rows[left])
                    way.add_both(ready, columns, v[top], v[left], sums[number, left], sums[number, top])

        for_each(range(len(strips)), task, self.threads)
        self.counted.values += rows.size * (rows.size + batch) // 2
        total = np.zeros(rows.size)
        for part in sums:
            total += part
        return total


def multiply(columns: Columns, V: Array, dtype: DTypeLike) -> Array:
    """K V in float64 from values of this precision; with float32 ones, sums within a tile are float32 too."""
    n, many = V.shape
    if many == 1 or columns.matrix is not None or not _worth(columns, many):
        return columns.product(np.arange(n), V, np.arange(n), dtype)
    way, X = columns.of(dtype)
    V = np.ascontiguousarray(V, way.dtype)
    side = max(BLOCK, min(SIDE, int(columns.scratch / columns.threads / max(_SHARES * way.bytes_a_point, 1.0))))
    strips = pieces(n, side)
    sums = np.zeros((_SUMS, n, many))

    def task(own: int) -> None:
        total, tile = sums[own], np.empty((side, side), way.dtype)
        turns = (own, 2 * _SUMS - 1 - own)  # long strips and short ones: as much work for everybody
        for number in [i for i in range(len(strips)) if i % (2 * _SUMS) in turns]:
            check_limits()
            top = strips[number]
            rows, every = way.rows(X, columns.at[top]), np.arange(top.stop - top.start)
            for left in strips[number:]:
                values = tile[: every.size, : left.stop - left.start]
                way.fill(rows, way.columns(X, columns.at[left]), every, values)
                total[top] += values @ V[left]
                if left != top:
                    total[left] += values.T @ V[top]

    for_each(range(_SUMS), task, columns.threads)
    columns.counted.values += n * (n + side) // 2
    return np.asarray(sums.sum(axis=0))


def _worth(columns: Columns, many: int) -> bool:
    """Whether there are enough points, and room for the sums, of a kernel that is symmetric to the last digit."""
    roomy = DOUBLE * _SUMS * many * columns.n <= _SUMS_BYTES * min(1.0, columns.scratch / SCRATCH)
    return columns.n > SIDE and roomy and columns.kernel.symmetric


def sums_between(kernel: Kernel, X: Points, Z: Points, V: Array, edges: Sequence[int], dtype: DTypeLike) -> Array:
    """sum_j k(x_i, z_j) V_jc in float64 over each part of the z_j, from one edge to the next: (parts, columns c, i).

    Kernel values are of this dtype. Sums over the z_j keep their order, whatever the number of threads. The x_i may be
    chosen ones: they are copied piece by piece, and their values computed in a way that suits all.
    """
    way, few = way_between(kernel, X, Z, dtype)
    V = np.ascontiguousarray(V, np.float64)
    tiles = tiles_of(way, X, Z) if few else None
    if tiles is not None:
        out = np.zeros((len(edges) - 1, V.shape[1], count(X)))
        core.sum_points(tiles.prepared(Z), tiles.prepared(X), tiles.tiled, V, np.array(edges[1:]), out)
        if not kernel.bounded:
            require_no_overflow(out)
        return out
    held = way.prepared(Z)
    threads = thread_count() if count(X) * len(V) >= AT_A_TIME.entries_for_a_thread and not kernel.serial else 1
    batch, piece = sizes(way, SCRATCH / threads)
    ready = [
        [(way.rows(held, np.arange(rows.start, rows.stop)), V[rows]) for rows in pieces(stop, batch, start)]
        for start, stop in pairwise(edges)
    ]
    out = np.zeros((len(ready), V.shape[1], count(X)))

    def task(piece: slice) -> None:
        columns = way.columns(way.prepared(X[piece]), np.arange(piece.stop - piece.start))
        for part, sums in zip(ready, out, strict=True):
            for rows, weights in part:
                way.add(rows, columns, weights, sums[:, piece])

    for_each(pieces(count(X), piece, threads=threads), task, threads)
    if not kernel.bounded:
        require_no_overflow(out)
    return out


def way_between(kernel: Kernel, X: Points, Z: Points, dtype: DTypeLike) -> tuple[AnyWay, bool]:
    """The way for values k(x_i, z_j), and whether these are few float64 ones: to find a faster way, and to wake up
    other threads, would take longer than to compute them.
    """
    most = max(count(X) * count(Z), getattr(Z, "size", 0))  # values, or entries to be read
    few = most <= AT_A_TIME.entries_for_a_thread and np.dtype(dtype) == np.float64
    return way_of(kernel, (Z, X.points if isinstance(X, Chosen) else X), dtype, exact=few), few


def tiles_of(way: AnyWay, X: Points, Z: Points) -> Tiles | None:
    """The way, where native functions take both sets of points as they are, and make them ready themselves."""
    plain = isinstance(X, np.ndarray) and isinstance(Z, np.ndarray) and X.dtype == Z.dtype
    return way if plain and type(way) is Tiles else None


def sizes(way: AnyWay, scratch: float) -> tuple[int, int]:
    """How many rows and how many columns at a time have temporaries of no more than so many bytes."""
    point = max(way.bytes_a_point, 1.0)
    piece = PANEL * int(min(max(PIECE, _IN_CACHE / point), max(PANEL, scratch / _SHARES / point)) // PANEL)
    tile = max(way.tiles * piece * way.dtype.itemsize, 1)
    batch = BLOCK * int(min(BATCH, max(BLOCK, scratch / _SHARES / point, 0.0)) // BLOCK)
    return max(BLOCK, min(batch, BLOCK * int(scratch / _SHARES / tile // BLOCK))), piece


def pieces(stop: int, size: int, start: int = 0, threads: int = 1) -> list[slice]:
    """From start to stop, cut into pieces of at most a size.

    For several threads there are some for each, since cores are not always equally fast: of whole panels of columns.
    """
    if threads > 1:
        size = min(size, PANEL * max(1, (stop - start) // (_PIECES * threads * PANEL)))
    return [slice(left, min(left + size, stop)) for left in range(start, stop, size)]


def padded(n: int) -> int:
    """The length of the arrays of n points and one more: an odd number of chunks, since rows a power of two apart would
    meet in the same few lines of cache.
    """
    return -(-(n + 1) // CHUNK) * CHUNK | CHUNK
