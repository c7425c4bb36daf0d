"""The Gram matrix of a training set as solvers see it, and the choice between its forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..columns import SCRATCH, Columns
from ..kernels import Kernel, Linear
from ..kernels import kernel as as_kernel
from ..kernels.pairwise import linear_scores, linear_weights
from ..kernels.points import Chosen, Domain, admit, common_dtype, count, nbytes, require_no_overflow, take
from ..memory import format_bytes, parse_bytes
from ..parallel import thread_count
from ..types import Array, Index, Points


class Parts(NamedTuple):
    """Problems on parts of the points: the rows of each up to its end, the terms of all (q, r, eps, lo, hi), and what
    is found: beta, the shares in the gap, and for each a row of sums (see _core/reference/several.py).
    """

    ends: Index
    rows: Index
    terms: tuple[Array, Array, Array, Array, Array]
    found: tuple[Array, Array, Array]


class Aim(NamedTuple):
    """What is wanted of them: whether there is a bias, the relative gap and the KKT violation to reach, and the most
    steps for each point.
    """

    bias: bool
    gap: float
    violation: float
    most: int


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

    budget: int | None = None
    """The bytes that it may take, where somebody has said so."""

    given: bool = False
    """Whether all values are held: nothing has to be computed."""

    once: bool = False
    """Whether all are held, and none is to be computed again: they were given, or a user's function has found them."""
    values: int = 0
    """Kernel values that were computed by what it has made ready."""

    afar: bool = False
    """Whether the points are spread over blocks, and all that is computed of them too."""

    room: int = 160_000_000
    """Bytes that a solver may take for blocks of its own,"""

    rows_memory: float = 2e9
    """and for rows of K that it keeps."""

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
        if self.whole is not None:  # one look is enough
            return str(self.whole.doubt) if self.whole.doubt else None
        if self.kernel is None or self.kernel.known_definite():
            return None
        from .evidence import doubt_about

        return doubt_about(self)

    @cached_property
    def value_seconds(self) -> float:
        """Seconds of a kernel value, measured once for all parts of a matrix."""
        return self.from_points().value_seconds if self.whole is None else float(self.whole.value_seconds)

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
        return self.recompute(as_factor(v, self.n))

    def from_points(self) -> Columns:
        """The points made ready, whatever is held of K."""
        return Columns(self.kernel, self.points, self.dtype, thread_count(), scratch=self.scratch)

    def recompute(self, v: Array, rows: Any = None, dtype: Any = np.float64) -> Array:
        """K v, or some rows of it, from the points and not from what is held; zeros in v cost nothing."""
        v = np.asarray(v, np.float64)
        at = np.arange(self.n) if rows is None else np.asarray(rows)
        used = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
        if used.size == 0:
            return np.zeros((at.size, *v.shape[1:]))
        weights = v[used].reshape(used.size, -1)
        if isinstance(self.kernel, Linear):  # by w, as predictions are: far from the origin, <x, z> has lost digits
            products = linear_scores(Chosen(self.points, at), linear_weights(Chosen(self.points, used), weights.T))
        else:
            products = self.from_points().product(used, weights, at, dtype)
        if not self.kernel.bounded:
            require_no_overflow(products)
        return products.reshape(-1, *v.shape[1:])

    def settle(self, parts: Parts, how: Aim) -> bool:
        """Settle problems on some of the points natively, where there is a way whose certificates are as good as any;
        whether there is one.
        """
        return False

    @property
    def dtype(self) -> Any:
        """The precision of the rows."""
        return self.diag().dtype

    def block(self, index: Index) -> Array:
        """K of these points, as the kernel defines it."""
        return np.asarray(self.kernel(take(self.points, index)))

    def columns(self, dtype: Any) -> Columns:
        """The points made ready for many values of this precision."""
        return Columns(self.kernel, self.points, dtype, thread_count())

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

    n = 0
    dtype: Any = None

    def __init__(self, whole: Any, index: Index) -> None:
        self.whole, self.index, self.reason = whole, index, whole.reason
        self.kernel, self.points = whole.kernel, Chosen(whole.points, index)
        self.n, self.dtype = len(index), whole.dtype
        self.scratch, self.room = whole.scratch, whole.room

    @property
    def nbytes(self) -> int:
        return int(self.whole.nbytes)

    def places(self, index: Any) -> Any:
        """Where these points stand in the whole."""
        return self.index[as_index(index, self.n)]

    def from_points(self) -> Columns:
        columns: Columns = self.whole.from_points()
        return columns.narrow(self.index, thread_count())

    def subset(self, index: Any) -> Gram:
        return type(self)(self.whole, self.places(index))


def gram_of(
    kernel: Kernel | str, X: Points, memory: int | float | str = "2GB", shares: int = 1, ahead: float = 0.0
) -> Gram:
    """The Gram matrix of the kernel on X, in the form that suits the kernel, n and the memory; `.reason` says why.

    Low rank, where the kernel has explicit features, fewer than the points; dense, where it fits in the memory; by
    rows, on demand, where it does not. Parameters such as "scale" are resolved on X. The matrix may take one of so many
    equal `shares` of the memory. Where there is a limit of time, all values are computed only if there is time, too,
    for as many multiplications as are `ahead` until they serve for anything.
    """
    from .dense import DenseGram
    from .lowrank import LowRankGram
    from .points import PointsGram

    budget = parse_bytes(memory) // shares
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
        return DenseGram.compute(kernel, X, reason=f"dense: {need}", ahead=ahead)
    return PointsGram(kernel, X, budget, reason=f"by rows: dense would need {need}", shares=shares)


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
