"""Numbers with exp in them, exactly: quotients of polynomials in q = exp(-unit).

exp of a rational number other than 0 satisfies no polynomial equation with rational coefficients (Lindemann), so that
such a number is 0 only where its polynomial is. Its sign is found from bounds for q, proved, and as narrow as needed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd
from typing import Any

from .exact import sympy

_PRECISIONS = (20, 60, 200, 800)
"""Decimals of the bounds for q, until the sign is sure."""


class Exponential:
    """A number that is no fraction; what becomes one in a computation is a Fraction again."""

    __slots__ = ("element", "unit")

    def __init__(self, element: Any, unit: Fraction) -> None:
        self.element, self.unit = element, unit

    def _pair(self, other: Any) -> tuple[Any, Any, Fraction] | None:
        """Both as quotients of polynomials in the same q."""
        if isinstance(other, int | Fraction):
            return self.element, _constant(Fraction(other)), self.unit
        if not isinstance(other, Exponential):
            return None
        a, b = self.unit, other.unit
        unit = Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)
        return _raised(self.element, int(a / unit)), _raised(other.element, int(b / unit)), unit

    def __add__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _made(pair[0] + pair[1], pair[2])

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Exponential(-self.element, self.unit)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _made(pair[0] * pair[1], pair[2])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _made(pair[0] / pair[1], pair[2])

    def __rtruediv__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _made(pair[1] / pair[0], pair[2])

    def __pow__(self, exponent: int) -> Any:
        return _made(self.element**exponent, self.unit)

    def __abs__(self) -> Any:
        return self if self > 0 else -self

    def __eq__(self, other: object) -> bool:
        pair = self._pair(other)
        return pair is not None and bool(pair[0] == pair[1])

    def __hash__(self) -> int:
        return hash((self.element, self.unit))

    def __lt__(self, other: Any) -> bool:
        return sign(self - other) < 0

    def __le__(self, other: Any) -> bool:
        return sign(self - other) <= 0

    def __gt__(self, other: Any) -> bool:
        return sign(self - other) > 0

    def __ge__(self, other: Any) -> bool:
        return sign(self - other) >= 0

    def __float__(self) -> float:
        low, _ = bounds(self.unit, 40)
        return float(_at(self.element.numer, low) / _at(self.element.denom, low))

    def parts(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """The coefficients of q^k above and below the line: whole numbers, the lowest below positive."""
        top, bottom = _coefficients(self.element.numer), _coefficients(self.element.denom)
        scale = Fraction(1)
        for c in (*top.values(), *bottom.values()):
            scale *= (c * scale).denominator
        common = gcd(*(int(c * scale) for c in (*top.values(), *bottom.values())))
        scale = scale / common * (1 if bottom[min(bottom)] > 0 else -1)
        return {k: c * scale for k, c in top.items()}, {k: c * scale for k, c in bottom.items()}

    def to_sympy(self) -> Any:
        """The same for SymPy."""
        sp = sympy()

        def total(coefficients: dict[int, Fraction]) -> Any:
            terms = [
                sp.Rational(c.numerator, c.denominator)
                * sp.exp(-sp.Rational((k * self.unit).numerator, (k * self.unit).denominator))
                for k, c in coefficients.items()
            ]
            return sp.Add(*terms)

        top, bottom = self.parts()
        return total(top) / total(bottom)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str(self.to_sympy())


@lru_cache(maxsize=1)
def _field() -> tuple[Any, Any]:
    """Quotients of polynomials in q."""
    from sympy import QQ
    from sympy.polys.fields import field

    whole, q = field("q", QQ)
    return whole, q


def exponential(exponent: Fraction) -> Any:
    """exp(exponent)."""
    if not exponent:
        return Fraction(1)
    _, q = _field()
    return Exponential(q if exponent < 0 else 1 / q, abs(exponent))


def as_exponential(expression: Any) -> Any:
    """A number of SymPy's, made of fractions and exp of fractions, as one of these; TypeError where it is another."""
    sp = sympy()
    if expression.is_Rational:
        return Fraction(int(expression.p), int(expression.q))
    if expression is sp.E:
        return exponential(Fraction(1))
    if isinstance(expression, sp.exp) and expression.args[0].is_Rational:
        return exponential(Fraction(int(expression.args[0].p), int(expression.args[0].q)))
    if expression.is_Pow and expression.exp.is_Integer:
        base, power = as_exponential(expression.base), int(expression.exp)
        return base**power if power >= 0 else 1 / base**-power
    if expression.is_Add or expression.is_Mul:
        parts = [as_exponential(part) for part in expression.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if expression.is_Add else total * part
        return total
    raise TypeError(f"{expression} is no number with exp of fractions.")


def _constant(number: Fraction) -> Any:
    whole, _ = _field()
    return whole(number.numerator) / whole(number.denominator)


def _coefficients(polynomial: Any) -> dict[int, Fraction]:
    found = {int(k): Fraction(int(c.numerator), int(c.denominator)) for (k,), c in dict(polynomial).items()}
    return dict(sorted(found.items()))


def _raised(element: Any, factor: int) -> Any:
    """q^factor in place of q."""
    if factor == 1:
        return element
    whole, q = _field()

    def put(polynomial: Any) -> Any:
        total = whole(0)
        for k, c in _coefficients(polynomial).items():
            total += _constant(c) * q ** (k * factor)
        return total

    return put(element.numer) / put(element.denom)


def _made(element: Any, unit: Fraction) -> Any:
    """A Fraction where no q is left; otherwise with the largest unit."""
    top, bottom = _coefficients(element.numer), _coefficients(element.denom)
    powers = [k for k in (*top, *bottom) if k]
    if not powers:
        return (top.get(0, Fraction(0))) / bottom[0]
    common = gcd(*powers)
    if common == 1:
        return Exponential(element, unit)
    whole, q = _field()

    def put(coefficients: dict[int, Fraction]) -> Any:
        total = whole(0)
        for k, c in coefficients.items():
            total += _constant(c) * q ** (k // common)
        return total

    return Exponential(put(top) / put(bottom), unit * common)


def sign(number: Any) -> int:
    """-1, 0 or 1, with proof."""
    if isinstance(number, int | Fraction):
        return (number > 0) - (number < 0)
    return _sign(number.element.numer, number.unit) * _sign(number.element.denom, number.unit)


def _sign(polynomial: Any, unit: Fraction) -> int:
    coefficients = _coefficients(polynomial)
    for digits in _PRECISIONS:
        low, high = bounds(unit, digits)
        least = sum((c * (low if c > 0 else high) ** k for k, c in coefficients.items()), Fraction(0))
        most = sum((c * (high if c > 0 else low) ** k for k, c in coefficients.items()), Fraction(0))
        if least > 0 or most < 0:
            return 1 if least > 0 else -1
    raise ArithmeticError("The sign of a number with exp was not found: it is too near to 0.")


def _at(polynomial: Any, q: Fraction) -> Fraction:
    return sum((c * q**k for k, c in _coefficients(polynomial).items()), Fraction(0))


@lru_cache(maxsize=64)
def bounds(unit: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Two fractions with exp(-unit) between them: the series alternates, so that neighbouring sums enclose it."""
    parts = ceil(unit)
    v = unit / parts
    term = total = Fraction(1)
    k, last = 0, Fraction(2)
    while abs(term) > Fraction(1, 10 ** (digits + 5)) or k % 2 == 0:
        k += 1
        last = total
        term *= -v / k
        total += term
    low, high = min(total, last), max(total, last)
    scale = 10 ** (digits + 5)
    low, high = Fraction(int(low * scale), scale), Fraction(int(high * scale) + 1, scale)  # shorter, and outwards
    return low**parts, high**parts
