"""The picture as shapes in the plane: points, boundary f = 0, margins, multipliers, slacks, w. Formats draw them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, hypot, log10

from ...colours import COLOURS
from ..exact import Vector, dot
from ..gram import is_linear
from ..picture import Picture

GRID = 60
PLUS, MINUS = COLOURS[1], COLOURS[0]
"""The colours of the two classes, as `mercer.plot` has them: -1 is the first class, with circles, +1 the second."""
_WIDER = 6

Place = tuple[float, float]
Segment = tuple[Place, Place]


@dataclass(frozen=True)
class Curve:
    """A line through places; `kind` says what it is: boundary, margin plus, margin minus, slack, length."""

    places: tuple[Place, ...]
    kind: str


@dataclass(frozen=True)
class Mark:
    """A point of a class (plus, minus), or a new one; ringed where it has a multiplier, twice where that is C."""

    place: Place
    kind: str
    rings: int
    name: str


@dataclass(frozen=True)
class Arrow:
    """From one place to another, with a name beside its middle."""

    start: Place
    end: Place
    kind: str
    name: str


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is drawn, in equal scales."""

    left: float
    right: float
    bottom: float
    top: float

    def x(self, i: float) -> float:
        """The first coordinate of column i of the grid."""
        return self.left + (self.right - self.left) * i / GRID

    def y(self, j: float) -> float:
        """The second coordinate of row j of the grid."""
        return self.bottom + (self.top - self.bottom) * j / GRID

    def holds(self, place: Place) -> bool:
        """Whether a place is inside."""
        return self.left <= place[0] <= self.right and self.bottom <= place[1] <= self.top

    def cut(self, start: Place, end: Place) -> Place:
        """The end of a line that begins inside, where it leaves at the latest."""
        share = 1.0
        for a, b, low, high in (
            (*axis, *sides) for axis, sides in zip(zip(start, end, strict=True), self._sides, strict=True)
        ):
            edge = high if b > a else low
            share = min(share, (edge - a) / (b - a)) if b != a else share
        return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])

    @property
    def _sides(self) -> tuple[Place, Place]:
        return (self.left, self.right), (self.bottom, self.top)

    def wider(self) -> Frame:
        """Half as large again."""
        u, v = (self.right - self.left) / 4, (self.top - self.bottom) / 4
        return Frame(self.left - u, self.right + u, self.bottom - v, self.top + v)

    def ticks(self) -> tuple[list[float], list[float]]:
        """Round numbers along both axes."""
        span = self.right - self.left
        power = 10.0 ** floor(log10(span / 6))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= span / 6 * 0.999)
        return (
            [k * step for k in range(ceil(self.left / step), floor(self.right / step) + 1)],
            [k * step for k in range(ceil(self.bottom / step), floor(self.top / step) + 1)],
        )


@dataclass(frozen=True)
class Drawing:
    """All that is drawn of a picture."""

    picture: Picture

    @cached_property
    def frame(self) -> Frame:
        """Around all points, with room, and so large that the boundary is inside."""
        frame = _around([_floats(x) for x in (*self.picture.points, *self.picture.new)] + self._foot())
        for _ in range(_WIDER if self._curved else 0):
            signs = {v < 0 for row in self._grid(frame) for v in row}
            if len(signs) == 2:
                break
            frame = frame.wider()
        return frame

    @property
    def _curved(self) -> bool:
        return self.picture.alpha is not None and any(self.picture.alpha)

    @cached_property
    def w(self) -> Vector | None:
        """The weight vector, where the kernel is linear and w is not 0."""
        p = self.picture
        if p.alpha is None or not is_linear(p.kernel):
            return None
        beta = [a * s for a, s in zip(p.alpha, p.signs, strict=True)]
        found = tuple(dot(beta, coordinate) for coordinate in zip(*p.points, strict=True))
        return found if any(found) else None

    def _foot(self) -> list[Place]:
        """The place of the straight boundary that is nearest to the middle of the points."""
        if self.w is None or self.picture.b is None:
            return []
        n = len(self.picture.points)
        middle = [sum(c, Fraction(0)) / n for c in zip(*self.picture.points, strict=True)]
        value = (dot(self.w, middle) + self.picture.b) / dot(self.w, self.w)
        return [(float(middle[0] - value * self.w[0]), float(middle[1] - value * self.w[1]))]

    def _grid(self, frame: Frame) -> list[list[float]]:
        return self.picture.grid([frame.x(i) for i in range(GRID + 1)], [frame.y(j) for j in range(GRID + 1)])

    @cached_property
    def values(self) -> list[list[float]]:
        """f on the grid, row by row; empty where there is no f."""
        return self._grid(self.frame) if self._curved else []

    @cached_property
    def curves(self) -> list[Curve]:
        """The boundary and the margins, and the slacks of a linear f."""
        if not self.values:
            return []
        levels = {0.0: "boundary"} | ({1.0: "margin plus", -1.0: "margin minus"} if self.picture.margins else {})
        found = []
        for level, kind in levels.items():
            for places in joined(contour(self.values, level)):
                found.append(Curve(tuple((self.frame.x(i), self.frame.y(j)) for i, j in places), kind))
        return found + self._slacks()

    def _slacks(self) -> list[Curve]:
        """From each point that falls short of its margin to the margin, where that is a straight line."""
        p = self.picture
        if self.w is None or not p.margins or p.C is None or p.b is None:
            return []
        found, square = [], dot(self.w, self.w)
        for x, sign in zip(p.points, p.signs, strict=True):
            short = 1 - sign * (dot(self.w, x) + p.b)
            if short > 0:
                end = [c + sign * short * v / square for c, v in zip(x, self.w, strict=True)]
                found.append(Curve((_floats(x), self.frame.cut(_floats(x), (float(end[0]), float(end[1])))), "slack"))
        return found

    @cached_property
    def arrows(self) -> list[Arrow]:
        """w, and the margin as a length, from the boundary on."""
        feet = self._foot()
        if self.w is None or not feet:
            return []
        (u, v), a, b = feet[0], float(self.w[0]), float(self.w[1])
        size, room = hypot(a, b), 0.4 * (self.frame.right - self.frame.left)
        length = min(size, room)
        name = "w" if length == size else "w (shortened)"
        found = [Arrow((u, v), (u + a / size * length, v + b / size * length), "w", name)]
        if self.picture.margins:
            along = 0.12 * (self.frame.right - self.frame.left)
            start = (u + b / size * along, v - a / size * along)
            end = (start[0] + a / size**2, start[1] + b / size**2)
            if self.frame.holds(end):
                found.append(Arrow(start, end, "length", "m"))
        return found

    @cached_property
    def marks(self) -> list[Mark]:
        """The points, and new ones."""
        p = self.picture
        found = []
        for i, (x, sign) in enumerate(zip(p.points, p.signs, strict=True)):
            alpha = p.alpha[i] if p.alpha is not None else Fraction(0)
            bound = p.C is not None and alpha == p.C
            value = f": α = {'C = ' if bound else ''}{alpha}" if alpha else ""
            found.append(Mark(_floats(x), "plus" if sign > 0 else "minus", bool(alpha) + bound, f"x{i + 1}{value}"))
        return found + [Mark(_floats(x), "new", 0, "x") for x in p.new]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """What the kinds of shapes are."""
        p = self.picture
        entries = [("plus", "class +1"), ("minus", "class −1")]
        if p.alpha is None:
            return entries
        rings = {mark.rings for mark in self.marks}
        entries += [("ring", "α > 0")] if 1 in rings else []
        entries += [("rings", "α = C")] if 2 in rings else []
        kinds = {curve.kind for curve in self.curves} | {arrow.kind for arrow in self.arrows}
        names = {
            "boundary": "f = 0",
            "margin plus": "f = 1",
            "margin minus": "f = −1",
            "slack": "ξ",
            "length": "margin m",
        }
        entries += [(kind, name) for kind, name in names.items() if kind in kinds]
        return entries + ([("new", "new point")] if p.new else [])

    @property
    def words(self) -> str:
        """What is to be seen, for those who do not see it."""
        n = len(self.picture.points)
        if self.picture.alpha is None:
            return f"{n} points of two classes"
        margins = " and the margins f = 1 and f = -1" if self.picture.margins else ""
        ringed = sum(1 for mark in self.marks if mark.rings)
        return f"{n} points of two classes, the boundary f = 0{margins}; {ringed} points, with α > 0, are ringed"


def _floats(x: Vector) -> Place:
    return float(x[0]), float(x[1])


def _around(places: list[Place]) -> Frame:
    """With room; neither much wider than high nor the reverse."""
    us, vs = ([place[j] for place in places] for j in (0, 1))
    span = max(max(us) - min(us), max(vs) - min(vs)) or 1.0
    half_u = max((max(us) - min(us)) / 2, 0.35 * span) + 0.3 * span
    half_v = max((max(vs) - min(vs)) / 2, 0.25 * span) + 0.3 * span
    u, v = (max(us) + min(us)) / 2, (max(vs) + min(vs)) / 2
    return Frame(u - half_u, u + half_u, v - half_v, v + half_v)


def contour(values: list[list[float]], level: float) -> list[Segment]:
    """The pieces of the curve f = level in the cells of a grid, each cut into two triangles; in grid coordinates.

    Values count to ten digits: the last ones differ from CPU to CPU, and the text of a picture must not.
    """
    pieces: list[Segment] = []
    values = [[float(f"{value:.10g}") for value in row] for row in values]
    below = [[value < level for value in row] for row in values]
    for j, (here, above) in enumerate(pairwise(below)):
        for i in range(len(here) - 1):
            if here[i] == here[i + 1] == above[i] == above[i + 1]:
                continue
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            heights = [values[b][a] - level for a, b in corners]
            for triangle in ((0, 1, 2), (0, 2, 3)):
                crossed = []
                for p, q in ((0, 1), (1, 2), (2, 0)):
                    a, b = triangle[p], triangle[q]
                    if (heights[a] < 0) != (heights[b] < 0):
                        share = heights[a] / (heights[a] - heights[b])
                        u, v = corners[a]
                        crossed.append((u + share * (corners[b][0] - u), v + share * (corners[b][1] - v)))
                if len(crossed) == 2:
                    pieces.append((crossed[0], crossed[1]))
    return pieces


def joined(pieces: list[Segment]) -> list[list[Place]]:
    """Pieces that touch, as longer lines, without the places in the middle of a straight part."""

    def key(place: Place) -> Place:
        return round(place[0], 6), round(place[1], 6)

    at: dict[Place, list[int]] = {}
    for number, piece in enumerate(pieces):
        for place in piece:
            at.setdefault(key(place), []).append(number)
    left, lines = set(range(len(pieces))), []
    ends = [n for n, piece in enumerate(pieces) if any(len(at[key(place)]) == 1 for place in piece)]
    for first in [*ends, *range(len(pieces))]:
        if first not in left:
            continue
        left.discard(first)
        start, end = pieces[first]
        line = [end, start] if len(at[key(end)]) == 1 else [start, end]
        while True:
            after = next((n for n in at[key(line[-1])] if n in left), None)
            if after is None:
                break
            left.discard(after)
            a, b = pieces[after]
            line.append(b if key(a) == key(line[-1]) else a)
        lines.append(_straightened(line))
    return [line for line in lines if len(line) > 1]


def _straightened(line: list[Place]) -> list[Place]:
    kept = line[:1]
    for place, after in zip(line[1:], [*line[2:], None], strict=True):
        (a, b), (c, d) = kept[-1], place
        if hypot(c - a, d - b) < 1e-6:
            continue
        if after is not None and abs((c - a) * (after[1] - b) - (d - b) * (after[0] - a)) < 1e-6:
            continue
        kept.append(place)
    return kept
