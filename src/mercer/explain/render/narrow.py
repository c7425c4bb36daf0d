"""Formulas wider than a page, in several lines: products by factors, matrices by columns, the rest by words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from ..formula import Chain, Formula, Listing, Matrix, Negative, Point, Product, Sum, signed
from .binding import PRODUCT, needed_in_product
from .boxes import SIGNS, Box, box, in_line, summed

_INDENT = 2


def fitted(body: Formula, width: int, continued: bool = False) -> list[Box]:
    """The formula as boxes, one below the other, of which none is wider than `width`.

    `continued` says that a sum goes on from the line before.
    """
    whole = summed(body.terms, continued) if isinstance(body, Sum) else box(body)
    if whole.width <= width:
        return [whole]
    match body:
        case Sum(terms):
            return _packed(terms, width, lambda part, first: _terms(part, width, continued or not first))
        case Negative(inner):
            return _after("−", fitted(inner, width - 1))
        case Product(factors):
            return _packed(factors, width, lambda part, first: _factors(part, width, first))
        case Matrix(rows):
            return _columns(rows, width)
        case Chain(members, signs):
            found = fitted(members[0], width)
            for sign, member in zip(signs, members[1:], strict=True):
                found += _after(f"{SIGNS[sign]} ", fitted(member, width - _INDENT))
            return found
        case Listing(items, separator, False) if separator:
            mark = separator.strip()
            return _marked(_packed(items, width - 2, lambda part, first: _items(part, separator, width - 2)), mark)
        case Point(entries) if len(entries) > 1:
            inside = _packed(entries, width - 3, lambda part, first: _items(part, ", ", width - 3))
            return _after("(", _marked(inside, ","), ")")
    return _words(body, width)


def _packed(
    parts: tuple[Formula, ...], width: int, made: Callable[[tuple[Formula, ...], bool], list[Box]]
) -> list[Box]:
    """As many parts in a line as there is room for."""
    found: list[Box] = []
    chunk: tuple[Formula, ...] = ()
    for part in parts:
        tried = made((*chunk, part), not found)
        if chunk and (len(tried) > 1 or tried[0].width > width):
            found += made(chunk, not found)
            chunk = ()
        chunk = (*chunk, part)
    return found + made(chunk, not found)


def _terms(terms: tuple[Formula, ...], width: int, continued: bool) -> list[Box]:
    if len(terms) > 1 or summed(terms, continued).width <= width:
        return [summed(terms, continued)]
    negative, body = signed(terms[0])
    sign = "− " if negative else "+ " if continued else ""
    return _after(sign, fitted(body, width - len(sign)))


def _factors(factors: tuple[Formula, ...], width: int, first: bool) -> list[Box]:
    dot = "" if first else "· "
    if len(factors) > 1:
        return _after(dot, [box(Product(factors), PRODUCT)])
    alone = box(factors[0], needed_in_product(factors[0], False))
    return _after(dot, [alone] if alone.width + len(dot) <= width else fitted(factors[0], width - len(dot)))


def _items(items: tuple[Formula, ...], separator: str, width: int) -> list[Box]:
    whole = box(Listing(items, separator))
    return [whole] if len(items) > 1 or whole.width <= width else fitted(items[0], width)


def _marked(boxes: list[Box], mark: str) -> list[Box]:
    """With a comma where the next line goes on."""
    return [*(part + mark for part in boxes[:-1]), boxes[-1]]


def _columns(rows: tuple[tuple[Formula, ...], ...], width: int) -> list[Box]:
    """A matrix, so many columns at a time; entries that have no room even alone are listed."""
    found: list[Box] = []
    start, total = 0, len(rows[0])
    while start < total:
        end = start + 1
        while end < total and _part(rows, start, end + 1).width <= width:
            end += 1
        part = _part(rows, start, end)
        label = f"column {end}:" if end == start + 1 else f"columns {start + 1} to {end}:"
        found += [Box((label,))] if total > 1 else []
        found += [part] if part.width <= width else _listed([row[start] for row in rows], width)
        start = end
    return found


def _part(rows: tuple[tuple[Formula, ...], ...], start: int, end: int) -> Box:
    return box(Matrix(tuple(row[start:end] for row in rows)))


def _listed(entries: list[Formula], width: int) -> list[Box]:
    """The entries of one column, one after the other."""
    found: list[Box] = []
    for place, entry in enumerate(entries, 1):
        label = f"  row {place}: "
        found += _after(label, fitted(entry, width - len(label)))
    return found


def _words(body: Formula, width: int) -> list[Box]:
    return [Box((line,)) for line in textwrap.wrap(in_line(body), width, subsequent_indent=" " * _INDENT)]


def _after(start: str, boxes: list[Box], end: str = "") -> list[Box]:
    """The boxes with something before the first, and as much room before the others."""
    room = " " * len(start)
    found = [Box((room if place else start,)) + part for place, part in enumerate(boxes)]
    return [*found[:-1], found[-1] + end]
