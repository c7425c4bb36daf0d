"""A picture of functions and paths: panels with graphs, contours and traces, kept as formulas and exact places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .exact import Rows, Vector
from .formula import Formula, Symbol


@dataclass(frozen=True)
class Graph:
    """y = body, where `by` goes from low to high. `style` is how it looks: main, second, third, fourth, faint."""

    body: Formula
    by: Symbol
    low: Fraction
    high: Fraction
    style: str = "main"
    name: str = ""


@dataclass(frozen=True)
class Trace:
    """Places: joined by a line (path, main, second, ..., arrow), or single marks (plus, minus, dot, star)."""

    places: Rows
    style: str
    name: str = ""


@dataclass(frozen=True)
class Contours:
    """The curves body = level in the plane of two letters."""

    body: Formula
    by: tuple[Symbol, Symbol]
    levels: Vector


@dataclass(frozen=True)
class Panel:
    """One picture: the names of its axes, the window (left, right, bottom, top), and what is in it."""

    title: str
    axes: tuple[str, str]
    window: tuple[Fraction, Fraction, Fraction, Fraction]
    parts: tuple[Graph | Trace | Contours, ...]
    equal: bool = False


@dataclass(frozen=True)
class Chart:
    """Panels side by side, and what is to be seen in words, for those who do not see it."""

    panels: tuple[Panel, ...]
    words: str


def window(
    places: Sequence[Sequence[Fraction]], room: Fraction = Fraction(1, 8)
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Around all places, with room; ends that are short to write."""
    (left, right), (bottom, top) = (_ends(list(values), room) for values in zip(*places, strict=True))
    return left, right, bottom, top


def _ends(values: list[Fraction], room: Fraction) -> tuple[Fraction, Fraction]:
    low, high = min(values), max(values)
    span = high - low or Fraction(1)
    return _short(low - room * span, span), _short(high + room * span, span)


def _short(number: Fraction, span: Fraction) -> Fraction:
    """To a thousandth of the span, as a decimal."""
    digits = 0
    while span * 10**digits < 1000:
        digits += 1
    return Fraction(round(number * 10**digits), 10**digits)


def rounded(number: Fraction, digits: int = 6) -> Fraction:
    """To so many decimals: what is drawn needs no more."""
    return Fraction(round(Fraction(number) * 10**digits), 10**digits)
