"""The feature map of a polynomial kernel, found from the kernel itself.

A polynomial in <x, z> is sum_m c_m (x_1 z_1)^m_1 ... (x_d z_d)^m_d, so that phi_m(x) = sqrt(c_m) x_1^m_1 ... x_d^m_d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import Any

from ..kernels import Constant, Kernel, Linear, Polynomial, Power, Product, Scaled, Sum
from .algebraic import from_sympy
from .exact import NotByHandError, Vector, dot, sympy
from .formula import Formula, Number, Symbol, combination, point, product
from .gram import general, value
from .letters import root_of

MOST_FEATURES = 60


@dataclass(frozen=True)
class Monomial:
    """c x^m: one term of the kernel, and the square of one feature's factor."""

    factor: Fraction
    exponents: tuple[int, ...]

    def of(self, letters: Sequence[Formula]) -> Formula:
        """x^m, written with these letters or numbers."""
        powers = [letter if m == 1 else letter**m for letter, m in zip(letters, self.exponents, strict=True) if m]
        return product(*powers)

    def feature(self, letters: Sequence[Formula]) -> Formula:
        """sqrt(c) x^m."""
        return product(root_of(self.factor), self.of(letters))

    def at(self, x: Vector) -> Fraction:
        """x^m, of numbers."""
        return prod((v**m for v, m in zip(x, self.exponents, strict=True)), start=Fraction(1))

    def entry(self, number: Fraction) -> Formula:
        """number sqrt(c)."""
        return product(number, root_of(self.factor)) if number else Number(number)


def images(terms: list[Monomial], points: Sequence[Vector]) -> list[Formula]:
    """phi(x) of each point, with its roots."""
    return [point([t.entry(t.at(x)) for t in terms]) for x in points]


def combined(terms: list[Monomial], points: Sequence[Vector], beta: Vector) -> list[Formula]:
    """sum_i beta_i phi(x_i), one feature after the other."""
    return [t.entry(dot(beta, [t.at(x) for x in points])) for t in terms]


def mapping(terms: list[Monomial]) -> Callable[[Any], Any]:
    """phi as a function of SymPy's points."""
    sp = sympy()

    def phi(x: Any) -> Any:
        entries = tuple(x) if hasattr(x, "shape") else (x,)
        powers = [sp.prod(u**m for u, m in zip(entries, t.exponents, strict=True)) for t in terms]
        roots = [sp.sqrt(sp.Rational(t.factor.numerator, t.factor.denominator)) for t in terms]
        return sp.ImmutableMatrix([r * p for r, p in zip(roots, powers, strict=True)])

    return phi


def monomials(kernel: Kernel, d: int) -> list[Monomial]:
    """The terms of the kernel: by degree, then fewest variables first."""
    size = comb(d + degree(kernel), d)
    if size > MOST_FEATURES:
        raise NotByHandError(
            f"{kernel!r} of {d} coordinates has up to {size:,} features, more than {MOST_FEATURES}: use fewer "
            "coordinates or a lower degree, or mercer.features.PolynomialMap."
        )
    sp = sympy()
    pairs = [sp.Symbol(f"u{j}") for j in range(d)]
    terms = sp.Poly(sp.sympify(value(kernel, pairs, [Fraction(1)] * d)), *pairs).terms()
    found = [Monomial(Fraction(int(c.p), int(c.q)), tuple(m)) for m, c in terms if c != 0]
    if any(term.factor < 0 for term in found):
        raise NotByHandError(
            f"{kernel!r} has a term with a negative factor, so it has no feature map: take coef0 >= 0."
        )
    return sorted(found, key=lambda t: (sum(t.exponents), sum(map(bool, t.exponents)), [-m for m in t.exponents]))


def degree(kernel: Kernel) -> int:
    """Its degree as a polynomial in <x, z>."""
    match kernel:
        case Constant():
            return 0
        case Linear():
            return 1
        case Polynomial(power, _, _):
            return int(power)
        case Sum(left, right):
            return max(degree(left), degree(right))
        case Product(left, right):
            return degree(left) + degree(right)
        case Scaled(_, inner):
            return degree(inner)
        case Power(inner, power):
            return degree(inner) * int(power)
    raise TypeError(f"{kernel!r} is no polynomial in <x, z>.")


def expansion(
    kernel: Kernel, points: Sequence[Vector], beta: Vector, names: list[Symbol], b: Fraction
) -> tuple[Formula, Formula]:
    """sum_i beta_i k(x_i, x) + b as it stands, and multiplied out in the coordinates of x."""
    sp = sympy()
    symbols = [sp.Symbol(name.key, real=True) for name in names]
    terms = [general(kernel, combination(given, names), lambda kind: Number(Fraction(0))) for given in points]
    total: Any = sp.Rational(b.numerator, b.denominator)
    for factor, given in zip(beta, points, strict=True):
        total += sp.Rational(factor.numerator, factor.denominator) * sp.sympify(value(kernel, given, symbols))
    return combination([*beta, b], [*terms, Number(Fraction(1))]), from_sympy(sp.expand(total))
