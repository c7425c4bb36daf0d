"""Points that are spread over blocks, and their Gram matrix, as solvers and machines see them: from afar."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from ..amounts import AT_A_TIME, LARGEST
from ..columns import Columns
from ..columns.columns import BLOCK
from ..gram import Gram
from ..kernels import Kernel, Linear
from ..kernels.points import is_sparse, require_no_overflow, squares_fit_in_single, take
from ..limits import now
from ..memory import DOUBLE
from ..parallel import shares
from ..types import Array, DType, Index, Points
from .block import diagonal_at, moments, points_at, scores_at, sums_at, sums_with, weights_at
from .compact import Brief, in_brief
from .engine import Engine
from .messages import Support

_PART_BYTES = 1_000_000  # Support vectors of so many bytes are sent at a time: a worker holds some, and one packed.
_HERE = 2 * 2 * BLOCK  # Sums at no more points than this are made here.


class Share(NamedTuple):
    """The points of a block: their places among all, and its own rows."""

    places: Index
    rows: Index


class SpreadPoints:
    """Rows of X that are spread over the blocks of an engine; those that were seen are remembered here.

    What is remembered is what a fitted machine keeps: points with a coefficient.
    """

    ndim = 2

    def __init__(self, engine: Engine, rows: Index | None = None, seen: SeenPoints | None = None) -> None:
        self.engine = engine
        self.rows = np.arange(engine.edges[-1]) if rows is None else rows
        self.shape = (self.rows.size, max((fact.width for fact in engine.facts), default=0))
        held = [fact for fact in engine.facts if fact.rows]
        self.dtype = np.result_type(*(fact.dtype for fact in held)) if held else np.dtype(np.float64)
        self.seen = SeenPoints() if seen is None else seen

    def chosen(self, index: Index) -> SpreadPoints:
        """Some of them."""
        return SpreadPoints(self.engine, self.rows[index], self.seen)

    @cached_property
    def block(self) -> Array:
        """The block of each point."""
        return np.searchsorted(self.engine.edges, self.rows, side="right") - 1

    @cached_property
    def parts(self) -> dict[int, Share]:
        """The points of each block that has any."""
        return self.parts_of(np.arange(self.rows.size))

    @cached_property
    def place(self) -> Array:
        """The place of each point among those of its block."""
        place = np.empty(self.rows.size, np.int64)
        for part in self.parts.values():
            place[part.places] = np.arange(part.places.size)
        return place

    def parts_of(self, index: Index) -> dict[int, Share]:
        """The same for some points; places are those in the index."""
        rows, edges = self.rows[index], self.engine.edges
        order = np.argsort(rows, kind="stable")  # rows of a block grow: they are often all of them
        starts = np.searchsorted(rows[order], edges)
        groups = {b: order[starts[b] : starts[b + 1]] for b in range(self.engine.count) if starts[b] < starts[b + 1]}
        return {b: Share(places, rows[places] - edges[b]) for b, places in groups.items()}

    def waves(self, index: Index, nbytes: float) -> Iterator[dict[int, Share]]:
        """The same, as many at a time as blocks have room for so many bytes of each; all blocks in each."""
        parts, room = self.parts_of(index), self.engine.room
        number = max(1, *(ceil(nbytes * part.rows.size / room(b)) for b, part in parts.items()))
        for k in range(number):
            cuts = {b: shares(part.rows.size, number)[k] for b, part in parts.items()}
            yield {b: Share(*(some[cut] for some in parts[b])) for b, cut in cuts.items() if cut.stop > cut.start}

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, index: Any) -> Points:
        index = np.arange(self.rows.size)[index]
        if index.size == 0:
            return np.empty((0, self.shape[1]), self.dtype)
        missing = index[~self.seen.has(self.rows[index])]
        if missing.size:
            order, found = self._fetched(missing)
            if missing.size == index.size:  # nothing to remember: who asks for many does so once
                return take(found, np.argsort(order, kind="stable"))
            self.seen.add(self.rows[missing[order]], found)
        return self.seen.get(self.rows[index])

    def _fetched(self, index: Index) -> tuple[Index, Points]:
        """Some points, as blocks have room to send them, and their places in the index."""
        places: list[Index] = []
        found: list[Points] = []
        for parts in self.waves(index, sum(fact.nbytes_held for fact in self.engine.facts) / self.engine.edges[-1]):
            found += self.engine.ask(points_at, {b: in_brief(part.rows) for b, part in parts.items()}).values()
            places += [part.places for part in parts.values()]
        return np.concatenate(places), joined(found)

    @cached_property
    def witnesses(self) -> tuple[Points, ...]:
        """Points that tell how kernel values can be computed."""
        return tuple(fact.witnesses for fact in self.engine.facts if fact.rows)

    def dots(self, W: Array) -> Array:
        """<w, x> of each point, as rows, and each row w of W."""
        return self.dots_at(np.arange(self.rows.size), W)

    def dots_at(self, index: Index, W: Array) -> Array:
        """The same for some points."""
        out = np.empty((index.size, len(W)))
        for parts in self.waves(index, DOUBLE * len(W)):
            put(out, parts, self.engine.ask(scores_at, {b: (in_brief(part.rows), W) for b, part in parts.items()}))
        return out

    def variance(self, weight: Array) -> float:
        """The variance of all entries."""
        parts = {b: (in_brief(part.rows), Brief.of(weight[part.places])) for b, part in self.parts.items()}
        total, means, variances = np.concatenate(list(self.engine.ask(moments, parts).values())).T
        mean = float(total @ means) / float(total.sum())
        return float(total @ (variances + (means - mean) ** 2)) / float(total.sum())


def in_order(parts: dict[int, Share], found: dict[int, Array], size: int, *more: int) -> Array:
    """What blocks have found, in the order of the points."""
    out = np.empty((size, *more))
    put(out, parts, found)
    return out


def put(out: Array, parts: dict[int, Share], found: dict[int, Array]) -> None:
    """What blocks have found, to the places of their points."""
    for b, part in parts.items():
        out[part.places] = found[b]


class SeenPoints:
    """Points that were seen, by their rows in X."""

    def __init__(self) -> None:
        self.slot_of: dict[int, int] = {}
        self.sets: list[Points] = []

    def has(self, rows: Index) -> Array:
        """Which of these are there."""
        return np.fromiter((row in self.slot_of for row in rows.tolist()), bool, rows.size)

    def get(self, rows: Index) -> Points:
        """Some that are there."""
        self.sets = [joined(self.sets)]
        return take(self.sets[0], np.array([self.slot_of[row] for row in rows.tolist()], np.intp))

    def add(self, rows: Index, points: Points) -> None:
        """Remember these."""
        new, start = np.flatnonzero(~self.has(rows)), len(self.slot_of)
        if new.size:
            self.slot_of |= {row: start + k for k, row in enumerate(rows[new].tolist())}
            self.sets.append(take(points, new))

    def keep(self, rows: Index) -> None:
        """Forget all others, where they are many."""
        if len(self.slot_of) > 2 * rows.size + AT_A_TIME.rows:
            self.sets = [self.get(rows)]
            self.slot_of = {row: k for k, row in enumerate(rows.tolist())}


def joined(parts: list[Points]) -> Points:
    """Points one after the other."""
    if len(parts) == 1:
        return parts[0]
    if any(map(is_sparse, parts)):
        from scipy.sparse import csr_array, vstack

        return vstack([csr_array(part) for part in parts], format="csr")
    return np.concatenate(parts)


class SpreadGram(Gram):
    """K of points that are spread over blocks: products with it are sums over the support vectors, by each block."""

    afar = True

    def __init__(self, kernel: Kernel, points: SpreadPoints, dtype: Any = None) -> None:
        self.kernel, self.points, self.engine = kernel, points, points.engine
        self.reason = f"spread over {self.engine.count} blocks"
        self._dtype, self.values, self.seconds = np.dtype(dtype or self._precision()), 0, 0.0

    def _precision(self) -> Any:
        """float64 for few points, and where float32 cannot hold squares."""
        largest = max(fact.largest for fact in self.engine.facts)
        single = self.points.shape[0] > LARGEST.points_exact and squares_fit_in_single(np.array([largest]))
        return np.float32 if single else np.float64

    @property
    def n(self) -> int:
        return int(self.points.shape[0])

    @property
    def nbytes(self) -> int:
        return 0

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def value_seconds(self) -> float:
        """What one took in the last product, by all blocks at once; before that, as one process would need."""
        return self.seconds or self.from_points().value_seconds

    def from_points(self) -> Columns:
        """Columns of some of the points, on which the time of values is measured."""
        return Columns(self.kernel, self.points[: min(self.n, AT_A_TIME.sampled_rows)], self.dtype)

    @cached_property
    def _diag(self) -> Array:
        out = np.empty(self.n)
        for parts in self.points.waves(np.arange(self.n), DOUBLE):
            told = {b: (in_brief(part.rows), self.kernel) for b, part in parts.items()}
            put(out, parts, self.engine.ask(diagonal_at, told))
        return out

    def diag(self) -> Array:
        return self._diag.copy()

    def rows(self, index: Any) -> Array:
        index = np.arange(self.n)[index]
        units = np.zeros((self.n, index.size))
        units[index, np.arange(index.size)] = 1.0
        return np.asarray(self.recompute(units).T)

    def __matmul__(self, v: Array) -> Array:
        return self.recompute(v)

    def subset(self, index: Any) -> SpreadGram:
        part = SpreadGram(self.kernel, self.points.chosen(np.arange(self.n)[index]), self.dtype)
        part.whole = self
        return part

    def astype(self, dtype: Any) -> SpreadGram:
        return SpreadGram(self.kernel, self.points, dtype)

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """K v of values of this precision; zeros in v cost nothing."""
        v = np.asarray(v, np.float64)
        index = np.arange(self.n)[slice(None) if rows is None else rows]
        used = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        if used.size == 0:
            return np.zeros((index.size, *v.shape[1:]))
        weights = v[used].reshape(used.size, -1)
        if isinstance(self.kernel, Linear):  # by w, as predictions are: far from the origin, <x, z> has lost digits
            products = self.points.dots_at(index, self._linear_weights(used, weights))
        else:
            products = self._sums(used, weights, index, np.dtype(dtype))
        if not self.kernel.bounded:
            require_no_overflow(products)
        return np.asarray(products.reshape(-1, *v.shape[1:]))

    def _sums(self, used: Index, weights: Array, index: Index, dtype: DType) -> Array:
        """Over the support vectors, some at a time; by all blocks at once, but for a few points."""
        if index.size <= _HERE and 2 * index.size <= self.n:
            return self._sums_here(self.points[index], self._support(used, weights, dtype))
        began, out = now(), np.empty((index.size, weights.shape[1]))
        for parts in self.points.waves(index, DOUBLE * weights.shape[1]):
            rows = {b: in_brief(part.rows) for b, part in parts.items()}
            found = self.engine.chain(sums_at, rows, self._support(used, weights, dtype))
            put(out, parts, {b: sums.T for b, sums in found.items()})
        self.values += used.size * index.size
        self.seconds = (now() - began) / (used.size * index.size)
        return out

    def _sums_here(self, X: Points, support: Iterator[Support]) -> Array:
        """The same at a few points, which come here: fewer bytes than to send support vectors to all blocks."""
        found = sum(sums_with(part, X) for part in support)
        return np.asarray(found).T

    def combination(self, beta: Array) -> Array:
        """w = sum_i beta_i x_i."""
        used = np.flatnonzero(beta)
        return (
            np.asarray(self._linear_weights(used, beta[used, None])[0]) if used.size else np.zeros(self.points.shape[1])
        )

    def _linear_weights(self, used: Index, weights: Array) -> Array:
        parts = self.points.parts_of(used)
        told = {b: (in_brief(part.rows), weights[part.places].T) for b, part in parts.items()}
        found = self.engine.ask(weights_at, told)
        return np.asarray(np.sum(list(found.values()), axis=0))

    def _support(self, used: Index, weights: Array, dtype: DType) -> Iterator[Support]:
        """The points with a coefficient, some at a time: a whole number of what native sums add up together."""
        step = BLOCK * max(1, _PART_BYTES // (self.points.shape[1] * self.points.dtype.itemsize) // BLOCK)
        for start in range(0, used.size, step):
            some = slice(start, start + step)
            yield Support(self.kernel, self.points[used[some]], weights[some], dtype.name)
