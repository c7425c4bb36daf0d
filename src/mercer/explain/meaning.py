"""What a formula means: its exact value in SymPy, and whether a chain of relations holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .exact import sympy
from .formula import (
    Call,
    Chain,
    Decimal,
    Derivative,
    Entrywise,
    Formula,
    Inner,
    Matrix,
    Negative,
    Norm,
    Number,
    Point,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Symbol,
    Transposed,
)

Where = Mapping[Symbol, Any]
"""What symbols stand for: formulas or numbers."""


class NoValueError(Exception):
    """The formula is only written: a sum over an index, words, an unknown function."""


class VacuousError(ValueError):
    """The relation compares nothing, so that checking it would prove nothing."""


def value(body: Formula, where: Where | None = None) -> Any:
    """The exact value: a SymPy expression or matrix; symbols that stand for nothing stay symbols."""
    sp = sympy()
    where = where or {}

    def of(part: Formula) -> Any:
        return value(part, where)

    match body:
        case Number(number):
            return sp.Rational(number.numerator, number.denominator)
        case Decimal(digits):
            return sp.Rational(Fraction(digits).numerator, Fraction(digits).denominator)
        case Symbol():
            if body in where:
                bound = where[body]
                inside = {s: v for s, v in where.items() if s != body}
                return value(bound, inside) if isinstance(bound, Formula) else sp.sympify(bound)
            if body.bold:
                raise NoValueError(body)
            return sp.Symbol(body.key, real=True)
        case Sum(terms):
            return _fold(lambda a, b: a + b, [of(term) for term in terms])
        case Negative(inner):
            return -of(inner)
        case Product(factors):
            return _scalar(_fold(lambda a, b: a * b, [of(factor) for factor in factors]))
        case Entrywise(left, right):
            first, second = of(left), of(right)
            return first.multiply_elementwise(second) if hasattr(first, "shape") else first * second
        case Quotient(top, bottom):
            return of(top) / of(bottom)
        case Power(base, exponent):
            return of(base) ** of(exponent)
        case Root(inner):
            return sp.sqrt(of(inner))
        case Matrix(rows):
            return _scalar(sp.ImmutableMatrix([[of(entry) for entry in row] for row in rows]))
        case Point(entries):
            return sp.ImmutableMatrix([of(entry) for entry in entries])
        case Transposed(inner):
            inside = of(inner)
            return inside.T if hasattr(inside, "shape") else inside
        case Inner(left, right):
            return _inner(of(left), of(right))
        case Norm(inner):
            inside = of(inner)
            return sp.sqrt(_inner(inside, inside)) if hasattr(inside, "shape") else sp.Abs(inside)
        case Call("exp" | "log" | "min" | "max" as name, arguments):
            function = {"exp": sp.exp, "log": sp.log, "min": sp.Min, "max": sp.Max}[name]
            return function(*(of(argument) for argument in arguments))
        case Derivative(inner, by):
            if not isinstance(inner, Symbol) or inner not in where:
                raise NoValueError(body)
            return sp.diff(of(inner), of(by))
    raise NoValueError(body)


def _fold(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    total = values[0]
    for part in values[1:]:
        total = operation(total, part)
    return total


def _scalar(whole: Any) -> Any:
    """A matrix of one entry is a number."""
    return whole[0, 0] if getattr(whole, "shape", None) == (1, 1) else whole


def _inner(left: Any, right: Any) -> Any:
    return (left.T * right)[0, 0] if hasattr(left, "shape") else left * right


def holds(claim: Chain, where: Where | None = None) -> bool:
    """Whether every relation of the chain is true, exactly.

    A first member that is a bare symbol without a value is being defined, and members that are only written are
    passed over; at least two members must be left, or there would be nothing that could fail.
    """
    known: list[tuple[int, Any]] = []
    for position, member in enumerate(claim.members):
        if position == 0 and isinstance(member, Symbol) and member not in (where or {}):
            continue
        try:
            known.append((position, value(member, where)))
        except NoValueError:
            continue
    if len(known) < 2:
        raise VacuousError(f"Nothing to compare in {claim!r}.")
    return all(_related(left, claim.signs[i:j], right) for (i, left), (j, right) in pairwise(known))


def contradicts_itself(shown: Chain) -> bool:
    """Whether numbers that stand side by side in what is shown are not related as it says."""
    if not shown.claim:
        return False
    known: list[tuple[int, Any]] = []
    for position, member in enumerate(shown.members):
        try:
            number = value(member)
        except NoValueError:
            continue
        if not number.free_symbols:
            known.append((position, number))
    return not all(_related(left, shown.signs[i:j], right) for (i, left), (j, right) in pairwise(known))


def _related(left: Any, signs: tuple[str, ...], right: Any) -> bool:
    for sign in ("!=", "~", "<", ">", "<=", ">="):
        if sign in signs:
            return _compare(left, sign, right)
    return _equal(left, right)


def _equal(left: Any, right: Any) -> bool:
    if hasattr(left, "shape") or hasattr(right, "shape"):
        return getattr(left, "shape", None) == getattr(right, "shape", None) and all(
            _equal(a, b) for a, b in zip(left, right, strict=True)
        )
    sp = sympy()
    difference = sp.expand(left - right)
    return difference == 0 or difference.equals(0) is True


def _compare(left: Any, sign: str, right: Any) -> bool:
    if sign == "!=":
        return not _equal(left, right)
    difference = right - left
    if sign == "~":
        return _about(difference, right)
    if not difference.is_number:
        return False
    if _equal(left, right):
        return sign in ("<=", ">=")
    positive = difference.is_positive
    if positive is None:
        positive = bool(difference.evalf(50) > 0)
    return bool(positive) == (sign in ("<", "<="))


def _about(difference: Any, rounded: Any) -> bool:
    """Whether the rounded number is right to half a unit of its last digit."""
    digits = 0
    while (rounded * 10**digits) % 1 != 0:
        digits += 1
    return bool(sympy().Abs(difference).evalf(50) <= sympy().Rational(1, 2 * 10**digits))
