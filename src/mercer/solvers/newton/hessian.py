"""The Hessian of Newton's steps, I + Z'DZ with D >= 0 diagonal, in the form that suits the features Z of K = Z Z'.

In points    I - Z'(1/D + K)^-1 Z of the points with D > 0, by Woodbury's identity: n x n
In features  I + Z'DZ itself, kept from step to step and changed by the points whose D has changed: d x d
By products  conjugate gradients: with K v in `in_points.py`, with Z w in `irls.py`

A bias is one more row, with the column c and a penalty (0: it is free): `Bordered` has its Schur complement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...amounts import LARGEST
from ...arithmetic import inner
from ...gram import Design
from ...limits import deadline, flop_seconds, require
from ...types import Array, Index
from ..triangular import factor_work, inverse_of

_WIDE_SINGLE = 128  # With so many dense float32 features or more, products are float32,
_MOST_SINGLE = 0.5 / float(np.finfo(np.float32).eps)  # up to this trace: what is rounded is small beside the I then.
_CANCELS = 1.0 / float(np.sqrt(np.finfo(np.float64).eps))  # D |z|^2, where half of the digits are lost.

Solve = Callable[[Array], Array]


class Bias(NamedTuple):
    """How a bias enters f = Z w + column e: free (1, 0), penalised (sqrt c, 1), or absent (0, 1)."""

    column: float
    penalty: float

    @classmethod
    def of(cls, constant: float, free: bool) -> Bias:
        """Of K = Z Z' + constant."""
        return cls(1.0, 0.0) if free else cls(float(np.sqrt(constant)), 1.0)


@dataclass(frozen=True, eq=False)
class Bordered:
    """[[H, c Z'D1], [c 1'DZ, penalty + c^2 1'D1]]^-1 of w and the weight of the bias, from H^-1 for H = I + Z'DZ."""

    solve: Solve
    bias: Bias
    image: Array
    """Z'D1."""
    solved: Array
    """H^-1 Z'D1."""
    rest: float
    """1'D1 - 1'DZ H^-1 Z'D1."""

    def __call__(self, r: Array, r_e: float) -> tuple[Array, float]:
        """The solution; where nothing holds a free bias, that follows the sign of its side."""
        first, column = self.solve(r), self.bias.column
        if not column:
            return first, r_e
        corner = self.bias.penalty + column**2 * max(self.rest, 0.0)
        if not corner > 0.0:
            return first, float(np.sign(r_e))
        e = (r_e - column * inner(self.image, first)) / corner
        return first - (column * e) * self.solved, e


def in_points(K: Array, D: Array, one: float = 1.0) -> Solve:
    """(1/D + K)^-1 = D^1/2 (I + D^1/2 K D^1/2)^-1 D^1/2; K is overwritten. A larger number may stand for the 1 in I."""
    root = np.sqrt(D)
    K *= root
    K *= root[:, None]
    K.flat[:: len(K) + 1] += one
    solve = inverse_of(K)

    def solved(V: Array) -> Array:
        side = root if V.ndim == 1 else root[:, None]
        return side * solve(side * V)

    return solved


class Hessian:
    """I + Z'DZ of a design, in the smaller of two forms."""

    def __init__(self, design: Design, bias: Bias, single: bool = True) -> None:
        self.design, self.bias = design, bias
        self.single = single and design.Z.dtype == np.float32 and not design.sparse and design.width >= _WIDE_SINGLE
        self.forget()

    def forget(self) -> None:
        """Begin anew with the next sum: rounding errors have added up, or all is different."""
        self.weight: Array | None = None  # of the sum that is kept

    def inverse(self, D: Array, unit: float) -> Bordered:
        """For these D; D times `unit` seldom changes. NotDefiniteError, where it cannot be told from a singular one."""
        if np.count_nonzero(D != 0.0) < self.design.width:
            free = np.flatnonzero(D != 0.0)
            if not self._loses_digits(free, D):
                return self._in_points(free, D[free])
        return self._in_features(D, unit)

    def _loses_digits(self, free: Index, D: Array) -> bool:
        """Whether the form in points would be a difference of nearly equal numbers, and the other one is cheap."""
        if self.design.width > LARGEST.columns or free.size == 0:
            return False
        return bool((self.design.squared_norms[free] * D[free]).max() > _CANCELS)

    def _in_features(self, D: Array, unit: float) -> Bordered:
        if deadline().limited:
            require(factor_work(self.design.width) * flop_seconds())
        self._update(unit * D, unit)
        H = self.squares / unit
        H.flat[:: len(H) + 1] += 1.0
        solve, image = inverse_of(H), self.sum / unit
        solved = solve(image)
        return Bordered(solve, self.bias, image, solved, float(D.sum()) - inner(image, solved))

    def _in_points(self, free: Index, D: Array) -> Bordered:
        if free.size == 0:
            zeros = np.zeros(self.design.width)
            return Bordered(np.copy, self.bias, zeros, zeros, 0.0)
        if deadline().limited:
            require((self.design.width * free.size**2 + factor_work(free.size)) * flop_seconds())
        Z = self.design.Z[free].astype(np.float64)
        solve = in_points((Z @ Z.T).toarray() if self.design.sparse else Z @ Z.T, D)
        ones = solve(np.ones(free.size))
        image, solved = np.asarray(Z.T @ D), np.asarray(Z.T @ ones)
        return Bordered(lambda x: np.asarray(x - Z.T @ solve(Z @ x)), self.bias, image, solved, float(ones.sum()))

    def _update(self, weight: Array, unit: float) -> None:
        """sum weight z z' and sum weight z: from those before, where fewer points have changed than are free."""
        if self.weight is None or np.count_nonzero(weight != self.weight) > np.count_nonzero(weight != 0.0):
            self.squares, self.sum = np.zeros((self.design.width,) * 2), np.zeros(self.design.width)
            self.weight = np.zeros_like(weight)
        change, self.weight = weight - self.weight, weight
        rows = np.flatnonzero(change != 0.0)
        change = change[rows]
        squares, total = self.design.squares(rows, change, self.single)
        self.squares += squares
        self.sum += total
        if self.single and np.trace(self.squares) > _MOST_SINGLE * unit:
            self.single = False
            self.forget()
            self._update(weight, unit)
