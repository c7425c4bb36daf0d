"""The Gram matrix of a training set as solvers see it, and the choice between its forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernel, Linear
from ..kernels import kernel as as_kernel
from ..kernels.evaluate import SCRATCH, stream_product, value_seconds
from ..kernels.pairwise import linear_scores, linear_weights, require_no_overflow
from ..kernels.points import Chosen, Domain, admit, common_dtype, count, nbytes
from ..memory import format_bytes, parse_bytes
from ..types import Array, Index, Points


class Held(NamedTuple):
    """Rows of K within a larger array: row i, columns start ... stop, are values[places[i], start + offset ... ].

    `runs` holds start, stop and offset, for as many pieces as the columns are in.
    """

    values: Array
    places: Index
    runs: list[tuple[int, int, int]]


class Gram(ABC):
    """K_ij = k(x_i, x_j)."""

    reason: str
    """Why this form was chosen."""

    features: Any = None
    """Z with K = Z Z', where it is known."""

    design: Any = None
    """The same as a Design, for loops over its rows."""

    kernel: Any
    points: Any
    """What K was computed from."""

    whole: Any = None
    """The larger Gram matrix of which these are some points."""

    padded: Any = None
    """K with zero rows and columns added, where it is held so: a solver of small problems then needs no copy."""

    gaussian: Any = None
    """Points packed for compiled loops, their levels, gamma and the way to compute, where K is that of a Gaussian."""

    room: int = 160_000_000
    """Bytes that a solver may take for blocks of its own."""

    scratch: int = SCRATCH
    """Bytes of temporaries for products."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of points."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory that it holds now."""

    @cached_property
    def doubt(self) -> str | None:
        """Why K is not positive definite, where no rule says that it is and some of the points show it."""
        from .evidence import doubt_about

        return doubt_about(self) if self.whole is None else self.whole.doubt  # one look is enough

    @cached_property
    def value_seconds(self) -> float:
        """Seconds of a kernel value, measured once for all parts of a matrix."""
        return value_seconds(self.kernel, self.points) if self.whole is None else float(self.whole.value_seconds)

    @abstractmethod
    def diag(self) -> Array:
        """k(x_i, x_i)."""

    @abstractmethod
    def rows(self, index: Any) -> Array:
        """The rows with these numbers, as a new array."""

    @abstractmethod
    def __matmul__(self, v: Array) -> Array:
        """K v, for a vector or a matrix v."""

    @abstractmethod
    def subset(self, index: Any) -> Gram:
        """The Gram matrix of these points alone."""

    @abstractmethod
    def astype(self, dtype: Any) -> Gram:
        """The same matrix with values of another precision."""

    def product64(self, v: Array) -> Array:
        """K v recomputed from the points in float64, whatever is held."""
        return self.recompute(v)

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """K v, or some rows of it, from the points and not from what is held; zeros in v cost nothing."""
        v = np.asarray(as_factor(v, self.n), np.float64)
        used = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        points = self.points if rows is None else Chosen(self.points, as_index(rows, self.n))
        if used.size == 0:
            return np.zeros((count(points), *v.shape[1:]))
        others = self.points if used.size == self.n else Chosen(self.points, used)
        if isinstance(self.kernel, Linear):  # by w, as predictions are: far from the origin, <x, z> has lost digits
            products = linear_scores(points, linear_weights(others, v[used].reshape(used.size, -1).T))
            require_no_overflow(products)
            return products.reshape(-1, *v.shape[1:])
        return stream_product(self.kernel, points, others, v[used], dtype, self.scratch)

    @property
    def dtype(self) -> Any:
        """The precision of the rows."""
        return self.diag().dtype

    @property
    def most_held(self) -> int:
        """How many rows `held` can give at once."""
        return self.n

    def held(self, index: Any) -> Held:
        """Where these rows of K are held; valid until the next call."""
        values = self.rows(index)
        return Held(values, np.arange(len(values)), [(0, self.n, 0)])

    def worth_keeping(self, index: Any, often: Any) -> Any:
        """Which of these rows to keep: all, unless they are cheap to compute. `often` are those needed again soon."""
        return np.ones(len(index), np.bool_)

    def combination(self, index: Any, v: Array) -> Array:
        """sum_i v_i K_i over these rows, none of which is kept."""
        return np.asarray(v @ self.rows(index))

    def block(self, index: Any, out: Array | None = None) -> Array:
        """The entries K_ij for i and j in the index, into the upper left corner of `out` if one is given."""
        block = self.subset(index).rows(slice(None))
        if out is None:
            return block
        out[: len(block), : len(block)] = block
        return out

    def narrow(self, index: Any) -> Gram:
        """As `subset`, for a solver that has no more use for the rest: what is held may be moved, not copied."""
        return self.subset(index)

    def release(self) -> None:  # noqa: B027 (most have nothing to give back)
        """Said by whoever needs this matrix no longer, where others can use its memory."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The whole matrix, where there is room for it."""
        return np.asarray(self.rows(np.arange(self.n)), dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.n} x {self.n}, {self.reason}>"


class Part(Gram):
    """Some points of a Gram matrix; what is held of K stays in the whole one."""

    def __init__(self, whole: Any, index: Index) -> None:
        self.whole, self.index, self.reason = whole, index, whole.reason
        self.kernel, self.points = whole.kernel, Chosen(whole.points, index)
        self.scratch, self.room = whole.scratch, whole.room

    @property
    def n(self) -> int:
        return len(self.index)

    @property
    def nbytes(self) -> int:
        return int(self.whole.nbytes)

    @property
    def dtype(self) -> Any:
        return self.whole.dtype

    def places(self, index: Any) -> Any:
        """Where these points stand in the whole."""
        return self.index[as_index(index, self.n)]

    def block(self, index: Any, out: Array | None = None) -> Array:
        return np.asarray(self.whole.block(self.places(index), out))

    def subset(self, index: Any) -> Gram:
        return type(self)(self.whole, self.places(index))


def gram_of(kernel: Kernel | str, X: Points, memory: int | float | str = "2GB", parts: int = 1) -> Gram:
    """The Gram matrix of the kernel on X, in the form that suits the kernel, n and the memory; `.reason` says why.

    Low rank, where the kernel has explicit features, fewer than the points; dense, where it fits in the memory; lazy,
    rows on demand, where it does not. Parameters such as "scale" are resolved on X. The matrix may take one of so many
    equal `parts` of the memory.
    """
    from .dense import DenseGram
    from .lazy import LazyGram
    from .lowrank import LowRankGram

    budget = parse_bytes(memory) // parts
    kernel = as_kernel(kernel).resolve(X)
    X = admit(X, kernel.domain)
    kernel.check(X, "X")
    n = count(X)
    if kernel.domain is Domain.VALUES:
        return DenseGram.compute(kernel, X, reason="dense: the values were given")
    width = _features_that_fit(kernel, X, budget)
    if width is not None:
        reason = f"low rank: {width} explicit features for {n} points"
        return LowRankGram(kernel.features(X), reason, kernel, X)
    size = n * n * common_dtype(X).itemsize
    scratch = min(SCRATCH, size)
    need = f"{format_bytes(size)}, and {format_bytes(scratch)} to work in, of {format_bytes(budget)}"
    if size + scratch <= budget:
        return DenseGram.compute(kernel, X, reason=f"dense: {need}")
    return LazyGram(kernel, X, budget, reason=f"lazy: dense would need {need}", parts=parts)


def _features_that_fit(kernel: Kernel, X: Points, budget: int) -> int | None:
    """The number of explicit features, if they are fewer than the points and fit in the budget; seen on one point."""
    one = kernel.features(X[:1])
    if one is None or one.shape[1] >= count(X):
        return None
    held_already = isinstance(kernel, Linear)
    return int(one.shape[1]) if held_already or count(X) * nbytes(one) <= budget else None


def as_index(index: Any, n: int) -> Any:
    """Row numbers as an array; a mask, a slice or one number are taken too."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    index = np.atleast_1d(np.asarray(index))
    if index.dtype == bool:
        if index.shape != (n,):
            raise IndexError(f"A mask of rows must have {n} entries, not {index.shape}.")
        return np.flatnonzero(index)
    if index.size == 0:
        return np.empty(0, np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu" or index.min() < -n or index.max() >= n:
        raise IndexError(f"Rows are numbered 0 ... {n - 1}.")
    return np.where(index < 0, index + n, index).astype(np.intp)


def as_factor(v: Array, n: int) -> Any:
    """The right factor of a product with K."""
    v = np.asarray(v)
    if v.ndim not in (1, 2) or len(v) != n:
        raise ValueError(f"K is {n} x {n}, so it cannot be multiplied with an array of shape {v.shape}.")
    return v
