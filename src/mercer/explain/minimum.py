"""The least value of a small convex function, proved: 0 is among the subgradients there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from .convex import Convex, weights_of
from .exact import Vector, fraction, sympy

_MOST = 400


def is_minimum(f: Convex, at: Vector) -> bool:
    """Whether 0 is a subgradient at this point."""
    corners = f.subgradients(at)
    if not all(entry.is_Rational for corner in corners for entry in corner):
        return False
    exact = [tuple(fraction(entry) for entry in corner) for corner in corners]
    return weights_of((Fraction(0),) * len(at), exact) is not None


def minimum(f: Convex) -> Vector | None:
    """A point with the least value, in fractions; None where none was found."""
    for count, place in enumerate(_candidates(f)):
        if count > _MOST:
            return None
        if is_minimum(f, place):
            return place
    return None


def _candidates(f: Convex) -> Iterator[Vector]:
    """Where a smooth choice of all maxima is stationary, on some of the kinks or on none."""
    sp = sympy()
    yield (Fraction(0),) * len(f.variables)
    atoms = sorted(f.body.atoms(sp.Abs, sp.Max), key=str)
    inside = [[a.args[0], -a.args[0]] if isinstance(a, sp.Abs) else sorted(a.args, key=str) for a in atoms]
    kinks = [one - other for pieces in inside for one, other in combinations(pieces, 2)]
    kinks = [k for k in dict.fromkeys(kinks) if k.is_polynomial(*f.variables)]
    for choice in product(*inside):
        body = f.body.xreplace(dict(zip(atoms, choice, strict=True)))
        for size in range(len(f.variables) + 1):
            for chosen in combinations(kinks, size):
                yield from _stationary(body, chosen, f.variables)


def _stationary(body: Any, kinks: tuple[Any, ...], variables: tuple[Any, ...]) -> Iterator[Vector]:
    sp = sympy()
    multipliers = [sp.Symbol(f"multiplier {i}") for i in range(len(kinks))]
    whole = body + sum(m * k for m, k in zip(multipliers, kinks, strict=True))
    equations = [sp.diff(whole, v) for v in variables] + list(kinks)
    if any(not e.is_polynomial(*variables, *multipliers) for e in equations):
        return
    try:
        found = sp.solve(equations, [*variables, *multipliers], dict=True)
    except NotImplementedError:
        return
    for solution in found:
        values = [solution.get(v, sp.Integer(0)) for v in variables]
        values = [v.subs(dict.fromkeys(v.free_symbols, 0)) for v in values]
        if all(v.is_Rational for v in values):
            yield tuple(fraction(v) for v in values)
