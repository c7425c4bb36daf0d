"""Convex functions with kinks: that they are convex, by rules, and all their subgradients at a point.

A function is a sum of a smooth part, whose second derivatives are nowhere negative, and of positive multiples of |a|
with affine a, of maxima of convex functions, of powers of |a|, of exp of convex functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from random import Random
from typing import Any

from .algebra import solve
from .exact import NotByHandError, Vector, sympy
from .optimality import nowhere_negative

MOST_VERTICES = 32
_TRIES, _SEED = 600, 7


@dataclass(frozen=True)
class Convex:
    """A function of some variables, by its expression."""

    body: Any
    variables: tuple[Any, ...]

    def at(self, point: Sequence[Any]) -> Any:
        """f(point), exactly."""
        return self.body.xreplace(dict(zip(self.variables, map(_exact, point), strict=True)))

    @cached_property
    def smooth(self) -> Any:
        """The terms without kinks."""
        return sympy().Add(*(term for term in sympy().Add.make_args(self.body) if not _kinked(term)))

    @cached_property
    def kinked(self) -> tuple[Any, ...]:
        """The terms with kinks, in an order that does not depend on the run."""
        terms = [term for term in sympy().Add.make_args(self.body) if _kinked(term)]
        return tuple(sorted(terms, key=str))

    def hessian(self) -> Any:
        """The second derivatives of the smooth part."""
        return sympy().hessian(self.smooth, self.variables) if self.smooth != 0 else sympy().zeros(len(self.variables))

    def is_convex(self) -> bool:
        """Whether the rules say so."""
        return _semidefinite(self.hessian()) and all(_convex_term(term, self.variables) for term in self.kinked)

    def witness(self) -> tuple[Vector, Vector] | None:
        """Two points between which f is above its chord; None where none was found."""
        random = Random(_SEED)
        fast = sympy().lambdify(self.variables, self.body, modules=[{"Abs": abs, "Max": max, "Min": min}, "math"])
        for _ in range(_TRIES):
            pair = [tuple(Fraction(random.randint(-6, 6), 2) for _ in self.variables) for _ in range(2)]
            middle = tuple((a + b) / 2 for a, b in zip(*pair, strict=True))
            try:
                low, high, between = (float(fast(*map(float, p))) for p in (*pair, middle))
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                continue
            if between > (low + high) / 2 + 1e-6 and self.above_chord(*pair):
                return pair[0], pair[1]
        return None

    def above_chord(self, one: Vector, other: Vector) -> bool:
        """Whether f in the middle is more than the mean of f at both ends."""
        middle = tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
        return bool((self.at(middle) - (self.at(one) + self.at(other)) / 2).evalf(40) > 0)

    def subgradients(self, point: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """The corners of the set of all subgradients at a point."""
        return tuple(_hull(_subgradients(self.body, self.variables, tuple(map(_exact, point)))))


def require_convex(f: Convex) -> None:
    """Raise where f is not convex, with two points that show it, or where no rule says that it is."""
    if f.is_convex():
        return
    found = f.witness()
    if found is None:
        raise NotByHandError(
            f"No rule here says that {f.body} is convex: take sums of convex smooth functions, |a|, and maxima of such."
        )
    one, other = found
    middle = tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
    chord = (f.at(one) + f.at(other)) / 2
    raise NotByHandError(
        f"{f.body} is not convex, so that subgradients are not defined for it: between {_written(one)} and "
        f"{_written(other)}, at {_written(middle)}, f is {f.at(middle)}, above the chord, {chord}."
    )


def _written(point: Vector) -> str:
    return f"({', '.join(map(str, point))})" if len(point) > 1 else str(point[0])


def _exact(number: Any) -> Any:
    return sympy().Rational(number.numerator, number.denominator) if isinstance(number, Fraction | int) else number


def _kinked(term: Any) -> bool:
    sp = sympy()
    return bool(term.has(sp.Abs, sp.Max, sp.Min))


def _semidefinite(matrix: Any) -> bool:
    """Whether every principal minor is nowhere negative."""
    n = matrix.shape[0]
    places = [c for size in range(1, n + 1) for c in combinations(range(n), size)]
    return all(nowhere_negative(sympy().expand(matrix.extract(list(c), list(c)).det())) for c in places)


def _affine(body: Any, variables: tuple[Any, ...]) -> bool:
    return not _kinked(body) and all(sympy().diff(body, v, u) == 0 for v in variables for u in variables)


def _convex_term(term: Any, variables: tuple[Any, ...]) -> bool:
    """A term with kinks, by the rules."""
    sp = sympy()
    factor, rest = term.as_coeff_Mul()
    if factor < 0:
        return isinstance(rest, sp.Min) and all(Convex(-a, variables).is_convex() for a in rest.args)
    if isinstance(rest, sp.Abs):
        return _affine(rest.args[0], variables)
    if isinstance(rest, sp.Max):
        return all(Convex(a, variables).is_convex() for a in rest.args)
    if isinstance(rest, sp.exp):
        return Convex(rest.args[0], variables).is_convex()
    if isinstance(rest, sp.Pow) and rest.exp.is_Integer and rest.exp >= 1:
        nonnegative = isinstance(rest.base, sp.Abs) or (isinstance(rest.base, sp.Max) and 0 in rest.base.args)
        return nonnegative and _convex_term(rest.base, variables)
    return False


Points = list[tuple[Any, ...]]


def _subgradients(body: Any, variables: tuple[Any, ...], at: tuple[Any, ...]) -> Points:
    sp = sympy()
    place = dict(zip(variables, at, strict=True))
    if not _kinked(body):
        return [tuple(sp.simplify(sp.diff(body, v).xreplace(place)) for v in variables)]
    if body.is_Add:
        total: Points = [tuple(sp.Integer(0) for _ in variables)]
        for term in body.args:
            total = _hull([_plus(a, b) for a in total for b in _subgradients(term, variables, at)])
        return total
    factor, rest = body.as_coeff_Mul()
    if factor != 1:
        inner = sp.Max(*(-a for a in rest.args)) if factor < 0 else rest
        return [tuple(abs(factor) * entry for entry in v) for v in _subgradients(inner, variables, at)]
    if isinstance(body, sp.Abs):
        body = sp.Max(body.args[0], -body.args[0], evaluate=False)
    if isinstance(body, sp.Max):
        return _hull([v for a in active(body, place) for v in _subgradients(a, variables, at)])
    inside = body.args[0]
    value, slopes = inside.xreplace(place), _subgradients(inside, variables, at)
    outer = sp.exp(value) if isinstance(body, sp.exp) else body.exp * value ** (body.exp - 1)
    return [tuple(outer * entry for entry in v) for v in slopes]


def active(body: Any, place: dict[Any, Any]) -> list[Any]:
    """The functions of a maximum that have its value at a point."""
    values = {a: a.xreplace(place) for a in body.args}
    best = max(values.values(), key=lambda v: v.evalf(40))
    return sorted((a for a, v in values.items() if v == best or (v - best).equals(0)), key=str)


def _plus(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(u + v for u, v in zip(a, b, strict=True))


def _hull(points: Points) -> Points:
    """The corners of the convex hull: in one dimension and in two; in more, all different points."""
    distinct = sorted(set(points), key=lambda p: tuple(entry.evalf(30) for entry in p))
    if len(distinct) > MOST_VERTICES:
        raise NotByHandError(f"The set of subgradients has more than {MOST_VERTICES} corners: take a simpler point.")
    if len(distinct) < 3 and len(distinct[0]) < 3:
        return distinct
    if len(distinct[0]) == 1:
        return [distinct[0], distinct[-1]]
    if len(distinct[0]) == 2:
        return list(dict.fromkeys([*_half(distinct), *_half(distinct[::-1])]))
    return distinct


def _half(points: Points) -> Points:
    """Half of the hull in the plane, from the first point to the last, counterclockwise."""
    chain: Points = []
    for p in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p).evalf(40) <= 0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: tuple[Any, ...], b: tuple[Any, ...], c: tuple[Any, ...]) -> Any:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def weights_of(v: Vector, corners: Sequence[Vector]) -> Vector | None:
    """Weights >= 0 with sum 1 that make v of the corners; None where v is not among their mixtures."""
    d = len(v)
    for size in range(1, d + 2):
        for chosen in combinations(range(len(corners)), size):
            rows = [[corners[c][j] for c in chosen] for j in range(d)] + [[Fraction(1)] * size]
            found = solve(rows, [*v, Fraction(1)])
            if found.unique and found.particular is not None and all(x >= 0 for x in found.particular):
                whole = [Fraction(0)] * len(corners)
                for c, weight in zip(chosen, found.particular, strict=True):
                    whole[c] = weight
                return tuple(whole)
    return None


def refutation(f: Convex, at: Vector, v: Vector) -> Vector:
    """A point at which the plane f(at) + <v, w - at> is above f: v is no subgradient."""
    start = f.at(at)
    grid = sorted(product(range(-4, 5), repeat=len(at)), key=lambda d: sum(abs(c) for c in d))
    for halvings in range(8):
        for d in grid:
            if any(d):
                step = tuple(Fraction(c, 2**halvings) for c in d)
                place = tuple(a + s for a, s in zip(at, step, strict=True))
                plane = start + sum(_exact(a * s) for a, s in zip(v, step, strict=True))
                if (f.at(place) - plane).evalf(30) < 0:
                    return place
    raise NotByHandError("No point was found that shows why this is no subgradient.")
