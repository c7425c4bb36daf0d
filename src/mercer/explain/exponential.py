"""Numbers with exp in them, exactly: quotients of sums of powers of q = exp(-unit).

exp of a rational number other than 0 satisfies no polynomial equation with rational coefficients (Lindemann), so that
such a number is 0 only where its sum is. Its sign is found from bounds for q, proved, and as narrow as needed.

Of irregular points the exponents are far apart, and common divisors would cost more than all the rest. So what is below
the line is kept as factors, mostly determinants, and only what is divided by one of them is reduced.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd
from typing import Any

from .exact import sympy
from .sums import ONE, Terms, content, divided, lowest, multiplied, plus, shifted, stretched, times

_PRECISIONS = (20, 60, 200, 800)
"""Decimals of the bounds for powers of q, until the sign is sure."""

Parts = dict[Fraction, int]
Quotient = tuple[Terms, tuple[Terms, ...], int]
"""What is above the line; the factors below it, which begin with a positive number; a whole number below it."""


class Exponential:
    """A number that is no fraction; what becomes one in a computation is a Fraction again."""

    __slots__ = ("_parts", "quotient", "unit")

    def __init__(self, quotient: Quotient, unit: Fraction) -> None:
        self.quotient, self.unit = quotient, unit
        self._parts: tuple[Parts, Parts] | None = None

    def _pair(self, other: Any) -> tuple[Quotient, Quotient, Fraction] | None:
        """Both in the same q."""
        if isinstance(other, int | Fraction):
            number = Fraction(other)
            return self.quotient, ({0: number.numerator} if number else {}, (), number.denominator), self.unit
        if not isinstance(other, Exponential):
            return None
        a, b = self.unit, other.unit
        unit = Fraction(gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)
        return _stretched(self.quotient, int(a / unit)), _stretched(other.quotient, int(b / unit)), unit

    def __add__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _made(*_added(pair[0], pair[1]), pair[2])

    __radd__ = __add__

    def __neg__(self) -> Any:
        top, factors, number = self.quotient
        return Exponential((shifted(top, 0, -1), factors, number), self.unit)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _product(*pair)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _product(pair[0], _inverse(pair[1]), pair[2])

    def __rtruediv__(self, other: Any) -> Any:
        pair = self._pair(other)
        return NotImplemented if pair is None else _product(_inverse(pair[0]), pair[1], pair[2])

    def __pow__(self, exponent: int) -> Any:
        total: Any = Fraction(1)
        for _ in range(exponent):
            total = total * self
        return total

    def __abs__(self) -> Any:
        return self if self > 0 else -self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exponential) and not self - other  # a difference of 0 is the Fraction

    def __hash__(self) -> int:
        return hash(Exponential)  # equal numbers may be written differently, and few are ever put into a dictionary

    def __lt__(self, other: Any) -> bool:
        return sign(self - other) < 0

    def __le__(self, other: Any) -> bool:
        return sign(self - other) <= 0

    def __gt__(self, other: Any) -> bool:
        return sign(self - other) > 0

    def __ge__(self, other: Any) -> bool:
        return sign(self - other) >= 0

    def __float__(self) -> float:
        top, bottom = self._whole()
        for digits in _PRECISIONS[1:]:
            (low, high), below = (_between(part, self.unit, digits) for part in (top, bottom))
            if below[0] * below[1] > 0 and abs(high - low) * 10**20 <= abs(low):
                break
        return float(Fraction(low, below[0]))

    def _whole(self) -> tuple[Terms, Terms]:
        """What is above and below the line, multiplied out, with exponents of at least 0."""
        top, factors, number = self.quotient
        shift = max(0, -min(top))
        return shifted(top, shift), multiplied([*factors, {shift: number}])

    def parts(self) -> tuple[Parts, Parts]:
        """The factors of exp(e), by e, above and below the line: whole numbers. In lowest terms, if these are shorter:

        1 / (1 - q) is shorter than (1 + q) / (1 - q^2), but (1 - q^9) / (1 - q) is shorter than 1 + q + ... + q^8.
        """
        if self._parts is None:
            whole = self._whole()
            reduced = lowest(*whole)
            above, below = reduced if sum(map(len, reduced)) <= sum(map(len, whole)) else whole
            self._parts = _exponents(above, self.unit), _exponents(below, self.unit)
        return self._parts

    def to_sympy(self) -> Any:
        """The same for SymPy."""
        sp = sympy()

        def total(part: Parts) -> Any:
            return sp.Add(*(c * sp.exp(sp.Rational(e.numerator, e.denominator)) for e, c in part.items()))

        top, bottom = self.parts()
        return total(top) / total(bottom)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return str(self.to_sympy())


def _exponents(terms: Terms, unit: Fraction) -> Parts:
    return {-k * unit: c for k, c in sorted(terms.items())}


def exponential(exponent: Fraction) -> Any:
    """exp(exponent)."""
    if not exponent:
        return Fraction(1)
    return Exponential(({-1 if exponent > 0 else 1: 1}, (), 1), abs(exponent))


@lru_cache(maxsize=4096)
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
        base, exponent = as_exponential(expression.base), int(expression.exp)
        return base**exponent if exponent >= 0 else 1 / base**-exponent
    if expression.is_Add or expression.is_Mul:
        parts = [as_exponential(part) for part in expression.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if expression.is_Add else total * part
        return total
    raise TypeError(f"{expression} is no number with exp of fractions.")


def _stretched(quotient: Quotient, factor: int) -> Quotient:
    top, factors, number = quotient
    return stretched(top, factor), tuple(stretched(f, factor) for f in factors), number


def _added(one: Quotient, two: Quotient) -> Quotient:
    """The sum; factors that both have below the line are taken once."""
    (a, own, m), (b, others, n) = one, two
    both = list(own)
    lacking = []  # what only the second has
    for f in others:
        if f in both:
            both.remove(f)
        else:
            lacking.append(f)
    common = gcd(m, n)
    a = multiplied([a, {0: n // common}, *lacking])
    b = multiplied([b, {0: m // common}, *both])
    return plus(a, b), (*own, *lacking), m // common * n


def _inverse(quotient: Quotient) -> Quotient:
    top, factors, number = quotient
    if not top:
        raise ZeroDivisionError("division by 0")
    return multiplied([{0: number}, *factors]), (top,), 1


def _product(one: Quotient, two: Quotient, unit: Fraction) -> Any:
    """The product; what divides across the lines is left out before it is multiplied."""
    if not (one[0] and two[0]):
        return Fraction(0)
    a, others, n = _reduced(one[0], two[1], two[2])
    b, own, m = _reduced(two[0], one[1], one[2])
    return _made(times(a, b), (), m * n, unit, (*own, *others))


def _reduced(top: Terms, factors: Iterable[Terms], number: int) -> Quotient:
    """The quotient without the factors that divide what is above the line."""
    kept = []
    for f in factors:
        common = content(f)
        top, number = shifted(top, -min(f)), number * common
        factor = shifted(f, -min(f), common)
        quotient = top if factor == ONE else divided(top, factor)
        if quotient is None:
            kept.append(factor)
        else:
            top = quotient
    common = gcd(content(top), number) * (1 if number > 0 else -1)
    return shifted(top, 0, common), tuple(kept), number // common


def _made(top: Terms, factors: Iterable[Terms], number: int, unit: Fraction, more: tuple[Terms, ...] = ()) -> Any:
    """The number, with `more` factors that have been looked at; a Fraction where no q is left."""
    if not top:
        return Fraction(0)
    top, kept, number = _reduced(top, factors, number)
    if not (kept or more) and top.keys() == {0}:
        return Fraction(top[0], number)
    return Exponential((top, (*kept, *more), number), unit)


def sign(number: Any) -> int:
    """-1, 0 or 1, with proof."""
    if isinstance(number, int | Fraction):
        return (number > 0) - (number < 0)
    top, factors, _ = number.quotient
    found = _sign(shifted(top, -min(top)), number.unit)
    for factor in factors:
        found *= _sign(factor, number.unit)
    return found


def _sign(terms: Terms, unit: Fraction) -> int:
    for digits in _PRECISIONS:
        least, most = _between(terms, unit, digits)
        if least > 0 or most < 0:
            return 1 if least > 0 else -1
    raise ArithmeticError("The sign of a number with exp was not found: it is too near to 0.")


def _between(terms: Terms, unit: Fraction, digits: int) -> tuple[int, int]:
    """Two whole numbers with the sum, times 10 to the power of digits, between them."""
    least = most = 0
    for k, c in terms.items():
        low, high = _power(unit, k, digits)
        least += c * (low if c > 0 else high)
        most += c * (high if c > 0 else low)
    return least, most


@lru_cache(maxsize=1024)
def _power(unit: Fraction, k: int, digits: int) -> tuple[int, int]:
    """Two whole numbers with q^k, times 10 to the power of digits, between them: by squares, rounded outwards."""
    scale = 10**digits
    if k == 0:
        return scale, scale
    if k == 1:
        low, high = bounds(unit, digits)
        return int(low * scale), int(high * scale) + 1
    half, rest = _power(unit, k // 2, digits), _power(unit, k % 2, digits)
    return half[0] ** 2 * rest[0] // scale**2, -(-(half[1] ** 2) * rest[1] // scale**2)


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
