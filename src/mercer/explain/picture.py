"""What a picture of two-dimensional points needs: the points, their multipliers, and f."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..kernels import Kernel
from .exact import Rows, Vector
from .gram import value
from .sample import Sample


@dataclass(frozen=True)
class Picture:
    """Points in the plane with their classes, and f = sum_i alpha_i y_i k(x_i, .) + b where there is one."""

    points: Rows
    signs: tuple[int, ...]
    kernel: Kernel
    alpha: Vector | None = None
    b: Fraction | None = None
    C: Fraction | None = None
    margins: bool = False
    new: Rows = ()

    @classmethod
    def of(
        cls,
        e: Sample,
        signs: tuple[int, ...],
        alpha: Vector | None = None,
        b: Fraction | None = None,
        C: Fraction | None = None,
        margins: bool = False,
    ) -> Picture | None:
        """The picture of an exercise, or None where its points are not in the plane."""
        if e.points is None or len(e.points[0]) != 2 or e.features is not None:
            return None
        return cls(e.points, signs, e.kernel, alpha, b, C, margins, e.new if alpha is not None else ())

    def f(self, u: float, v: float) -> float:
        """f at a point of the plane, in floating point: it is only drawn."""
        assert self.alpha is not None
        assert self.b is not None
        total = float(self.b)
        for x, sign, a in zip(self.points, self.signs, self.alpha, strict=True):
            if a:
                total += float(a) * sign * float(value(self.kernel, [float(c) for c in x], [u, v]))
        return total
