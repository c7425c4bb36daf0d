"""The linear systems of Newton's method, (I + W K) x = r with W >= 0 diagonal, in the form that suits K."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate, pairwise
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ...gram import DenseGram, Gram
from ...kernels.points import is_sparse
from ...limits import look
from ...parallel import for_each, thread_count
from ...types import Array
from ..base import Work
from ..conjugate import Standing, conjugate_gradients, norms
from ..landmarks import landmark_factor
from ..triangular import NotDefiniteError, columns_of, with_larger_diagonal

MOST_FEATURES = 3000  # with more, Z'W Z is not formed
_STRIP = 1024  # rows of Z that are weighted at a time
_SHIFTS = 40  # a matrix that is not positive definite gets so many larger and larger multiples of I added
_PRECISE, _ROUGH = 1e-12, 1e-2  # residuals of conjugate gradients
_GRADIENTS = 1000  # steps of conjugate gradients, at most
_FACTOR = 1200  # points, up to which a factor takes less time than they do
_RANK, _POINTS, _COPIES = 500, 6, 6  # columns of F: at most, one for so many points; and copies of F at a time
_FIRST_PRODUCTS = 20  # K v, about, until the first of them have led somewhere
_SLOWER = 2.0  # a factor than a product, for each multiplication


Fill = Callable[[int, int, Array], None]
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
    if not gram.given:
        return _Products(gram)
    with _lock:  # several problems share one matrix: in float64 it is there once
        if gram not in _held:
            K = np.asarray(gram.astype(np.float64))
            _held[gram] = _Dense(K) if gram.n <= _FACTOR else _Held(K)
        return _held[gram]


_held: WeakKeyDictionary[Gram, System] = WeakKeyDictionary()
_lock = Lock()


def first_step(gram: Gram) -> Work:
    """The work of one step with the system of this matrix."""
    n = gram.n
    if gram.features is not None and gram.features.shape[1] <= min(n, MOST_FEATURES):
        return Work(flops=n * gram.features.shape[1] ** 2)
    if gram.given and n <= _FACTOR:
        return Work(flops=n**3 / 3 * _SLOWER)
    if gram.given:
        return Work(flops=n * _rank(gram) ** 2 + _FIRST_PRODUCTS * n * n)
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

        solved = _solved(columns_of(A), float(A.diagonal().max()), self.Z.T @ right)
        return np.asarray(right - W[:, None] * (self.Z @ solved))

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
    """The same as with a factor, but by conjugate gradients: only products K v are needed.

    K ~ F F' by randomly pivoted Cholesky, once for all rounds: I + W^1/2 F F' W^1/2 takes the place of the matrix where
    it has to be inverted, and few steps remain.
    """

    exact: ClassVar[bool] = False

    def __init__(self, gram: Gram) -> None:
        self.gram = gram

    @cached_property
    def F(self) -> Array:  # noqa: N802
        """K ~ F F', with few columns."""
        return landmark_factor(self.gram, _rank(self.gram), 0)[0]

    def product(self, v: Array) -> Array:
        return self.gram @ v

    def solve(self, W: Array, right: Array, gap: float) -> Array:
        root = np.sqrt(W)[:, None]
        B = root * self.product(right)
        enough = min(_ROUGH, max(_PRECISE, 0.1 * gap)) * norms(right)
        steps = conjugate_gradients(B, Standing.zero(B), lambda V: V + root * self.product(root * V), self._near(root))
        for number, found in enumerate(steps, 1):
            look()
            # r - (I + W K) x = W^1/2 times the residual here: x itself may be a small difference.
            if found.stuck or number == _GRADIENTS or (norms(root * found.R) <= enough).all():
                break
        return np.asarray(right - root * found.V)

    def _near(self, root: Array) -> Callable[[Array], Array]:
        """v -> (I + W^1/2 F F' W^1/2)^-1 v = v - W^1/2 F (I + F'W F)^-1 F'W^1/2 v."""
        from scipy.linalg import cho_factor, cho_solve

        G = root * self.F
        inner = G.T @ G
        inner[np.diag_indices_from(inner)] += 1.0
        factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        return lambda V: np.asarray(V - G @ cho_solve(factor, G.T @ V, check_finite=False))


class _Held(_Products):
    """Conjugate gradients with a K that is held."""

    def __init__(self, K: Array) -> None:
        super().__init__(DenseGram.of_matrix(K))
        self.K = K

    def product(self, v: Array) -> Array:
        return np.asarray(self.K @ v)


def _rank(gram: Gram) -> int:
    """How many columns of F are worth their while, and have room."""
    room = gram.n if gram.budget is None else gram.budget // (_COPIES * 8 * gram.n)
    return max(1, min(_RANK, gram.n // _POINTS, room))


def _solved(columns: Fill, largest: float, right: Array) -> Array:
    """(I + A)^-1 r for a matrix A, given by its columns and its largest entry; with a larger multiple of I where I + A
    is not positive definite.
    """
    shifts = accumulate(range(_SHIFTS - 1), lambda shift, _: 10.0 * (shift + largest), initial=1.0)
    try:
        return with_larger_diagonal(len(right), columns, shifts).solve(right)
    except NotDefiniteError:
        return np.zeros_like(right)
