"""What a picture of two-dimensional points needs: the points, their multipliers, and f."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..kernels import Chi2, Intersection, Kernel
from .exact import Rows, Vector
from .gram import all_parts
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
        return self.grid([u], [v])[0][0]

    def grid(self, us: list[float], vs: list[float]) -> list[list[float]]:
        """f at all (u, v), a row for each v; kernels of histograms are told no negative coordinates."""
        assert self.alpha is not None
        assert self.b is not None
        beta = np.array([float(a) * sign for a, sign in zip(self.alpha, self.signs, strict=True)])
        points = np.array([[float(c) for c in x] for x in self.points])
        places = np.array([(u, v) for v in vs for u in us])
        if any(isinstance(part, Intersection | Chi2) for part in all_parts(self.kernel)):
            places = np.maximum(places, 0.0)
        found = beta @ self.kernel(points, places) + float(self.b)
        rows: list[list[float]] = found.reshape(len(vs), len(us)).tolist()
        return rows
