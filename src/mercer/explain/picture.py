"""What a picture of two-dimensional points needs: the points, their multipliers, and f."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exact import Rows, Vector
from .gram import value
from .setting import Setting


@dataclass(frozen=True)
class Picture:
    """Points in the plane with their classes, and f = sum_i beta_i k(x_i, .) + b where there is one."""

    points: Rows
    signs: tuple[int, ...]
    kernel: Any
    alpha: Vector | None = None
    b: Fraction | None = None
    C: Fraction | None = None
    margins: bool = True

    @classmethod
    def of(
        cls, e: Setting, alpha: Vector | None = None, b: Fraction | None = None, margins: bool = True
    ) -> Picture | None:
        """The picture of an exercise, or None where its points are not in the plane."""
        if e.points is None or len(e.points[0]) != 2:
            return None
        return cls(e.points, e.y, e.kernel, alpha, b, e.C, margins)

    def f(self, u: float, v: float) -> float:
        """f at a point of the plane, in floating point: it is only drawn."""
        assert self.alpha is not None
        assert self.b is not None
        total = float(self.b)
        for x, sign, a in zip(self.points, self.signs, self.alpha, strict=True):
            if a:
                total += float(a) * sign * float(value(self.kernel, [float(c) for c in x], [u, v]))
        return total
