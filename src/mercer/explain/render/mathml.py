"""MathML, in the part of it that browsers share."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from itertools import pairwise

from ..formula import (
    Absolute,
    Call,
    Chain,
    Decimal,
    Derivative,
    Entrywise,
    Formula,
    Inner,
    Listing,
    Matrix,
    Negative,
    Norm,
    Number,
    Point,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Sum,
    Symbol,
    Transposed,
    Words,
    signed,
)
from .binding import ATOM, POWER, PRODUCT, binding, is_tall, needed_in_product, starts_with_number
from .boxes import GREEK, SIGNS, bold, measure
from .layout import Line, lines

WIDTH = 56


def _tag(name: str, *inside: str, **attributes: str) -> str:
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(inside)}</{name}>"


def _row(*inside: str) -> str:
    return _tag("mrow", *inside)


def _operator(sign: str, **attributes: str) -> str:
    return _tag("mo", escape(sign), **attributes)


_CLOSE = _operator("\N{INVISIBLE TIMES}")
_MINUS = _operator("−", form="prefix")


def math(body: Formula, level: int = 0) -> str:
    """The formula as MathML, in parentheses where it binds less tightly than `level`."""
    if binding(body) < level:
        return _fenced("(", math(body), ")", tall=is_tall(body))
    match body:
        case Number(value):
            return _number(value)
        case Decimal(digits):
            return _tag("mn", digits.replace("-", "−"))
        case Symbol():
            return _symbol(body)
        case Sum(terms):
            return summed(terms)
        case Negative(inner):
            return _row(_MINUS, math(inner, PRODUCT))
        case Product(factors):
            return _product(factors)
        case Entrywise(left, right):
            return _row(math(left, PRODUCT), _operator("∘"), math(right, POWER))
        case Quotient(top, bottom):
            negative, above = signed(top)
            fraction = _tag("mfrac", _row(math(above)), _row(math(bottom)))
            return _row(_MINUS, fraction) if negative else fraction
        case Power(base, exponent):
            return _tag("msup", math(base, ATOM), _row(math(exponent)))
        case Root(inner):
            return _tag("msqrt", math(inner))
        case Matrix(rows):
            return _fenced("[", _table([[math(entry) for entry in row] for row in rows]), "]", tall=True)
        case Point(entries):
            return _fenced("(", *_between([math(entry) for entry in entries], _operator(",")), ")", tall=is_tall(body))
        case Transposed(inner):
            return _tag("msup", math(inner, ATOM), _tag("mi", "⊤"))
        case Inner(left, right):
            return _fenced("⟨", math(left), _operator(","), math(right), "⟩", tall=is_tall(left) or is_tall(right))
        case Norm(inner):
            return _fenced("‖", math(inner), "‖", tall=is_tall(inner))
        case Absolute(inner):
            return _fenced("|", math(inner), "|", tall=is_tall(inner))
        case Call(name, arguments):
            head = _tag("mi", escape(name)) if isinstance(name, str) else math(name)
            return _row(head, _fenced("(", *_between([math(argument) for argument in arguments], _operator(",")), ")"))
        case Derivative(of, by):
            return _tag("mfrac", _row(_operator("∂"), math(of, ATOM)), _row(_operator("∂"), math(by)))
        case Series(inner, index, lower, upper):
            return _row(_series(index, lower, upper), math(inner, PRODUCT))
        case Words(text):
            return _tag("mtext", escape(text).replace(" ", "\N{NO-BREAK SPACE}"))
        case Listing(items, separator, braces):
            if braces and not items:
                return _tag("mi", "∅")
            gap = _tag("mtext", escape(separator).replace(" ", "\N{NO-BREAK SPACE}")) if separator else ""
            inside = _between([math(item) for item in items], gap)
            return _fenced("{", *inside, "}") if braces else _row(*inside)
        case Chain(members, signs):
            parts = [math(members[0])]
            for sign, member in zip(signs, members[1:], strict=True):
                parts += [_operator(SIGNS[sign]), math(member)]
            return _row(*parts)
    raise TypeError(f"No MathML for {body!r}.")


def _number(value: Fraction) -> str:
    negative, size = value < 0, abs(value)
    body = _tag("mn", str(size))
    if size.denominator != 1:
        body = _tag("mfrac", _tag("mn", str(size.numerator)), _tag("mn", str(size.denominator)))
    return _row(_MINUS, body) if negative else body


def _symbol(body: Symbol) -> str:
    letter = GREEK.get(body.name, body.name)
    own = _tag("mi", bold(letter) if body.bold else escape(letter))
    if not body.index:
        return own
    return _tag("msub", own, _index(body.index))


def _index(index: str) -> str:
    """1, i or ij below a letter: letters stand one by one, so that they are slanted."""
    if index.isdigit():
        return _tag("mn", index)
    return _row(*(_tag("mi", escape(letter)) for letter in index))


def summed(terms: tuple[Formula, ...], continued: bool = False) -> str:
    """A sum; where it goes on from the line before, its first sign is written too."""
    parts = []
    for position, term in enumerate(terms):
        negative, body = signed(term)
        if position or continued:
            parts.append(_operator("−" if negative else "+", form="infix"))
        elif negative:
            parts.append(_MINUS)
        parts.append(math(body, PRODUCT))
    return _row(*parts)


def _product(factors: tuple[Formula, ...]) -> str:
    negative, body = signed(Product(factors))
    if negative:
        return _row(_MINUS, math(body, PRODUCT))
    parts = [math(factors[0], POWER if isinstance(factors[0], Series) else PRODUCT)]
    for position, (before, factor) in enumerate(pairwise(factors), 1):
        dot = starts_with_number(factor) and not isinstance(before, Matrix)
        needed = needed_in_product(factor, position == len(factors) - 1)
        parts += [_operator("·") if dot else _CLOSE, math(factor, needed)]
    return _row(*parts)


def _series(index: str, lower: str, upper: str) -> str:
    sign = _operator("∑")
    if not lower:
        return _tag("munder", sign, _row(*_between([_tag("mi", escape(letter)) for letter in index], _operator(","))))
    below = _row(_tag("mi", escape(index)), _operator("="), _tag("mn", escape(lower)))
    return _tag("munderover", sign, below, _tag("mi", escape(upper)))


def _fenced(left: str, *inside: str, tall: bool = False) -> str:
    *body, right = inside
    close = {"stretchy": "true" if tall else "false", "lspace": "0", "rspace": "0"}
    return _row(_operator(left, form="prefix", **close), *body, _operator(right, form="postfix", **close))


def _between(parts: list[str], separator: str) -> list[str]:
    joined: list[str] = []
    for part in parts:
        joined += [separator, part] if joined else [part]
    return joined


def _table(cells: list[list[str]], **attributes: str) -> str:
    rows = [_tag("mtr", *(_tag("mtd", cell) for cell in row)) for row in cells]
    return _tag("mtable", *rows, **attributes)


def inline(body: Formula) -> str:
    """A formula in a sentence."""
    return _tag("math", math(body))


def display(body: Formula, width: int = WIDTH) -> str:
    """A formula on lines of its own."""
    rows = lines(body, width, measure)
    if len(rows) == 1:
        return _tag("math", _line(rows[0]), display="block")
    cells = [
        [
            math(row.left) if row.left is not None else "",
            _operator(SIGNS[row.sign], form="infix") if row.sign else "",
            _line(row),
        ]
        for row in rows
    ]
    return _tag("math", _table(cells, **{"class": "aligned", "displaystyle": "true"}), display="block")


def _line(row: Line) -> str:
    return summed(row.body.terms, row.continued) if isinstance(row.body, Sum) else math(row.body)
