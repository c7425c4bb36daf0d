"""The linear systems of Newton's method, (I + W K) x = r with W >= 0 diagonal, in the form that suits K."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..gram import Gram
from ..kernels.points import is_sparse
from ..limits import look
from ..parallel import for_each, thread_count
from ..types import Array
from .base import Work
from .triangular import Factor, NotDefiniteError

MOST_FEATURES = 3000  # with more, Z'W Z is not formed
_STRIP = 1024  # rows of Z that are weighted at a time
_SHIFTS = 40  # a matrix that is not positive definite gets so many larger and larger multiples of I added
_PRECISE, _ROUGH = 1e-12, 1e-2  # residuals of conjugate gradients
_GRADIENTS = 1000  # steps of conjugate gradients, at most
_FIRST_PRODUCTS = 20  # K v, about, until the first of them have led somewhere
_SLOWER = 2.0  # a factor than a product, for each multiplication


Columns = Callable[[int, int, Array], None]
"""Writes the rows start ... n of the columns start ... stop of a matrix."""


class System(ABC):
    """K, for products and solutions."""

    exact: ClassVar[bool] = True
    """Whether solutions are exact whatever the gap."""

    @abstractmethod
    def product(self, v: Array) -> Array:
        """K v."""

    @abstractmethod
    def solve(self, W: Array, right: Array, gap: float) -> Array:
        """(I + W K)^-1 r for the columns r; where it takes iterations, as exactly as so large a relative gap needs."""


def system_of(gram: Gram) -> System:
    """Through features, where they are few; by a factor, where K is held; else by conjugate gradients."""
    if gram.features is not None and gram.features.shape[1] <= min(gram.n, MOST_FEATURES):
        return _Features(gram.features)
    if gram.given:
        return _Dense(np.asarray(gram.astype(np.float64)))
    return _Products(gram)


def first_step(gram: Gram) -> Work:
    """The work of one step with the system of this matrix."""
    n = gram.n
    if gram.features is not None and gram.features.shape[1] <= min(n, MOST_FEATURES):
        return Work(flops=n * gram.features.shape[1] ** 2)
    if gram.given:
        return Work(flops=n**3 / 3 * _SLOWER)
    return Work(values=_FIRST_PRODUCTS * n * n)


class _Dense(System):
    """I - W^1/2 (I + W^1/2 K W^1/2)^-1 W^1/2 K, from a Cholesky factor."""

    def __init__(self, K: Array) -> None:
        self.K = K

    def product(self, v: Array) -> Array:
        return np.asarray(self.K @ v)

    def solve(self, W: Array, right: Array, gap: float) -> Array:
        root = np.sqrt(W)

        def columns(start: int, stop: int, out: Array) -> None:
            np.multiply(self.K[start:, start:stop], root[start:stop], out=out)
            out *= root[start:, None]

        largest = float(np.abs(W * self.K.diagonal()).max())
        return np.asarray(right - root[:, None] * _solved(columns, largest, root[:, None] * (self.K @ right)))


class _Features(System):
    """I - W Z (I + Z'W Z)^-1 Z', from a Cholesky factor."""

    def __init__(self, Z: Any) -> None:
        self.Z = Z.astype(np.float64, copy=False)

    def product(self, v: Array) -> Array:
        return np.asarray(self.Z @ (self.Z.T @ v))

    def solve(self, W: Array, right: Array, gap: float) -> Array:
        A = self._weighted(W)

        def columns(start: int, stop: int, out: Array) -> None:
            out[...] = A[start:, start:stop]

        return np.asarray(right - W[:, None] * (self.Z @ _solved(columns, float(A.diagonal().max()), self.Z.T @ right)))

    def _weighted(self, W: Array) -> Array:
        """Z'W Z, by all cores, each with rows of its own."""
        pieces, m = thread_count(), self.Z.shape[1]
        sums = np.zeros((pieces, m, m))
        cuts = np.linspace(0, self.Z.shape[0], pieces + 1).astype(int).tolist()

        def work(piece: tuple[int, tuple[int, int]]) -> None:
            number, (start, stop) = piece
            for row in range(start, stop, _STRIP):
                look()
                rows = slice(row, min(row + _STRIP, stop))
                Z, weight = self.Z[rows], W[rows, None]
                sums[number] += (Z.T @ Z.multiply(weight)).toarray() if is_sparse(Z) else Z.T @ (weight * Z)

        for_each(enumerate(pairwise(cuts)), work, pieces)
        return np.asarray(sums.sum(axis=0))


class _Products(System):
    """The same as with a factor, but by conjugate gradients: only products K v are needed."""

    exact: ClassVar[bool] = False

    def __init__(self, gram: Gram) -> None:
        self.gram = gram

    def product(self, v: Array) -> Array:
        return self.gram @ v

    def solve(self, W: Array, right: Array, gap: float) -> Array:
        from scipy.sparse.linalg import LinearOperator, cg

        root, n = np.sqrt(W), W.size
        operator = LinearOperator((n, n), matvec=lambda v: v + root * (self.gram @ (root * v)), dtype=np.float64)
        products = root[:, None] * (self.gram @ right)
        precision = min(_ROUGH, max(_PRECISE, 0.1 * gap))
        found = [cg(operator, r, rtol=precision, maxiter=_GRADIENTS)[0] for r in products.T]
        return np.asarray(right - root[:, None] * np.stack(found, axis=1))


def _solved(columns: Columns, largest: float, right: Array) -> Array:
    """(I + A)^-1 r for a matrix A, given by its columns and its largest entry; with a larger multiple of I where I + A
    is not positive definite.
    """
    shift = 1.0

    def shifted(start: int, stop: int, out: Array) -> None:
        columns(start, stop, out)
        out[np.diag_indices(stop - start)] += shift

    for _ in range(_SHIFTS):
        try:
            return Factor(len(right), np.float64, shifted).finished().solve(right)
        except NotDefiniteError:
            shift = 10.0 * shift + 10.0 * largest
    return np.zeros_like(right)
