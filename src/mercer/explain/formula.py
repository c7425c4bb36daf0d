"""Mathematics as it is written: a small typed tree that is printed in several formats and can be evaluated exactly.

Nothing is simplified here: `Number(2) * Number(3)` stays a product, so that a step can show it before its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from .exponential import Exponential

Writable: TypeAlias = "Formula | Fraction | int"


class Formula:
    """A piece of mathematics. `+ - * / **` build larger ones."""

    def __add__(self, other: Writable) -> Formula:
        return Sum((*_terms(self), *_terms(formula(other))))

    def __radd__(self, other: Writable) -> Formula:
        return formula(other) + self

    def __sub__(self, other: Writable) -> Formula:
        return self + (-formula(other))

    def __rsub__(self, other: Writable) -> Formula:
        return formula(other) - self

    def __mul__(self, other: Writable) -> Formula:
        return Product((*_factors(self), *_factors(formula(other))))

    def __rmul__(self, other: Writable) -> Formula:
        return formula(other) * self

    def __truediv__(self, other: Writable) -> Formula:
        return Quotient(self, formula(other))

    def __rtruediv__(self, other: Writable) -> Formula:
        return Quotient(formula(other), self)

    def __pow__(self, exponent: Writable) -> Formula:
        return Power(self, formula(exponent))

    def __neg__(self) -> Formula:
        if isinstance(self, Number) and self.value > 0:
            return Number(-self.value)
        return Negative(self)


@dataclass(frozen=True)
class Number(Formula):
    """A fraction."""

    value: Fraction


@dataclass(frozen=True)
class Decimal(Formula):
    """A rounded number, to its last digit: stands after the sign ≈."""

    digits: str


@dataclass(frozen=True)
class Symbol(Formula):
    """A letter, or the name of a Greek one, with an index; bold for vectors and matrices."""

    name: str
    index: str = ""
    bold: bool = False

    @property
    def key(self) -> str:
        """The name by which it is known to the algebra: a vector is another thing than a number of the same letter."""
        return f"{'bold ' if self.bold else ''}{self.name}{'_' if self.index else ''}{self.index}"


@dataclass(frozen=True)
class Sum(Formula):
    """a + b - c."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True)
class Negative(Formula):
    """-a."""

    body: Formula


@dataclass(frozen=True)
class Product(Formula):
    """a b c."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True)
class Entrywise(Formula):
    """A o B, the product of matrices entry by entry."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Quotient(Formula):
    """a / b."""

    top: Formula
    bottom: Formula


@dataclass(frozen=True)
class Power(Formula):
    """a^b."""

    base: Formula
    exponent: Formula


@dataclass(frozen=True)
class Root(Formula):
    """The square root."""

    body: Formula


@dataclass(frozen=True)
class Matrix(Formula):
    """Rows of entries; a column vector has rows of one."""

    rows: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True)
class Point(Formula):
    """(a, b): a column vector written in a line."""

    entries: tuple[Formula, ...]


@dataclass(frozen=True)
class Transposed(Formula):
    """A'."""

    body: Formula


@dataclass(frozen=True)
class Inner(Formula):
    """<x, z>."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Norm(Formula):
    """|x|, the length of a vector."""

    body: Formula


@dataclass(frozen=True)
class Absolute(Formula):
    """|x|, of a number."""

    body: Formula


@dataclass(frozen=True)
class Call(Formula):
    """f(x, z). Known to the algebra: exp, log, min, max."""

    name: Formula | str
    arguments: tuple[Formula, ...]


@dataclass(frozen=True)
class Derivative(Formula):
    """df / dx, of a symbol that stands for an expression."""

    of: Formula
    by: Symbol


@dataclass(frozen=True)
class Series(Formula):
    """sum over index from lower to upper of body. Only written, never evaluated."""

    body: Formula
    index: str
    lower: str = ""
    upper: str = ""


@dataclass(frozen=True)
class Words(Formula):
    """Words among the formulas. Only written."""

    text: str


@dataclass(frozen=True)
class Listing(Formula):
    """Several formulas in a line, with a separator between them; in braces where they are a set."""

    items: tuple[Formula, ...]
    separator: str = ", "
    braces: bool = False


@dataclass(frozen=True)
class Chain(Formula):
    """a = b = c, or with <, <=, >, >=, != and ~ (about) between them.

    A sign says that this is so. With a ! behind it, it is a condition that is put up, and may turn out not to hold;
    := gives a value to a letter.
    """

    members: tuple[Formula, ...]
    signs: tuple[str, ...]


_RELATIONS = ("=", "<", "<=", ">", ">=", "!=", "~")
SIGNS = (*_RELATIONS, *(f"{sign}!" for sign in _RELATIONS), ":=")


def formula(value: Any) -> Formula:
    """The value as a formula."""
    if isinstance(value, Formula):
        return value
    if isinstance(value, Exponential):
        return _with_exp(value)
    return Number(Fraction(value))


def _with_exp(value: Exponential) -> Formula:
    """A number with exp, as one writes it."""
    above, below = value.parts()
    negative = all(c < 0 for c in above.values())
    factors = [-c if negative else c for c in above.values()]
    top = combination(factors, [_power_of_e(exponent) for exponent in above])
    bottom = combination(list(below.values()), [_power_of_e(exponent) for exponent in below])
    body = top if bottom == Number(Fraction(1)) else Quotient(top, bottom)
    return Negative(body) if negative else body


def _power_of_e(exponent: Fraction) -> Formula:
    return Call("exp", (Number(exponent),)) if exponent else Number(Fraction(1))


def chain(*parts: Any) -> Chain:
    """chain(a, "=", b, "<", c)."""
    members, signs = parts[::2], parts[1::2]
    if any(sign not in SIGNS for sign in signs) or len(members) != len(signs) + 1:
        raise ValueError(f"A chain is a, sign, b, sign, c ... with signs {' '.join(SIGNS)}, not {parts!r}.")
    return Chain(tuple(formula(member) for member in members), tuple(signs))


def condition(*parts: Any) -> Chain:
    """The same as a chain, but as a condition that is yet to be met."""
    written = chain(*parts)
    return Chain(written.members, tuple(f"{sign}!" for sign in written.signs))


def equals(*members: Any) -> Chain:
    """a = b = c."""
    return Chain(tuple(formula(member) for member in members), ("=",) * (len(members) - 1))


def column(entries: Iterable[Any]) -> Matrix:
    """A column vector."""
    return Matrix(tuple((formula(entry),) for entry in entries))


def matrix(rows: Iterable[Iterable[Any]]) -> Matrix:
    """A matrix, by rows."""
    return Matrix(tuple(tuple(formula(entry) for entry in row) for row in rows))


def point(entries: Iterable[Any]) -> Formula:
    """A point (a, b); a point of the line is just its number."""
    entries = tuple(formula(entry) for entry in entries)
    return Point(entries) if len(entries) > 1 else entries[0]


def scaled(factor: Fraction | int, body: Formula) -> Formula:
    """factor body, with a factor of 1 left out."""
    if isinstance(factor, Exponential):
        return product(formula(factor), body)
    factor = Fraction(factor)
    if factor == 1:
        return body
    if isinstance(body, Number) and body.value == 1:
        return Number(factor)
    return Negative(body) if factor == -1 and not isinstance(body, Number) else Number(factor) * body


def combination(factors: Sequence[Fraction | int], bodies: Sequence[Formula]) -> Formula:
    """sum_i factor_i body_i, without the terms that are 0."""
    zero = Number(Fraction(0))
    terms = [scaled(factor, body) for factor, body in zip(factors, bodies, strict=True) if factor and body != zero]
    if not terms:
        return zero
    return terms[0] if len(terms) == 1 else Sum(tuple(part for term in terms for part in _terms(term)))


def product(*factors: Writable) -> Formula:
    """a b c, with factors of 1 left out."""
    flat = [part for factor in factors for part in _factors(formula(factor))]
    kept = [part for part in flat if part != Number(Fraction(1))]
    if not kept:
        return Number(Fraction(1))
    return kept[0] if len(kept) == 1 else Product(tuple(kept))


def signed(body: Formula) -> tuple[bool, Formula]:
    """Whether a minus stands before it, and what follows the minus."""
    if isinstance(body, Negative):
        return True, body.body
    if isinstance(body, Number) and body.value < 0:
        return True, Number(-body.value)
    if isinstance(body, Product) and isinstance(body.factors[0], Number) and body.factors[0].value < 0:
        rest = body.factors[1:]
        if body.factors[0].value == -1 and not isinstance(rest[0], Number):
            return True, rest[0] if len(rest) == 1 else Product(rest)
        return True, Product((Number(-body.factors[0].value), *rest))
    if isinstance(body, Quotient):
        negative, top = signed(body.top)
        return negative, Quotient(top, body.bottom)
    return False, body


def _terms(body: Formula) -> tuple[Formula, ...]:
    return body.terms if isinstance(body, Sum) else (body,)


def _factors(body: Formula) -> tuple[Formula, ...]:
    return body.factors if isinstance(body, Product) else (body,)
