"""The letters of the mathematics, the same in all worked solutions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .exact import sympy
from .exponential import Exponential
from .formula import (
    Call,
    Decimal,
    Formula,
    Listing,
    Number,
    Product,
    Root,
    Series,
    Symbol,
    combination,
    formula,
    product,
)
from .meaning import value

HALF = Number(Fraction(1, 2))
w, x, z, K, G, X, y, t_bold, a_bold = (
    Symbol(name, bold=True) for name in ("w", "x", "z", "K", "G", "X", "y", "t", "a")
)
alpha_bold = Symbol("alpha", bold=True)
b, t, C, L, q, f, k = (Symbol(name) for name in ("b", "t", "C", "L", "q", "f", "k"))
lam = Symbol("lambda")


def alpha(i: int) -> Symbol:
    """alpha_i, counted from 1 on paper."""
    return Symbol("alpha", str(i + 1))


def alphas(n: int) -> list[Symbol]:
    """alpha_1 ... alpha_n."""
    return [alpha(i) for i in range(n)]


def x_(i: int | str) -> Symbol:
    """The point x_i."""
    return Symbol("x", str(i + 1) if isinstance(i, int) else i, bold=True)


def y_(i: int | str) -> Symbol:
    """The label y_i."""
    return Symbol("y", str(i + 1) if isinstance(i, int) else i)


def coordinates(d: int, letter: str = "x") -> list[Symbol]:
    """x_1 ... x_d, the coordinates of a point that is not given; just x on the line."""
    return [Symbol(letter)] if d == 1 else [Symbol(letter, str(j + 1)) for j in range(d)]


def named_as(given: Sequence[Formula], otherwise: str) -> tuple[Symbol, list[Symbol]]:
    """y and y_1 ... y_d where a point was given by these names; the usual letter otherwise."""
    first = given[0]
    name = first.name if isinstance(first, Symbol) and list(given) == coordinates(len(given), first.name) else otherwise
    return Symbol(name, bold=True), coordinates(len(given), name)


def over(body: Formula, index: str = "i") -> Series:
    """sum_i body."""
    return Series(body, index)


def f_of(argument: Formula) -> Formula:
    """f(x)."""
    return Call(f, (argument,))


def indices(points: Sequence[int]) -> Formula:
    """{1, 3}: a set of points, counted from 1."""
    return Listing(tuple(Number(Fraction(i + 1)) for i in points), ", ", braces=True)


def quadratic_form(Q: Sequence[Sequence[Fraction]], symbols: Sequence[Symbol]) -> Formula:
    """v'Qv multiplied out: Q_11 v_1^2 + 2 Q_12 v_1 v_2 + ..."""
    factors: list[Fraction] = []
    bodies: list[Formula] = []
    for i, left in enumerate(symbols):
        for j in range(i, len(symbols)):
            factors.append(Q[i][i] if i == j else 2 * Q[i][j])
            bodies.append(left**2 if i == j else Product((left, symbols[j])))
    return combination(factors, bodies)


def about(body: Formula, digits: int = 4) -> Decimal | None:
    """The rounded value, or None where the value is a short decimal anyway."""
    exact = value(body)
    if exact.is_Rational and (10**2 * exact).is_Integer:
        return None
    number = float(exact)
    small, large = abs(number) < 10.0**-3, abs(number) >= 10.0**digits
    return Decimal(f"{number:.{digits + 3}f}" if small else f"{number:.0f}" if large else f"{number:.{digits}g}")


def root_of(square: Fraction) -> Formula:
    """The square root of a fraction as one writes it: that of 4/5 is 2 / sqrt(5)."""
    if isinstance(square, Exponential):
        return Root(formula(square))
    above, below = _simple_root(square.numerator), _simple_root(square.denominator)
    return above if square.denominator == 1 else above / below


def _simple_root(number: int) -> Formula:
    """sqrt(12) as 2 sqrt(3)."""
    root = sympy().sqrt(number)
    factor, rest = root.as_coeff_Mul()
    return product(int(factor), Number(Fraction(1)) if rest == 1 else Root(Number(Fraction(int(rest**2)))))
