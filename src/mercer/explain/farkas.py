"""Why affine constraints contradict each other: a combination of them that says that a positive number is at most 0."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .exact import Vector, sympy

_Row = tuple[Vector, Fraction, Vector]
_MOST_ROWS = 2000


def contradiction(bodies: list[Any], equalities: list[bool], variables: list[Any]) -> Vector | None:
    """Weights w with sum_i w_i body_i a positive constant, w_i >= 0 where body_i <= 0; None where there are none.

    Fourier and Motzkin's elimination: a variable is removed by adding rows in which it has opposite signs. None also
    where the rows become too many.
    """
    rows: list[_Row] = []
    for place, (body, equality) in enumerate(zip(bodies, equalities, strict=True)):
        poly = sympy().Poly(body, *variables) if variables else None
        slopes = tuple(_fraction(poly.coeff_monomial(v)) for v in variables) if poly is not None else ()
        constant = _fraction(poly.coeff_monomial(1)) if poly is not None else _fraction(sympy().sympify(body))
        for factor in (1, -1) if equality else (1,):
            own = tuple(Fraction(factor * (j == place)) for j in range(len(bodies)))
            rows.append((tuple(factor * a for a in slopes), factor * constant, own))
    for place in range(len(variables)):
        rows = _without(rows, place)
        if len(rows) > _MOST_ROWS:
            return None
    return next((weights for _, constant, weights in rows if constant > 0), None)


def _without(rows: list[_Row], place: int) -> list[_Row]:
    """The rows without one variable."""
    kept = [row for row in rows if not row[0][place]]
    above = [row for row in rows if row[0][place] > 0]
    below = [row for row in rows if row[0][place] < 0]
    for first in above:
        for second in below:
            kept.append(_added(first, -second[0][place], second, first[0][place]))
    return list(dict.fromkeys(kept))


def _added(first: _Row, a: Fraction, second: _Row, b: Fraction) -> _Row:
    def mixed(u: Vector, v: Vector) -> Vector:
        return tuple(a * x + b * y for x, y in zip(u, v, strict=True))

    return mixed(first[0], second[0]), a * first[1] + b * second[1], mixed(first[2], second[2])


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))
