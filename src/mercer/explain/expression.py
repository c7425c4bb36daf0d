"""Formulas as text: "max x*y", "x + y <= 4" become SymPy's expressions. Names, numbers, arithmetic; never eval."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .algebraic import as_symbol
from .exact import fraction, quoted, require_word, sympy

_LONGEST = 500
_HIGHEST, _MOST_DEGREE = 12, 24
_LARGEST = 4000
"""Binary digits of a number."""
_FUNCTIONS = ("sqrt", "exp", "log")
_KINKS = ("abs", "max", "min")
_GREEK = ("alpha", "beta", "gamma", "delta", "eta", "mu", "xi", "sigma", "phi")
_NAME = re.compile(r"[A-Za-z](_?\d+)?|(" + "|".join(_GREEK) + r")(_?\d+)?|[A-Za-z]+_[A-Za-z0-9]+")
_SENSES = {"max": "max", "maximise": "max", "maximize": "max", "min": "min", "minimise": "min", "minimize": "min"}


@dataclass(frozen=True)
class Constraint:
    """As it was written: left, sign, right. That is body = 0, or body <= 0."""

    left: Any
    sign: str
    right: Any

    @property
    def equality(self) -> bool:
        """Whether it is an equation."""
        return self.sign == "="

    @cached_property
    def body(self) -> Any:
        """Everything on one side."""
        difference = self.right - self.left if self.sign == ">=" else self.left - self.right
        return sympy().expand(difference)


def expression(source: Any, what: str, kinks: bool = False) -> Any:
    """The expression: a text, a number, or SymPy's own. With `kinks`, abs, max and min may be in it, and |x|."""
    sp = sympy()
    if isinstance(source, sp.Expr):
        return source.xreplace({symbol: sp.Symbol(as_symbol(symbol).key, real=True) for symbol in source.free_symbols})
    if not isinstance(source, str):
        number = fraction(source, what)
        return sp.Rational(number.numerator, number.denominator)
    if len(source) > _LONGEST:
        raise ValueError(f"{what} has {len(source)} characters; at most {_LONGEST} are read.")
    if kinks:
        source = re.sub(r"\|([^|]*)\|", r" abs(\1)", source)
    plain = source.replace("^", "**").replace("\N{MINUS SIGN}", "-").replace("·", "*")
    plain = re.sub(r"(?<![A-Za-z_\d.])(\d+(?:\.\d+)?)\s*(?=[A-Za-z(])", r"\1*", plain)  # 2x is 2*x
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{what} cannot be read: {quoted(source)}. Write it as in x**2 + 2*x*y - 1.") from None
    value = _built(tree, source, what, _FUNCTIONS + (_KINKS if kinks else ()))
    if _degree(value) > _MOST_DEGREE:
        raise ValueError(f"{what} has a degree above {_MOST_DEGREE}: {source!r:.60}.")
    if value.has(sp.zoo, sp.nan, sp.oo, sp.I):
        raise ValueError(f"{what} divides by zero or is not real: {quoted(source)}.")
    return value


def _degree(value: Any) -> Any:
    """A bound for its degree as a polynomial: powers of powers multiply."""
    if value.is_Pow:
        base, exponent = value.as_base_exp()
        return _degree(base) * abs(exponent) if exponent.is_Rational else _degree(exponent)
    degrees = [_degree(part) for part in value.args]
    if value.is_Symbol or not degrees:
        return 1 if value.is_Symbol else 0
    return sum(degrees) if value.is_Mul else max(degrees)


def _built(node: ast.expr, source: str, what: str, functions: tuple[str, ...]) -> Any:
    sp = sympy()

    def of(part: ast.expr) -> Any:
        return _built(part, source, what, functions)

    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            exact = fraction(number, what)
            return sp.Rational(exact.numerator, exact.denominator)
        case ast.Name(id=name):
            return _symbol(name, what)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -of(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return of(inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return of(left) + of(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return of(left) - of(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return of(left) * of(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return of(left) / of(right)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            exponent = of(right)
            if not exponent.is_Rational or abs(exponent) > _HIGHEST:
                raise ValueError(f"{what}: an exponent must be a number of at most {_HIGHEST}, not {exponent}.")
            base = of(left)
            if base.is_Rational and abs(exponent) * max(int(base.p).bit_length(), int(base.q).bit_length()) > _LARGEST:
                raise ValueError(f"{what}: a number of more than {_LARGEST} binary digits is too large.")
            return base**exponent
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in functions[:4]:
            return sp.Abs(of(argument)) if name == "abs" else getattr(sp, name)(of(argument))
        case ast.Call(func=ast.Name(id=name), args=[_, _, *_] as arguments, keywords=[]) if name in functions[4:]:
            return (sp.Max if name == "max" else sp.Min)(*map(of, arguments))
    text = ast.unparse(node)
    raise ValueError(
        f"{what}: {quoted(text)} is not understood. Use names, numbers, + - * / ** and {', '.join(functions)}."
    )


def _symbol(name: str, what: str) -> Any:
    if name in (*_FUNCTIONS, *_KINKS):
        raise ValueError(f"{what}: {name} is a function: write {name}(x).")
    if not _NAME.fullmatch(name):
        product = "*".join(name)
        raise ValueError(
            f"{what}: {quoted(name)} could be one name or a product. Write {product}, or one letter with an index."
        )
    sp = sympy()
    return sp.Symbol(as_symbol(sp.Symbol(name)).key, real=True)  # x1 and x_1 are one name


def objective(source: Any, sense: str | None) -> tuple[str, Any]:
    """The sense, "max" or "min", and the expression."""
    if isinstance(source, str):
        word, _, rest = source.strip().partition(" ")
        if word.lower() in _SENSES:
            if sense is not None and _SENSES[word.lower()] != _sense(sense):
                raise ValueError(f"The objective says {quoted(word)}, but sense is {quoted(sense)}.")
            sense, source = _SENSES[word.lower()], rest
    if sense is None:
        raise ValueError('Say whether to maximise or minimise: "max x*y" or "min x**2 + y**2", or sense="max".')
    return _sense(sense), expression(source, "the objective")


def _sense(sense: str) -> str:
    require_word("sense", sense, _SENSES)
    return _SENSES[sense]


def all_constraints(given: Any) -> list[Any]:
    """One constraint, a list of them, or None."""
    if given is None or isinstance(given, str | sympy().Basic):
        return [] if given is None else [given]
    if not isinstance(given, Iterable):
        raise TypeError(f'Constraints are a list such as ["x + y = 4", "x >= 0"], not {quoted(given)}.')
    return list(given)


def constraint(source: Any) -> Constraint:
    """A text such as "x + y = 4" or "x >= 0", or SymPy's Eq, Le, Ge."""
    sp = sympy()
    if isinstance(source, str):
        plain = source.replace("≤", "<=").replace("≥", ">=").replace("==", "=")
        parts = re.split(r"(<=|>=|=|<|>)", plain)
        if len(parts) != 3:
            raise ValueError(f"A constraint has one sign, =, <= or >=, and two sides: {quoted(source)} has not.")
        left, sign, right = parts
    elif isinstance(source, sp.Eq | sp.Le | sp.Ge | sp.Lt | sp.Gt):
        left, right = source.lhs, source.rhs
        sign = {sp.Eq: "=", sp.Le: "<=", sp.Ge: ">=", sp.Lt: "<", sp.Gt: ">"}[type(source)]
    else:
        raise TypeError(f'A constraint is a text such as "x + y = 4", or SymPy\'s Eq, Le or Ge, not {quoted(source)}.')
    if sign in ("<", ">"):
        raise ValueError(f"{source!s:.60}: a strict inequality leaves out its boundary, where optima lie. Use {sign}=.")
    return Constraint(expression(left, "a constraint"), sign, expression(right, "a constraint"))
