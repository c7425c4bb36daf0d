"""How tightly formulas bind, and what stands between factors: where formats need parentheses and signs."""

from __future__ import annotations

from ..formula import (
    Chain,
    Derivative,
    Entrywise,
    Formula,
    Matrix,
    Number,
    Point,
    Power,
    Product,
    Quotient,
    Root,
    Series,
    Sum,
    Symbol,
    signed,
)

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


def binding(body: Formula, stacked: bool = True) -> int:
    """How tightly the formula binds. Fractions that are stacked, not written in a line, need fewer parentheses."""
    negative, inside = signed(body)
    if negative or isinstance(body, Sum | Chain):
        return SUM
    fraction = isinstance(body, Quotient) or (isinstance(inside, Number) and inside.value.denominator != 1)
    if fraction:
        return POWER if stacked else PRODUCT
    if isinstance(body, Product | Series | Entrywise):
        return PRODUCT
    if isinstance(body, Derivative):
        return POWER if stacked else PRODUCT
    return POWER if isinstance(body, Power) or (isinstance(body, Root) and not stacked) else ATOM


def needed_in_product(factor: Formula, last: bool) -> int:
    """How tightly a factor must bind to stand without parentheses: a sum over an index may end the product."""
    return PRODUCT if last and isinstance(factor, Series) else POWER


def starts_with_number(body: Formula) -> bool:
    """Whether a factor needs a dot before it, because it begins with a digit."""
    if isinstance(body, Product):
        return starts_with_number(body.factors[0])
    return isinstance(body, Number) or (isinstance(body, Power | Quotient) and _number_first(body))


def _number_first(body: Power | Quotient) -> bool:
    first = body.base if isinstance(body, Power) else body.top
    return starts_with_number(first)


def is_plain(body: Formula) -> bool:
    """A letter or a number, with an exponent perhaps: factors that may stand close together."""
    if isinstance(body, Power):
        return is_plain(body.base)
    return isinstance(body, Number) or (isinstance(body, Symbol) and not body.bold)


def is_tall(body: Formula) -> bool:
    """Whether parentheses around it must grow."""
    if isinstance(body, Matrix | Quotient | Root | Series):
        return True
    if isinstance(body, Number):
        return body.value.denominator != 1
    if isinstance(body, Point):
        return any(is_tall(entry) for entry in body.entries)
    if isinstance(body, Sum | Product):
        return any(is_tall(part) for part in (body.terms if isinstance(body, Sum) else body.factors))
    if isinstance(body, Power):
        return is_tall(body.base)
    return False
