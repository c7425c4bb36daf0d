"""The Gaussian-process reading of ridge regression: the variance of f(x), with noise of variance lambda / w_i.

    var(x) = k(x, x) - k_x'A^-1 k_x,     A = K + lambda diag(1/w)
    in features: k(x, x) - |z|^2 + lambda z'(Z'WZ + lambda I)^-1 z

The first part of the second line is what landmarks do not see of x: it is kept, so that far from them the variance is
that of the prior. With a bias, whose prior is flat, what is not known of b is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..gram import unformed
from ..kernels import Kernel
from ..kernels.evaluate import block, diagonal
from ..kernels.points import count
from ..memory import BudgetError, format_bytes
from ..solvers.cholesky import fill_columns
from ..solvers.streams import Features
from ..solvers.triangular import NO_FACTOR, SHIFTS, Factor, NotDefiniteError, factor_bytes
from ..solvers.weights import FeatureProblem, Inverse, Weights
from ..types import Array, Points

_BLOCK = 4_000_000  # values at a time


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
        """Factor K + diag(r) in float64."""
        size = factor_bytes(count(points), np.float64)
        if size > budget:
            raise BudgetError(
                f"return_std needs a factor of {format_bytes(size)}, more than memory={format_bytes(budget)}: allow "
                "more, or fit with solver='nystrom'."
            )
        gram, shift = unformed(kernel, points), 0.0
        for _ in range(SHIFTS):
            factor = Factor(gram.n, np.float64, partial(fill_columns, gram, r + shift))
            try:
                for _ in factor.steps():
                    pass
                break
            except NotDefiniteError:  # rounding: lambda is tiny
                shift = 10.0 * shift or 1e-15 * float(gram.diag().max())
        else:
            raise ValueError(NO_FACTOR)
        return cls(kernel, points, factor, factor.solve(np.ones((gram.n, 1))) if bias else None)

    def variance(self, X: Points) -> Array:
        """Of f at each point."""
        out = np.empty(count(X))
        for rows in some_rows(count(X), self.factor.n):
            K = block(self.kernel, X[rows], self.points).astype(np.float64, copy=False)
            known = np.square(self.factor.forward(K.T)).sum(axis=0)
            out[rows] = diagonal(self.kernel, X[rows]) - known
            if self.ones is not None:
                out[rows] += (1.0 - K @ self.ones[:, 0]) ** 2 / self.ones.sum()
        return np.maximum(out, 0.0)


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

    def variance(self, X: Points) -> Array:
        """Of f at each point."""
        size = len(self.mean)
        features, out = Features(self.kernel, self.landmarks, size), np.empty(count(X))
        for rows in some_rows(count(X), size):
            G: Any = features.large_block(X[rows])
            G = np.asarray(G.toarray() if hasattr(G, "toarray") else G, np.float64).T
            Z = G if self.L is None else Inverse(self.L).root(G)
            out[rows] = self.free + self.penalty * np.square(self.inverse.root(Z - self.mean)).sum(axis=0)
            if self.L is not None:
                out[rows] += np.maximum(diagonal(self.kernel, X[rows]) - np.square(Z).sum(axis=0), 0.0)
        return out


def some_rows(n: int, width: int) -> list[slice]:
    """n rows of this width, so many at a time as are quickly computed and take little memory."""
    step = max(1, _BLOCK // width)
    return [slice(start, min(n, start + step)) for start in range(0, n, step)]
