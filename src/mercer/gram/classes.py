"""K of points in order of their classes, for machines that need two classes each.

The block of a class with itself is needed by every machine of that class: it is computed once and kept. The block of
two classes is needed by one machine only: it is computed for that machine, into memory that the next one uses again. So
every value is computed once, and of the n x n matrix only a part as large as its diagonal blocks is ever held.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .._core import padded
from ..kernels import Kernel
from ..kernels.evaluate import Prepared, add_up_own_rows, diagonal, fill_rows
from ..kernels.points import admit, count, take
from ..memory import format_bytes, parse_bytes
from ..parallel import thread_count
from ..types import Array, Points
from .base import Gram, Held, as_index
from .dense import DenseGram
from .lazy import LazyGram, least_budget, require_budget

_SIDE = 256  # of a tile
LARGEST_CLASS = 2500  # points; of larger classes, only the rows that a solver asks for are computed


class ClassGram(Gram):
    """The Gram matrix of points of which the first sizes[0] are of one class, the next sizes[1] of another, and so on.

    `subset` of two whole classes gives a matrix in memory, where it is small enough; other subsets give rows on demand.
    """

    def __init__(
        self, kernel: Kernel, X: Points, sizes: Any, budget: int | float | str, dtype: Any, most: int | None = None
    ) -> None:
        self.kernel, self.budget, self._dtype, self.most = kernel, parse_bytes(budget), np.dtype(dtype), most
        self.points = admit(X, kernel.domain)
        kernel.check(self.points, "X")
        self.edges = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
        self.shares = 2 * thread_count()
        self.share = self.budget // self.shares  # of one machine, when several are at work
        largest = int(np.sort(sizes)[-2:].sum())  # the two largest classes
        if 2 * padded(largest) ** 2 * self._dtype.itemsize > self.share:
            least = least_budget(kernel, self.points, largest, self._dtype)
            require_budget(self.share, least, largest, self.shares)
        self.room = min(Gram.room, self.share // 8)
        self.reason = f"by classes: all of it would need {format_bytes(self.n * self.n * self._dtype.itemsize)}"
        self.own: dict[int, Array] = {}  # the block of each class with itself, once it is there
        self.pool: list[Array] = []  # memory of matrices that are no longer needed
        self._diag = diagonal(kernel, self.points)
        self._lock = threading.Lock()
        self._locks = [threading.Lock() for _ in sizes]  # of the blocks: one thread at a time computes each
        # Where compiled loops do whole rounds, they need few of the values, and none of them is kept.
        columns = kernel.prepare(self.points[:1], self._dtype)
        self.compact = columns.gaussian is not None and columns.cheap
        self.columns: dict[int, Prepared] = {}  # the points of each class, once they are prepared

    @property
    def n(self) -> int:
        return count(self.points)

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self.own.values()) + sum(memory.nbytes for memory in self.pool)

    @property
    def dtype(self) -> Any:
        return self._dtype

    def diag(self) -> Array:
        return self._diag.copy()

    def rows(self, index: Any) -> Array:
        index = as_index(index, self.n)
        out = np.empty((index.size, self.n), self._dtype)
        fill_rows(self.kernel.prepare(self.points, self._dtype), take(self.points, index), out, np.arange(index.size))
        return out

    def __matmul__(self, v: Array) -> Array:
        return self.recompute(v, dtype=self._dtype)

    def subset(self, index: Any) -> Gram:
        index = as_index(index, self.n)
        classes = None if self.compact else self._whole_classes(index)
        if classes is not None and self._fits(classes):
            return PairGram(self, classes)
        chosen = take(self.points, index)
        rows = LazyGram(self.kernel, chosen, self.share, self.reason, self._dtype, self.most, parts=self.shares)
        rows.whole = self
        return rows

    def astype(self, dtype: Any) -> ClassGram:
        if self._dtype == dtype:
            return self
        return ClassGram(self.kernel, self.points, np.diff(self.edges), self.budget, dtype, self.most)

    def part(self, label: int) -> slice:
        """Where the points of a class are."""
        return slice(self.edges[label], self.edges[label + 1])

    def own_block(self, label: int) -> Array:
        """K of a class with itself."""
        columns = self.prepared(label)
        with self._locks[label]:
            if label not in self.own:
                out = np.empty((columns.n, columns.n), self._dtype)
                fill_rows(columns, columns.points, out, np.arange(columns.n))
                self.own[label] = out
            return self.own[label]

    def prepared(self, label: int) -> Prepared:
        """The points of a class; those of all classes around one centre, so that each can be the rows of others."""
        with self._lock:
            if label not in self.columns:
                points = self.points[self.part(label)]
                first = next(iter(self.columns.values()), None)
                self.columns[label] = first.alike(points) if first else self.kernel.prepare(points, self._dtype)
            return self.columns[label]

    def memory(self, size: int) -> Array:
        """So many values of memory, used before if possible."""
        with self._lock:
            for place, memory in enumerate(self.pool):
                if memory.size >= size:
                    return self.pool.pop(place)[:size]
        return np.empty(size, self._dtype)

    def _whole_classes(self, index: Any) -> tuple[int, int] | None:
        """The two classes of which these are all points, in order."""
        ends = {start: label for label, start in enumerate(self.edges[:-1])}
        first = ends.get(int(index[0])) if index.size else None
        if first is None:
            return None
        half = self.edges[first + 1] - self.edges[first]
        second = ends.get(int(index[half])) if index.size > half else None
        if second is None:
            return None
        expected = np.concatenate([np.arange(p.start, p.stop) for p in (self.part(first), self.part(second))])
        return (first, second) if np.array_equal(index, expected) else None

    def _fits(self, classes: tuple[int, int]) -> bool:
        """Whether the matrix of two classes, and the blocks that it leaves behind, are small enough for the budget."""
        sizes = [self.edges[label + 1] - self.edges[label] for label in classes]
        packed = 2 * self.kernel.prepared_bytes(self.points, self._dtype)  # as columns, and as rows
        kept = packed + sum(block.nbytes for block in self.own.values())
        new = sum(size**2 for size in sizes) * self._dtype.itemsize
        pair = padded(sum(sizes)) ** 2 * self._dtype.itemsize
        return bool(max(sizes) <= LARGEST_CLASS and 2 * pair <= self.share and 2 * (kept + new) <= self.budget)


class PairGram(Gram):
    """K of two classes, in memory with room for a phantom and padded with zeros (`padded`)."""

    def __init__(self, whole: ClassGram, classes: tuple[int, int]) -> None:
        from .._core.working_set import mirror

        self.whole, self.kernel, self.reason, self.room = whole, whole.kernel, whole.reason, whole.room
        parts = [whole.part(label) for label in classes]
        self.index = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        self.points = take(whole.points, self.index)
        a, n = parts[0].stop - parts[0].start, self.index.size
        width = padded(n)
        K = whole.memory(width * width).reshape(width, width)
        K[n:], K[:n, n:] = 0, 0
        K[:a, :a], K[a:n, a:n] = (whole.own_block(label) for label in classes)
        columns = [whole.prepared(label) for label in classes]
        columns[1].fill(columns[0].as_rows_of(columns[1]), K[:, a:], np.arange(a), slice(0, n - a), _SIDE)
        mirror(K, a, n)
        self.columns = columns
        self.padded: Array = K

    def release(self) -> None:
        """Give the memory back: this matrix is no longer needed."""
        self.whole.pool.append(self.padded.reshape(-1))
        self.padded = np.empty((0, 0))

    @property
    def n(self) -> int:
        return int(self.index.size)

    @property
    def nbytes(self) -> int:
        return int(self.padded.nbytes)

    @property
    def dtype(self) -> Any:
        return self.whole.dtype

    def diag(self) -> Array:
        return np.asarray(self.whole._diag[self.index])

    def rows(self, index: Any) -> Array:
        return np.asarray(self.padded[as_index(index, self.n), : self.n])

    def held(self, index: Any) -> Held:
        return Held(self.padded, as_index(index, self.n), [(0, self.n, 0)])

    def block(self, index: Any, out: Array | None = None) -> Array:
        return self._dense().block(index, out)

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """See Gram.recompute; the points that are prepared need not be prepared again."""
        if rows is not None or np.ndim(v) != 1 or self.dtype != dtype or not self.columns[0].adds_up:
            return super().recompute(v, rows, dtype)
        first, second = self.columns
        parts = [
            (first, np.flatnonzero(v[: first.n]), v[: first.n]),
            (second, np.flatnonzero(v[first.n :]), v[first.n :]),
        ]
        out = np.zeros(self.n)
        for source, used, own in parts:
            if used.size:
                sums = [add_up_own_rows(columns, source, used, own[used], self.scratch) for columns in self.columns]
                out += np.concatenate(sums)
        return out

    def __matmul__(self, v: Array) -> Array:
        return DenseGram(self.padded[: self.n, : self.n], self.kernel, self.points) @ v

    def subset(self, index: Any) -> Gram:
        return self.narrow(index)

    def narrow(self, index: Any) -> Gram:
        index = as_index(index, self.n)
        return DenseGram(self.block(index), self.kernel, take(self.points, index), self.reason)

    def astype(self, dtype: Any) -> Gram:
        return self if self.dtype == dtype else DenseGram.compute(self.kernel, self.points, self.reason, dtype)

    def _dense(self) -> DenseGram:
        return DenseGram(self.padded, self.kernel, self.points)
