"""The Gaussian-process reading of ridge regression: the variance of f(x), with noise of variance lambda / w_i.

    var(x) = k(x, x) - k_x'A^-1 k_x,     A = K + lambda diag(1/w)
    in features: k(x, x) - |z|^2 + lambda z'(Z'WZ + lambda I)^-1 z

The first part of the second line is what landmarks do not see of x: it is kept, so that far from them the variance is
that of the prior. With a bias, whose prior is flat, what is not known of b is added.

The same factors give the shares of the targets in f: f(x) = sum_i c_i(x) t_i.

    c(x) = A^-1 k_x     in features: c_i(x) = w_i z_i'(Z'WZ + lambda I)^-1 z

With a bias, b = sum_i u_i t_i / sum u for u = A^-1 1, and in features z is centred and w_i / sum w added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..amounts import AT_A_TIME, ROUNDING, SHARE
from ..columns import block_between, pieces
from ..gram import unformed
from ..kernels import Kernel
from ..kernels.points import Domain, count, cut, diagonal
from ..memory import BudgetError, format_bytes
from ..solvers.ridge.cholesky import fill_columns
from ..solvers.ridge.in_features import FeatureProblem, Inverse, Weights
from ..solvers.ridge.row_sums import RowsOfFeatures
from ..solvers.triangular import (
    Factor,
    NotDefiniteError,
    backward,
    factor_bytes,
    factor_of,
    forward,
    larger,
    with_larger_diagonal,
)
from ..types import Array, Points

_STRIP_VALUES = AT_A_TIME.values // AT_A_TIME.arrays  # Of training points that are needed one after the other.
_SHIFTS = np.array([0.0, *larger(ROUNDING.of_a_number, 8)])  # Of the largest k(x, x): what rounding may have taken.


@dataclass(frozen=True, eq=False)
class FactorSpread:
    """The variance from the factor of A."""

    kernel: Kernel
    points: Points
    factor: Factor
    ones: Array | None
    """A^-1 1, where b is free."""

    @classmethod
    def of(cls, kernel: Kernel, points: Points, r: Array, bias: bool, budget: int) -> FactorSpread:
        """Factor K + diag(r) in float64; for a kernel of precomputed values, `points` are these."""
        size = int((1.0 + SHARE.little) * factor_bytes(count(points), np.float64))  # and blocks of new points
        if size > budget:
            raise BudgetError(
                f"Deviations and intervals need a factor of {format_bytes(size)}, more than "
                f"memory={format_bytes(budget)}: allow more, or fit with solver='nystrom'."
            )
        points = cut(points, slice(0, count(points)), np.float64)
        gram = unformed(kernel, points)
        largest = float(gram.diag().max())
        try:
            factor = with_larger_diagonal(partial(factor_of, gram.n, partial(fill_columns, gram, r)), _SHIFTS * largest)
        except NotDefiniteError:
            raise ValueError(
                f"{kernel!r} is not positive definite on these points (see mercer.evidence), or its values are too "
                "large: then there are no deviations and no intervals."
            ) from None
        return cls(kernel, points, factor, factor.solve(np.ones((gram.n, 1))) if bias else None)

    @property
    def width(self) -> int:
        """Values that are needed of each point."""
        return self.factor.n

    def variance(self, X: Points) -> Array:
        """Of f at some points."""
        X = cut(X, slice(0, count(X)), np.float64)
        K = self._values(X)
        out = diagonal(self.kernel, X) - np.square(self.factor.forward(K.T)).sum(axis=0)
        if self.ones is not None:
            out += (1.0 - K @ self.ones[:, 0]) ** 2 / self.ones.sum()
        return np.asarray(np.maximum(out, 0.0))

    def shares(self, X: Points) -> Array:
        """c_i(x), a row for each of some points."""
        K = self._values(X)
        shares: Array = self.factor.backward(self.factor.forward(K.T)).T
        if self.ones is not None:
            shares += np.outer((1.0 - K @ self.ones[:, 0]) / self.ones.sum(), self.ones[:, 0])
        return shares

    def _values(self, X: Points) -> Array:
        """k(x, x_i), a row for each point."""
        if self.kernel.domain is Domain.VALUES:
            return np.asarray(X, np.float64)
        return block_between(self.kernel, cut(X, slice(0, count(X)), np.float64), self.points)


@dataclass(frozen=True, eq=False)
class WeightsSpread:
    """The variance from the normal equations, and what the features leave of k(x, x)."""

    kernel: Kernel
    landmarks: Any
    L: Array | None
    penalty: float
    inverse: Inverse
    mean: Array
    free: float
    """What is not known of b: lambda / sum w, or 0."""

    @classmethod
    def of(cls, problem: FeatureProblem, answer: Weights) -> WeightsSpread:
        """From an answer with its inverse; nothing of the rows is kept."""
        assert answer.inverse is not None
        assert answer.measured is not None
        features, now = problem.features, answer.measured
        free = problem.penalty / now.mass if problem.bias else 0.0
        return cls(features.kernel, features.landmarks, problem.L, problem.penalty, answer.inverse, now.mean, free)

    @property
    def width(self) -> int:
        """Values that are needed of each point."""
        return len(self.mean)

    def variance(self, X: Points) -> Array:
        """Of f at some points."""
        X = cut(X, slice(0, count(X)), np.float64)
        Z = self._features(X)
        out = self.free + self.penalty * np.square(forward(self.inverse.L, Z - self.mean)).sum(axis=0)
        if self.L is not None:
            out += np.maximum(diagonal(self.kernel, X) - np.square(Z).sum(axis=0), 0.0)
        return np.asarray(out)

    def shares(self, X: Points, among: Points, weight: Array) -> Array:
        """c_i(x) of some points of the training and their weights, a row for each of some points."""
        V = self.inverse(self._features(X) - self.mean)
        U = V if self.L is None else backward(self.L, V)  # so that g(x_i) will do in place of z(x_i)
        out = np.empty((count(X), count(among)))
        for rows in some_rows(count(among), len(U), _STRIP_VALUES):
            out[:, rows] = np.asarray(self._large.block(among[rows]) @ U).T
        return np.asarray((out + (self.free / self.penalty - self.mean[:, 0] @ V)[:, None]) * weight)

    def own_shares(self, X: Points, weight: Array) -> Array:
        """c_i(x_i) of points of the training: the leverages."""
        out = np.empty(count(X))
        for rows in some_rows(count(X), len(self.mean), _STRIP_VALUES):
            Z = self._features(X[rows]) - self.mean
            out[rows] = np.square(forward(self.inverse.L, Z)).sum(axis=0) + self.free / self.penalty
        return out * weight

    @property
    def _large(self) -> RowsOfFeatures:
        return RowsOfFeatures(self.kernel, self.landmarks, len(self.mean))

    def _features(self, X: Points) -> Array:
        """z(x), a column for each point."""
        G: Any = self._large.block(X)
        G = np.asarray(G.toarray() if hasattr(G, "toarray") else G, np.float64).T
        return G if self.L is None else forward(self.L, G)


def some_rows(n: int, width: int, values: int) -> list[slice]:
    """n rows of this width, so many at a time as have no more than so many values."""
    return pieces(n, max(1, values // max(1, width)))
