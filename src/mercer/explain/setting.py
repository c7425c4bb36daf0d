"""The data of one exercise on support vector machines, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..kernels import Kernel
from .cases import Dual, Verdict, try_all
from .exact import Labels, Rows, Vector, dot
from .formula import Call, Formula, Number, column, combination, matrix, point
from .gram import is_linear
from .letters import x_


@dataclass(frozen=True)
class Setting:
    """Points (None where only their Gram matrix is given), labels, Gram matrix, C (None: hard margin), kernel."""

    points: Rows | None
    labels: Labels
    K: Rows
    C: Fraction | None
    kernel: Kernel

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.y)

    @property
    def y(self) -> tuple[int, ...]:
        """The labels."""
        return self.labels.signs

    @property
    def linear(self) -> bool:
        """Whether w is a vector of coordinates."""
        return is_linear(self.kernel)

    @cached_property
    def dual(self) -> Dual:
        """The dual problem."""
        return Dual(self.K, self.y, self.C)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What became of each case."""
        return try_all(self.dual)

    @cached_property
    def signed_gram(self) -> Rows:
        """G_ij = y_i y_j K_ij."""
        return tuple(tuple(self.y[i] * self.y[j] * v for j, v in enumerate(row)) for i, row in enumerate(self.K))

    def beta(self, alpha: Vector) -> Vector:
        """alpha_i y_i."""
        return tuple(s * a for s, a in zip(self.y, alpha, strict=True))

    def w(self, alpha: Vector) -> Vector:
        """sum_i alpha_i y_i x_i."""
        assert self.points is not None
        return tuple(dot(self.beta(alpha), coordinate) for coordinate in zip(*self.points, strict=True))

    # As formulas.

    def x(self, i: int) -> Formula:
        """The point i with its numbers, or its letter where only the Gram matrix is known."""
        return x_(i) if self.points is None else point(self.points[i])

    def mapped(self, letter: Formula) -> Formula:
        """x for the linear kernel, phi(x) for the others."""
        return letter if self.linear else Call("φ", (letter,))

    @property
    def K_matrix(self) -> Formula:  # noqa: N802
        """The numbers of K."""
        return matrix(self.K)

    def beta_column(self, alpha: Vector) -> Formula:
        """The numbers alpha_i y_i."""
        return column(self.beta(alpha))

    def balance(self, alpha: Vector) -> Formula:
        """sum alpha_i y_i with the numbers put in."""
        return added(self.beta(alpha))


def added(values: Vector) -> Formula:
    """The values that are not 0, added up but not computed."""
    kept = [Number(v) for v in values if v]
    return combination([1] * len(kept), kept)
