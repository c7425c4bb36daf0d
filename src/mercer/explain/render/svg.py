"""The picture as SVG, drawn here: inside a page, or as a file of its own."""

from __future__ import annotations

from html import escape

from ..chart import Chart
from ..picture import Picture
from . import chart_svg
from .drawing import GRID, MINUS, PLUS, Arrow, Curve, Drawing, Mark, Place

_SIZE, _PAD, _ROW = 420.0, 22.0, 18.0
_PER_ROW = 4
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

STYLE = f"""
.picture text {{ font-family: system-ui, sans-serif; fill: #1d2433; }}
.picture .tick {{ font-size: 9px; fill: #8a94a6; }} .picture .legend {{ font-size: 11px; }}
.picture .name {{ font-size: 12.5px; paint-order: stroke; stroke: #fff; stroke-width: 3.5px; stroke-linejoin: round; }}
.picture .grid {{ stroke: #edf0f5; stroke-width: 1; }} .picture .axis {{ stroke: #c9d0dc; stroke-width: 1; }}
.picture .side {{ opacity: 0.13; }} .picture .side.plus {{ fill: {PLUS}; }} .picture .side.minus {{ fill: {MINUS}; }}
.picture .boundary {{ stroke: #1d2433; stroke-width: 2.2; fill: none; stroke-linecap: round; }}
.picture .margin {{ stroke-width: 1.4; fill: none; stroke-dasharray: 6 4; }}
.picture .margin.plus {{ stroke: {PLUS}; }} .picture .margin.minus {{ stroke: {MINUS}; }}
.picture .slack {{ stroke: #1d2433; stroke-width: 1.2; stroke-dasharray: 2 3; fill: none; }}
.picture .dot {{ stroke: #fff; stroke-width: 1.2; }} .picture .dot.plus {{ fill: {PLUS}; }}
.picture .dot.minus {{ fill: {MINUS}; }} .picture .dot.new {{ fill: #1d2433; }}
.picture .ring {{ fill: none; stroke: #1d2433; stroke-width: 1.4; }}
.picture .arrow {{ stroke: #1d2433; stroke-width: 1.6; fill: #1d2433; }}
"""


def draw(picture: Picture | Chart) -> str:
    """The picture as an SVG element; its colours come from the classes of the style sheet."""
    if isinstance(picture, Chart):
        return chart_svg.draw(picture)
    canvas = _Canvas(Drawing(picture))
    label = escape(canvas.drawing.words)
    size = f"0 0 {_SIZE:g} {canvas.height + canvas.legend_height:.1f}"
    return (
        f'<svg class="picture" viewBox="{size}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{canvas.whole()}</svg>"
    )


def document(picture: Picture | Chart) -> str:
    """The picture as a file of its own."""
    named = draw(picture).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return named.replace("</title>", f"</title><style>{STYLE}</style>", 1) + "\n"


class _Canvas:
    """Places of the plane on a page."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing, self.frame = drawing, drawing.frame
        self.scale = (_SIZE - 2 * _PAD) / (self.frame.right - self.frame.left)
        self.height = (self.frame.top - self.frame.bottom) * self.scale + 2 * _PAD
        self.legend_height = _ROW * -(-len(drawing.legend) // _PER_ROW)

    def at(self, place: Place) -> Place:
        """Where a place of the plane stands on the page."""
        return _PAD + (place[0] - self.frame.left) * self.scale, _PAD + (self.frame.top - place[1]) * self.scale

    def whole(self) -> str:
        """All shapes, one above the other."""
        parts = [self._sides(), self._axes(), *map(self._curve, self.drawing.curves)]
        parts += [*map(self._arrow, self.drawing.arrows), *map(self._mark, self.drawing.marks)]
        parts.append(self._names())
        parts += [self._entry(place, *entry) for place, entry in enumerate(self.drawing.legend)]
        return "".join(parts)

    def _axes(self) -> str:
        us, vs = self.frame.ticks()
        parts = []
        for u in us:
            x, _ = self.at((u, 0))
            parts.append(_line((x, _PAD), (x, self.height - _PAD), "axis" if u == 0 else "grid"))
            parts.append(_text(x, self.height - _PAD + 11, _number(u), "tick", "middle"))
        for v in vs:
            _, y = self.at((0, v))
            parts.append(_line((_PAD, y), (_SIZE - _PAD, y), "axis" if v == 0 else "grid"))
            parts.append(_text(_PAD - 4, y + 3, _number(v), "tick", "end"))
        parts.append(_text(_SIZE - _PAD + 3, self.height - _PAD + 3, "x₁", "tick", "start"))
        return "".join([*parts, _text(_PAD, _PAD - 8, "x₂", "tick", "middle")])

    def _sides(self) -> str:
        """Faint colour where f is positive and where it is negative, by strips of cells."""
        values, frame, parts = self.drawing.values, self.frame, []
        for j in range(GRID if values else 0):
            start = 0
            for i in range(1, GRID + 1):
                if i == GRID or (_middle(values, i, j) < 0) != (_middle(values, start, j) < 0):
                    x, y = self.at((frame.x(start), frame.y(j + 1)))
                    right, bottom = self.at((frame.x(i), frame.y(j)))
                    kind = "minus" if _middle(values, start, j) < 0 else "plus"
                    size = f'width="{right - x:.1f}" height="{bottom - y:.1f}"'
                    parts.append(f'<rect class="side {kind}" x="{x:.1f}" y="{y:.1f}" {size}/>')
                    start = i
        return "".join(parts)

    def _curve(self, curve: Curve) -> str:
        places = [self.at(place) for place in curve.places]
        return f'<path class="{curve.kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'

    def _arrow(self, arrow: Arrow) -> str:
        start, end = self.at(arrow.start), self.at(arrow.end)
        heads = _head(start, end) + (_head(end, start) if arrow.kind == "length" else "")
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        return _line(start, end, "arrow") + heads + _text(middle[0] + 6, middle[1] + 12, arrow.name, "name", "start")

    def _mark(self, mark: Mark) -> str:
        x, y = self.at(mark.place)
        rings = "".join(
            f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{9.5 + 3 * k:g}"/>' for k in range(mark.rings)
        )
        return rings + _shape(mark.kind, x, y)

    def _names(self) -> str:
        """The names of the points, each at the first of four places where it covers nothing."""
        taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in (self.at(mark.place) for mark in self.drawing.marks)]
        parts = []
        for mark in self.drawing.marks:
            x, y = self.at(mark.place)
            name, colon, rest = mark.name.partition(":")
            text = name.translate(_BELOW) + colon + rest
            wide = 7.0 * len(text)
            places = [(x + 14, y - 8), (x - 14 - wide, y - 8), (x + 14, y + 16), (x - 14 - wide, y + 16)]
            boxes = [(u, v - 11, u + wide, v + 3) for u, v in places]
            free = [box for box in boxes if box[0] >= 0 and box[2] <= _SIZE and not any(_meet(box, t) for t in taken)]
            left, _, _, bottom = free[0] if free else boxes[0]
            taken.append((left, bottom - 14, left + wide, bottom))
            parts.append(_text(left, bottom - 3, text, "name", "start"))
        return "".join(parts)

    def _entry(self, place: int, kind: str, name: str) -> str:
        """A line of the legend."""
        x = _PAD + (_SIZE - 2 * _PAD) * (place % _PER_ROW) / _PER_ROW + 8
        y = self.height + _ROW * (place // _PER_ROW) + 6
        if kind in ("plus", "minus", "new"):
            shape = _shape(kind, x, y)
        elif kind in ("ring", "rings"):
            shape = "".join(
                f'<circle class="ring" cx="{x}" cy="{y}" r="{4 + 2.5 * k:g}"/>' for k in range(len(kind) - 3)
            )
        elif kind == "length":
            shape = (
                _line((x - 8, y), (x + 8, y), "arrow") + _head((x - 8, y), (x + 8, y)) + _head((x + 8, y), (x - 8, y))
            )
        else:
            shape = f'<path class="{kind}" d="M{x - 9:.1f} {y:.1f}L{x + 9:.1f} {y:.1f}"/>'
        return shape + _text(x + 14, y + 4, name, "legend", "start")


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ring(x: float, y: float, radius: float) -> str:
    return f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def _shape(kind: str, x: float, y: float) -> str:
    """Circles for -1, squares for +1, as in mercer.plot; a diamond for a new point."""
    if kind == "minus":
        return f'<circle class="dot minus" cx="{x:.1f}" cy="{y:.1f}" r="5.8"/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == "new" else ""
    return f'<rect class="dot {kind}" x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"{turned}/>'


def _head(start: Place, end: Place) -> str:
    """The head of an arrow."""
    (a, b), (c, d) = start, end
    size = max(((c - a) ** 2 + (d - b) ** 2) ** 0.5, 1e-9)
    u, v = (c - a) / size, (d - b) / size
    one, two = (c - 7 * u + 3 * v, d - 7 * v - 3 * u), (c - 7 * u - 3 * v, d - 7 * v + 3 * u)
    return f'<path class="arrow" d="M{c:.1f} {d:.1f}L{one[0]:.1f} {one[1]:.1f}L{two[0]:.1f} {two[1]:.1f}Z"/>'


def _middle(values: list[list[float]], i: int, j: int) -> float:
    return values[j][i] + values[j + 1][i] + values[j][i + 1] + values[j + 1][i + 1]


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−") if abs(value) > 1e-9 else "0"


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(start: Place, end: Place, kind: str) -> str:
    return f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'
