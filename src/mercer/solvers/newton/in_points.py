"""Newton's systems (I + W K) x = r, W >= 0 diagonal, where K has no features: the Hessian in points, or by products.

    (I + W K)^-1 r = r - (1/W + K)^-1 K r,     (1/W + K)^-1 = W^1/2 (I + W^1/2 K W^1/2)^-1 W^1/2

By a factor, where K is held and its points are few; else by conjugate gradients, which need only products K v. There
K ~ F F' by randomly pivoted Cholesky (a Nystrom preconditioner), once for all rounds, takes the place of K where it
has to be inverted, and few steps remain.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...amounts import A_DIGIT, LARGEST, ROUNDING
from ...gram import Gram
from ...limits import check_limits
from ...types import Array
from ..base import LANDMARK_BYTES, Work
from ..conjugate_gradients import MOST_STEPS, USUAL_STEPS, Standing, conjugate_gradients, norms, nystrom
from ..landmarks import landmark_factor
from ..nanoseconds import FLOPS
from ..triangular import NotDefiniteError, factor_work, larger, with_larger_diagonal
from .hessian import in_points

_FACTOR_FLOPS = 2.0  # A multiplication of a factor takes as long as so many of a product.


class InPoints:
    """K, for products and solutions; in float64 where it is held."""

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.K: Any = np.asarray(gram.astype(np.float64)) if gram.given else None
        self.exact = gram.given and gram.n <= LARGEST.points_exact
        """Whether solutions are exact, whatever the gap."""

    def product(self, v: Array) -> Array:
        """K v."""
        return np.asarray(self.gram @ v if self.K is None else self.K @ v)

    def solve(self, W: Array, right: Array, gap: float) -> Array:
        """(I + W K)^-1 r for the columns r; where it takes iterations, as exactly as so large a relative gap needs."""
        return self._by_factor(W, right) if self.exact else self._by_products(W, right, gap)

    def _by_factor(self, W: Array, right: Array) -> Array:
        """With a larger multiple of I, where K is not positive definite."""
        largest = float(np.abs(W * self.K.diagonal()).max())
        shifts = [0.0, *larger(A_DIGIT * (1.0 + largest))]
        try:
            inverse = with_larger_diagonal(lambda shift: in_points(self.K.copy(), W, 1.0 + shift), shifts)
        except NotDefiniteError:
            return right.copy()
        return np.asarray(right - inverse(self.K @ right))

    def _by_products(self, W: Array, right: Array, gap: float) -> Array:
        root = np.sqrt(W)[:, None]
        B = root * self.product(right)
        enough = min(A_DIGIT, max(ROUNDING.of_a_difference, A_DIGIT * gap)) * norms(right)
        near = nystrom(root * self.F, np.ones(len(W)))
        steps = conjugate_gradients(B, Standing.zero(B), lambda V: V + root * self.product(root * V), near)
        for number, found in enumerate(steps, 1):
            check_limits()
            # r - (I + W K) x = W^1/2 times the residual here: x itself may be a small difference.
            if found.stuck or number == MOST_STEPS or (norms(root * found.R) <= enough).all():
                break
        return np.asarray(right - root * found.V)

    @cached_property
    def F(self) -> Array:  # noqa: N802
        """K ~ F F', with few columns."""
        if self.gram.kernel is None:
            return np.asarray(self.gram.features, np.float64)
        return landmark_factor(self.gram, _rank(self.gram), 0)[0]


def points_of(gram: Gram) -> InPoints:
    """Those of a Gram matrix: of one that is held, once for all problems on it."""
    if not gram.given:
        return InPoints(gram)
    with _lock:
        if gram not in _held:
            _held[gram] = InPoints(gram)
        return _held[gram]


_held: WeakKeyDictionary[Gram, InPoints] = WeakKeyDictionary()
_lock = Lock()


def first_step(gram: Gram) -> Work:
    """The work of one step."""
    return Work(flops=held_step(gram.n)) if gram.given else Work(values=USUAL_STEPS * gram.n**2)


def held_step(n: int) -> float:
    """The same in multiplications, where K of n points is held: those of its factor; or as many as take as long as to
    read K in each step of conjugate gradients, and to make F and the preconditioner before.
    """
    if n <= LARGEST.points_exact:
        return factor_work(n) * _FACTOR_FLOPS
    return FLOPS * (USUAL_STEPS * n * n + 0.5 * n * min(LARGEST.columns, n) ** 2)


def _rank(gram: Gram) -> int:
    """How many columns F has: few, and as many as there is room for."""
    room = gram.n if gram.budget is None else gram.budget // (LANDMARK_BYTES * gram.n)
    return max(1, min(LARGEST.columns, gram.n, room))
