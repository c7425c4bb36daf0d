"""Kernels made from one other kernel: normalised, centred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from ..types import Array, Points
from .base import Kernel, _Composite
from .points import Domain, admit, copied, count, diagonal, row_weights


@dataclass(frozen=True)
class Normalized(_Composite, names=("Normalized", "Normalised")):
    """k(x, z) / sqrt(k(x, x) k(z, z)), the cosine of phi(x) and phi(z); 0 where phi(x) = 0.

    Parameters
    ----------
    kernel : Kernel
        k.
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel.domain is Domain.VALUES:
            raise ValueError(
                "Normalized(Precomputed()) cannot know k(x, x) of new points: normalise the matrix before the fit, "
                "or hold it in the kernel with Precomputed(matrix)."
            )

    def fill(self, A: Points, B: Points, out: Array) -> None:
        self.kernel.fill(A, B, out)
        scales = [self.scale(points, out.dtype) for points in (A, B)]
        out *= np.multiply.outer(*scales)  # one product: symmetric to the last digit

    def diagonal(self, A: Points) -> Array:
        """Ones, or 0 where phi(x) = 0."""
        diagonal = self.kernel.diagonal(A)
        return (diagonal > 0).astype(diagonal.dtype)

    def reason(self) -> str | None:
        return "a positive definite kernel times g(x) g(z), with g(x) = k(x, x)^(-1/2)"

    def scale(self, A: Points, dtype: DTypeLike) -> Array:
        """1 / sqrt(k(x, x)), and 0 where that is not defined."""
        own = diagonal(self.kernel, A, dtype)
        return np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0).astype(dtype)


@dataclass(frozen=True, eq=False)
class _Centre:
    """The points that are averaged, their weights (of sum 1), and the mean of the kernel over all their pairs."""

    points: Points
    weights: Array
    mean: float


@dataclass(frozen=True, repr=False)
class Centered(_Composite, names=("Centered", "Centred")):
    """<phi(x) - m, phi(z) - m>, with m the mean of phi over the training points that `resolve` is given.

    Parameters
    ----------
    kernel : Kernel
        The kernel with the features phi.
    centre : object, default=None
        The mean, which `resolve` finds; leave it out.
    """

    kernel: Kernel
    centre: _Centre | None = None

    def with_params(self, **params: Any) -> Self:
        """See Parameters.with_params; with another kernel inside, the centre must be found anew."""
        changed = super().with_params(**params)
        stale = changed.kernel != self.kernel and changed.centre is self.centre
        return type(self)(changed.kernel) if stale else changed

    def require_resolved(self) -> None:
        super().require_resolved()
        if self.centre is None:
            raise ValueError(f"{self!r} waits for the points to centre on: call kernel.resolve(X) first.")

    def resolve(self, X: Points, sample_weight: Any = None) -> Self:
        """See Kernel.resolve; with weights, a weighted mean."""
        if self.centre is not None:
            return self
        kernel = self.kernel.resolve(X, sample_weight)
        points = copied(admit(X, kernel.domain))
        weights = row_weights(sample_weight, count(points))
        weights = weights / weights.sum()
        mean = float(weights @ kernel.product(points, points, weights))
        return type(self)(kernel, _Centre(points, weights, mean))

    def __call__(self, X: Points, Z: Points = None) -> Array:
        """The block: that of the kernel inside less the means, each computed once for all rows and columns."""
        self.require_resolved()
        block = self.kernel(X, Z)
        rows = self._mean_with(admit(X, self.domain))
        columns = rows if Z is None or Z is X else self._mean_with(admit(Z, self.domain))
        return self._subtract(block, rows, columns)

    def fill(self, A: Points, B: Points, out: Array) -> None:
        """See Kernel.fill (inside a sum or a product; alone, `__call__` is faster)."""
        self.kernel.fill(A, B, out)
        self._subtract(out, self._mean_with(A), self._mean_with(B))

    def diagonal(self, A: Points) -> Array:
        """k(x, x) - 2 <phi(x), m> + |m|^2."""
        diagonal = self.kernel.diagonal(A)
        return np.asarray(diagonal - (2.0 * self._mean_with(A) - self._mean), diagonal.dtype)

    def reason(self) -> str | None:
        return "the inner product of phi(x) - m and phi(z) - m"

    @property
    def _mean(self) -> float:
        return self.centre.mean if self.centre else 0.0

    def _mean_with(self, A: Points) -> Array:
        """<phi(x), m> for each point."""
        assert self.centre is not None
        return self.kernel.product(A, self.centre.points, self.centre.weights)

    def _subtract(self, block: Array, rows: Array, columns: Array) -> Array:
        for start in range(0, len(block), 64):  # by strips, to make no second block
            strip = slice(start, start + 64)
            block[strip] -= np.add.outer(rows[strip], columns) - self._mean
        return block

    def __repr__(self) -> str:
        if self.centre is None:
            return f"Centered(kernel={self.kernel!r})"
        return f"<Centered {self.kernel!r} on {count(self.centre.points)} points>"
