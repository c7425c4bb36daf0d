"""SymPy's expressions as formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .exact import sympy
from .formula import Absolute, Call, Formula, Number, Power, Quotient, Root, Sum, Symbol, product


def from_sympy(expression: Any) -> Formula:
    """The expression as it would be written: terms of high degree first, roots as roots, one fraction per term."""
    sp = sympy()
    if expression.is_Rational:
        return Number(Fraction(int(expression.p), int(expression.q)))
    if expression.is_Symbol:
        return as_symbol(expression)
    if expression.is_Add:
        return Sum(tuple(from_sympy(term) for term in expression.as_ordered_terms()))
    if expression is sp.pi:
        return Symbol("pi")
    if expression is sp.E:
        return Call("exp", (Number(Fraction(1)),))
    if expression.is_Mul:
        return _product(expression)
    if expression.is_Pow:
        return _power(*expression.as_base_exp())
    if isinstance(expression, sp.exp | sp.log | sp.Min | sp.Max):
        name = {sp.exp: "exp", sp.log: "log", sp.Min: "min", sp.Max: "max"}[type(expression)]
        return Call(name, tuple(from_sympy(argument) for argument in expression.args))
    if isinstance(expression, sp.Abs):
        return Absolute(from_sympy(expression.args[0]))
    raise TypeError(f"No way to write {expression!r}.")


def as_symbol(symbol: Any) -> Symbol:
    """x_1 from `x_1` or `x1`."""
    name, _, index = symbol.name.partition("_")
    if not index:
        name = symbol.name.rstrip("0123456789")
        index = symbol.name[len(name) :]
    return Symbol(name, index)


def _product(expression: Any) -> Formula:
    sp = sympy()
    factor, rest = expression.as_coeff_Mul()
    top, bottom = sp.fraction(rest)
    tops = [from_sympy(part) for part in top.as_ordered_factors() if part != 1]
    bottoms = [from_sympy(part) for part in bottom.as_ordered_factors() if part != 1]
    if not bottoms and tops and factor.is_Rational and not any(part.is_number for part in top.as_ordered_factors()):
        return product(Fraction(int(factor.p), int(factor.q)), *tops)  # 1/2 x rather than x/2
    p, q = Fraction(int(factor.p)), Fraction(int(factor.q))
    above = product(abs(p), *tops)
    body = above if q == 1 and not bottoms else Quotient(above, product(q, *bottoms))
    return body if p > 0 else -body


def _power(base: Any, exponent: Any) -> Formula:
    sp = sympy()
    if exponent == sp.Rational(1, 2):
        return Root(from_sympy(base))
    if exponent.is_Rational and exponent < 0:
        return Quotient(Number(Fraction(1)), _power(base, -exponent) if exponent != -1 else from_sympy(base))
    return Power(from_sympy(base), from_sympy(exponent))
