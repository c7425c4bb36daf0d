"""What is drawn of a chart: every part as lines and marks in the window, in floating point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, log, log10, prod, sqrt
from typing import Any

from ...colours import COLOURS
from ..chart import Contours, Graph, Panel, Trace
from ..formula import Absolute, Call, Formula, Negative, Number, Power, Product, Quotient, Root, Sum, Symbol
from .drawing import Place, contour, joined

Numeric = Callable[[dict[Symbol, float]], float]

_SAMPLES, _CELLS = 160, 72
MARKS = ("plus", "minus", "dot", "star")
COLOUR = {"main": COLOURS[0], "second": COLOURS[1], "third": COLOURS[2], "fourth": COLOURS[3], "fifth": COLOURS[4]}
COLOUR |= {"path": "#222222", "arrow": "#222222", "faint": "#9AA3B2", "plus": COLOURS[1], "minus": COLOURS[0]}
COLOUR |= {"dot": "#222222", "star": "#222222", "dashed": "#222222"}


@dataclass(frozen=True)
class Stroke:
    """A line through places."""

    places: tuple[Place, ...]
    kind: str


@dataclass(frozen=True)
class Spot:
    """A mark."""

    place: Place
    kind: str


@dataclass(frozen=True)
class Shapes:
    """All that is drawn in a panel, and its legend."""

    window: tuple[float, float, float, float]
    strokes: list[Stroke]
    spots: list[Spot]
    legend: list[tuple[str, str]]


@lru_cache(maxsize=64)
def shapes(panel: Panel) -> Shapes:
    """The parts of a panel as lines and marks; the same for every format."""
    left, right, bottom, top = map(float, panel.window)
    box = (left, right, bottom, top)
    found = Shapes(box, [], [], [])
    for part in panel.parts:
        if isinstance(part, Graph):
            found.strokes.extend(_graph(part, box))
        elif isinstance(part, Contours):
            found.strokes.extend(_levels(part, box))
        else:
            _trace(part, found)
        name = getattr(part, "name", "")
        if name and (part.style, name) not in found.legend:  # type: ignore[union-attr]
            found.legend.append((part.style, name))  # type: ignore[union-attr]
    return found


def _trace(part: Trace, found: Shapes) -> None:
    places = tuple((float(u), float(v)) for u, v in part.places)
    if part.style in MARKS:
        found.spots.extend(Spot(place, part.style) for place in places)
        return
    found.strokes.append(Stroke(places, part.style))
    if part.style == "path":
        found.spots.extend(Spot(place, "dot") for place in places)


def _graph(part: Graph, box: tuple[float, float, float, float]) -> list[Stroke]:
    """The graph, without what is far outside the window."""
    _, _, bottom, top = box
    low, high = float(part.low), float(part.high)
    room = top - bottom
    strokes: list[list[Place]] = [[]]
    f = numeric(part.body)
    for i in range(_SAMPLES + 1):
        u = low + (high - low) * i / _SAMPLES
        v = f({part.by: u})
        if bottom - room <= v <= top + room:
            strokes[-1].append((u, v))
        elif strokes[-1]:
            strokes.append([])
    return [Stroke(tuple(places), part.style) for places in strokes if len(places) > 1]


def _levels(part: Contours, box: tuple[float, float, float, float]) -> list[Stroke]:
    left, right, bottom, top = box
    us = [left + (right - left) * i / _CELLS for i in range(_CELLS + 1)]
    vs = [bottom + (top - bottom) * j / _CELLS for j in range(_CELLS + 1)]
    first, second = part.by
    f = numeric(part.body)
    values = [[f({first: u, second: v}) for u in us] for v in vs]
    found = []
    for level in part.levels:
        for line in joined(contour(values, float(level))):
            places = [(left + (right - left) * i / _CELLS, bottom + (top - bottom) * j / _CELLS) for i, j in line]
            found.append(Stroke(tuple(places), "faint"))
    return found


def numeric(body: Formula) -> Numeric:
    """A formula as a function of its letters, in floating point: it is only drawn."""
    known: dict[str, Any] = {"max": max, "min": min, "exp": exp, "log": log}
    match body:
        case Number(value):
            constant = float(value)
            return lambda at: constant
        case Symbol():
            return lambda at: at[body]
        case Sum(terms):
            parts = [numeric(term) for term in terms]
            return lambda at: sum([part(at) for part in parts])
        case Negative(inner):
            part = numeric(inner)
            return lambda at: -part(at)
        case Product(factors):
            parts = [numeric(factor) for factor in factors]
            return lambda at: prod([part(at) for part in parts])
        case Quotient(top, bottom):
            over, under = numeric(top), numeric(bottom)
            return lambda at: over(at) / under(at)
        case Power(base, exponent):
            root, power = numeric(base), numeric(exponent)
            return lambda at: float(root(at) ** power(at))
        case Root(inner) | Absolute(inner):
            part, function = numeric(inner), sqrt if isinstance(body, Root) else abs
            return lambda at: function(part(at))
        case Call(str(name), arguments) if name in known:
            parts, function = [numeric(argument) for argument in arguments], known[name]
            return lambda at: float(function(*[part(at) for part in parts]))
    raise TypeError(f"{body!r} cannot be drawn.")


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends."""
    span = high - low
    power = 10.0 ** floor(log10(span / 5))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= span / 5 * 0.999)
    return [k * step for k in range(ceil(low / step), floor(high / step) + 1)]
