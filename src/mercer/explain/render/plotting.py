"""What is drawn of a chart: every part as lines and marks in the window, in floating point."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, floor, log, log10, sqrt
from typing import Any

from ...plot.style import COLOURS
from ..chart import Contours, Graph, Panel, Trace
from ..formula import Absolute, Call, Formula, Negative, Number, Power, Product, Quotient, Root, Sum, Symbol
from .drawing import Place, contour, joined

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


def shapes(panel: Panel) -> Shapes:
    """The parts of a panel as lines and marks."""
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
    for i in range(_SAMPLES + 1):
        u = low + (high - low) * i / _SAMPLES
        v = numeric(part.body, {part.by: u})
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
    values = [[numeric(part.body, {first: u, second: v}) for u in us] for v in vs]
    found = []
    for level in part.levels:
        for line in joined(contour(values, float(level))):
            places = [(left + (right - left) * i / _CELLS, bottom + (top - bottom) * j / _CELLS) for i, j in line]
            found.append(Stroke(tuple(places), "faint"))
    return found


def numeric(body: Formula, at: dict[Symbol, float]) -> float:
    """The value of a formula in floating point: it is only drawn."""

    def of(part: Formula) -> float:
        return numeric(part, at)

    known: dict[str, Any] = {"max": max, "min": min, "exp": exp, "log": log}
    match body:
        case Number(value):
            return float(value)
        case Symbol():
            return at[body]
        case Sum(terms):
            return sum(map(of, terms))
        case Negative(inner):
            return -of(inner)
        case Product(factors):
            total = 1.0
            for factor in factors:
                total *= of(factor)
            return total
        case Quotient(top, bottom):
            return of(top) / of(bottom)
        case Power(base, exponent):
            return float(of(base) ** of(exponent))
        case Root(inner):
            return sqrt(of(inner))
        case Absolute(inner):
            return abs(of(inner))
        case Call(str(name), arguments) if name in known:
            return float(known[name](*map(of, arguments)))
    raise TypeError(f"{body!r} cannot be drawn.")


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends."""
    span = high - low
    power = 10.0 ** floor(log10(span / 5))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= span / 5 * 0.999)
    return [k * step for k in range(ceil(low / step), floor(high / step) + 1)]
