"""The picture: points, boundary f = 0, margins f = -1 and f = 1, multipliers. Inline SVG, drawn here."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from math import ceil, floor, log10

from ..picture import Picture

_SIZE, _PAD, _GRID = 420.0, 14.0, 60
_LEVELS = {0.0: "boundary", 1.0: "margin plus", -1.0: "margin minus"}

Segment = tuple[float, float, float, float]


def draw(picture: Picture) -> str:
    """The picture as an SVG element; its colours come from the classes of the style sheet."""
    box = _Frame.around(picture)
    parts = [box.ticks()]
    if picture.alpha is not None:
        values = [[picture.f(box.x(i), box.y(j)) for i in range(_GRID + 1)] for j in range(_GRID + 1)]
        parts.append(_sides(values, box))
        parts += [
            _path(contour(values, level), box, kind) for level, kind in _LEVELS.items() if level == 0 or picture.margins
        ]
    parts += [_point(picture, i, box) for i in range(len(picture.points))]
    label = escape(_caption(picture))
    return (
        f'<svg class="picture" viewBox="0 0 {_SIZE:g} {box.height:g}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(parts)}</svg>"
    )


def _caption(picture: Picture) -> str:
    if picture.alpha is None:
        return f"{len(picture.points)} points of two classes"
    margins = " and the margins f = 1 and f = -1" if picture.margins else ""
    return (
        f"{len(picture.points)} points of two classes, the boundary f = 0{margins}; points with a multiplier are ringed"
    )


class _Frame:
    """The part of the plane that is drawn, in equal scales."""

    def __init__(self, left: float, right: float, bottom: float, top: float) -> None:
        self.left, self.right, self.bottom, self.top = left, right, bottom, top
        self.scale = (_SIZE - 2 * _PAD) / (right - left)
        self.height = (top - bottom) * self.scale + 2 * _PAD

    @classmethod
    def around(cls, picture: Picture) -> _Frame:
        """Around all points, with room; neither much wider than high nor the reverse."""
        us, vs = ([float(x[j]) for x in picture.points] for j in (0, 1))
        span = max(max(us) - min(us), max(vs) - min(vs)) or 1.0
        half_u = max((max(us) - min(us)) / 2, 0.35 * span) + 0.3 * span
        half_v = max((max(vs) - min(vs)) / 2, 0.25 * span) + 0.3 * span
        u, v = (max(us) + min(us)) / 2, (max(vs) + min(vs)) / 2
        return cls(u - half_u, u + half_u, v - half_v, v + half_v)

    def x(self, i: float) -> float:
        """The first coordinate of column i of the grid."""
        return self.left + (self.right - self.left) * i / _GRID

    def y(self, j: float) -> float:
        """The second coordinate of row j of the grid."""
        return self.bottom + (self.top - self.bottom) * j / _GRID

    def place(self, u: float, v: float) -> tuple[float, float]:
        """Where a point of the plane stands on the page."""
        return _PAD + (u - self.left) * self.scale, _PAD + (self.top - v) * self.scale

    def ticks(self) -> str:
        """A light grid at round numbers, with the axes a little darker."""
        step = _round_step(self.right - self.left)
        parts = []
        for k in range(ceil(self.left / step), floor(self.right / step) + 1):
            x, _ = self.place(k * step, 0)
            parts.append(_line(x, _PAD, x, self.height - _PAD, "axis" if k == 0 else "grid"))
            parts.append(_text(x, self.height - 2, f"{k * step:g}".replace("-", "−"), "tick", "middle"))
        for k in range(ceil(self.bottom / step), floor(self.top / step) + 1):
            _, y = self.place(0, k * step)
            parts.append(_line(_PAD, y, _SIZE - _PAD, y, "axis" if k == 0 else "grid"))
            parts.append(_text(1, y + 3, f"{k * step:g}".replace("-", "−"), "tick", "start"))
        return "".join(parts)


def _round_step(span: float) -> float:
    """1, 2 or 5 times a power of ten, so that some six steps fit."""
    power = 10.0 ** floor(log10(span / 6))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= span / 6 * 0.999)


def contour(values: list[list[float]], level: float) -> list[Segment]:
    """The pieces of the curve f = level in the cells of a grid, each cut into two triangles; in grid coordinates."""
    pieces: list[Segment] = []
    for j in range(len(values) - 1):
        for i in range(len(values[0]) - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            heights = [values[b][a] - level for a, b in corners]
            for triangle in ((0, 1, 2), (0, 2, 3)):
                crossed = []
                for p, q in ((0, 1), (1, 2), (2, 0)):
                    a, b = triangle[p], triangle[q]
                    if (heights[a] < 0) != (heights[b] < 0):
                        share = heights[a] / (heights[a] - heights[b])
                        crossed.append(
                            (
                                corners[a][0] + share * (corners[b][0] - corners[a][0]),
                                corners[a][1] + share * (corners[b][1] - corners[a][1]),
                            )
                        )
                if len(crossed) == 2:
                    pieces.append((*crossed[0], *crossed[1]))
    return pieces


def _sides(values: list[list[float]], box: _Frame) -> str:
    """Faint colour where f is positive and where it is negative, by strips of cells."""
    parts = []
    for j in range(_GRID):
        start = 0
        for i in range(1, _GRID + 1):
            if i == _GRID or (_middle(values, i, j) < 0) != (_middle(values, start, j) < 0):
                (x, y), (right, bottom) = box.place(box.x(start), box.y(j + 1)), box.place(box.x(i), box.y(j))
                kind = "minus" if _middle(values, start, j) < 0 else "plus"
                size = f'width="{right - x:.1f}" height="{bottom - y:.1f}"'
                parts.append(f'<rect class="side {kind}" x="{x:.1f}" y="{y:.1f}" {size}/>')
                start = i
    return "".join(parts)


def _middle(values: list[list[float]], i: int, j: int) -> float:
    return values[j][i] + values[j + 1][i] + values[j][i + 1] + values[j + 1][i + 1]


def _path(pieces: list[Segment], box: _Frame, kind: str) -> str:
    if not pieces:
        return ""
    steps = []
    for a, b, c, d in pieces:
        (x, y), (u, v) = box.place(box.x(a), box.y(b)), box.place(box.x(c), box.y(d))
        steps.append(f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}")
    return f'<path class="{kind}" d="{"".join(steps)}"/>'


def _point(picture: Picture, i: int, box: _Frame) -> str:
    u, v = (float(c) for c in picture.points[i])
    x, y = box.place(u, v)
    kind = "plus" if picture.signs[i] > 0 else "minus"
    alpha = picture.alpha[i] if picture.alpha is not None else Fraction(0)
    ring = f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="10.5"/>' if alpha else ""
    if kind == "plus":
        mark = f'<circle class="dot plus" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
    else:
        mark = f'<rect class="dot minus" x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11"/>'
    name = f"x{i + 1}".translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    same = [k for k in range(i) if picture.points[k] == picture.points[i]]
    text = f"{name}: α = {alpha}" if alpha else name
    return ring + mark + _text(x + 14, y - 8 - 15 * len(same), text, "name", "start" if x < 0.68 * _SIZE else "end", x)


def _text(x: float, y: float, text: str, kind: str, anchor: str, around: float | None = None) -> str:
    if anchor == "end" and around is not None:
        x = around - 14
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x: float, y: float, u: float, v: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"/>'
